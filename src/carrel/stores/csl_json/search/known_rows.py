"""Which reference of a library has which row of its index, and what one change does to that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from carrel.rooms.references.items import Item
from carrel.stores.csl_json.chunked_list import common_ends
from carrel.stores.csl_json.search.records import IndexRecords, text_mark

# Two places nearer than this cannot be told apart for long: all are given anew.
_LEAST_STEP = 1e-9


class LibraryText(NamedTuple):
    """One reference as the file has it: its text, its item, and a mark of what is attached."""

    raw: str
    item: Item
    attached: str = ""


class LibraryTexts(Protocol):
    """Every reference of one state of a library, in order."""

    def __len__(self) -> int: ...

    def elements(self) -> Sequence[object] | None:
        """One object for each reference, the same as long as the reference is; None if unsure."""
        ...

    def text_at(self, number: int) -> LibraryText: ...


@dataclass(frozen=True, slots=True)
class AddedText:
    """A reference that gets a row: its number in the library, its place and its text's mark."""

    row: int
    number: int
    place: float
    mark: bytes


@dataclass(frozen=True, slots=True)
class IndexChange:
    """What to do to the index, and the rows of all references in order afterwards."""

    added: list[AddedText]
    removed: list[int]
    moved: list[tuple[float, int]]
    rows: list[int]
    places: dict[int, float]
    next_row: int
    elements: Sequence[object] | None
    attached: Mapping[int, str]


class KnownRows:
    """The rows of an index, by the objects they were made from or by the marks of their texts."""

    def __init__(
        self,
        generation: int,
        places: dict[int, float],
        by_mark: Mapping[bytes, list[int]],
        rows: list[int],
        elements: Sequence[object] | None,
        attached: Mapping[int, str],
    ) -> None:
        """`attached` has the rows of references with an attached text, and its mark."""
        self.generation = generation
        self.places = places
        self._by_mark = by_mark
        self._rows = rows
        self._elements = elements
        self._attached = attached

    @classmethod
    def read(cls, records: IndexRecords, generation: int) -> KnownRows:
        """What the index itself tells: rows by marks."""
        return cls(generation, records.places(), records.marks(), [], None, {})

    def can_follow(self, texts: LibraryTexts) -> bool:
        """Whether only what changed must be looked at: attached texts are the same, for one."""
        elements = texts.elements()
        if self._elements is None or elements is None:
            return False
        if not self._attached:
            return True
        first, last = common_ends(self._elements, elements)
        shift = len(elements) - len(self._elements)
        return all(
            texts.text_at(at + (0 if at < first else shift)).attached == self._attached[row]
            for at, row in enumerate(self._rows)
            if row in self._attached and not first <= at < len(self._rows) - last
        )

    def compare(self, texts: LibraryTexts, next_row: int) -> IndexChange:
        """What has changed between the index and the library."""
        elements = texts.elements()
        first = last = 0
        if self._elements is not None and elements is not None:
            first, last = common_ends(self._elements, elements)
        end = len(self._rows) - last
        older = self._rows[first:end]
        by_object: dict[int, int] = {}
        if self._elements is not None:
            for at, row in enumerate(older, start=first):
                by_object[id(self._elements[at])] = row
        taken: set[int] = set()
        middle: list[int] = []
        fresh: list[tuple[int, int, bytes]] = []
        attached = dict(self._attached)
        for number in range(first, len(texts) - last):
            row = -1 if elements is None else by_object.get(id(elements[number]), -1)
            if row < 0 or row in taken:
                text = texts.text_at(number)
                mark = text_mark(f"{text.item.get('id')}\0{text.raw}", text.attached)
                row = next((one for one in self._by_mark.get(mark, ()) if one not in taken), -1)
                if row < 0:
                    row, next_row = next_row, next_row + 1
                    fresh.append((row, number, mark))
                if text.attached:
                    attached[row] = text.attached
            taken.add(row)
            middle.append(row)
        known = older if self._elements is not None else list(self.places)
        removed = [row for row in known if row not in taken]
        rows = [*self._rows[:first], *middle, *self._rows[end:]]
        moved = self._give_places(rows, first, first + len(middle))
        for row in removed:
            self.places.pop(row, None)
            attached.pop(row, None)
        return IndexChange(
            [AddedText(row, number, self.places[row], mark) for row, number, mark in fresh],
            removed,
            moved,
            rows,
            self.places,
            next_row,
            elements,
            attached,
        )

    def after(self, change: IndexChange, generation: int) -> KnownRows:
        """The same once a change is made."""
        return KnownRows(
            generation, change.places, {}, change.rows, change.elements, change.attached
        )

    def _give_places(self, rows: Sequence[int], first: int, end: int) -> list[tuple[float, int]]:
        """Gives the rows from `first` to `end` growing places; returns those of rows that moved."""
        places = self.places
        reached = places[rows[first - 1]] if first else 0.0
        waiting: list[int] = []
        for row in rows[first : end + 1]:
            place = places.get(row)
            if place is None:
                waiting.append(row)
                continue
            step = (place - reached) / (len(waiting) + 1)
            if step <= _LEAST_STEP * max(1.0, abs(place)):
                return self._renumber(rows)
            places.update(_spread(waiting, reached, step))
            waiting.clear()
            reached = place
        places.update(_spread(waiting, reached, 1.0))
        return []

    def _renumber(self, rows: Sequence[int]) -> list[tuple[float, int]]:
        known = set(self.places)
        found = {row: float(place) for place, row in enumerate(rows, start=1)}
        self.places.update(found)
        return [(place, row) for row, place in found.items() if row in known]


def _spread(rows: Sequence[int], after: float, step: float) -> Iterator[tuple[int, float]]:
    for number, row in enumerate(rows, start=1):
        yield row, after + step * number
