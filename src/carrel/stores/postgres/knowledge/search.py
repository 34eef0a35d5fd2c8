"""How PostgreSQL finds notes: each condition runs along an index of one shelf, and the shelves are
merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from carrel.libraries.query.notes import AnyTitle, Tagged, TextMatch, TitlePrefix
from carrel.rooms.knowledge.notes import (
    EXACT_TITLE_SCORE,
    LAST_CHARACTER,
    PROPOSALS_BELOW,
    PROPOSALS_FROM,
    TAG_SCORE,
    Found,
    Note,
    NoteSearch,
    Order,
    shelf_names,
    sorting,
    text_score,
    title_score,
)
from carrel.stores.postgres.database import Connection
from carrel.stores.postgres.knowledge.rows import COLUMNS, note_from, word_query

_MANY = 2000
_COLUMNS = ", ".join(f"n.{name}" for name in COLUMNS.split(", "))
_HAS_TAG = (
    " AND EXISTS (SELECT 1 FROM knowledge_note_tags o WHERE o.note_id = n.id AND o.tag_key = %s)"
)
Row = tuple[Any, ...]


async def search(connection: Connection, question: NoteSearch) -> list[Found]:
    """The best or newest notes for a question."""
    names = shelf_names(question.shelf)
    where = "= %s" if names else ">= %s AND {n}shelf < %s"
    shelves: list[tuple[str, ...]] = (
        [(name,) for name in names] if names else [(PROPOSALS_FROM, PROPOSALS_BELOW)]
    )
    limit = question.limit
    match question.condition:
        case AnyTitle():
            sql = (
                f"SELECT {COLUMNS} FROM knowledge_notes WHERE shelf {where.format(n='')} ORDER "
                f"BY created_at DESC LIMIT %s"
            )
            notes = [
                note for shelf in shelves for note in await _notes(connection, sql, (*shelf, limit))
            ]
            return [
                Found(note, EXACT_TITLE_SCORE)
                for note in sorted(notes, key=sorting("newest"))[:limit]
            ]
        case TitlePrefix(text):
            notes = [
                note
                for shelf in shelves
                for note in await _prefix(connection, where, shelf, text, question.order, limit)
            ]
            notes.sort(key=sorting(question.order))
            return [Found(note, title_score(note, text)) for note in notes[:limit]]
        case Tagged(tags):
            first, *others = await _rarest_first(connection, tags)
            sql = (
                f"SELECT {_COLUMNS} FROM knowledge_note_tags t JOIN knowledge_notes n ON n.id = "
                f"t.note_id WHERE t.tag_key = %s "
                f"AND t.shelf {where.format(n='t.')}{_HAS_TAG * len(others)} ORDER BY "
                f"t.created_at DESC LIMIT %s"
            )
            notes = [
                note
                for shelf in shelves
                for note in await _notes(connection, sql, (first, *shelf, *others, limit))
            ]
            return [Found(note, TAG_SCORE) for note in sorted(notes, key=sorting("newest"))[:limit]]
        case TextMatch(phrases, tags):
            places = " OR ".join([f"n.shelf {where.format(n='n.')}"] * len(shelves))
            by = (
                "n.created_at DESC"
                if question.order == "newest"
                else "score DESC, n.created_at DESC"
            )
            sql = (
                f"SELECT {_COLUMNS}, ts_rank_cd(n.words, q, 1) AS score FROM knowledge_notes n, "
                f"CAST(%s AS tsquery) q WHERE n.words  q AND ({places}){_HAS_TAG * len(tags)} "
                f"ORDER BY {by} LIMIT %s"
            )
            values = (
                word_query(phrases),
                *(name for shelf in shelves for name in shelf),
                *tags,
                limit,
            )
            rows = await _rows(connection, sql, values)
            return [Found(note_from(row), text_score(row[-1])) for row in rows]


async def _prefix(
    connection: Connection, where: str, shelf: tuple[str, ...], text: str, order: Order, limit: int
) -> list[Note]:
    inside = f"shelf {where.format(n='')} AND title_key >= %s AND title_key < %s"
    values = (*shelf, text, text + LAST_CHARACTER)
    by = "title_key, created_at DESC" if order == "best" else "created_at DESC"
    return await _notes(
        connection,
        f"SELECT {COLUMNS} FROM knowledge_notes WHERE {inside} ORDER BY {by} LIMIT %s",
        (*values, limit),
    )


async def _rarest_first(connection: Connection, tags: tuple[str, ...]) -> list[str]:
    if len(tags) == 1:
        return list(tags)
    sql = (
        f"SELECT count(*) FROM (SELECT 1 FROM knowledge_note_tags WHERE tag_key = %s LIMIT "
        f"{_MANY}) few"
    )
    counts = {tag: (await _rows(connection, sql, (tag,)))[0][0] for tag in tags}
    return sorted(tags, key=lambda tag: counts[tag])


async def _notes(connection: Connection, sql: str, values: Sequence[Any]) -> list[Note]:
    return [note_from(row) for row in await _rows(connection, sql, values)]


async def _rows(connection: Connection, sql: str, values: Sequence[Any]) -> list[Row]:
    return await (await connection.execute(sql, values)).fetchall()
