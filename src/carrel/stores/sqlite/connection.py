"""Opens SQLite files and runs transactions on them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

from carrel.stores.sql.driver import Rows, Step

ResultT = TypeVar("ResultT")
OpenMode = Literal["create", "write", "read", "immutable"]
_URI_MODES = {
    "create": "mode=rwc",
    "write": "mode=rw",
    "read": "mode=ro",
    "immutable": "mode=ro&immutable=1",
}
_POLL_SECONDS = 0.01
_WAIT_SECONDS = 60.0


def connect(
    file: Path, mode: OpenMode = "create", *, busy_seconds: float = 10.0
) -> sqlite3.Connection:
    """An autocommit connection that any thread may use; sqlite3.Error where it cannot be opened."""
    return sqlite3.connect(
        f"{file.absolute().as_uri()}?{_URI_MODES[mode]}",
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Takes the write lock at the start; commits at the end, or rolls back on any error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # A full disk makes SQLite roll back by itself; a second ROLLBACK would hide why.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def enable_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Waits itself while others do the same: SQLite's busy timeout does not cover this pragma."""
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            busy = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
            if error.sqlite_errorcode & 0xFF not in busy or time.monotonic() > until:
                raise
            time.sleep(_POLL_SECONDS)
        else:
            return


def drive(connection: sqlite3.Connection, work: Generator[Step, Rows, ResultT]) -> ResultT:
    """Runs the statements that `work` yields; each yield gets its rows."""
    try:
        step = next(work)
        while True:
            step = work.send(connection.execute(*step).fetchall())
    except StopIteration as end:
        result: ResultT = end.value
        return result
