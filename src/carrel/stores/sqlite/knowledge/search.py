"""How SQLite finds notes: each condition runs along an index of one shelf, and the shelves are
merged.
"""

from __future__ import annotations

import sqlite3

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
from carrel.stores.sqlite.knowledge.rows import COLUMNS, note_from
from carrel.stores.sqlite.visible_words import inverse_frequency, phrase_query, saturation, terms

_MANY = 2000
_TITLE_WEIGHT = 4.0
_WORDS_PER_JOIN = 32

_COLUMNS = ", ".join(f"n.{name}" for name in COLUMNS.split(", "))
Row = tuple[object, ...]


def search(connection: sqlite3.Connection, question: NoteSearch) -> list[Found]:
    """The best or newest notes for a question."""
    names = shelf_names(question.shelf)
    # Proposals are few and stand on many shelves next to each other: a range, sorted, instead of
    # one shelf along its index.
    where = "= ?" if names else ">= ? AND {n}shelf < ?"
    shelves: list[tuple[str, ...]] = (
        [(name,) for name in names] if names else [(PROPOSALS_FROM, PROPOSALS_BELOW)]
    )
    limit = question.limit
    match question.condition:
        case AnyTitle():
            rows = [row for shelf in shelves for row in _newest(connection, where, shelf, limit)]
            return [Found(note, EXACT_TITLE_SCORE) for note in _newest_first(rows)[:limit]]
        case TitlePrefix(text):
            rows = [
                row
                for shelf in shelves
                for row in _prefix(connection, where, shelf, text, question.order, limit)
            ]
            notes = [note_from(row) for row in rows]
            notes.sort(key=sorting(question.order))
            return [Found(note, title_score(note, text)) for note in notes[:limit]]
        case Tagged(tags):
            first, *others = (
                sorted(tags, key=lambda tag: _count(connection, tag)) if len(tags) > 1 else tags
            )
            rows = [
                row
                for shelf in shelves
                for row in _tagged(connection, where, shelf, first, others, limit)
            ]
            return [Found(note, TAG_SCORE) for note in _newest_first(rows)[:limit]]
        case TextMatch(phrases, tags):
            return _text(connection, where, shelves, phrases, tags, question.order, limit)


def _newest_first(rows: list[Row]) -> list[Note]:
    return sorted((note_from(row) for row in rows), key=lambda note: note.created_at, reverse=True)


def _newest(
    connection: sqlite3.Connection, where: str, shelf: tuple[str, ...], limit: int
) -> list[Row]:
    sql = (
        f"SELECT {COLUMNS} FROM notes WHERE shelf {where.format(n='')} ORDER BY created_at DESC "
        f"LIMIT ?"
    )
    return connection.execute(sql, (*shelf, limit)).fetchall()


def _prefix(
    connection: sqlite3.Connection,
    where: str,
    shelf: tuple[str, ...],
    text: str,
    order: Order,
    limit: int,
) -> list[Row]:
    inside = f"shelf {where.format(n='')} AND title_key >= ? AND title_key < ?"
    values = (*shelf, text, text + LAST_CHARACTER)
    if order == "best":
        sql = (
            f"SELECT {COLUMNS} FROM notes WHERE {inside} ORDER BY title_key, created_at DESC "
            f"LIMIT ?"
        )
        return connection.execute(sql, (*values, limit)).fetchall()
    # A short range is sorted; where the range is long, walking back in time meets enough of it
    # soon.
    probe = f"SELECT count(*) FROM (SELECT 1 FROM notes WHERE {inside} LIMIT {_MANY})"
    is_long = connection.execute(probe, values).fetchone()[0] == _MANY
    by_index = "notes_by_time" if is_long else "notes_by_title"
    sql = (
        f"SELECT {COLUMNS} FROM notes INDEXED BY {by_index} WHERE {inside} ORDER BY created_at "
        f"DESC LIMIT ?"
    )
    return connection.execute(sql, (*values, limit)).fetchall()


def _count(connection: sqlite3.Connection, tag: str) -> int:
    sql = f"SELECT count(*) FROM (SELECT 1 FROM note_tags WHERE tag_key = ? LIMIT {_MANY})"
    return int(connection.execute(sql, (tag,)).fetchone()[0])


_HAS_TAG = (
    " AND EXISTS (SELECT 1 FROM note_tags o WHERE o.tag_key = ? AND o.shelf = n.shelf "
    "AND o.created_at = n.created_at AND o.number = n.number)"
)


