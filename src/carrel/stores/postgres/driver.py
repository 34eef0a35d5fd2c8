"""A pool of connections, opened at the first use."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from carrel.core.errors import UnavailableError
from carrel.stores.sql.driver import Rows, Step

_PARAMETER = re.compile(r":(\w+)")
_PREPARE_LOCK = 7_226_001


@cache
def translated(sql: str) -> str:
    """`:name` as psycopg writes it."""
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))


class PostgresDriver:
    """Runs steps on a pooled connection; each wait has a limit."""

    def __init__(self, url: str, schema: Iterable[str], *, most_connections: int = 8, timeout_seconds: float = 5.0) -> None:
        self._url = url
        self._schema = tuple(schema)
        self._most_connections = most_connections
        self._timeout_seconds = timeout_seconds
        self._pool: AsyncConnectionPool[Any] | None = None
        self._opening = asyncio.Lock()

    async def run(self, *steps: Step) -> list[Rows]:
        try:
            pool = await self._opened()
            async with pool.connection() as connection, connection.cursor() as cursor:
                answers: list[Rows] = []
                for sql, parameters in steps:
                    await cursor.execute(translated(sql).encode(), dict(parameters))
                    answers.append(await cursor.fetchall() if cursor.description else [])
                return answers
        except (psycopg.OperationalError, PoolTimeout, OSError) as error:
            raise UnavailableError(f"PostgreSQL cannot be used: {_brief(error)}", next_step="Look at DATABASE_URL.") from error

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.close()
            self._pool = None

    async def _opened(self) -> AsyncConnectionPool[Any]:
        if self._pool is None:
            async with self._opening:
                if self._pool is None:
                    pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
                        self._url,
                        min_size=1,
                        max_size=self._most_connections,
                        open=False,
                        timeout=self._timeout_seconds,
                        kwargs={"connect_timeout": max(2, int(self._timeout_seconds))},
                    )
                    await pool.open()
                    try:
                        await self._prepare(pool)
                    except BaseException:
                        await pool.close()
                        raise
                    self._pool = pool
        return self._pool

    async def _prepare(self, pool: AsyncConnectionPool[Any]) -> None:
        """Makes the tables that are missing, one replica at a time."""
        async with pool.connection() as connection:
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_PREPARE_LOCK,))
            for statement in self._schema:
                await connection.execute(statement.encode())


def _brief(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
