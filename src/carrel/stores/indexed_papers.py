"""Papers as whoever fills an index for ranking takes them, from whichever kind of corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from carrel.rooms.knowledge.documents import Document
from carrel.stores.search.schema import IndexedDocument


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A passage as an index ranks it, and what a reader is shown of it."""

    document: IndexedDocument
    facts: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class IndexedPaper:
    """Everything of a paper that an index ranks, shows and, where it holds records, reads from.

    `record` is the packed record of a segment; `texts` are its texts by name, read when asked for.
    """

    row: int
    document: Document
    ranked: IndexedDocument
    passages: Sequence[IndexedPassage]
    facets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    record: bytes | None = None
    other_texts: Sequence[str] = ()
    texts: Callable[[], Iterator[tuple[str, bytes]]] = lambda: iter(())


class IndexedVersion(Protocol):
    """One version of a corpus while it is read; its papers have ascending rows."""

    @property
    def build_id(self) -> str: ...

    def rows(self) -> Iterator[tuple[int, str]]:
        """The row of every paper with a digest of its content, rows ascending."""
        ...

    def row_numbers(self) -> Iterator[int]:
        """The rows alone, in any order."""
        ...

    def digests(self, rows: Sequence[int]) -> dict[int, str]:
        """The digests of these rows."""
        ...

    def papers(self, rows: Sequence[int]) -> list[IndexedPaper]:
        """These papers, in the order of their rows."""
        ...

    def abbreviations(self) -> list[tuple[str, str, int]]:
        """Abbreviations that the papers define: short form, long form, number of papers."""
        ...

    def statistics(self) -> Mapping[str, Any] | None:
        """What the whole corpus holds; None where records are not held here."""
        ...


OpenIndexedVersion = Callable[[], AbstractContextManager[IndexedVersion]]
"""The present version of the corpus; SnapshotUnavailableError where there is none."""


class SentVector(Protocol):
    """A vector of a passage: numbers of length one, and the eight-bit numbers it was kept as."""

    @property
    def numbers(self) -> Sequence[float]: ...

    @property
    def code(self) -> str: ...


class PassageVectorSource(Protocol):
    """Vectors that were made of the passages of a corpus by one model."""

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def stamp(self) -> str:
        """Changes whenever a vector is made."""
        ...

    def has(self, row: int) -> bool:
        """Whether the passages of a row have vectors."""
        ...

    def of_rows(self, rows: Sequence[int]) -> Mapping[int, Mapping[int, SentVector]]:
        """The vectors of these rows by row and number."""
        ...
