"""Holds one SQLite file off the event loop: one thread writes in groups, a few read."""

from __future__ import annotations

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from carrel.core.errors import CarrelError, describe_error
from carrel.stores.file_lock import hold_lock
from carrel.stores.sqlite.connection import connect, enable_write_ahead_log, transaction
from carrel.stores.sqlite.errors import translate_driver_errors
from carrel.stores.sqlite.schema import UpgradeStep, open_unwritable, prepare_file, schema_version

log = logging.getLogger("carrel.cache")

ResultT = TypeVar("ResultT")
Work = Callable[[sqlite3.Connection], ResultT]
Describe = Callable[[str], CarrelError]
Configure = Callable[[sqlite3.Connection], None]

_JOBS_PER_COMMIT = 64
_LOCK_SECONDS = 30.0
_COMPANIONS = ("", "-wal", "-shm", "-journal")


@dataclass(slots=True)
class _Job:
    work: Work[Any]
    done: Future[Any]


class Database:
    """One SQLite file, opened at first use and closed by its owner; `steps` are its schema.

    Driver errors are raised as CarrelError. A cache has no identity guard; CacheUnusableError says
    that it has to be made again.
    """

    def __init__(
        self,
        path: Path,
        steps: Sequence[UpgradeStep],
        *,
        readers: int = 2,
        busy_seconds: float = 10.0,
        is_cache: bool = False,
        describe: Describe | None = None,
        configure: Configure | None = None,
    ) -> None:
        self.path = path
        self._steps = steps
        self._busy_seconds = busy_seconds
        self._is_cache = is_cache
        self._describe = describe
        self._configure = configure
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix=f"read-{path.stem}")
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._opening = threading.Lock()
        self._is_open = False
        self._is_closed = False
        self._writer: threading.Thread | None = None

    async def read(self, work: Work[ResultT]) -> ResultT:
        """Runs `work` on one state of the file; whatever it changes is undone."""
        with translate_driver_errors(self.path, self._describe, is_cache=self._is_cache):
            return await asyncio.wrap_future(self._readers.submit(self._read, work))

    async def write(self, work: Work[ResultT]) -> ResultT:
        """Runs `work` in a transaction, on disk when this returns; nothing stays if it raises."""
        with translate_driver_errors(self.path, self._describe, is_cache=self._is_cache):
            if self._is_closed:
                raise sqlite3.ProgrammingError("the database is closed")
            job = _Job(work, Future())
            if self._writer is None:
                self._writer = threading.Thread(
                    target=self._write_forever, name=f"write-{self.path.stem}", daemon=True
                )
                self._writer.start()
            self._queue.put(job)
            return await asyncio.wrap_future(job.done)

    async def close(self) -> None:
        """Finishes what was asked for, then releases the file."""
        self._is_closed = True
        if self._writer is not None:
            self._queue.put(None)
            await asyncio.to_thread(self._writer.join)
        await asyncio.to_thread(self._readers.shutdown)
        for connection in self._connections:
            connection.close()
        self._connections.clear()

    def prepare(self) -> None:
        """Makes the file and its tables, once; other processes may be doing the same."""
        with self._opening:
            if not self._is_open:
                prepare_file(self.path, self._steps, is_guarded=not self._is_cache)
                self._is_open = True

    def _read(self, work: Work[ResultT]) -> ResultT:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect_to_read()
        connection.execute("BEGIN")
        try:
            return work(connection)
        finally:
            # An interrupted statement has ended the transaction already.
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _write_forever(self) -> None:
        connection: sqlite3.Connection | None = None
        while (first := self._queue.get()) is not None:
            jobs = [first]
            is_last = False
            while len(jobs) < _JOBS_PER_COMMIT and not self._queue.empty():
                job = self._queue.get()
                if job is None:
                    is_last = True
                    break
                jobs.append(job)
            jobs = [job for job in jobs if job.done.set_running_or_notify_cancel()]
            try:
                connection = connection or self._connect()
                _commit_together(connection, jobs)
            except Exception as error:  # noqa: BLE001  handed to those who asked, whatever it is
                for job in jobs:
                    if not job.done.done():
                        job.done.set_exception(error)
            if is_last:
                return

    def _connect_to_read(self) -> sqlite3.Connection:
        """As to write, but a folder that cannot be written can still be read."""
        connection = None if self._is_cache else open_unwritable(self.path, self._steps)
        return self._connect() if connection is None else self._set_up(connection)

    def _connect(self) -> sqlite3.Connection:
        self.prepare()
        connection = connect(self.path, busy_seconds=self._busy_seconds)
        enable_write_ahead_log(connection)
        # What was acknowledged must be there after a power cut, too.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = 1")
        return self._set_up(connection)

    def _set_up(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        connection.execute("PRAGMA cache_size = -16384")
        connection.execute("PRAGMA temp_store = MEMORY")
        if self._configure is not None:
            self._configure(connection)
        self._connections.append(connection)
        return connection


def _commit_together(connection: sqlite3.Connection, jobs: list[_Job]) -> None:
    """One commit for all jobs; a job that fails leaves the others alone."""
    outcomes: list[tuple[_Job, Any, Exception | None]] = []
    with transaction(connection):
        for job in jobs:
            connection.execute("SAVEPOINT job")
            try:
                outcomes.append((job, job.work(connection), None))
            except Exception as error:
                if not connection.in_transaction:
                    # SQLite has rolled everything back by itself, as it does when the disk is full.
                    raise
                connection.execute("ROLLBACK TO job")
                outcomes.append((job, None, error))
            connection.execute("RELEASE job")
    for job, result, failure in outcomes:
        if failure is None:
            job.done.set_result(result)
        else:
            job.done.set_exception(failure)


class DerivedDatabase:
    """A cache that processes share. Of another version it is removed; `start_anew` empties it."""

    def __init__(
        self, path: Path, steps: Sequence[UpgradeStep], *, describe: Describe | None = None
    ) -> None:
        self.path = path
        self._steps = steps
        self._describe = describe
        self._database: Database | None = None
        self._inode: tuple[int, int] | None = None
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
        """Removes the file, unless another process has done so already."""
        async with self._turn:
            log.warning(
                "cache is made again",
                extra={"file": self.path.name, "cause": describe_error(error)},
            )
            broken = self._inode or _inode_of(self.path)
            if self._database is not None:
                await self._database.close()
            self._database = self._inode = None
            await asyncio.to_thread(_remove, self.path, broken)

    async def _current(self) -> Database:
        """The database of that name now: another process may have started anew."""
        with translate_driver_errors(self.path, self._describe, is_cache=True):
            if self._is_closed:
                raise sqlite3.ProgrammingError("the database is closed")
            if self._database is not None and _inode_of(self.path) == self._inode:
                return self._database
            async with self._turn:
                if self._database is not None:
                    if _inode_of(self.path) == self._inode:
                        return self._database
                    await self._database.close()
                opened, self._inode = await asyncio.to_thread(self._open)
                self._database = opened
                return opened

    def _open(self) -> tuple[Database, tuple[int, int] | None]:
        if self.path.exists() and _is_of_another_version(self.path, len(self._steps)):
            _remove(self.path, _inode_of(self.path))
        database = Database(self.path, self._steps, is_cache=True, describe=self._describe)
        database.prepare()
        return database, _inode_of(self.path)


def _is_of_another_version(path: Path, version: int) -> bool:
    try:
        return schema_version(path) not in {0, version}
    except sqlite3.OperationalError:
        # Busy, or not readable just now: whoever opens it will say.
        return False
    except sqlite3.DatabaseError:
        return True


def _inode_of(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _remove(path: Path, broken: tuple[int, int] | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(path.with_name(f".{path.name}.lock"), wait_seconds=_LOCK_SECONDS):
        if broken is None or _inode_of(path) == broken:
            for suffix in _COMPANIONS:
                path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
