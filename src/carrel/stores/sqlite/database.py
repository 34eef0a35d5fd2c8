"""A SQLite file that never blocks the event loop: one thread writes, in groups; a few read."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from carrel.stores.sqlite.errors import SqliteRefusedError
from carrel.stores.sqlite.guarded import bring_guarded_forward

ResultT = TypeVar("ResultT")
Work = Callable[[sqlite3.Connection], ResultT]
BringForward = Callable[[Path, Sequence[str]], None]

_GROUP = 64
_BUSY_MS = 10_000


@dataclass(slots=True)
class _Job:
    work: Work[Any]
    done: Future[Any]


class Database:
    """Opened on first use, closed by whoever made it. `steps` are the scripts of its versions. A
    file that is not the database
    that was kept there is refused, unless `bring_forward` is one for files that can be made
    again."""

    def __init__(
        self,
        path: Path,
        steps: Sequence[str],
        *,
        readers: int = 2,
        bring_forward: BringForward = bring_guarded_forward,
    ) -> None:
        self._bring_forward = bring_forward
        self.path = path
        self._steps = steps
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
        return await asyncio.wrap_future(self._readers.submit(self._read, work))

    async def write(self, work: Work[ResultT]) -> ResultT:
        """Runs `work` in a transaction; when this returns it is on disk. Work that raises leaves
        nothing behind.
        """
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
        """Finishes what was asked for, then lets go of the file."""
        self._is_closed = True
        if self._writer is not None:
            self._queue.put(None)
            await asyncio.to_thread(self._writer.join)
        await asyncio.to_thread(self._readers.shutdown)
        for connection in self._connections:
            connection.close()
        self._connections.clear()

    def _read(self, work: Work[ResultT]) -> ResultT:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            self.prepare()
            connection = self._connect()
            self._local.connection = connection
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
            while len(jobs) < _GROUP and not self._queue.empty():
                job = self._queue.get()
                if job is None:
                    is_last = True
                    break
                jobs.append(job)
            jobs = [job for job in jobs if job.done.set_running_or_notify_cancel()]
            try:
                if connection is None:
                    self.prepare()
                    connection = self._connect()
                _write_group(connection, jobs)
            except Exception as error:  # noqa: BLE001  handed to those who asked, whatever it is
                for job in jobs:
                    if not job.done.done():
                        job.done.set_exception(error)
            if is_last:
                return

    def prepare(self) -> None:
        """Makes the folder and the tables, once; other processes may be doing the same."""
        with self._opening:
            if self._is_open:
                return
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise SqliteRefusedError(
                    f"{self.path.parent} cannot be made: {error.strerror}"
                ) from None
            self._bring_forward(self.path, self._steps)
            self._is_open = True

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = 1")
        connection.execute("PRAGMA cache_size = -16384")
        connection.execute("PRAGMA temp_store = MEMORY")
        self._connections.append(connection)
        return connection


def _write_group(connection: sqlite3.Connection, jobs: list[_Job]) -> None:
    """One commit for all; each job stands or falls alone."""
    outcomes: list[tuple[_Job, Any, Exception | None]] = []
    connection.execute("BEGIN IMMEDIATE")
    try:
        for job in jobs:
            connection.execute("SAVEPOINT job")
            try:
                outcomes.append((job, job.work(connection), None))
            except Exception as error:  # noqa: BLE001  handed to the one who asked, whatever it is
                connection.execute("ROLLBACK TO job")
                outcomes.append((job, None, error))
            connection.execute("RELEASE job")
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    for job, result, failure in outcomes:
        if failure is None:
            job.done.set_result(result)
        else:
            job.done.set_exception(failure)
