"""Work that outlasts the call which began it: known by an id, looked at later, stopped if need be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from carrel.core.errors import CarrelError
from carrel.core.operation import Operation, Question

LastingState = Literal["working", "ended", "cancelled"]


@dataclass(frozen=True, slots=True)
class LastingWork:
    """A piece of work as it stands. Once ended it has the answer of the operation that began it, or what stopped it."""

    job_id: str
    operation: str
    state: LastingState
    says: str
    began_at: str
    moved_at: str
    answer: Any = None
    problem: CarrelError | None = None


class NamedJob(Question):
    """Which piece of work is meant."""

    job_id: str = Field(min_length=1, max_length=200)


@dataclass(frozen=True, slots=True)
class Lasting:
    """How a room's work is followed. Neither is a tool: doors whose callers can follow work call them for them."""

    look: Operation[NamedJob]
    stop: Operation[NamedJob]
