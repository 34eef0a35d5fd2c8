"""Notes in SQLite: prefix and tags along an index, text by FTS5, every change with its history in
one transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict

import orjson

from carrel.libraries.text.tokenizer import case_key, split_words
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
from carrel.stores.sqlite.database import Database
from carrel.stores.sqlite.knowledge.rows import (
    COLUMNS,
    microseconds,
    moment,
    note_from,
    told_plainly,
    version_from,
)
from carrel.stores.sqlite.knowledge.search import search
from carrel.stores.sqlite.visible_words import marked

PAGE = 500


class SqliteNoteStore:
    """Notes in one file."""

    capabilities = Capabilities(has_ranking=True, reads_at_most=None)

    def __init__(self, database: Database) -> None:
        self._database = database

    async def write(self, changes: Sequence[Change]) -> None:
        with told_plainly(self._database.path):
            await self._database.write(lambda connection: _write(connection, changes))

    async def find(self, note_id: str) -> Note | None:
        with told_plainly(self._database.path):
            return await self._database.read(lambda connection: _find(connection, note_id))

    async def titled(self, titles: Sequence[str], shelf: Shelf) -> dict[str, Note]:
        with told_plainly(self._database.path):
            return await self._database.read(lambda connection: _titled(connection, titles, shelf))

    async def search(self, question: NoteSearch) -> list[Found]:
        with told_plainly(self._database.path):
            return await self._database.read(lambda connection: search(connection, question))

    async def history(self, note_id: str, limit: int) -> list[Version]:
        sql = "SELECT * FROM note_history WHERE note_id = ? ORDER BY changed_at DESC LIMIT ?"
        with told_plainly(self._database.path):
            rows = await self._database.read(
                lambda connection: connection.execute(sql, (note_id, limit)).fetchall()
            )
        return [version_from(row) for row in rows]

    async def everything(self, shelf: Shelf) -> AsyncIterator[Note]:
        names = shelf_names(shelf)
        where = (
            "shelf >= ? AND shelf < ?"
            if names is None
            else f"shelf IN ({', '.join('?' * len(names))})"
        )
        values = (PROPOSALS_FROM, PROPOSALS_BELOW) if names is None else names
        sql = (
            f"SELECT {COLUMNS}, number FROM notes WHERE number > ? AND {where} ORDER BY number "
            f"LIMIT {PAGE}"
        )
        after = 0
        while True:
            with told_plainly(self._database.path):
                start = after
                rows = await self._database.read(
                    lambda connection: connection.execute(sql, (start, *values)).fetchall()  # noqa: B023
                )
            for row in rows:
                yield note_from(row)
            if len(rows) < PAGE:
                return
            after = rows[-1][-1]

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        sql = (
            f"SELECT {', '.join('n.' + name for name in COLUMNS.split(', '))}, c.sequence, c.key, "
            f"c.is_removed "
            "FROM changes c LEFT JOIN notes n ON n.id = c.key "
            f"WHERE c.kind = 'note' AND c.sequence > ? ORDER BY c.sequence LIMIT {PAGE}"
        )
        after = int(since or 0)
        while True:
            with told_plainly(self._database.path):
                start = after
                rows = await self._database.read(
                    lambda connection: connection.execute(sql, (start,)).fetchall()  # noqa: B023
                )
            for row in rows:
                yield Drop(row[-2]) if row[-1] else Put(note_document(note_from(row)))
            if rows:
                after = rows[-1][-3]
                yield Mark(str(after))
            if len(rows) < PAGE:
                return

    async def ping(self) -> None:
        with told_plainly(self._database.path):
            await self._database.read(
                lambda connection: connection.execute("SELECT 1 FROM notes LIMIT 1").fetchone()
            )

    async def check(self) -> str:
        with told_plainly(self._database.path):
            count = await self._database.read(
                lambda connection: connection.execute("SELECT count(*) FROM notes").fetchone()[0]
            )
        return f"{count} notes in {self._database.path}"

    async def close(self) -> None:
        await self._database.close()


def _find(connection: sqlite3.Connection, note_id: str) -> Note | None:
    row = connection.execute(f"SELECT {COLUMNS} FROM notes WHERE id = ?", (note_id,)).fetchone()
    return None if row is None else note_from(row)


def _titled(connection: sqlite3.Connection, titles: Sequence[str], shelf: Shelf) -> dict[str, Note]:
    names = shelf_names(shelf) or ()
    sql = (
        f"SELECT {COLUMNS} FROM notes WHERE shelf = ? AND title_key = ? ORDER BY created_at "
        f"DESC LIMIT 1"
    )
    found: dict[str, Note] = {}
    for title in titles:
        rows = [
            row
            for name in names
            if (row := connection.execute(sql, (name, case_key(title))).fetchone())
        ]
        if rows:
            found[title] = max((note_from(row) for row in rows), key=lambda note: note.created_at)
    return found


def _write(connection: sqlite3.Connection, changes: Sequence[Change]) -> None:
    for change in changes:
        match change:
            case Insert(note, by, kind):
                try:
                    _put(connection, note, None)
                except sqlite3.IntegrityError:
                    raise NoteExistsError(note.id) from None
                _remember(connection, note, by, kind)
                _tell(connection, note.id, is_removed=False)
            case Replace(note, expected, by, kind):
                number = _take_out(connection, note.id, microseconds(expected))
                _put(connection, note, number)
                _remember(connection, note, by, kind)
                _tell(connection, note.id, is_removed=False)
            case Remove(note_id, expected):
                _take_out(connection, note_id, microseconds(expected))
                connection.execute("DELETE FROM note_history WHERE note_id = ?", (note_id,))
                _tell(connection, note_id, is_removed=True)


def _put(connection: sqlite3.Connection, note: Note, number: int | None) -> None:
    shelf = shelf_of(note)
    created = microseconds(note.created_at)
    origin = None if note.origin is None else orjson.dumps(asdict(note.origin)).decode()
    values = (
        number,
        note.id,
        note.title,
        case_key(note.title),
        note.content,
        note.user_id,
        note.source,
        note.status,
        orjson.dumps(note.tags).decode(),
        note.schema_version,
        created,
        microseconds(note.updated_at),
        note.promoted_from_id,
        note.promoted_to_id,
        origin,
        shelf,
    )
    number = connection.execute(
        "INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values
    ).lastrowid
    tags = {(case_key(tag), shelf, created, number) for tag in note.tags}
    connection.executemany("INSERT INTO note_tags VALUES (?, ?, ?, ?)", tags)
    title, body = split_words(note.title), split_words(note.content)
    size = len(title) + len(body)
    connection.execute("INSERT OR IGNORE INTO note_shelves (name) VALUES (?)", (shelf,))
    sql = (
        "UPDATE note_shelves SET notes = notes + 1, words = words + ? WHERE name = ? RETURNING "
        "number"
    )
    place = connection.execute(sql, (size, shelf)).fetchone()[0]
    connection.execute("INSERT INTO note_sizes VALUES (?, ?, ?)", (number, place, size))
    connection.execute(
        "INSERT INTO note_shelf_words (rowid, title, body) VALUES (?, ?, ?)",
        (number, marked(place, title), marked(place, body)),
    )


def _take_out(connection: sqlite3.Connection, note_id: str, expected: int) -> int:
    """Removes the row of a note in the state that was seen; its number may be used again for the
    next state.
    """
    row = connection.execute(
        "SELECT number, updated_at, shelf, created_at, tags FROM notes WHERE id = ?", (note_id,)
    ).fetchone()
    if row is None:
        raise NoteChangedError(note_id, None)
    number, updated_at, shelf, created_at, tags = row
    if updated_at != expected:
        raise NoteChangedError(note_id, moment(updated_at))
    keys = {(case_key(tag), shelf, created_at, number) for tag in orjson.loads(tags)}
    connection.executemany(
        "DELETE FROM note_tags WHERE tag_key = ? AND shelf = ? AND created_at = ? AND number = ?",
        keys,
    )
    connection.execute("DELETE FROM note_shelf_words WHERE rowid = ?", (number,))
    sql = "DELETE FROM note_sizes WHERE number = ? RETURNING words, shelf"
    size = connection.execute(sql, (number,)).fetchone()
    connection.execute(
        "UPDATE note_shelves SET notes = notes - 1, words = words - ? WHERE number = ?", size
    )
    connection.execute("DELETE FROM notes WHERE number = ?", (number,))
    return int(number)


def _remember(connection: sqlite3.Connection, note: Note, by: str, kind: str) -> None:
    row = (
        note.id,
        microseconds(note.updated_at),
        by,
        kind,
        note.title,
        note.content,
        orjson.dumps(note.tags).decode(),
        note.status,
    )
    connection.execute("INSERT INTO note_history VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def _tell(connection: sqlite3.Connection, note_id: str, *, is_removed: bool) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO changes (kind, key, is_removed) VALUES ('note', ?, ?)",
        (note_id, int(is_removed)),
    )
