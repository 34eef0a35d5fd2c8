"""Tables over bytes that nobody changes: sorted strings, rows of numbers, strings by number."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import Protocol

from carrel.libraries.discovery.records import Numbers

NOTHING = 0xFFFFFFFF
"""Stands for no number."""


class Sections(Protocol):
    """Named runs of bytes, in memory or mapped from a file."""

    def section(self, name: str) -> memoryview:
        """The bytes of a section."""
        ...

    def find(self, name: str, sought: bytes, start: int) -> int:
        """Where bytes next occur in a section, from `start`; -1 where they do not."""
        ...


class StringTable:
    """Strings by number; `find` needs them sorted."""

    def __init__(self, sections: Sections, name: str) -> None:
        self._bytes = sections.section(f"{name}.text")
        self._ends = sections.section(f"{name}.ends").cast("Q")

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> str:
        return str(self._bytes[self._ends[number] : self._ends[number + 1]], "utf-8")

    def __iter__(self) -> Iterator[str]:
        held, start = self._bytes, 0
        for end in self._ends[1:]:
            yield str(held[start:end], "utf-8")
            start = end

    def find(self, text: str) -> int | None:
        """The number of a string, by bisection; None where it is not here."""
        sought, held, ends = text.encode("utf-8", "surrogatepass"), self._bytes, self._ends
        low, high = 0, len(ends) - 1
        while low < high:
            middle = (low + high) // 2
            if bytes(held[ends[middle] : ends[middle + 1]]) < sought:
                low = middle + 1
            else:
                high = middle
        is_here = low < len(ends) - 1 and held[ends[low] : ends[low + 1]] == sought
        return low if is_here else None


class RowTable:
    """Rows of numbers; each answer is a copy of its own."""

    def __init__(self, sections: Sections, name: str) -> None:
        self._bytes = sections.section(f"{name}.numbers")
        self._ends = sections.section(f"{name}.ends").cast("Q")

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, row: int) -> Numbers:
        numbers = array("I")
        numbers.frombytes(self._bytes[4 * self._ends[row] : 4 * self._ends[row + 1]])
        return numbers

    def __iter__(self) -> Iterator[Numbers]:
        return map(self.__getitem__, range(len(self)))

    def length(self, row: int) -> int:
        """How many numbers a row has."""
        return self._ends[row + 1] - self._ends[row]

    def place(self, row: int) -> int:
        """At which number of the table a row begins."""
        return self._ends[row]

    def row_at(self, place: int) -> int:
        """The row that holds the number at a place of the table."""
        low, high = 0, len(self._ends) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if self._ends[middle] <= place:
                low = middle
            else:
                high = middle
        return low


def numbers_of(sections: Sections, name: str) -> memoryview:
    """A section of plain numbers."""
    return sections.section(name).cast("I")


class StringPairs(Mapping[str, str]):
    """A sorted table of strings with a second string each, read as a mapping."""

    def __init__(self, sections: Sections, name: str) -> None:
        self._names = StringTable(sections, f"{name}.names")
        self._values = StringTable(sections, f"{name}.values")

    def __getitem__(self, name: str) -> str:
        number = self._names.find(name)
        if number is None:
            raise KeyError(name)
        return self._values[number]

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
        number = self._names.find(name)
        return default if number is None else self._values[number]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
