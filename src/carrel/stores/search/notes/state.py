"""How far an index of notes has followed its store, and in which parts each note lies."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

STATE_FILE = "state.sqlite"
_IDS_AT_ONCE = 500
_TABLES = """
CREATE TABLE IF NOT EXISTS note (
  id TEXT PRIMARY KEY, digest BLOB NOT NULL, places TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS part (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS progress (number INTEGER PRIMARY KEY CHECK (number = 1), cursor TEXT);
INSERT OR IGNORE INTO progress VALUES (1, NULL);
"""


@dataclass(frozen=True, slots=True)
class IndexedNote:
    """What an index holds of one note."""

    digest: bytes
    places: frozenset[str]


class IndexState:
    """The state of one generation of an index. Whoever writes holds the lock of the index.

    Raises sqlite3.DatabaseError where the file is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(
            folder / STATE_FILE, isolation_level=None, check_same_thread=False, timeout=5.0
        )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.executescript(_TABLES)

    def close(self) -> None:
        self._connection.close()

    def read_cursor(self) -> str | None:
        ((cursor,),) = self._connection.execute("SELECT cursor FROM progress")
        return None if cursor is None else str(cursor)

    def read_parts(self) -> frozenset[str]:
        return frozenset(name for (name,) in self._connection.execute("SELECT name FROM part"))

    def find(self, ids: Sequence[str]) -> dict[str, IndexedNote]:
        found: dict[str, IndexedNote] = {}
        for start in range(0, len(ids), _IDS_AT_ONCE):
            some = ids[start : start + _IDS_AT_ONCE]
            places = ", ".join("?" * len(some))
            rows = self._connection.execute(
                f"SELECT id, digest, places FROM note WHERE id IN ({places})",
                some,
            )
            for note_id, digest, parts in rows:
                found[note_id] = IndexedNote(digest, frozenset(parts.split()))
        return found

    def announce(self, places: Mapping[str, frozenset[str]]) -> None:
        """Say before a commit where documents of notes may lie if it is the last thing we do."""
        with self._transaction():
            self._connection.executemany(
                "INSERT INTO note VALUES (?, x'', ?) ON CONFLICT (id) DO UPDATE SET "
                "digest = x'', places = excluded.places",
                [(note_id, " ".join(sorted(names))) for note_id, names in places.items()],
            )

    def settle(
        self, notes: Mapping[str, IndexedNote | None], parts: Iterable[str], cursor: str | None
    ) -> None:
        """Say after a commit what the parts hold now, and up to where the store was read."""
        with self._transaction():
            self._connection.executemany(
                "INSERT OR IGNORE INTO part VALUES (?)", [(name,) for name in parts]
            )
            self._connection.executemany(
                "INSERT OR REPLACE INTO note VALUES (?, ?, ?)",
                [
                    (note_id, held.digest, " ".join(sorted(held.places)))
                    for note_id, held in notes.items()
                    if held is not None
                ],
            )
            self._connection.executemany(
                "DELETE FROM note WHERE id = ?",
                [(note_id,) for note_id, held in notes.items() if held is None],
            )
            if cursor is not None:
                self._connection.execute("UPDATE progress SET cursor = ?", (cursor,))

    def _transaction(self) -> _Transaction:
        return _Transaction(self._connection)


class _Transaction:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._connection.execute("COMMIT" if kind is None else "ROLLBACK")
