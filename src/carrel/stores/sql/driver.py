"""The driver interface of the SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

Parameters = Mapping[str, object]
Step = tuple[str, Parameters]
Rows = list[tuple[Any, ...]]
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class UpgradeStatements:
    """An upgrade step for what a script cannot do: statements that look at the rows they get."""

    statements: Callable[[], Generator[Step, Rows, None]]


# A lease that ends later than any could is from a clock that has been set back since.
_LONGEST_LEASE_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class LeaseClock:
    """SQL expressions for the clock shared by all users of a database.

    `now` is the time of day in seconds, `ticks` the seconds of the monotonic clock called `name`.
    Two leases are compared by `ticks` where they have the same `name`.
    """

    now: str
    name: str
    ticks: str

    @property
    def grant(self) -> str:
        """Assignments that give a lease of `:seconds` from now."""
        return (
            f"lease_until = {self.now} + :seconds, lease_clock = {self.name}, "
            f"lease_ticks = {self.ticks} + :seconds"
        )

    @property
    def has_expired(self) -> str:
        """The condition that the lease on a row has expired."""
        return f"""(worker IS NULL OR (lease_clock = {self.name} AND lease_ticks < {self.ticks})
            OR (lease_clock <> {self.name} AND (lease_until < {self.now}
                OR lease_until > {self.now} + {_LONGEST_LEASE_SECONDS})))"""


class Driver(Protocol):
    """Runs SQL in transactions; parameters are written `:name`.

    Raises UnavailableError (unreachable, or busy too long), StorageFullError when the disk is full,
    and ConflictError when a constraint is violated.
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


def bind(prefix: str, values: Iterable[object]) -> tuple[str, dict[str, object]]:
    """Placeholders for a list of values, and the parameters that they name."""
    parameters = {f"{prefix}{number}": value for number, value in enumerate(values)}
    return ", ".join(f":{name}" for name in parameters), parameters


def insert_if_absent(table: str, values: Parameters) -> Step:
    """Adds a row unless its key is there; the step has a row where it was added."""
    places = ", ".join(f":{name}" for name in values)
    sql = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})"
    return f"{sql} ON CONFLICT DO NOTHING RETURNING 1", values
