"""Notes in PostgreSQL: prefix and tags along an index, text by a word index, every change with its
history.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

from psycopg.errors import UniqueViolation

from carrel.libraries.text.tokenizer import case_key
from carrel.rooms.knowledge.documents import DocumentChange, Drop, Mark, Put, note_document
from carrel.rooms.knowledge.errors import NoteChangedError, NoteExistsError
from carrel.rooms.knowledge.notes import (
    PROPOSALS_BELOW,
    PROPOSALS_FROM,
    Change,
    Found,
    Insert,
    Note,
    NoteSearch,
    Remove,
    Replace,
    Shelf,
    Version,
    shelf_names,
    shelf_of,
)
from carrel.rooms.knowledge.ports import Capabilities
from carrel.stores.postgres.database import Connection, PostgresDatabase
from carrel.stores.postgres.knowledge.rows import (
    COLUMNS,
    note_from,
    told_plainly,
    values_of,
    version_from,
)
from carrel.stores.postgres.knowledge.search import search

PAGE = 500
_SETS = ", ".join(f"{name} = %s" for name in COLUMNS.split(", "))


class PostgresNoteStore:
    """Notes on a server."""

    capabilities = Capabilities(has_ranking=True, reads_at_most=None)

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def write(self, changes: Sequence[Change]) -> None:
        with told_plainly():
            async with self._database.connected() as connection:
                for change in changes:
                    await _apply(connection, change)

    async def find(self, note_id: str) -> Note | None:
        rows = await self._rows(f"SELECT {COLUMNS} FROM knowledge_notes WHERE id = %s", (note_id,))
        return note_from(rows[0]) if rows else None

    async def titled(self, titles: Sequence[str], shelf: Shelf) -> dict[str, Note]:
        sql = (
            f"SELECT DISTINCT ON (title_key) {COLUMNS}, title_key FROM knowledge_notes WHERE "
            f"shelf = ANY (%s) "
            "AND title_key = ANY (%s) ORDER BY title_key, created_at DESC"
        )
        rows = await self._rows(
            sql, (list(shelf_names(shelf) or ()), [case_key(title) for title in titles])
        )
        found = {row[-1]: note_from(row) for row in rows}
        return {title: found[case_key(title)] for title in titles if case_key(title) in found}

    async def search(self, question: NoteSearch) -> list[Found]:
        with told_plainly():
            async with self._database.connected() as connection:
                return await search(connection, question)

    async def history(self, note_id: str, limit: int) -> list[Version]:
        sql = (
            "SELECT note_id, changed_at, changed_by, kind, title, content, tags, status FROM "
            "knowledge_history "
            "WHERE note_id = %s ORDER BY changed_at DESC LIMIT %s"
        )
        return [version_from(row) for row in await self._rows(sql, (note_id, limit))]

    async def everything(self, shelf: Shelf) -> AsyncIterator[Note]:
        names = shelf_names(shelf)
        where = "shelf >= %s AND shelf < %s" if names is None else "shelf = ANY (%s)"
        values: tuple[Any, ...] = (
            (PROPOSALS_FROM, PROPOSALS_BELOW) if names is None else (list(names),)
        )
        sql = (
            f"SELECT {COLUMNS} FROM knowledge_notes WHERE (created_at, id) > (%s, %s) AND {where} "
            f"ORDER BY created_at, id LIMIT {PAGE}"
        )
        after: tuple[Any, ...] = ("-infinity", "")
        while True:
            rows = await self._rows(sql, (*after, *values))
            for row in rows:
                yield note_from(row)
            if len(rows) < PAGE:
                return
            after = (rows[-1][8], rows[-1][0])

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        """A transaction that began before the mark may still commit; so the mark is the oldest one
        running, read inclusively.
        """
        start = since or "0"
        ((horizon,),) = await self._rows("SELECT pg_snapshot_xmin(pg_current_snapshot())::text", ())
        for (note_id,) in await self._rows(
            "SELECT note_id FROM knowledge_removed WHERE changed_in >= %s::xid8", (start,)
        ):
            yield Drop(note_id)
        sql = (
            f"SELECT {COLUMNS}, changed_in::text FROM knowledge_notes WHERE (changed_in, id) > "
            f"(%s::xid8, %s) "
            f"ORDER BY changed_in, id LIMIT {PAGE}"
        )
        after = (start, "")
        while True:
            rows = await self._rows(sql, after)
            for row in rows:
                yield Put(note_document(note_from(row)))
            if len(rows) < PAGE:
                break
            after = (rows[-1][-1], rows[-1][0])
            yield Mark(str(min(int(after[0]), int(horizon))))
        yield Mark(horizon)

    async def ping(self) -> None:
        await self._rows("SELECT 1 FROM knowledge_notes LIMIT 1", ())

    async def check(self) -> str:
        ((count, version),) = await self._rows(
            "SELECT count(*), current_setting('server_version') FROM knowledge_notes", ()
        )
        return f"{count} notes in PostgreSQL {version}"

    async def close(self) -> None:
        await self._database.close()

    async def _rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with told_plainly():
            async with self._database.connected() as connection:
                return await (await connection.execute(sql, values)).fetchall()


async def _apply(connection: Connection, change: Change) -> None:
    match change:
        case Insert(note, by, kind):
            marks = ", ".join(["%s"] * 16)
            sql = (
                f"INSERT INTO knowledge_notes ({COLUMNS}, title_key, shelf, words) VALUES ({marks})"
            )
            try:
                await connection.execute(sql, values_of(note))
            except UniqueViolation:
                raise NoteExistsError(note.id) from None
            await connection.execute("DELETE FROM knowledge_removed WHERE note_id = %s", (note.id,))
            await _add_tags(connection, note)
            await _remember(connection, note, by, kind)
        case Replace(note, expected, by, kind):
            await _seen(connection, note.id, expected)
            sql = (
                f"UPDATE knowledge_notes SET {_SETS}, title_key = %s, shelf = %s, words = %s, "
                "changed_in = pg_current_xact_id() WHERE id = %s"
            )
            await connection.execute(sql, (*values_of(note), note.id))
            await connection.execute(
                "DELETE FROM knowledge_note_tags WHERE note_id = %s", (note.id,)
            )
            await _add_tags(connection, note)
            await _remember(connection, note, by, kind)
        case Remove(note_id, expected):
            await _seen(connection, note_id, expected)
            await connection.execute("DELETE FROM knowledge_notes WHERE id = %s", (note_id,))
            await connection.execute("DELETE FROM knowledge_history WHERE note_id = %s", (note_id,))
            await connection.execute(
                "INSERT INTO knowledge_removed (note_id) VALUES (%s) ON CONFLICT (note_id) "
                "DO UPDATE SET changed_in = pg_current_xact_id()",
                (note_id,),
            )


async def _seen(connection: Connection, note_id: str, expected: datetime) -> None:
    """Locks the note and makes sure that it is in the state that was seen."""
    cursor = await connection.execute(
        "SELECT updated_at FROM knowledge_notes WHERE id = %s FOR UPDATE", (note_id,)
    )
    row = await cursor.fetchone()
    if row is None or row[0] != expected:
        raise NoteChangedError(note_id, None if row is None else row[0].astimezone(expected.tzinfo))


async def _add_tags(connection: Connection, note: Note) -> None:
    shelf = shelf_of(note)
    keys = sorted({case_key(tag) for tag in note.tags})
    if keys:
        await connection.execute(
            "INSERT INTO knowledge_note_tags SELECT unnest(%s::text[]), %s, %s, %s",
            (keys, shelf, note.created_at, note.id),
        )


async def _remember(connection: Connection, note: Note, by: str, kind: str) -> None:
    row = (
        note.id,
        note.updated_at,
        by,
        kind,
        note.title,
        note.content,
        list(note.tags),
        note.status,
    )
    await connection.execute(
        "INSERT INTO knowledge_history VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", row
    )
