"""Counters, gauges and histograms: numbers in one flat list, with a bound on how many series."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, MutableSequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

Kind = Literal["counter", "gauge", "histogram"]
Labels = tuple[str, ...]
# What stands for every further series of an instrument that has as many as it may.
OTHER = "_OTHER"
MOST_SERIES = 1000
# Numbers that all instruments of one process may hold together.
MOST_NUMBERS = 64 * 1024


@dataclass(frozen=True, slots=True)
class Description:
    """What an instrument measures; `bounds` are the upper ends of a histogram's buckets."""

    name: str
    kind: Kind
    unit: str
    help: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()

    @property
    def width(self) -> int:
        """Numbers of one series: its value, or the sum and a count for each bucket."""
        return len(self.bounds) + 2 if self.kind == "histogram" else 1


@dataclass(slots=True)
class Family:
    """The series of one instrument at one moment, by their labels."""

    description: Description
    series: dict[Labels, list[float]] = field(default_factory=dict)

    def add(self, labels: Labels, numbers: Iterable[float]) -> None:
        """Add numbers to a series; used to sum up over processes."""
        found = self.series.get(labels)
        if found is None:
            self.series[labels] = list(numbers)
        else:
            self.series[labels] = [a + b for a, b in zip(found, numbers, strict=True)]


NewSeries = Callable[[Description, Labels, int], None]


class Registry:
    """The instruments of one process. `values` may be memory that other processes read."""

    def __init__(
        self,
        values: MutableSequence[float] | None = None,
        on_new_series: NewSeries | None = None,
    ) -> None:
        self.values: MutableSequence[float] = [] if values is None else values
        self._grows = values is None
        self._used = 0
        self._on_new_series = on_new_series
        self._instruments: list[Instrument] = []

    def counter(self, name: str, unit: str, help: str, labels: tuple[str, ...] = ()) -> Counter:
        return self._add(Counter(self, Description(name, "counter", unit, help, labels)))

    def gauge(self, name: str, unit: str, help: str, labels: tuple[str, ...] = ()) -> Gauge:
        return self._add(Gauge(self, Description(name, "gauge", unit, help, labels)))

    def histogram(
        self, name: str, unit: str, help: str, labels: tuple[str, ...], bounds: tuple[float, ...]
    ) -> Histogram:
        description = Description(name, "histogram", unit, help, labels, bounds)
        return self._add(Histogram(self, description))

    def read(self) -> list[Family]:
        """Every instrument with its series as they are now."""
        return [instrument.read() for instrument in self._instruments]

    def take(self, description: Description, labels: Labels) -> int | None:
        """The place of a new series in `values`; None when there is no more room."""
        width, at = description.width, self._used
        if at + width > (MOST_NUMBERS if self._grows else len(self.values)):
            return None
        if self._grows:
            self.values.extend([0.0] * width)
        self._used = at + width
        if self._on_new_series is not None:
            self._on_new_series(description, labels, at)
        return at

    def _add(self, instrument: InstrumentT) -> InstrumentT:
        self._instruments.append(instrument)
        return instrument


class Instrument:
    """Series by their labels; the number of series is bounded."""

    def __init__(self, registry: Registry, description: Description) -> None:
        self.description = description
        self._registry = registry
        self._values = registry.values
        self._places: dict[Labels, int] = {}
        # Taken at once, so that there is always a place for what comes beyond the bound.
        self._other = registry.take(description, (OTHER,) * len(description.labels))
        if self._other is None:
            raise ValueError(f"no room for {description.name}")

    def place(self, labels: Labels) -> int:
        """Where the numbers of a series begin."""
        found = self._places.get(labels)
        return self._make_place(labels) if found is None else found

    def _make_place(self, labels: Labels) -> int:
        if len(labels) != len(self.description.labels):
            raise ValueError(f"{self.description.name} has labels {self.description.labels}")
        assert self._other is not None
        if len(self._places) >= MOST_SERIES:
            return self._other
        if not labels:
            made: int | None = self._other
        else:
            made = self._registry.take(self.description, labels)
        if made is None:
            return self._other
        self._places[labels] = made
        return made

    def read(self) -> Family:
        width = self.description.width
        family = Family(self.description)
        other = (OTHER,) * len(self.description.labels)
        for labels, at in self._rows(other):
            numbers = list(self._values[at : at + width])
            if labels is not other or any(numbers) or not other:
                family.add(labels, numbers)
        return family

    def _rows(self, other: Labels) -> Iterator[tuple[Labels, int]]:
        assert self._other is not None
        if other:
            yield from list(self._places.items())
        yield other, self._other


InstrumentT = TypeVar("InstrumentT", bound=Instrument)


class Counter(Instrument):
    """A number that only grows."""

    def add(self, labels: Labels = (), amount: float = 1.0) -> None:
        self._values[self.place(labels)] += amount


class Gauge(Instrument):
    """A number that goes up and down."""

    def add(self, labels: Labels = (), amount: float = 1.0) -> None:
        self._values[self.place(labels)] += amount

    def set(self, labels: Labels, value: float) -> None:
        self._values[self.place(labels)] = value


class Histogram(Instrument):
    """How often values fell into each bucket, and their sum."""

    def observe(self, labels: Labels, value: float) -> None:
        at = self._places.get(labels)
        self.observe_at(self.place(labels) if at is None else at, value)

    def observe_at(self, at: int, value: float) -> None:
        """The same for a place that was looked up before."""
        values = self._values
        values[at] += value
        values[at + 1 + bisect_left(self.description.bounds, value)] += 1.0
