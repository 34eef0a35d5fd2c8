"""Runs SQL on a PostgreSQL server: a pool opened at the first use, tables upgraded in steps."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection, InterfaceError, OperationalError, sql
from psycopg_pool import AsyncConnectionPool, PoolTimeout, TooManyRequests

from carrel.core.errors import CarrelError, ConflictError, StorageFullError, UnavailableError
from carrel.stores.sql.driver import LeaseClock, Rows, Step, UpgradeStatements

ResultT = TypeVar("ResultT")
Connection = AsyncConnection[tuple[Any, ...]]
# An upgrade step: a script, or statements that look at the rows they get.
UpgradeStep = str | UpgradeStatements

# One number for everybody who changes tables, so that two processes never do it at once.
_LOCK = 7_227_1735
# The server's time at that moment, not at the start of the transaction, which may have waited.
_SERVER_CLOCK = "CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"
_PARAMETER = re.compile(r"(?<!:):(\w+)")
# By class of SQLSTATE, the first two characters.
_REASONS = {
    "08": "no connection to the server",
    "22": "it does not take a value",
    "23": "it does not take a value",
    "25": "it may not be written now",
    "28": "it refuses the credentials",
    "3D": "there is no such database",
    "40": "too many write the same thing at once",
    "42": "it refuses the tables or the rights on them",
    "53": "it has no room or memory left",
    "54": "a value is too large",
    "55": "too many write the same thing at once",
    "57": "it is starting, stopping or was told to stop",
    "58": "its disk cannot be read or written",
}


class PostgresRefusedError(OperationalError):
    """Our own refusal, raised where the driver's errors are expected; its text is for people."""


class PostgresDatabase:
    """The driver over a pool. `part` names the tables that `steps` make, one for each version."""

    lease_clock = LeaseClock(now=_SERVER_CLOCK, name="'server'", ticks=_SERVER_CLOCK)

    def __init__(
        self,
        url: str,
        part: str,
        steps: Sequence[UpgradeStep],
        *,
        connections: int = 8,
        wait_seconds: float = 5.0,
        describe: Callable[[str], CarrelError] | None = None,
    ) -> None:
        self._url = url
        self._part = part
        self._steps = steps
        self._most_connections = connections
        self._wait_seconds = wait_seconds
        self._describe = describe or _unavailable
        self._opening = asyncio.Lock()
        self._pool: AsyncConnectionPool[Connection] | None = None

    async def run(self, *steps: Step) -> list[Rows]:
        with translate_driver_errors(self._describe):
            async with (self._pool or await self._open_pool()).connection() as connection:
                return [await _execute(connection, step) for step in steps]

    async def transact(
        self, work: Generator[Step, Rows, ResultT], *, is_read_only: bool = False
    ) -> ResultT:
        with translate_driver_errors(self._describe):
            async with (self._pool or await self._open_pool()).connection() as connection:
                return await _drive(connection, work)

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def _open_pool(self) -> AsyncConnectionPool[Connection]:
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
                        await self._upgrade_schema(connection)
                except BaseException:
                    # A pool that waits longer and longer for its server would not see it come back;
                    # the next call makes a new one.
                    await pool.close()
                    raise
                self._pool = pool
            return self._pool

    async def _upgrade_schema(self, connection: Connection) -> None:
        """Tables without a version are of the first, whose script says IF NOT EXISTS."""
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        await connection.execute(
            "CREATE TABLE IF NOT EXISTS carrel_versions (part text PRIMARY KEY, version integer "
            "NOT NULL)"
        )
        find = "SELECT version FROM carrel_versions WHERE part = %s"
        row = await (await connection.execute(find, (self._part,))).fetchone()
        version = 0 if row is None else int(row[0])
        if version > len(self._steps):
            raise PostgresRefusedError(
                f"the {self._part} tables were written by a newer Carrel (version {version})"
            )
        for step in self._steps[version:]:
            if isinstance(step, UpgradeStatements):
                await _drive(connection, step.statements())
            else:
                await connection.execute(sql.SQL(step))
        await connection.execute(
            "INSERT INTO carrel_versions VALUES (%s, %s) ON CONFLICT (part) DO UPDATE SET version "
            "= excluded.version",
            (self._part, len(self._steps)),
        )


async def _drive(connection: Connection, work: Generator[Step, Rows, ResultT]) -> ResultT:
    try:
        step = next(work)
        while True:
            step = work.send(await _execute(connection, step))
    except StopIteration as end:
        result: ResultT = end.value
        return result


async def _execute(connection: Connection, step: Step) -> Rows:
    statement, parameters = step
    cursor = await connection.execute(_with_psycopg_parameters(statement).encode(), parameters)
    return await cursor.fetchall() if cursor.description else []


@cache
def _with_psycopg_parameters(statement: str) -> str:
    """`:name` as psycopg writes it; `::type` is a cast and stays."""
    return _PARAMETER.sub(r"%(\1)s", statement.replace("%", "%%"))


@contextmanager
def translate_driver_errors(describe: Callable[[str], CarrelError]) -> Iterator[None]:
    """Converts psycopg's errors to CarrelError, without the address of the server."""
    try:
        yield
    except psycopg.errors.DiskFull as error:
        raise StorageFullError.at("the disk of the PostgreSQL server") from error
    except (psycopg.IntegrityError, psycopg.errors.SerializationFailure) as error:
        raise ConflictError("Somebody else has written the same thing first") from error
    except (psycopg.Error, PoolTimeout, OSError) as error:
        raise describe(reason_of(error)) from error


def _unavailable(reason: str) -> CarrelError:
    return UnavailableError(
        f"PostgreSQL cannot be used: {reason}",
        next_step="Try again; the operator should look at DATABASE_URL.",
    )


def reason_of(error: BaseException) -> str:
    """A reason that quotes nothing of the data."""
    if isinstance(error, PostgresRefusedError):
        return str(error)
    state = error.sqlstate if isinstance(error, psycopg.Error) else None
    if state:
        return _REASONS.get(state[:2], "it failed")
    if isinstance(
        error, PoolTimeout | TooManyRequests | OperationalError | InterfaceError | OSError
    ):
        return "no connection to the server"
    return "it failed"
