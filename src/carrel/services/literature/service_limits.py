"""How often a service may be asked, as it is known beforehand and as its answers say."""

import asyncio
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

_MOST_SLOTS = 10
_INTERVAL = re.compile(r"([0-9]{1,6})\s*(ms|s|m|h)?")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """How many questions a service takes side by side, and the least time between the beginnings of
    two.
    """

    max_concurrent: int = 2
    interval_seconds: float = 0.0


def announced_limits(headers: Mapping[str, str], known: ServiceLimits) -> ServiceLimits:
    """The limits that an answer of Crossref's kind announces in its headers; `known` where it
    announces none.
    """
    concurrent, interval = known.max_concurrent, known.interval_seconds
    if (text := headers.get("x-concurrency-limit", "").strip()).isdecimal() and len(text) < 6:
        concurrent = max(1, min(int(text), _MOST_SLOTS))
    count = headers.get("x-rate-limit-limit", "").strip()
    length = _INTERVAL.fullmatch(headers.get("x-rate-limit-interval", "").strip())
    if count.isdecimal() and len(count) < 9 and int(count) and length is not None:
        interval = int(length.group(1)) * _UNIT_SECONDS[length.group(2) or "s"] / int(count)
    return ServiceLimits(concurrent, interval)


class Slots:
    """A semaphore whose size can change while it is held."""

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
