"""Limits of services known in advance, slots for requests, and many keys in one request."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from carrel.services.literature.errors import WorkLookupError


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """Concurrent requests that a service allows, and the time between two on average.

    `burst` requests may follow each other at once after a pause, `gap_seconds` apart at least.
    """

    max_concurrent: int = 2
    interval_seconds: float = 0.0
    burst: int = 1
    gap_seconds: float = 0.0


class Slots:
    """A semaphore that can be resized while it is held."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def resize(self, size: int) -> None:
        self._size = size
        self._wake()

    async def __aenter__(self) -> None:
        if self._taken < self._size and not self._waiting:
            self._taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release()
            else:
                self._waiting.remove(turn)
            raise

    async def __aexit__(self, *_: object) -> None:
        self._release()

    def _release(self) -> None:
        self._taken -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self._taken < self._size:
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """When a circuit breaker opens, and for how long.

    Calculated, not fitted: with three concurrent requests a dead host opens it in the second round
    of attempts; a service that fails half of its answers at random opens it once in about 500
    requests.
    """

    failures_to_open: int = 8
    no_connection_counts_as: int = 2
    open_seconds: float = 30.0


KeyT = TypeVar("KeyT")
FoundT = TypeVar("FoundT")


class BatchedLookup(Generic[KeyT, FoundT]):
    """Asks for many keys in one request; further keys gather while one is under way."""

    def __init__(
        self, fetch: Callable[[Sequence[KeyT]], Awaitable[Mapping[KeyT, FoundT]]], max_batch: int
    ) -> None:
        self._fetch = fetch
        self._max_batch = max_batch
        self._waiting: dict[KeyT, asyncio.Future[FoundT | None]] = {}
        self._work: asyncio.Task[None] | None = None

    async def find(self, key: KeyT) -> FoundT | None:
        """What the service has for the key, or None. Raises what the request raised."""
        known = self._waiting.get(key)
        if known is None:
            known = self._waiting[key] = asyncio.get_running_loop().create_future()
            if self._work is None or self._work.done():
                self._work = asyncio.create_task(self._fetch_all(), name="batched lookup")
        return await asyncio.shield(known)

    async def _fetch_all(self) -> None:
        batch: dict[KeyT, asyncio.Future[FoundT | None]] = {}
        try:
            while self._waiting:
                batch = {
                    key: self._waiting.pop(key) for key in list(self._waiting)[: self._max_batch]
                }
                try:
                    found = await self._fetch(list(batch))
                except WorkLookupError as error:
                    _settle(batch.values(), error)
                else:
                    for key, result in batch.items():
                        if not result.done():
                            result.set_result(found.get(key))
        except BaseException as error:
            # Whoever waits is told; a cancellation is passed on as well.
            _settle((*batch.values(), *self._waiting.values()), error)
            self._waiting.clear()
            if not isinstance(error, Exception):
                raise


def _settle(results: Iterable[asyncio.Future[Any]], error: BaseException) -> None:
    for result in results:
        if not result.done():
            result.set_exception(error)
            # Whoever asked may have gone; then nobody looks at it.
            result.exception()
