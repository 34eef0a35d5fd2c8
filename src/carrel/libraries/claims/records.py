"""Records of claim checking: statements, papers as read, ranked sentences, stances and verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# The number of a title among the sentences of a paper: it may decide, and is not ranked.
TITLE = -1


class StatementKind(StrEnum):
    """A claim says how things are; a link says only that two things have to do with one another."""

    CLAIM = "claim"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that a sentence can support or deny; `source` is the sentence it was taken from."""

    text: str
    kind: StatementKind = StatementKind.CLAIM
    source: str = ""


@dataclass(frozen=True, slots=True)
class PaperText:
    """A paper as it is read; `rank` is its place in the search, from 1."""

    paper_id: str
    title: str
    rank: int
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """A sentence of a paper, by its number from 0 (`TITLE` for the title), and how much it has of a
    statement (0 to 1).
    """

    paper_id: str
    number: int
    text: str
    score: float
    coverage: float = 0.0
    title: str = ""


class Relation(StrEnum):
    """What a sentence does to a statement."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    BEARS_ON = "bears_on"
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True)
class Stance:
    """A relation with the confidence in it (0 to 1) and the reasons in words."""

    relation: Relation
    confidence: float
    reasons: tuple[str, ...]


class Verdict(StrEnum):
    """What papers say of a statement together.

    `silent`: papers were read and none bears on it. `undecided`: some bear on it, and the
    classifier does not dare a side.
    """

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    MIXED = "mixed"
    SILENT = "silent"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence that bears on a statement, and how."""

    sentence: RankedSentence
    stance: Stance


@dataclass(frozen=True, slots=True)
class StatementCheck:
    """The verdict of a statement over papers, with the sentences for, against and bearing on it."""

    statement: Statement
    verdict: Verdict
    supporting: tuple[Finding, ...]
    contradicting: tuple[Finding, ...]
    bearing: tuple[Finding, ...]
    reasons: tuple[str, ...]
    papers_read: int
