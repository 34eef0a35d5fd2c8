"""Look-ups of client documents: remembered, shared by whoever asks at once, and limited, because
strangers ask for them.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from carrel.core.clock import Clock
from carrel.core.errors import RateLimitExceededError, UnavailableError
from carrel.policy.authorization.errors import UntrustedRequestError
from carrel.policy.authorization.models import Client
from carrel.policy.authorization.ports import ClientDocuments
from carrel.policy.limits import Buckets, Rate

ReadDocument = Callable[[str, Mapping[str, Any]], Client]

# Look-ups that go out to the network; what is remembered is free. One address is one person with a
# few apps.
PER_ADDRESS = Rate(per_minute=10.0, burst=10.0)
IN_TOTAL = Rate(per_minute=60.0, burst=30.0)
MOST_AT_ONCE = 8
_MOST_REMEMBERED = 500
_FAILURE_SECONDS = 60.0
# A document past its time is still used this long when a new look-up is refused by the limits.
_STALE_SECONDS = 86_400.0


class _Remembered(NamedTuple):
    client: Client
    fresh_until: float


class _Failed(NamedTuple):
    message: str
    until: float


class DocumentLookups:
    """Finds clients by the address of their document."""

    def __init__(
        self, documents: ClientDocuments, buckets: Buckets, clock: Clock, read: ReadDocument
    ) -> None:
        self._documents = documents
        self._buckets = buckets
        self._clock = clock
        self._read = read
        self._remembered: OrderedDict[str, _Remembered] = OrderedDict()
        self._failed: OrderedDict[str, _Failed] = OrderedDict()
        self._under_way: dict[str, asyncio.Task[Client]] = {}

    async def find(self, url: str, address: str) -> Client:
        """The client, or UntrustedRequestError with the reason; RateLimitExceededError when too
        many are looked up.
        """
        now = self._clock.monotonic()
        remembered = self._remembered.get(url)
        if remembered is not None:
            self._remembered.move_to_end(url)
            if now < remembered.fresh_until:
                return remembered.client
        failed = self._failed.get(url)
        if failed is not None and now < failed.until:
            raise UntrustedRequestError(failed.message)
        under_way = self._under_way.get(url)
        if under_way is None:
            try:
                await self._charge(address)
            except RateLimitExceededError:
                if remembered is not None and now < remembered.fresh_until + _STALE_SECONDS:
                    return remembered.client
                raise
            under_way = self._under_way.get(url) or self._begin(url)
        # One who hangs up must not end the look-up of the others; it has a time limit of its own.
        return await asyncio.shield(under_way)

    async def _charge(self, address: str) -> None:
        if len(self._under_way) >= MOST_AT_ONCE:
            raise RateLimitExceededError(5)
        for key, rate in ((f"document:{address}", PER_ADDRESS), ("document:all", IN_TOTAL)):
            taken = await self._buckets.take(key, 1.0, rate)
            if not taken.is_granted:
                raise RateLimitExceededError(math.ceil((1.0 - taken.tokens) / rate.per_second))

    def _begin(self, url: str) -> asyncio.Task[Client]:
        task = asyncio.create_task(self._look_up(url))
        self._under_way[url] = task
        task.add_done_callback(lambda done: self._end(url, done))
        return task

    def _end(self, url: str, task: asyncio.Task[Client]) -> None:
        self._under_way.pop(url, None)
        if not task.cancelled():
            # Asked for, so that a failure nobody waits for any more is not reported as forgotten.
            task.exception()

    async def _look_up(self, url: str) -> Client:
        try:
            facts, fresh_seconds = await self._documents.fetch(url)
            client = self._read(url, facts)
        except UnavailableError as error:
            raise self._failure(
                url, f"The client's document cannot be read: {error.message}"
            ) from None
        except UntrustedRequestError as error:
            raise self._failure(url, error.message) from None
        self._failed.pop(url, None)
        self._remembered[url] = _Remembered(client, self._clock.monotonic() + fresh_seconds)
        if len(self._remembered) > _MOST_REMEMBERED:
            self._remembered.popitem(last=False)
        return client

    def _failure(self, url: str, message: str) -> UntrustedRequestError:
        self._failed[url] = _Failed(message, self._clock.monotonic() + _FAILURE_SECONDS)
        self._failed.move_to_end(url)
        if len(self._failed) > _MOST_REMEMBERED:
            self._failed.popitem(last=False)
        return UntrustedRequestError(message)
