"""Libraries that are open in this process: those that nobody uses let go of what they hold."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from carrel.core.errors import describe_error

log = logging.getLogger("carrel.references")

# The libraries asked last stay open: to open one of 100,000 references takes seconds.
STAY_OPEN = 4
REST_AFTER_SECONDS = 300.0
LOOK_EVERY_SECONDS = 30.0


class RestingLibrary(Protocol):
    """A library that can let go of memory, threads and files, and takes them again when asked."""

    @property
    def is_busy(self) -> bool:
        """Whether something is under way, or waits to be written."""
        ...

    async def rest(self) -> None: ...

    async def close(self) -> None: ...


LibraryT = TypeVar("LibraryT", bound=RestingLibrary)


class OpenLibraries(Generic[LibraryT]):
    """Each library is made once. One that has rested is the same object, and opens itself again."""

    def __init__(
        self,
        *,
        stay_open: int = STAY_OPEN,
        rest_after_seconds: float = REST_AFTER_SECONDS,
        look_every_seconds: float = LOOK_EVERY_SECONDS,
    ) -> None:
        self._stay_open = stay_open
        self._rest_after_seconds = rest_after_seconds
        self._look_every_seconds = look_every_seconds
        self._known: dict[str, LibraryT] = {}
        # Those that may hold something, with the time at which each was asked for last.
        self._awake: OrderedDict[str, float] = OrderedDict()
        self._looking: asyncio.Task[None] | None = None

    def __iter__(self) -> Iterator[LibraryT]:
        return iter(list(self._known.values()))

    def take(self, name: str, make: Callable[[], LibraryT]) -> LibraryT:
        """The library of that name, made at the first use."""
        library = self._known.get(name)
        if library is None:
            library = self._known[name] = make()
        self._awake[name] = time.monotonic()
        self._awake.move_to_end(name)
        if len(self._awake) > self._stay_open and self._looking is None:
            with suppress(RuntimeError):  # Without a loop nothing stays for long.
                self._looking = asyncio.get_running_loop().create_task(self._look())
        return library

    def forget(self, name: str) -> LibraryT | None:
        """The library of that name, which is taken from here; whoever asked closes it."""
        self._awake.pop(name, None)
        return self._known.pop(name, None)

    async def rest_unused(self) -> int:
        """Have libraries rest that nobody used for a while; how many did."""
        now, rested = time.monotonic(), 0
        for name in list(self._awake)[: max(len(self._awake) - self._stay_open, 0)]:
            used_at, library = self._awake.get(name, now), self._known.get(name)
            if now - used_at < self._rest_after_seconds:
                break
            if library is None or library.is_busy:
                continue
            del self._awake[name]
            rested += 1
            try:
                await library.rest()
            except Exception as error:  # noqa: BLE001 - it is asked again after the next use
                log.warning("library does not rest", extra={"cause": describe_error(error)})
        return rested

    async def close(self) -> None:
        if (looking := self._looking) is not None:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
        for library in self:
            await library.close()

    async def _look(self) -> None:
        try:
            while len(self._awake) > self._stay_open:
                await asyncio.sleep(self._look_every_seconds)
                await self.rest_unused()
        finally:
            self._looking = None
