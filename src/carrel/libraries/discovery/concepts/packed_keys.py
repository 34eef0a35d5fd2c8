"""The keys of a corpus as its papers write them, read from sorted tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from carrel.libraries.discovery.concepts.extraction import Meaning
from carrel.libraries.discovery.concepts.tables import Sections, StringTable, numbers_of
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.tuned import TERMS

SHARED = 1
"""Set for a key that more than one document has, that one names, or that names a term."""
DEFINED = 2
"""Set for a short form that a document defines."""


class PackedKeys:
    """Keys by number, in the order of their spelling, with counts, labels and flags."""

    def __init__(
        self,
        sections: Sections,
        vocabulary: Vocabulary | None,
        meanings: Iterable[Meaning] = (),
    ) -> None:
        self._vocabulary = vocabulary
        self._meanings = meanings
        self.table = StringTable(sections, "keys")
        self._labels = StringTable(sections, "labels")
        self._counts = numbers_of(sections, "key_counts")
        self._named_in = numbers_of(sections, "key_named_in")
        self._flags = sections.section("key_flags")

    @property
    def vocabulary(self) -> Vocabulary | None:
        return self._vocabulary

    def meanings(self) -> Iterable[Meaning]:
        """Every unambiguous short form with its meaning, sorted."""
        return self._meanings

    def is_term(self, key: str) -> bool:
        """Whether the vocabulary has an entry of this key."""
        return self._vocabulary is not None and self._vocabulary.term(key) is not None

    def is_shared(self, number: int) -> bool:
        """Whether a key stands for a concept, and not for one document's own words."""
        return bool(self._flags[number] & SHARED)

    def is_defined(self, short: str) -> bool:
        """Whether any document says what a short form stands for."""
        number = self.table.find(short)
        return number is not None and bool(self._flags[number] & DEFINED)

    def frequency(self, key: str) -> int:
        """How many documents hold a key as it is written."""
        number = self.table.find(key)
        return 0 if number is None else self._counts[number]

    def number(self, key: str) -> int | None:
        """The number of a key that more than one document has, or one by name."""
        number = self.table.find(key)
        return number if number is not None and self.is_shared(number) else None

    def live_number(self, key: str) -> int | None:
        """The number of a key that is a concept, else None."""
        number = self.number(key)
        return number if number is not None and self._is_live(number, key) else None

    def live_keys(self) -> Iterator[tuple[int, str]]:
        """Every key that is a concept, by number."""
        return ((number, key) for number, key in self.shared_keys() if self._is_live(number, key))

    def shared_keys(self) -> Iterator[tuple[int, str]]:
        """Every key that is not one document's own, by number."""
        table = self.table
        return ((number, table[number]) for number, flag in enumerate(self._flags) if flag & SHARED)

    def _is_live(self, number: int, key: str) -> bool:
        return (
            self._counts[number] >= TERMS.least_texts
            or self._named_in[number] > 0
            or self.is_term(key)
        )

    def key(self, number: int) -> str:
        """A key by its number."""
        return self.table[number]

    def label(self, number: int) -> str:
        """A key as the first paper writes it."""
        return self._labels[number] or self.table[number]

    def count(self, number: int) -> int:
        """How many documents hold a key."""
        return self._counts[number]

    def naming(self, key: str) -> int:
        """How many documents have a key among their keywords or headings."""
        number = self.table.find(key)
        return 0 if number is None else self._named_in[number]
