"""Buckets in a SQLite file of their own, shared by the workers of one machine."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from carrel.core.clock import Clock
from carrel.core.errors import UnavailableError
from carrel.policy.limits import Rate, Taken
from carrel.stores.sql.limits import SCHEMA, SWEEP, TAKE
from carrel.stores.sqlite.driver import open_private
from carrel.stores.sqlite.failures import reason_of


class SqliteBuckets:
    """A check is one short statement, quicker than handing it to a thread; losing it in a power cut hurts nobody."""

    def __init__(self, file: Path, clock: Clock, *, busy_seconds: float = 0.25, sweep_every: int = 1024) -> None:
        self._file = file
        self._clock = clock
        self._busy_seconds = busy_seconds
        self._sweep_every = sweep_every
        self._until_sweep = sweep_every
        self._connection: sqlite3.Connection | None = None

    async def take(self, key: str, cost: float, rate: Rate) -> Taken:
        now = self._clock.now().timestamp()
        facts = {"key": key, "cost": cost, "burst": rate.burst, "per_second": rate.per_second, "now": now}
        try:
            connection = self._opened()
            row = connection.execute(TAKE, facts).fetchone()
            self._until_sweep -= 1
            if self._until_sweep <= 0:
                self._until_sweep = self._sweep_every
                connection.execute(SWEEP, {"now": now})
        except sqlite3.DatabaseError as error:
            raise UnavailableError(f"The buckets cannot be used: {reason_of(error)}") from error
        return Taken(bool(row[0]), float(row[1]))

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = open_private(self._file, (SCHEMA,), self._busy_seconds)
            connection.execute("PRAGMA synchronous = OFF")
            self._connection = connection
        return self._connection
