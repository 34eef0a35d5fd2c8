"""What discovery reads: papers as records, and the concepts they speak of."""

from dataclasses import dataclass
from enum import Enum, StrEnum


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
