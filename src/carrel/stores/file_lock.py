"""The one lock of all stores: by file name, shared or exclusive, released when its holder dies.

POSIX systems use `flock`. Elsewhere (Windows has no `fcntl`) SQLite's own file locks serve: an
exclusive holder has an exclusive transaction on a small database beside the file, a shared one a
read.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

_POLL_SECONDS = 0.005
_SUFFIX = ".lock-db"


class LockHeldError(TimeoutError):
    """Another holder has the lock and did not release it in time."""


@contextmanager
def hold_lock(
    file: Path,
    *,
    shared: bool = False,
    wait_seconds: float | None = 0.0,
    is_database: bool = False,
) -> Iterator[None]:
    """Hold the lock of `file`, created where missing, while the block runs.

    Raises LockHeldError after `wait_seconds` (None: no limit), OSError where no lock can be made.
    With `is_database` the SQLite file itself is locked, which keeps out earlier versions too.
    """
    if is_database:
        lock = _database_lock(file, file, shared, wait_seconds)
    elif fcntl is not None:
        lock = _flock(file, shared, wait_seconds)
    else:
        # Whoever only wants the lock may rely on the file being there, as on other systems.
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        lock = _database_lock(file.with_name(file.name + _SUFFIX), file, shared, wait_seconds)
    with lock:
        yield


@contextmanager
def _flock(file: Path, shared: bool, wait_seconds: float | None) -> Iterator[None]:
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX

    def attempt() -> bool:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    try:
        if wait_seconds is None:
            fcntl.flock(descriptor, kind)
        else:
            _wait_for(attempt, file, wait_seconds)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _database_lock(
    database: Path, file: Path, shared: bool, wait_seconds: float | None
) -> Iterator[None]:
    # Not at the top: where flock serves, a start-up need not pay for it.
    import sqlite3

    try:
        connection = sqlite3.connect(
            database, timeout=0, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise OSError(f"{database} cannot be opened: {error}") from error

    def attempt() -> bool:
        try:
            connection.execute("BEGIN" if shared else "BEGIN EXCLUSIVE")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise OSError(f"{database} cannot be locked: {error}") from error
            if connection.in_transaction:
                connection.rollback()
            return False
        return True

    with closing(connection):
        _wait_for(attempt, file, wait_seconds)
        yield


def _wait_for(attempt: Callable[[], bool], file: Path, wait_seconds: float | None) -> None:
    deadline = None if wait_seconds is None else time.monotonic() + wait_seconds
    while not attempt():
        if deadline is not None and time.monotonic() >= deadline:
            raise LockHeldError(f"{file.name} is held by another process")
        time.sleep(_POLL_SECONDS)
