"""Why SQLite failed, in our own words: its own may quote what was being written, and go to the log
only.
"""

from __future__ import annotations

import sqlite3

_REASONS = {
    sqlite3.SQLITE_BUSY: "it is busy for too long",
    sqlite3.SQLITE_LOCKED: "it is busy for too long",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written",
    sqlite3.SQLITE_READONLY: "it may not be written",
    sqlite3.SQLITE_PERM: "it may not be opened",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_CORRUPT: "the file is damaged",
    sqlite3.SQLITE_NOTADB: "the file is not a database",
    sqlite3.SQLITE_TOOBIG: "a value is too large",
}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class SqliteRefusedError(sqlite3.OperationalError):
    """A refusal of ours that passes where SQLite's errors pass; its sentence is written for
    people.
    """


def reason_of(error: sqlite3.Error) -> str:
    """A reason that names nothing of what is inside."""
    if isinstance(error, SqliteRefusedError):
        return str(error)
    return _REASONS.get(_primary(error), "it failed")


def is_damaged(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken, as far as SQLite can tell."""
    return _primary(error) in _DAMAGED


def is_whole(connection: sqlite3.Connection) -> bool:
    """Whether every page of a database can be read as what it should be."""
    try:
        return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError as error:
        if is_damaged(error):
            return False
        raise


def _primary(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
