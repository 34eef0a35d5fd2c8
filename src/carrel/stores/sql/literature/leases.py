"""Leases by name, so that one of several processes does a piece of work."""

from __future__ import annotations

from carrel.stores.sql.driver import Driver


class SqlLeases:
    """Leases on the clock of the database; one that has expired is anybody's."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def take(self, name: str, worker: str, seconds: float) -> bool:
        """Whether the worker holds the lease from now on; taking it again renews it."""
        clock = self._driver.lease_clock
        take = f"""UPDATE literature_leases SET worker = :worker, {clock.grant}
            WHERE name = :name AND (worker = :worker OR {clock.has_expired}) RETURNING name"""
        about = {"name": name, "worker": worker, "seconds": seconds}
        add = "INSERT INTO literature_leases (name) VALUES (:name) ON CONFLICT DO NOTHING"
        found = await self._driver.run((add, {"name": name}), (take, about))
        return bool(found[1])

    async def release(self, name: str, worker: str) -> None:
        """Gives the lease back; nothing where the worker does not hold it."""
        sql = "DELETE FROM literature_leases WHERE name = :name AND worker = :worker"
        await self._driver.run((sql, {"name": name, "worker": worker}))
