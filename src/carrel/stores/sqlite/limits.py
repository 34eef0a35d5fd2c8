"""Token buckets in a SQLite file of their own, shared by the workers of one machine."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

from carrel.core.clock import Clock
from carrel.core.errors import UnavailableError, describe_error
from carrel.policy.limits import Rate, TakeResult
from carrel.stores.sql.limits import SCHEMA, SWEEP, TAKE, bucket_parameters
from carrel.stores.sqlite.connection import connect, enable_write_ahead_log
from carrel.stores.sqlite.errors import is_damaged, translate_driver_errors
from carrel.stores.sqlite.schema import prepare_file

log = logging.getLogger("carrel.cache")


class SqliteBuckets:
    """A check is one short statement, quicker than a thread; a power cut may lose it."""

    def __init__(
        self, file: Path, clock: Clock, *, busy_seconds: float = 0.25, sweep_every: int = 1024
    ) -> None:
        self._file = file
        self._clock = clock
        self._busy_seconds = busy_seconds
        self._sweep_every = sweep_every
        self._until_sweep = sweep_every
        self._connection: sqlite3.Connection | None = None

    async def take(self, key: str, cost: float, rate: Rate) -> TakeResult:
        facts = bucket_parameters(key, cost, rate, self._clock.now().timestamp())
        with translate_driver_errors(self._file, _unavailable, is_cache=True):
            try:
                return self._take(facts)
            except sqlite3.DatabaseError as error:
                if not is_damaged(error):
                    raise
                await self._start_anew(error)
                return self._take(facts)

    def _take(self, facts: dict[str, object]) -> TakeResult:
        connection = self._open_connection()
        row = connection.execute(TAKE, facts).fetchone()
        self._until_sweep -= 1
        if self._until_sweep <= 0:
            self._until_sweep = self._sweep_every
            connection.execute(SWEEP, {"now": facts["now"]})
        return TakeResult(bool(row[0]), float(row[1]))

    async def _start_anew(self, error: sqlite3.DatabaseError) -> None:
        """Removes a damaged file: everybody simply starts with a full bucket."""
        log.warning(
            "cache is made again", extra={"file": self._file.name, "cause": describe_error(error)}
        )
        await self.close()
        for suffix in ("", "-wal", "-shm"):
            self._file.with_name(f"{self._file.name}{suffix}").unlink(missing_ok=True)

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            prepare_file(self._file, (SCHEMA,), is_guarded=False)
            connection = connect(self._file, busy_seconds=self._busy_seconds)
            enable_write_ahead_log(connection)
            connection.execute("PRAGMA synchronous = OFF")
            self._connection = connection
        return self._connection


def _unavailable(reason: str) -> UnavailableError:
    return UnavailableError(f"The buckets cannot be used: {reason}")
