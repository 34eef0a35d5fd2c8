"""What linkage did and why: joins, doubtful pairs, versions and refused keys."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class LinkRule(IntEnum):
    """Why records were joined; lower is stronger and is tried first."""

    DECISION = 0
    DOI = 1
    ARXIV = 2
    PMID = 3
    RECORD = 4
    FILE = 5
    CONTENT = 6
    LABEL = 7
    IDENTICAL = 8
    LIKENESS = 9


# Rules whose refusal says that one of two sources is wrong about an identifier.
IDENTIFIER_RULES = frozenset({LinkRule.DOI, LinkRule.ARXIV, LinkRule.PMID, LinkRule.RECORD})
# The reason of a refused key that the identifiers themselves give.
DOIS_DIFFER = "their DOIs differ"


@dataclass(frozen=True, slots=True)
class JoinEvent:
    """Two records that became one work, and why, in one sentence for a person."""

    one: int
    other: int
    rule: LinkRule
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class DoubtfulPair:
    """Two records that may be one work and were not joined."""

    one: int
    other: int
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class VersionLink:
    """Two records of related works; `relation` says what the first is to the second."""

    one: int
    other: int
    relation: str
    reason: str


@dataclass(frozen=True, slots=True)
class RefusedKey:
    """A key that a record shares with another one which cannot be the same work."""

    one: int
    other: int
    rule: LinkRule
    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class Clustering:
    """Groups of positions in the given works, each and all in their order, and what led to them."""

    groups: tuple[tuple[int, ...], ...]
    joins: tuple[JoinEvent, ...]
    doubtful: tuple[DoubtfulPair, ...]
    versions: tuple[VersionLink, ...]
    refused: tuple[RefusedKey, ...]
