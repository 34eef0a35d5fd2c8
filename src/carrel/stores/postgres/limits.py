"""Buckets in PostgreSQL, shared by all replicas: one atomic statement a check."""

from __future__ import annotations

from carrel.core.clock import Clock
from carrel.policy.limits import Rate, TakeResult
from carrel.stores.postgres.database import PostgresDatabase
from carrel.stores.postgres.driver import WAIT_SECONDS, PostgresDriver
from carrel.stores.sql.limits import SCHEMA, SWEEP, TAKE


class PostgresBuckets:
    """A table without write-ahead log: quick, and after a crash everybody simply starts with a full
    bucket.
    """

    def __init__(self, url: str, clock: Clock, *, sweep_every: int = 1024) -> None:
        script = SCHEMA.replace("CREATE TABLE", "CREATE UNLOGGED TABLE")
        self._driver = PostgresDriver(
            PostgresDatabase(url, "limits", (script,), wait_seconds=WAIT_SECONDS)
        )
        self._clock = clock
        self._sweep_every = sweep_every
        self._until_sweep = sweep_every

    async def take(self, key: str, cost: float, rate: Rate) -> TakeResult:
        now = self._clock.now().timestamp()
        facts: dict[str, object] = {
            "key": key,
            "cost": cost,
            "burst": rate.burst,
            "per_second": rate.per_second,
            "now": now,
        }
        rows = (await self._driver.run((TAKE, facts)))[0]
        self._until_sweep -= 1
        if self._until_sweep <= 0:
            self._until_sweep = self._sweep_every
            await self._driver.run((SWEEP, {"now": now}))
        return TakeResult(bool(rows[0][0]), float(rows[0][1]))

    async def close(self) -> None:
        await self._driver.close()
