"""A pool of connections to a PostgreSQL server, opened at the first use, and tables brought forward
in steps.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection, sql
from psycopg_pool import AsyncConnectionPool

from carrel.stores.postgres.errors import PostgresRefusedError

Connection = AsyncConnection[tuple[Any, ...]]

# One number for everybody who changes tables, so that two processes never do it at once.
_LOCK = 7_227_1735


class PostgresDatabase:
    """One pool. `part` names the tables that `steps` make, one script for each version."""

    def __init__(
        self,
        url: str,
        part: str,
        steps: Sequence[str],
        *,
        connections: int = 8,
        wait_seconds: float = 10.0,
    ) -> None:
        self._url = url
        self._part = part
        self._steps = steps
        self._most_connections = connections
        self._wait_seconds = wait_seconds
        self._opening = asyncio.Lock()
        self._pool: AsyncConnectionPool[Connection] | None = None

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Connection]:
        """A connection inside a transaction that is committed at the end, or rolled back."""
        pool = self._pool or await self._opened()
        async with pool.connection() as connection:
            yield connection

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def _opened(self) -> AsyncConnectionPool[Connection]:
        async with self._opening:
            if self._pool is None:
                pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
                    self._url,
                    min_size=1,
                    max_size=self._most_connections,
                    open=False,
                    timeout=self._wait_seconds,
                    kwargs={"connect_timeout": max(2, int(self._wait_seconds))},
                )
                await pool.open()
                try:
                    async with pool.connection() as connection:
                        await self._bring_forward(connection)
                except BaseException:
                    # A pool that waits longer and longer for its server would not see it come back;
                    # the next call makes a new one.
                    await pool.close()
                    raise
                self._pool = pool
            return self._pool

    async def _bring_forward(self, connection: Connection) -> None:
        """Tables from before there were versions are of the first; its script is run on them again
        and says IF NOT EXISTS.
        """
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        await connection.execute(
            "CREATE TABLE IF NOT EXISTS carrel_versions (part text PRIMARY KEY, version integer "
            "NOT NULL)"
        )
        row = await (
            await connection.execute(
                "SELECT version FROM carrel_versions WHERE part = %s", (self._part,)
            )
        ).fetchone()
        version = 0 if row is None else int(row[0])
        if version > len(self._steps):
            raise PostgresRefusedError(
                f"the {self._part} tables were written by a newer Carrel (version {version})"
            )
        for step in self._steps[version:]:
            await connection.execute(sql.SQL(step))
        await connection.execute(
            "INSERT INTO carrel_versions VALUES (%s, %s) ON CONFLICT (part) DO UPDATE SET version "
            "= excluded.version",
            (self._part, len(self._steps)),
        )
