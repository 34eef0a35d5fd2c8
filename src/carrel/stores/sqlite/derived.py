"""A SQLite file that holds nothing of its own: damaged, or of another version, it is removed and
filled again from the truth.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from carrel.core.error_description import describe_error
from carrel.stores.file_lock import hold_lock
from carrel.stores.sqlite.database import Database, Work
from carrel.stores.sqlite.errors import is_damaged
from carrel.stores.sqlite.schema_upgrade import bring_forward, version_of

log = logging.getLogger("carrel.cache")
ResultT = TypeVar("ResultT")

_LOCK_SECONDS = 30.0
_COMPANIONS = ("", "-wal", "-shm", "-journal")
# What SQLite says of tables that are not as this version made them.
_WRONG_TABLES = (
    "no such table",
    "no such column",
    "has no column",
    "already exists",
    "malformed",
    "wrong # of",
)


def is_unusable(error: BaseException) -> bool:
    """Whether an error says that the file is broken or not of this version, so that only a new one
    helps.
    """
    if not isinstance(error, sqlite3.Error):
        return False
    code = int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
    return (
        is_damaged(error)
        or code == sqlite3.SQLITE_IOERR
        or any(words in str(error) for words in _WRONG_TABLES)
    )


class DerivedDatabase:
    """Like `Database`, for a cache that several processes share. `start_anew` gives everybody an
    empty file.
    """

    def __init__(self, path: Path, steps: Sequence[str]) -> None:
        self.path = path
        self._steps = steps
        self._database: Database | None = None
        self._opened: tuple[int, int] | None = None
        self._turn = asyncio.Lock()
        self._is_closed = False

    async def read(self, work: Work[ResultT]) -> ResultT:
        return await (await self._current()).read(work)

    async def write(self, work: Work[ResultT]) -> ResultT:
        return await (await self._current()).write(work)

    async def close(self) -> None:
        self._is_closed = True
        if self._database is not None:
            await self._database.close()

    async def start_anew(self, error: BaseException) -> None:
        """Removes the file, unless another process has done so already, and begins with an empty
        one.
        """
        async with self._turn:
            log.warning(
                "cache is made again",
                extra={"file": self.path.name, "cause": describe_error(error)},
            )
            broken = self._opened or _identity(self.path)
            if self._database is not None:
                await self._database.close()
            self._database = self._opened = None
            await asyncio.to_thread(_remove, self.path, broken)

    async def _current(self) -> Database:
        """The file that has the name now: another process may have begun anew."""
        if self._is_closed:
            raise sqlite3.ProgrammingError("the database is closed")
        known = self._database
        if known is not None and _identity(self.path) == self._opened:
            return known
        async with self._turn:
            if self._database is not None:
                if _identity(self.path) == self._opened:
                    return self._database
                await self._database.close()
            opened, self._opened = await asyncio.to_thread(self._open)
            self._database = opened
            return opened

    def _open(self) -> tuple[Database, tuple[int, int] | None]:
        if self.path.exists() and _is_of_another_version(self.path, len(self._steps)):
            _remove(self.path, _identity(self.path))
        database = Database(self.path, self._steps, bring_forward=bring_forward)
        database.prepare()
        return database, _identity(self.path)


def _is_of_another_version(path: Path, version: int) -> bool:
    try:
        return version_of(path) not in {0, version}
    except sqlite3.OperationalError:
        # Busy, or not readable just now: whoever opens it will say.
        return False
    except sqlite3.DatabaseError:
        return True


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _remove(path: Path, broken: tuple[int, int] | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(path.with_name(f".{path.name}.lock"), wait_seconds=_LOCK_SECONDS):
        if broken is None or _identity(path) == broken:
            for suffix in _COMPANIONS:
                path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