def _tagged(
    connection: sqlite3.Connection,
    where: str,
    shelf: tuple[str, ...],
    first: str,
    others: list[str],
    limit: int,
) -> list[Row]:
    sql = (
        f"SELECT {_COLUMNS} FROM note_tags t CROSS JOIN notes n ON n.number = t.number "
        f"WHERE t.tag_key = ? AND t.shelf {where.format(n='t.')}{_HAS_TAG * len(others)} ORDER BY "
        f"t.created_at DESC LIMIT ?"
    )
    return connection.execute(sql, (first, *shelf, *others, limit)).fetchall()


def _text(
    connection: sqlite3.Connection,
    where: str,
    shelves: list[tuple[str, ...]],
    phrases: tuple[tuple[str, ...], ...],
    tags: tuple[str, ...],
    order: Order,
    limit: int,
) -> list[Found]:
    """Notes with every phrase, ranked by what the shelves that are looked at hold, and by nothing
    else.
    """
    sql = (
        f"SELECT number, notes, words FROM note_shelves WHERE ({_any_shelf(where, shelves)}) "
        f"AND notes > 0 ORDER BY number"
    )
    rows = connection.execute(sql, [name for shelf in shelves for name in shelf]).fetchall()
    if not rows:
        return []
    groups = [row[0] for row in rows]
    notes = sum(row[1] for row in rows)
    average = sum(row[2] for row in rows) / notes
    tables: list[str] = []
    scores: list[str] = []
    values: list[str] = []
    for word in dict.fromkeys(word for phrase in phrases for word in phrase):
        name = f"w{len(tables)}"
        asked = terms(groups, word)
        marks = ", ".join("?" * len(asked))
        counted = f"SELECT coalesce(sum(doc), 0) FROM note_word_counts WHERE term IN ({marks})"
        holding = int(connection.execute(counted, asked).fetchone()[0])
        if not holding:
            return []
        tables.append(
            f"{name} (number, count) AS MATERIALIZED (SELECT doc, sum(CASE col WHEN 'title' THEN "
            f"{_TITLE_WEIGHT} ELSE 1.0 END) "
            f"FROM note_word_places WHERE term IN ({marks}) GROUP BY doc)"
        )
        values += asked
        scores.append(
            f"{inverse_frequency(notes, holding)!r} * "
            f"{saturation(f'{name}.count', 'z.words', average)}"
        )
    parts = _parts(scores)
    tables += parts
    joins = "".join(
        f" JOIN s{place} ON s{place}.number = s0.number" for place in range(1, len(parts))
    )
    if any(len(phrase) > 1 for phrase in phrases):
        # Asked once for all notes: joined directly, SQLite asks FTS5 again for each note that holds
        # the words.
        tables.append(
            "phrased (number) AS MATERIALIZED (SELECT rowid FROM note_shelf_words WHERE "
            "note_shelf_words MATCH ?)"
        )
        values.append(phrase_query(groups, phrases))
        joins += " JOIN phrased ON phrased.number = s0.number"
    score = " + ".join(f"s{place}.score" for place in range(len(parts)))
    by = "n.created_at DESC, n.id" if order == "newest" else "score DESC, n.created_at DESC, n.id"
    sql = (
        f"WITH {', '.join(tables)} SELECT {_COLUMNS}, {score} AS score FROM s0{joins} "
        f"JOIN notes n ON n.number = s0.number WHERE 1{_HAS_TAG * len(tags)} "
        f"ORDER BY {by} LIMIT ?"
    )
    found = connection.execute(sql, (*values, *tags, limit)).fetchall()
    return [Found(note_from(row), text_score(row[-1])) for row in found]


def _parts(scores: list[str]) -> list[str]:
    """Tables of the notes that hold every word, with their scores; several of them, since SQLite
    joins at most 64 tables.
    """
    tables: list[str] = []
    for begin in range(0, len(scores), _WORDS_PER_JOIN):
        names = [f"w{place}" for place in range(begin, min(begin + _WORDS_PER_JOIN, len(scores)))]
        joins = "".join(f" JOIN {name} ON {name}.number = {names[0]}.number" for name in names[1:])
        score = " + ".join(scores[begin : begin + _WORDS_PER_JOIN])
        tables.append(
            f"s{len(tables)} (number, score) AS MATERIALIZED (SELECT {names[0]}.number, {score} "
            f"FROM {names[0]}{joins} "
            f"JOIN note_sizes z ON z.number = {names[0]}.number)"
        )
    return tables


def _any_shelf(where: str, shelves: list[tuple[str, ...]]) -> str:
    return " OR ".join([f"name {where.replace('{n}shelf', 'name')}"] * len(shelves))
