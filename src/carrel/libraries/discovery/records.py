"""Papers and concepts as discovery reads them, and the ports it needs."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Protocol, TypeVar


@dataclass(frozen=True)
class Paper:
    """One document of the corpus; `headings` are MeSH or other descriptors given by indexers,
    without qualifiers.
    """

    id: str
    title: str
    abstract: str = ""
    keywords: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    year: int | None = None


class Standing(Enum):
    """How a concept came to be one, surest first."""

    TERM = "vocabulary term"
    NAMED = "keyword or heading"
    PHRASE = "phrase"
    WORD = "word"


class Kind(StrEnum):
    """What can be done with a concept in a test: some things can be changed, others only observed
    or compared.
    """

    SUBSTANCE = "substance"
    GENE = "gene or protein"
    PROCESS = "process"
    CELL = "cell type"
    ANATOMY = "anatomy"
    DISEASE = "disease or condition"
    BEHAVIOUR = "behaviour or state"
    EXPOSURE = "exposure"
    EVENT = "event"
    ORGANISM = "organism"
    METHOD = "method"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Concept:
    """A concept as the index knows it: `key` in normal form, `label` as authors write it,
    `takes_article` where they say `the`.
    """

    key: str
    label: str
    standing: Standing
    documents: int
    kind: Kind = Kind.UNKNOWN
    takes_article: bool = False


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
