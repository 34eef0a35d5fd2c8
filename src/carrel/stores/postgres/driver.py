"""Runs SQL that is shared with SQLite on a PostgreSQL server."""

from __future__ import annotations

import re
from functools import cache

import psycopg
from psycopg_pool import PoolTimeout

from carrel.core.errors import StorageFullError, UnavailableError
from carrel.stores.postgres.database import PostgresDatabase
from carrel.stores.postgres.errors import reason_of
from carrel.stores.sql.driver import LeaseClock, Rows, Step

WAIT_SECONDS = 5.0
# The server's time at that moment, not at the start of the transaction, which may have waited for a
# lock.
_SERVER_CLOCK = "CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"
_PARAMETER = re.compile(r":(\w+)")


@cache
def translated(sql: str) -> str:
    """`:name` as psycopg writes it."""
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))


class PostgresDriver:
    """Runs steps in one transaction on a pooled connection; each wait has a limit."""

    lease_clock = LeaseClock(now=_SERVER_CLOCK, name="'server'", ticks=_SERVER_CLOCK)

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def run(self, *steps: Step) -> list[Rows]:
        try:
            async with self._database.connected() as connection, connection.cursor() as cursor:
                answers: list[Rows] = []
                for sql, parameters in steps:
                    await cursor.execute(translated(sql).encode(), dict(parameters))
                    answers.append(await cursor.fetchall() if cursor.description else [])
                return answers
        except psycopg.errors.DiskFull as error:
            raise StorageFullError.at("the disk of the PostgreSQL server") from error
        except (
            psycopg.OperationalError,
            psycopg.InternalError,
            psycopg.DataError,
            PoolTimeout,
            OSError,
        ) as error:
            message = f"PostgreSQL cannot be used: {reason_of(error)}"
            raise UnavailableError(
                message, next_step="Try again; the operator should look at DATABASE_URL."
            ) from error

    async def close(self) -> None:
        await self._database.close()
