"""The connections of one process to a PostgreSQL server: one pool, shared by all parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self
from weakref import WeakKeyDictionary

import psycopg
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool, PoolTimeout

Connection = AsyncConnection[tuple[Any, ...]]
# libpq takes nothing shorter than two seconds.
_SHORTEST_CONNECT_SECONDS = 2
# A pool that waits longer and longer for its server would not see it come back: it gives up soon,
# and the next call begins anew.
_RECONNECT_SECONDS = 2.0

# After how long a connection is given up whose other end no longer takes what was sent.
LIVENESS: dict[str, Any] = {
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
}


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """How many connections a process may hold, how a call waits for one, and what it may do there.

    Prepared statements are off by default: behind a transaction pooler such as PgBouncer the next
    statement may reach another connection, which does not know them. `may_migrate`: whether older
    tables are brought forward, or refused.
    """

    size: int = 12
    wait_seconds: float = 1.0
    has_prepared_statements: bool = False
    may_migrate: bool = True


class SharedPool:
    """A pool that is opened by its first user and closed by its last."""

    def __init__(self, url: str, options: PoolOptions) -> None:
        self._url = url
        self._options = options
        self._users = 0
        self._changing = asyncio.Lock()
        self._pool: AsyncConnectionPool[Connection] | None = None
        # Why the last try to connect failed; the pool itself tells only that it waited.
        self._failure: psycopg.Error | None = None

    async def join(self) -> None:
        """Count one more user; connections are made in the background."""
        async with self._changing:
            self._users += 1
            if self._pool is None:
                options = self._options
                self._pool = AsyncConnectionPool(
                    self._url,
                    connection_class=self._observed_class(),
                    min_size=1,
                    max_size=options.size,
                    open=False,
                    timeout=options.wait_seconds,
                    reconnect_timeout=_RECONNECT_SECONDS,
                    kwargs={
                        "connect_timeout": max(
                            _SHORTEST_CONNECT_SECONDS, int(options.wait_seconds)
                        ),
                        # A server that is cut off, and answers nothing, is given up.
                        **LIVENESS,
                        # The driver's own threshold is 5 uses of a statement.
                        "prepare_threshold": 5 if options.has_prepared_statements else None,
                    },
                )
                await self._pool.open()

    async def leave(self) -> None:
        """Count one user less."""
        async with self._changing:
            self._users -= 1
            if self._users == 0 and self._pool is not None:
                pool, self._pool = self._pool, None
                await pool.close()

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Connection]:
        """A connection in a transaction; raises PoolTimeout where none is free in time.

        Its cause is why the last try to connect failed, where it failed.
        """
        if self._pool is None:
            raise RuntimeError("the pool has no users")
        try:
            async with self._pool.connection() as connection:
                yield connection
        except PoolTimeout as error:
            raise error from self._failure

    def _observed_class(self) -> type[Connection]:
        pool = self

        class ObservedConnection(AsyncConnection[tuple[Any, ...]]):
            @classmethod
            async def connect(cls, *arguments: Any, **options: Any) -> Self:
                try:
                    connection = await super().connect(*arguments, **options)
                except psycopg.Error as error:
                    pool._failure = error
                    raise
                pool._failure = None
                return connection

        return ObservedConnection

    def statistics(self) -> dict[str, int]:
        """What the driver counts of this pool; nothing while it is closed."""
        return {} if self._pool is None else dict(self._pool.get_stats())

    @property
    def most_stale_connections(self) -> int:
        """How many connections of the pool a restart of the server may have broken."""
        return self._options.size


# A pool belongs to its event loop.
_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, PoolOptions], SharedPool]] = (
    WeakKeyDictionary()
)


def find_shared_pool(url: str, options: PoolOptions) -> SharedPool:
    """The pool of this event loop for a server."""
    of_loop = _pools.setdefault(asyncio.get_running_loop(), {})
    return of_loop.setdefault((url, options), SharedPool(url, options))


def pool_statistics() -> dict[str, int]:
    """What all pools of this event loop count, added up."""
    total: dict[str, int] = {}
    for pool in _pools.get(asyncio.get_running_loop(), {}).values():
        for name, number in pool.statistics().items():
            total[name] = total.get(name, 0) + number
    return total
