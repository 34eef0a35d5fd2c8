"""Runs SQL on a PostgreSQL server: tables are upgraded in steps at the first use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import psycopg
from psycopg import InterfaceError, OperationalError
from psycopg_pool import PoolTimeout, TooManyRequests

from carrel.core.errors import CarrelError, ConflictError, StorageFullError, UnavailableError
from carrel.stores.postgres.pool import Connection, PoolOptions, SharedPool, find_shared_pool
from carrel.stores.postgres.schema import PostgresRefusedError, UpgradeStep, upgrade_tables
from carrel.stores.postgres.statements import ScriptStep, encode_statement
from carrel.stores.sql.driver import LeaseClock, Rows, Step

ResultT = TypeVar("ResultT")
# The server's time at that moment, not at the start of the transaction, which may have waited.
_SERVER_CLOCK = "CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"
_DEFAULT_OPTIONS = PoolOptions()
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
# A failed log-in has no SQLSTATE in the driver; its words are those of libpq and of a server that
# speaks English. What none of them says is no connection.
_LOGIN_REASONS = {
    "authentication failed": _REASONS["28"],
    "no pg_hba.conf entry": _REASONS["28"],
    "permission denied for database": _REASONS["28"],
    "no password supplied": _REASONS["28"],
    'role "': _REASONS["28"],
    'database "': _REASONS["3D"],
    "database system is": _REASONS["57"],
    "too many clients": "it has no connection left",
    "remaining connection slots": "it has no connection left",
    "resolve host": "the name of its host is not known",
    "translate host name": "the name of its host is not known",
    "invalid integer value": "its address has a number that is none",
    "timeout expired": "its address does not answer",
    "certificate": "its certificate, or ours, is not accepted",
}


class _StaleConnectionError(Exception):
    """A connection was broken before anything was done on it."""


class PostgresDatabase:
    """The driver over a pool. `part` names the tables that `steps` make, one for each version."""

    lease_clock = LeaseClock(now=_SERVER_CLOCK, name="'server'", ticks=_SERVER_CLOCK)

    def __init__(
        self,
        url: str,
        part: str,
        steps: Sequence[UpgradeStep],
        *,
        options: PoolOptions = _DEFAULT_OPTIONS,
        describe: Callable[[str], CarrelError] | None = None,
    ) -> None:
        self._url = url
        self._part = part
        self._steps = steps
        self._options = options
        self._describe = describe or _unavailable
        self._opening = asyncio.Lock()
        self._pool: SharedPool | None = None

    async def run(self, *steps: Step) -> list[Rows]:
        return await self.transact(_run_all(steps))

    async def transact(
        self, work: Generator[Step, Rows, ResultT], *, is_read_only: bool = False
    ) -> ResultT:
        with translate_driver_errors(self._describe):
            return await _drive_on_live_connection(self._pool or await self._open_pool(), work)

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.leave()

    async def _open_pool(self) -> SharedPool:
        async with self._opening:
            if self._pool is None:
                pool = find_shared_pool(self._url, self._options)
                await pool.join()
                try:
                    async with pool.connect() as connection:
                        may_migrate = self._options.may_migrate
                        upgrade = upgrade_tables({self._part: self._steps}, may_migrate=may_migrate)
                        await _drive(connection, upgrade)
                except BaseException:
                    await pool.leave()
                    raise
                self._pool = pool
            return self._pool


def _run_all(steps: Sequence[Step]) -> Generator[Step, Rows, list[Rows]]:
    found: list[Rows] = []
    for step in steps:
        rows = yield step
        found.append(rows)
    return found


async def _drive(connection: Connection, work: Generator[ScriptStep, Rows, ResultT]) -> ResultT:
    try:
        step = next(work)
    except StopIteration as end:
        finished: ResultT = end.value
        return finished
    return await _drive_on(connection, work, await _execute(connection, step))


async def _drive_on(
    connection: Connection, work: Generator[ScriptStep, Rows, ResultT], rows: Rows
) -> ResultT:
    """Go on with the rows of the first statement."""
    try:
        while True:
            rows = await _execute(connection, work.send(rows))
    except StopIteration as end:
        result: ResultT = end.value
        return result


async def _drive_on_live_connection(
    pool: SharedPool, work: Generator[Step, Rows, ResultT]
) -> ResultT:
    """Run the statements in one transaction, past connections that a restart has broken.

    Where a connection is broken at the first statement, nothing was done on it, so that another
    may be tried. Later than that the error is told.
    """
    try:
        first = next(work)
    except StopIteration as end:
        finished: ResultT = end.value
        return finished
    for _ in range(pool.most_stale_connections):
        try:
            async with pool.connect() as connection:
                try:
                    rows = await _execute(connection, first)
                except OperationalError as error:
                    if connection.broken:
                        raise _StaleConnectionError from error
                    raise
                return await _drive_on(connection, work, rows)
        except _StaleConnectionError:
            continue
    async with pool.connect() as connection:
        return await _drive_on(connection, work, await _execute(connection, first))


async def _execute(connection: Connection, step: ScriptStep | Step) -> Rows:
    cursor = await connection.execute(*encode_statement(step))
    # The last statement of a script may show rows that nobody asked for.
    return await cursor.fetchall() if step[1] is not None and cursor.description else []


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
        return _login_reason(error)
    return "it failed"


def _login_reason(error: BaseException) -> str:
    said = str(error.__cause__ if isinstance(error, PoolTimeout) else error)
    found = (reason for words, reason in _LOGIN_REASONS.items() if words in said)
    return next(found, "no connection to the server")
