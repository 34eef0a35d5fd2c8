"""A budget for parsing foreign input: how much may come out, how deep it nests, how long it runs.

A parser asks `current_budget()` once and spends from it in its loops. Whoever hands foreign input
to a parser opens the budget with `parsing(...)`; nested parsers spend from the same one.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ClassVar, Literal, TypeVar

# Requirement D14 (issue 12): output at most ten times the input and 1 MB, 200 levels, 2 s of CPU
# and 1 s for each megabyte.
OUTPUT_PER_INPUT = 10
OUTPUT_ALLOWANCE = 1_000_000
MAX_DEPTH = 200
CPU_ALLOWANCE_SECONDS = 2.0
CPU_SECONDS_PER_MEGABYTE = 1.0
# How many steps of a loop pass between two looks at the clock: about a millisecond of work.
_STEPS_PER_LOOK = 1_000

Exceeded = Literal["output", "depth", "cpu", "memory", "cancelled"]
ItemT = TypeVar("ItemT")


_NEXT_STEPS: dict[Exceeded, str] = {
    "output": "Take out definitions that repeat or include one another, then send it again.",
    "depth": "Make the input flatter, then send it again.",
    "cpu": "Send the input in smaller parts; a part that is refused alone is malformed.",
    "memory": "Send the input in smaller parts; a part that is refused alone is malformed.",
    "cancelled": "Send the input in smaller parts.",
}


class InputTooCostlyError(Exception):
    """Parsing would take more output, depth, time or memory than an input of its size may."""

    code: ClassVar[str] = "input_too_costly"

    def __init__(self, message: str, exceeded: Exceeded, limit: float) -> None:
        super().__init__(message, exceeded, limit)
        self.message = message
        self.exceeded = exceeded
        self.limit = limit
        self.next_step = _NEXT_STEPS[exceeded]
        self.details: dict[str, object] = {"exceeded": exceeded, "limit": limit}

    def __str__(self) -> str:
        return self.message


class Budget:
    """What one parser run may still spend; every method raises InputTooCostlyError beyond that.

    Without a size only the depth is bounded: for data of our own.
    """

    __slots__ = (
        "_cancelled",
        "_cpu_ends",
        "_output_left",
        "_steps",
        "cpu_seconds",
        "output",
        "subject",
    )

    def __init__(
        self, subject: str, size: int | None, cancelled: threading.Event | None = None
    ) -> None:
        self.subject = subject
        self.output = math.inf if size is None else size * OUTPUT_PER_INPUT + OUTPUT_ALLOWANCE
        self.cpu_seconds = (
            math.inf
            if size is None
            else CPU_ALLOWANCE_SECONDS + CPU_SECONDS_PER_MEGABYTE * size / 1_000_000
        )
        self._output_left = self.output
        self._cpu_ends = time.thread_time() + self.cpu_seconds
        self._steps = 0
        self._cancelled = cancelled

    def step(self, count: int = 1) -> None:
        """Count steps of a loop, and check the clock every thousand."""
        self._steps += count
        if self._steps >= _STEPS_PER_LOOK:
            self._steps = 0
            self.check_time()

    def check_time(self) -> None:
        """Raise when the time is up or the caller has stopped waiting."""
        if self._cancelled is not None and self._cancelled.is_set():
            raise InputTooCostlyError(
                f"Reading {self.subject} was ended", exceeded="cancelled", limit=self.cpu_seconds
            )
        if time.thread_time() > self._cpu_ends:
            message = (
                f"Reading {self.subject} takes more than {self.cpu_seconds:.1f} seconds of "
                f"computing"
            )
            raise InputTooCostlyError(message, exceeded="cpu", limit=self.cpu_seconds)

    def spend_output(self, size: int) -> None:
        """Account for `size` more characters of output."""
        self._output_left -= size
        if self._output_left < 0:
            message = f"Reading {self.subject} would make more than {self.output} characters of it"
            raise InputTooCostlyError(message, exceeded="output", limit=self.output)


def too_deep(subject: str) -> InputTooCostlyError:
    """The error for input nested deeper than is read."""
    message = f"{subject[:1].upper()}{subject[1:]} is nested more than {MAX_DEPTH} levels deep"
    return InputTooCostlyError(message, exceeded="depth", limit=MAX_DEPTH)


_current: ContextVar[Budget | None] = ContextVar("carrel_budget", default=None)
_cancellation: ContextVar[threading.Event | None] = ContextVar("carrel_cancellation", default=None)


@contextmanager
def parsing(subject: str, size: int) -> Iterator[Budget]:
    """Open a budget for an input of this size; inside another one, use that."""
    outer = _current.get()
    if outer is not None:
        yield outer
        return
    budget = Budget(subject, size, _cancellation.get())
    token = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(token)


def current_budget() -> Budget:
    """The open budget; where none is open, one that bounds the depth alone."""
    return _current.get() or Budget("the input", None, _cancellation.get())


def check_cancelled() -> None:
    """Raise when the caller has stopped waiting; for long work without a budget of its own."""
    cancelled = _cancellation.get()
    if cancelled is not None and cancelled.is_set():
        raise InputTooCostlyError("The work was ended", exceeded="cancelled", limit=0)


def until_cancelled(items: Iterable[ItemT]) -> Iterator[ItemT]:
    """The same items, ending with an error when the caller has stopped waiting."""
    for item in items:
        check_cancelled()
        yield item


@contextmanager
def cancellable() -> Iterator[threading.Event]:
    """Parsers run in this context end with an error at their next step once the event is set."""
    event = threading.Event()
    token = _cancellation.set(event)
    try:
        yield event
    finally:
        _cancellation.reset(token)


def check_nesting(value: object, subject: str, max_depth: int = MAX_DEPTH) -> None:
    """Raise InputTooCostlyError for lists and objects nested deeper than `max_depth`."""
    level: list[object] = [value]
    depth = 0
    while level:
        if depth > max_depth:
            raise too_deep(subject)
        depth += 1
        following: list[object] = []
        for one in level:
            if isinstance(one, dict):
                following.extend(one.values())
            elif isinstance(one, list):
                following.extend(one)
        level = following
