"""Papers and concepts as discovery reads them, and the ports it needs."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from typing import Protocol, TypeAlias, TypeVar

Numbers: TypeAlias = "array[int]"


@dataclass(frozen=True)
class Paper:
    """One document of the corpus; `headings` are indexers' descriptors without qualifiers."""

    id: str
    title: str
    abstract: str = ""
    keywords: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    year: int | None = None


class Standing(Enum):
    """The source of a concept, most reliable first."""

    TERM = "vocabulary term"
    NAMED = "keyword or heading"
    PHRASE = "phrase"
    WORD = "word"


class Kind(StrEnum):
    """The kind of a concept, which decides whether a test can change it or only observe it."""

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
    THING = "thing"
    MATERIAL = "material"
    UNKNOWN = "unknown"


class Tier(IntEnum):
    """What a phrase of the texts can be in a connection."""

    NEITHER = 0
    BRIDGE = 1
    END = 2


class Sphere(Enum):
    """The category of a concept: mechanisms can be bridges, methods and settings cannot."""

    CHEMICAL = "chemical"
    DISORDER = "disorder"
    PROCESS = "process"
    MIND = "mind"
    CELL = "cell"
    ANATOMY = "anatomy"
    METHOD = "method"
    SETTING = "setting"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Term:
    """One entry of a vocabulary; `trees` are dotted positions (`D01.268.552`), as in MeSH."""

    id: str
    label: str
    synonyms: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()


@dataclass(frozen=True)
class Concept:
    """A concept: `key` in normal form, `label` as authors write it, `takes_article` for `the`."""

    key: str
    label: str
    standing: Standing
    documents: int
    kind: Kind = Kind.UNKNOWN
    takes_article: bool = False


@dataclass(frozen=True)
class Literature:
    """The documents about one thing; its own `concepts` are never used as bridges."""

    label: str
    concepts: frozenset[int]
    documents: frozenset[int]


Given = TypeVar("Given")
Answered = TypeVar("Answered")


class Corpus(Protocol):
    """Papers by id, for the sentences that evidence quotes."""

    def paper(self, id: str) -> Paper | None:
        """The paper with this id, or None where the corpus no longer has it."""
        ...


class Mapper(Protocol):
    """The signature of the built-in `map` and of `Executor.map`."""

    def __call__(
        self, function: Callable[[Given], Answered], work: Iterable[Given], /
    ) -> Iterator[Answered]:
        """The function's answers in the order of the work."""
        ...


class Place(StrEnum):
    """The part of a paper that a quotation is from."""

    TITLE = "title"
    ABSTRACT = "abstract"
    KEYWORDS = "keywords"


class Names(Protocol):
    """The part of a vocabulary that discovery reads; `Vocabulary` says what each answer is."""

    def term(self, key: str) -> Term | None: ...
    def preferred(self, key: str) -> str | None: ...
    def narrower(self, key: str) -> tuple[str, ...]: ...
    def is_kin(self, one: str, other: str) -> bool: ...
    def matches(self, words: Sequence[str]) -> list[tuple[int, int, str]]: ...


class Concepts(Protocol):
    """The part of an index that discovery reads; `ConceptIndex` says what each answer is."""

    @property
    def vocabulary(self) -> Names | None: ...
    @property
    def generation(self) -> int: ...
    @property
    def numbered(self) -> int: ...
    @property
    def size(self) -> int: ...
    def __len__(self) -> int: ...
    def live_documents(self) -> Sequence[int]: ...
    def frequencies(self) -> Sequence[int]: ...
    def id_of(self, document: int) -> str: ...
    def number_of_document(self, id: str) -> int | None: ...
    def year_of(self, document: int) -> int | None: ...
    def text_of(self, document: int) -> Numbers: ...
    def mentions_of(self, document: int) -> Numbers: ...
    def names_of(self, document: int) -> Numbers: ...
    def word_number(self, word: str) -> int | None: ...
    def closing_words(self) -> frozenset[int]: ...
    def papers_of_phrase(self, key: str) -> int: ...
    def documents_with(self, key: str) -> list[int]: ...
    def adopt(self, key: str, label: str, least: int) -> int | None: ...
    def number(self, key: str) -> int | None: ...
    def key(self, number: int) -> str: ...
    def label(self, number: int) -> str: ...
    def forms(self, number: int) -> tuple[str, ...]: ...
    def wordings(self, number: int) -> tuple[frozenset[str], ...]: ...
    def documents(self, number: int) -> Numbers: ...
    def frequency(self, number: int) -> int: ...
    def named_in(self, number: int) -> int: ...
    def standing(self, number: int) -> Standing: ...
    def sphere(self, number: int) -> Sphere: ...
    def tier(self, number: int) -> Tier: ...
    def trees(self, number: int) -> tuple[str, ...]: ...
    def is_fragment(self, number: int) -> bool: ...
    def is_defined(self, short: str) -> bool: ...
    def is_english(self, document: int) -> bool: ...
    def concept(self, number: int) -> Concept: ...


@dataclass(frozen=True)
class ConceptRow:
    """One concept as it is stored; `number` is what document rows refer to."""

    number: int
    key: str
    label: str


@dataclass(frozen=True)
class DocumentRow:
    """One stored document; the `bytes` fields are packed little-endian 32-bit numbers.

    `found` are names known from other documents, `once` keys that no other document has.
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
    """Reads a stored index back: the rows that `ConceptIndex` wrote, for `from_rows`."""

    def concept_rows(self) -> Iterable[ConceptRow]:
        """Every concept, by number from 0."""
        ...

    def words(self) -> Iterable[str]:
        """Every word, by number from 0."""
        ...

    def document_rows(self) -> Iterable[DocumentRow]:
        """Every document."""
        ...
