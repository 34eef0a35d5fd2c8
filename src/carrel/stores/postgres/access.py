"""The access store in PostgreSQL."""

from __future__ import annotations

from carrel.stores.postgres.driver import PostgresDriver
from carrel.stores.sql.access import SCHEMA, SqlAccess


class PostgresAccess(SqlAccess):
    """Shared by all replicas. Call `prepare` before the first use."""

    def __init__(self, url: str) -> None:
        self._postgres = PostgresDriver(url)
        super().__init__(self._postgres)

    async def prepare(self) -> None:
        await self._postgres.prepare(*SCHEMA)
