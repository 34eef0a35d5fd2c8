"""Reference lists that were loaded and are not in a segment yet: one file for a whole batch."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from carrel.stores.sqlite.connection import connect

_FILE_NAME = "references.db"


class StagedReferenceFiles:
    """Assets `references/…` beside the staged files; opened when first needed."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE_NAME
        self._connection: sqlite3.Connection | None = None

    def add(self, references: Sequence[tuple[str, bytes]]) -> None:
        if not references:
            return
        connection = self._open()
        if not connection.in_transaction:
            connection.execute("BEGIN")
        connection.executemany("INSERT OR IGNORE INTO asset VALUES (?, ?)", references)

    def commit(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def roll_back(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def read(self, name: str) -> bytes | None:
        """The list of this name; None where it does not wait here."""
        if not name.startswith("references/"):
            return None
        if self._connection is None and not self._path.exists():
            return None
        row = self._open().execute("SELECT body FROM asset WHERE name = ?", (name,)).fetchone()
        return None if row is None else bytes(row[0])

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = connect(self._path)
            self._connection.execute("PRAGMA journal_mode=TRUNCATE")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS asset (name TEXT PRIMARY KEY, body BLOB NOT NULL) "
                "WITHOUT ROWID"
            )
        return self._connection
