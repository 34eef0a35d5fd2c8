"""The part of Elasticsearch's query language that the embedded search answers, as types."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class MatchAll:
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Match:
    """Words in one field. `least` is how many of them must be there; None means what the operator
    says.
    """

    field: str
    text: Scalar
    needs_all: bool = False
    least: str | int | None = None
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class MatchPhrase:
    field: str
    text: Scalar
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class MultiMatch:
    """The same words in several fields, each with its weight; `*` stands in names for anything."""

    fields: tuple[tuple[str, float], ...]
    text: Scalar
    kind: Literal["best_fields", "most_fields", "phrase"] = "best_fields"
    needs_all: bool = False
    least: str | int | None = None
    tie_breaker: float = 0.0
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Prefix:
    field: str
    text: str
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Terms:
    """One of these values, exactly."""

    field: str
    values: tuple[Scalar, ...]
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Range:
    field: str
    above: Scalar | None = None
    at_least: Scalar | None = None
    below: Scalar | None = None
    at_most: Scalar | None = None
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Ids:
    values: tuple[str, ...]
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Exists:
    field: str
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Bool:
    must: tuple[Clause, ...] = ()
    filter: tuple[Clause, ...] = ()
    should: tuple[Clause, ...] = ()
    must_not: tuple[Clause, ...] = ()
    least: str | int | None = None
    boost: float = 1.0


Clause = MatchAll | Match | MatchPhrase | MultiMatch | Prefix | Terms | Range | Ids | Exists | Bool


@dataclass(frozen=True, slots=True)
class SortKey:
    field: str
    is_descending: bool
    missing_first: bool = False


@dataclass(frozen=True, slots=True)
class Sources:
    """Which fields of a document are shown; patterns, none for all."""

    is_shown: bool = True
    includes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Highlight:
    fields: tuple[str, ...]
    pre: str = "<em>"
    post: str = "</em>"
    fragment_size: int = 100
    fragments: int = 5


@dataclass(frozen=True, slots=True)
class TermsAggregation:
    name: str
    field: str
    size: int = 10
    by: Literal["_count", "_key"] = "_count"
    is_ascending: bool = False
    least: int = 1


@dataclass(frozen=True, slots=True)
class SearchRequest:
    query: Clause = field(default_factory=MatchAll)
    first: int = 0
    size: int = 10
    sort: tuple[SortKey, ...] = ()
    sources: Sources = Sources()
    highlight: Highlight | None = None
    aggregations: tuple[TermsAggregation, ...] = ()
