"""Time and chance that tests own."""

from __future__ import annotations

import random


class Waits:
    """Records how long would have been waited, and moves its own clock on."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.time = 100.0

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.time += seconds

    def clock(self) -> float:
        return self.time


class LongestWaits(random.Random):
    """Jitter that always takes the longest wait."""

    def uniform(self, a: float, b: float) -> float:
        return b
