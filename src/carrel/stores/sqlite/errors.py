"""SQLite's failures in our own words: the driver's own may quote data, and go to the log only."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from carrel.core.errors import CarrelError, ConflictError, StorageFullError, UnavailableError
from carrel.stores.database_identity import DatabaseReplacedError

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
# What SQLite says of tables that are not as this version made them.
_WRONG_TABLES = (
    "no such table",
    "no such column",
    "has no column",
    "already exists",
    "malformed",
    "wrong # of",
)
# Less than one page of a database and of its write-ahead index.
_LEAST_FREE_BYTES = 64 * 1024


class SqliteRefusedError(sqlite3.OperationalError):
    """Our own refusal, raised where SQLite's errors are expected; its text is for people."""


class CacheUnusableError(CarrelError):
    """A cache file is damaged or of another version, so that only a new one helps."""

    code = "unavailable"
    is_retryable = True


@contextmanager
def translate_driver_errors(
    file: Path, describe: Callable[[str], CarrelError] | None = None, *, is_cache: bool = False
) -> Iterator[None]:
    """Converts sqlite3.Error to CarrelError; `describe` makes the error for a plain reason."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise ConflictError("Somebody else has written the same thing first") from error
    except sqlite3.Error as error:
        if is_disk_full(error, file):
            raise StorageFullError.at(f"the folder of {file.name}") from error
        if is_cache and is_unusable(error):
            raise CacheUnusableError(f"{file.name} cannot be used: {reason_of(error)}") from error
        if not is_cache and is_damaged(error):
            raise DatabaseReplacedError(file, "is damaged") from error
        raise (describe or _unavailable(file))(reason_of(error)) from error


def _unavailable(file: Path) -> Callable[[str], CarrelError]:
    return lambda reason: UnavailableError(
        f"{file.name} cannot be used: {reason}",
        next_step="Try again; the operator should look at the home folder.",
    )


def reason_of(error: sqlite3.Error) -> str:
    """A reason that quotes nothing of the data."""
    if isinstance(error, SqliteRefusedError):
        return str(error)
    return _REASONS.get(_primary_code(error), "it failed")


@contextmanager
def translate_damage(describe: Callable[[], CarrelError]) -> Iterator[None]:
    """Converts SQLite's word that a file is broken to the error that `describe` makes."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if is_damaged(error):
            raise describe() from error
        raise


def is_damaged(error: sqlite3.Error) -> bool:
    """Whether SQLite says that the file itself is broken."""
    return _primary_code(error) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def is_unusable(error: sqlite3.Error) -> bool:
    """Whether the file is broken or not of this version, so that only a new one helps."""
    return (
        is_damaged(error)
        or _primary_code(error) == sqlite3.SQLITE_IOERR
        or any(words in str(error) for words in _WRONG_TABLES)
    )


def is_disk_full(error: BaseException, file: Path) -> bool:
    """ENOSPC, SQLITE_FULL, or an input/output error while no space is left beside the file."""
    if isinstance(error, OSError):
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    if not isinstance(error, sqlite3.Error):
        return False
    code = _primary_code(error)
    if code == sqlite3.SQLITE_FULL:
        return True
    is_input_output = code in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
    return is_input_output and _free_bytes(file.parent) < _LEAST_FREE_BYTES


@contextmanager
def translate_full_disk(file: Path) -> Iterator[None]:
    """Converts what a full disk raises inside, whoever raises it, to StorageFullError."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        if is_disk_full(error, file):
            raise StorageFullError.at(str(file.parent)) from error
        raise


def _free_bytes(folder: Path) -> int:
    try:
        found = os.statvfs(folder)
    except (OSError, AttributeError):
        return _LEAST_FREE_BYTES
    return found.f_bavail * found.f_frsize


def _primary_code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
