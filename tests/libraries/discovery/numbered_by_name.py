"""An index whose concepts are numbered in the order of their keys, as those of tables are.

Equals are told apart by number at some places, so that two indexes give the same drafts to the last
digit only where they number alike.
"""

from array import array
from typing import Any

from carrel.libraries.discovery import ConceptIndex


class NumberedByName:
    """Reads a `ConceptIndex` under other numbers; what is not about numbers is passed on."""

    def __init__(self, index: ConceptIndex) -> None:
        self._index = index
        self._order: list[int] = []
        self._ranks: dict[int, int] = {}
        for number in sorted(range(index.size), key=index.key):
            self._take(number)

    def _take(self, number: int) -> None:
        self._ranks[number] = len(self._order)
        self._order.append(number)

    @property
    def size(self) -> int:
        return len(self._order)

    def __len__(self) -> int:
        return len(self._index)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def _rank(self, number: int | None) -> int | None:
        return None if number is None else self._ranks[number]

    def number(self, key: str) -> int | None:
        return self._rank(self._index.number(key))

    def adopt(self, key: str, label: str, least: int) -> int | None:
        number = self._index.adopt(key, label, least)
        if number is not None and number not in self._ranks:
            self._take(number)
        return self._rank(number)

    def frequencies(self) -> list[int]:
        return [self._index.frequency(number) for number in self._order]

    def mentions_of(self, document: int) -> "array[int]":
        return array("I", sorted(self._ranks[n] for n in self._index.mentions_of(document)))

    def names_of(self, document: int) -> "array[int]":
        return array("I", (self._ranks[n] for n in self._index.names_of(document)))


def _by_number(name: str) -> Any:
    def ask(self: NumberedByName, number: int) -> Any:
        return getattr(self._index, name)(self._order[number])

    return ask


_BY_NUMBER = "key label forms wordings documents frequency named_in standing sphere tier trees"

for _name in (*_BY_NUMBER.split(), "concept", "is_fragment"):
    setattr(NumberedByName, _name, _by_number(_name))
