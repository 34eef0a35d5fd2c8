"""A pool of connections to a PostgreSQL server, opened on first use, and tables brought forward in steps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection, OperationalError, sql
from psycopg_pool import AsyncConnectionPool

Connection = AsyncConnection[tuple[Any, ...]]

# One number for everybody who changes tables, so that two processes never do it at once.
_LOCK = 7_227_1735


class PostgresDatabase:
    """One pool. `part` names the tables that `steps` make."""

    def __init__(self, url: str, part: str, steps: Sequence[str], *, connections: int = 8, wait_seconds: float = 10.0) -> None:
        self._part = part
        self._steps = steps
        self._opening = asyncio.Lock()
        self._is_ready = False
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url, min_size=1, max_size=connections, open=False, timeout=wait_seconds, kwargs={"connect_timeout": int(wait_seconds)}
        )

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Connection]:
        """A connection inside a transaction that is committed at the end, or rolled back."""
        if not self._is_ready:
            await self._open()
        async with self._pool.connection() as connection:
            yield connection

    async def close(self) -> None:
        await self._pool.close()

    async def _open(self) -> None:
        async with self._opening:
            if self._is_ready:
                return
            await self._pool.open()
            async with self._pool.connection() as connection:
                await self._bring_forward(connection)
            self._is_ready = True

    async def _bring_forward(self, connection: Connection) -> None:
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        await connection.execute("CREATE TABLE IF NOT EXISTS carrel_versions (part text PRIMARY KEY, version integer NOT NULL)")
        row = await (await connection.execute("SELECT version FROM carrel_versions WHERE part = %s", (self._part,))).fetchone()
        version = 0 if row is None else int(row[0])
        if version > len(self._steps):
            raise OperationalError(f"the {self._part} tables were written by a newer Carrel (version {version})")
        for step in self._steps[version:]:
            await connection.execute(sql.SQL(step))
        await connection.execute(
            "INSERT INTO carrel_versions VALUES (%s, %s) ON CONFLICT (part) DO UPDATE SET version = excluded.version",
            (self._part, len(self._steps)),
        )
