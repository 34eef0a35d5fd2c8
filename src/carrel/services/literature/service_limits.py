"""Rate limits of services: those known in advance, and those announced in answers."""

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from carrel.services.literature.errors import WorkLookupError

_MOST_SLOTS = 10
_INTERVAL = re.compile(r"([0-9]{1,6})\s*(ms|s|m|h)?")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """Concurrent requests that a service allows, and the minimum time between two."""

    max_concurrent: int = 2
    interval_seconds: float = 0.0


def parse_announced_limits(headers: Mapping[str, str], known: ServiceLimits) -> ServiceLimits:
    """The limits that an answer announces in Crossref's headers, else `known`."""
    concurrent, interval = known.max_concurrent, known.interval_seconds
    if (text := headers.get("x-concurrency-limit", "").strip()).isdecimal() and len(text) < 6:
        concurrent = max(1, min(int(text), _MOST_SLOTS))
    count = headers.get("x-rate-limit-limit", "").strip()
    length = _INTERVAL.fullmatch(headers.get("x-rate-limit-interval", "").strip())
    if count.isdecimal() and len(count) < 9 and int(count) and length is not None:
        interval = int(length.group(1)) * _UNIT_SECONDS[length.group(2) or "s"] / int(count)
    return ServiceLimits(concurrent, interval)


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


class CircuitBreaker:
    """One service's breaker: closed, open for a while, then half open for a single probe."""

    def __init__(self, policy: BreakerPolicy, clock: Callable[[], float]) -> None:
        self._policy = policy
        self._clock = clock
        self._failures = 0
        self._open_until: float | None = None
        self._is_probing = False
        self.reason = ""

    def refused_for_seconds(self) -> float | None:
        """Seconds until requests are allowed; None if the caller may ask or is the probe."""
        if self._open_until is None:
            return None
        left = self._open_until - self._clock()
        if left > 0:
            return left
        if self._is_probing:
            return self._policy.open_seconds
        self._is_probing = True
        return None

    @property
    def is_open(self) -> bool:
        return self._open_until is not None and self._open_until > self._clock()

    def record_success(self) -> None:
        self._failures = 0
        self._open_until = None
        self._is_probing = False

    def record_failure(self, reason: str, *, is_connected: bool) -> None:
        self.reason = reason
        self._failures += 1 if is_connected else self._policy.no_connection_counts_as
        if self._is_probing or self._failures >= self._policy.failures_to_open:
            self.open_for(self._policy.open_seconds)

    def record_abandoned(self) -> None:
        """The request was cancelled without an outcome; another may probe."""
        self._is_probing = False

    def open_for(self, seconds: float) -> None:
        """Open the breaker for this long, as when the service sends Retry-After."""
        self._open_until = self._clock() + seconds
        self._is_probing = False


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
