"""What discovery needs from others: where papers' texts are read, where an index is kept, who maps
work over cores.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from carrel.libraries.discovery.records import Paper

Given = TypeVar("Given")
Answered = TypeVar("Answered")


class Corpus(Protocol):
    """Papers by id, for the sentences that evidence quotes."""

    def paper(self, id: str) -> Paper | None:
        """The paper with this id, or None when the corpus has lost it."""
        ...


class Mapper(Protocol):
    """`map` as the built-in and `Executor.map` have it: the owner of the processes decides how many
    there are.
    """

    def __call__(
        self, function: Callable[[Given], Answered], work: Iterable[Given], /
    ) -> Iterator[Answered]:
        """The function's answers in the order of the work."""
        ...


@dataclass(frozen=True)
class ConceptRow:
    """One concept as it is stored; `number` is what document rows refer to."""

    number: int
    key: str
    label: str


@dataclass(frozen=True)
class DocumentRow:
    """One document as it is stored: its keys and words as packed little-endian 32-bit numbers, and
    keys no other document has.

    `found` are names known from other documents, `definitions` the short forms this one explains.
    """

    id: str
    year: int | None
    named: bytes
    mentioned: bytes
    found: bytes
    once: tuple[str, ...]
    text: bytes
    definitions: tuple[tuple[str, str], ...]


class IndexStore(Protocol):
    """Keeps one index: what `ConceptIndex.concept_rows`, `words` and `document_rows` write, read
    back by `from_rows`.
    """

    def concept_rows(self) -> Iterable[ConceptRow]:
        """Every concept, by number from 0."""
        ...

    def words(self) -> Iterable[str]:
        """Every word, by number from 0."""
        ...

    def document_rows(self) -> Iterable[DocumentRow]:
        """Every document."""
        ...
