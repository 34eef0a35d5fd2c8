"""Runs SQL that is shared with PostgreSQL on one SQLite file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from carrel.core.errors import ConflictError, StorageFullError, UnavailableError
from carrel.stores.database_identity import DatabaseReplacedError, identity_file, refuse_replaced
from carrel.stores.sql.driver import LeaseClock, Rows, Step
from carrel.stores.sqlite.disk_space import is_disk_full
from carrel.stores.sqlite.errors import is_damaged, reason_of
from carrel.stores.sqlite.guarded import bring_guarded_forward
from carrel.stores.sqlite.machine_clock import MachineClock, SystemMachineClock
from carrel.stores.sqlite.schema_upgrade import bring_forward, write_ahead


class SqliteFileDriver:
    """One connection on a thread of its own, opened at the first use; transactions take the write
    lock at their start.
    """

    lease_clock = LeaseClock(now="carrel_now()", name="carrel_boot()", ticks="carrel_ticks()")

    def __init__(
        self,
        file: Path,
        scripts: Sequence[str],
        *,
        busy_seconds: float = 10.0,
        clock: MachineClock | None = None,
    ) -> None:
        self._file = file
        self._scripts = tuple(scripts)
        self._busy_seconds = busy_seconds
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=file.stem)
        self._connection: sqlite3.Connection | None = None
        self._clock = clock or SystemMachineClock()

    @property
    def file(self) -> Path:
        return self._file

    async def run(self, *steps: Step) -> list[Rows]:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, steps)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    def _run(self, steps: tuple[Step, ...]) -> list[Rows]:
        try:
            connection = self._opened()
            if len(steps) == 1 and steps[0][0].startswith("SELECT"):
                return [connection.execute(*steps[0]).fetchall()]
            connection.execute("BEGIN IMMEDIATE")
            try:
                rows = [connection.execute(sql, parameters).fetchall() for sql, parameters in steps]
                connection.execute("COMMIT")
            except BaseException:
                # A full disk makes SQLite roll back by itself; a second ROLLBACK would hide why.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            return rows
        except sqlite3.IntegrityError as error:
            raise ConflictError("Somebody else has written the same thing first") from error
        except sqlite3.DatabaseError as error:
            if is_disk_full(error, self._file):
                raise StorageFullError.at(f"the folder of {self._file.name}") from error
            if is_damaged(error) and identity_file(self._file).exists():
                raise DatabaseReplacedError(self._file, "is damaged") from error
            message = f"{self._file.name} cannot be used: {reason_of(error)}"
            raise UnavailableError(
                message, next_step="Try again; the operator should look at the home folder."
            ) from error

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = open_private(self._file, self._scripts, self._busy_seconds)
            # A step that was told to be finished must be so after a power cut, too.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.create_function("carrel_now", 0, self._clock.now)
            connection.create_function("carrel_boot", 0, self._clock.boot)
            connection.create_function("carrel_ticks", 0, self._clock.ticks)
            self._connection = connection
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def open_private(
    file: Path, scripts: Sequence[str], busy_seconds: float, *, is_guarded: bool = True
) -> sqlite3.Connection:
    """A connection in write-ahead mode to a file that only its owner can read, with its tables
    brought forward.
    """
    if is_guarded:
        refuse_replaced(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.touch(mode=0o600)
    except OSError as error:
        if is_disk_full(error, file):
            raise StorageFullError.at(f"the folder of {file.name}") from error
        raise UnavailableError(
            f"{file} cannot be made: {error.strerror}", next_step="Choose another --home."
        ) from error
    (bring_guarded_forward if is_guarded else bring_forward)(file, scripts)
    connection = sqlite3.connect(
        file, timeout=busy_seconds, isolation_level=None, check_same_thread=False
    )
    write_ahead(connection)
    return connection
