"""The small thing that SQL shared by two databases needs from a driver."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

Parameters = Mapping[str, object]
Step = tuple[str, Parameters]
Rows = list[tuple[Any, ...]]
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class LeaseClock:
    """SQL expressions of the clock shared by all users of a database.

    `now` is the time of day in seconds, `name` that of the steady clock, `ticks` its seconds. Two
    leases are compared by `ticks` where they were given under the same name.
    """

    now: str
    name: str
    ticks: str


class Driver(Protocol):
    """Runs SQL in transactions; parameters are written `:name`.

    Raises UnavailableError when the database cannot be reached or is busy for too long,
    StorageFullError when its disk is full, ConflictError when a constraint is violated.
    """

    @property
    def lease_clock(self) -> LeaseClock: ...

    async def run(self, *steps: Step) -> list[Rows]:
        """Runs the steps in one transaction and returns the rows of each."""
        ...

    async def transact(
        self, work: Generator[Step, Rows, ResultT], *, is_read_only: bool = False
    ) -> ResultT:
        """Runs the statements that `work` yields in one transaction; each yield gets its rows."""
        ...

    async def close(self) -> None: ...
