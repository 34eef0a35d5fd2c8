"""The supported subset of Elasticsearch's query language, as types named like Elasticsearch's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class MatchAllQuery:
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class MatchQuery:
    """Words in one field; without `minimum_should_match`, one of them or (`needs_all`) all."""

    field: str
    text: Scalar
    needs_all: bool = False
    minimum_should_match: str | int | None = None
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class MatchPhraseQuery:
    field: str
    text: Scalar
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class MultiMatchQuery:
    """The same words in several fields, each with its weight; `*` in a name is a wildcard."""

    fields: tuple[tuple[str, float], ...]
    text: Scalar
    kind: Literal["best_fields", "most_fields", "phrase"] = "best_fields"
    needs_all: bool = False
    minimum_should_match: str | int | None = None
    tie_breaker: float = 0.0
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class PrefixQuery:
    field: str
    text: str
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class TermsQuery:
    """One of these values, exactly."""

    field: str
    values: tuple[Scalar, ...]
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class RangeQuery:
    field: str
    gt: Scalar | None = None
    gte: Scalar | None = None
    lt: Scalar | None = None
    lte: Scalar | None = None
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class IdsQuery:
    values: tuple[str, ...]
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class ExistsQuery:
    field: str
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class BoolQuery:
    must: tuple[QueryClause, ...] = ()
    filter: tuple[QueryClause, ...] = ()
    should: tuple[QueryClause, ...] = ()
    must_not: tuple[QueryClause, ...] = ()
    minimum_should_match: str | int | None = None
    boost: float = 1.0


QueryClause = (
    MatchAllQuery
    | MatchQuery
    | MatchPhraseQuery
    | MultiMatchQuery
    | PrefixQuery
    | TermsQuery
    | RangeQuery
    | IdsQuery
    | ExistsQuery
    | BoolQuery
)


@dataclass(frozen=True, slots=True)
class SortKey:
    field: str
    is_descending: bool
    missing_first: bool = False


@dataclass(frozen=True, slots=True)
class SourceFilter:
    """Which fields of a document an answer holds; patterns, none for all."""

    is_enabled: bool = True
    includes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Highlight:
    fields: tuple[str, ...]
    pre_tag: str = "<em>"
    post_tag: str = "</em>"
    fragment_size: int = 100
    number_of_fragments: int = 5


@dataclass(frozen=True, slots=True)
class TermsAggregation:
    name: str
    field: str
    size: int = 10
    order_by: Literal["_count", "_key"] = "_count"
    is_ascending: bool = False
    min_doc_count: int = 1


@dataclass(frozen=True, slots=True)
class SearchRequest:
    query: QueryClause = field(default_factory=MatchAllQuery)
    first: int = 0
    size: int = 10
    sort: tuple[SortKey, ...] = ()
    source: SourceFilter = SourceFilter()
    highlight: Highlight | None = None
    aggregations: tuple[TermsAggregation, ...] = ()
