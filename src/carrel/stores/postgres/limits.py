"""Token buckets in PostgreSQL, shared by all replicas: one atomic statement a check."""

from __future__ import annotations

from carrel.core.clock import Clock
from carrel.policy.limits import Rate, TakeResult
from carrel.stores.postgres.database import PostgresDatabase
from carrel.stores.postgres.pool import PoolOptions
from carrel.stores.sql.limits import SCHEMA, SWEEP, TAKE, bucket_parameters

SCRIPTS = (SCHEMA.replace("CREATE TABLE", "CREATE UNLOGGED TABLE"),)


class PostgresBuckets:
    """A table without write-ahead log: after a crash everybody starts with a full bucket."""

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        sweep_every: int = 1024,
        options: PoolOptions | None = None,
    ) -> None:
        self._database = PostgresDatabase(url, "limits", SCRIPTS, options=options or PoolOptions())
        self._clock = clock
        self._sweep_every = sweep_every
        self._until_sweep = sweep_every

    async def take(self, key: str, cost: float, rate: Rate) -> TakeResult:
        now = self._clock.now().timestamp()
        ((row,),) = await self._database.run((TAKE, bucket_parameters(key, cost, rate, now)))
        self._until_sweep -= 1
        if self._until_sweep <= 0:
            self._until_sweep = self._sweep_every
            await self._database.run((SWEEP, {"now": now}))
        return TakeResult(bool(row[0]), float(row[1]))

    async def close(self) -> None:
        await self._database.close()
