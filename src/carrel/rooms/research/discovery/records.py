"""What discovery reads: papers as records, and the concepts they speak of."""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class Paper:
    """One document of the corpus; `headings` are MeSH or other descriptors given by indexers, without qualifiers."""

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


@dataclass(frozen=True)
class Concept:
    """A concept as the index knows it: `key` in normal form, `label` as a reader would write it."""

    key: str
    label: str
    standing: Standing
    documents: int
