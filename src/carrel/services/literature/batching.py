"""Single questions that are asked at about the same time, gathered into few requests."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from carrel.services.literature.errors import WorkLookupError

KeyT = TypeVar("KeyT")
FoundT = TypeVar("FoundT")


class BatchedLookup(Generic[KeyT, FoundT]):
    """Asks for many keys in one request. While one request is under way, further keys gather for
    the next.
    """

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
