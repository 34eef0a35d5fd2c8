"""Spans, and the bounded buffer in which they wait to be exported."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from carrel.libraries.telemetry.trace_context import TraceParent

AttributeValue = str | int | float | bool


@dataclass(slots=True, eq=False)
class SpanShape:
    """What spans of one kind have in common; the encoder keeps its JSON in `encoded`.

    `problem` says what failed where it was a fault of the server.
    """

    name: str
    is_server: bool
    attributes: Mapping[str, AttributeValue]
    problem: str | None = None
    encoded: str = ""


class Span(NamedTuple):
    """One finished span; its end is in nanoseconds since 1970.

    It gets its ids when it is encoded, many at once: nobody needs them before.
    """

    shape: SpanShape
    seconds: float
    ended_ns: int
    parent: TraceParent | None = None
    link: TraceParent | None = None
    request_id: str | int | None = None


RowT = TypeVar("RowT")


class BoundedBuffer(Generic[RowT]):
    """Rows that wait; what comes when it is full is dropped and counted. Safe between threads."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.dropped = 0
        self._rows: deque[RowT] = deque()

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, row: RowT) -> None:
        if len(self._rows) >= self.most:
            self.dropped += 1
        else:
            self._rows.append(row)

    def take(self, most: int) -> list[RowT]:
        """Up to so many rows, oldest first."""
        rows = self._rows
        return [rows.popleft() for _ in range(min(most, len(rows)))]
