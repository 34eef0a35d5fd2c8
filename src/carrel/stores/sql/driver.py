"""The small thing that SQL shared by two databases needs from a driver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Parameters = Mapping[str, object]
Step = tuple[str, Parameters]
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class LeaseClock:
    """SQL expressions of the clock that all who share a database are measured by: the time of day
    in seconds, what the steady
    clock is called, and its seconds. Two leases are compared by `ticks` where they were given under
    the same name."""

    now: str
    name: str
    ticks: str


class Driver(Protocol):
    """Runs steps in one transaction and answers each one's rows. Parameters are written `:name`.

    Raises UnavailableError when the database cannot be reached, or is busy for too long, and
    StorageFullError when its disk is
    full.
    """

    @property
    def lease_clock(self) -> LeaseClock: ...

    async def run(self, *steps: Step) -> list[Rows]: ...

    async def close(self) -> None: ...
