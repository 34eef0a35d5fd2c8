"""The supported subset of Elasticsearch's query language, as types named like Elasticsearch's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class MatchAllQuery:
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Fuzziness:
    """How many edits a word may be away: up to none, one, or two by its length, or as many as
    `most`.
    """

    most: int | None = None
    one_from: int = 3
    two_from: int = 6
    prefix_length: int = 0
    max_expansions: int = 50
    swaps_count_once: bool = True

    def edits(self, word: str) -> int:
        if self.most is not None:
            return self.most
        return 2 if len(word) >= self.two_from else 1 if len(word) >= self.one_from else 0


@dataclass(frozen=True, slots=True)
class MatchQuery:
    """Words in one field; without `minimum_should_match`, one of them or (`needs_all`) all.

    With `ends_open` the last word is a beginning; `matches_empty` finds all if no word is left.
    """

    field: str
    text: Scalar
    needs_all: bool = False
    minimum_should_match: str | int | None = None
    boost: float = 1.0
    fuzziness: Fuzziness | None = None
    ends_open: bool = False
    matches_empty: bool = False


@dataclass(frozen=True, slots=True)
class MatchPhraseQuery:
    """Words that follow each other; `slop` moves are allowed, and `max_expansions` makes the last
    word a beginning of so many words.
    """

    field: str
    text: Scalar
    boost: float = 1.0
    slop: int = 0
    max_expansions: int = 0


MultiMatchKind = Literal[
    "best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix", "bool_prefix"
]


@dataclass(frozen=True, slots=True)
class MultiMatchQuery:
    """The same words in several fields, each with its weight; `*` in a name is a wildcard."""

    fields: tuple[tuple[str, float], ...]
    text: Scalar
    kind: MultiMatchKind = "best_fields"
    needs_all: bool = False
    minimum_should_match: str | int | None = None
    tie_breaker: float = 0.0
    boost: float = 1.0
    fuzziness: Fuzziness | None = None
    slop: int = 0
    max_expansions: int = 50


@dataclass(frozen=True, slots=True)
class MultiPrefixQuery:
    """A word that begins so in one of several fields."""

    fields: tuple[tuple[str, float], ...]
    text: str


@dataclass(frozen=True, slots=True)
class PrefixQuery:
    field: str
    text: str
    boost: float = 1.0
    ignores_case: bool = False


@dataclass(frozen=True, slots=True)
class WildcardQuery:
    """`*` stands for any characters and `?` for one; a backslash takes either as it is."""

    field: str
    pattern: str
    boost: float = 1.0
    ignores_case: bool = False


@dataclass(frozen=True, slots=True)
class FuzzyQuery:
    """A word, or one that a few edits make of it; not analyzed."""

    field: str
    text: str
    fuzziness: Fuzziness = Fuzziness()
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class TermsQuery:
    """One of these values, exactly; with `is_constant` all of them count the same."""

    field: str
    values: tuple[Scalar, ...]
    boost: float = 1.0
    ignores_case: bool = False
    is_constant: bool = False


@dataclass(frozen=True, slots=True)
class RangeQuery:
    field: str
    gt: Scalar | None = None
    gte: Scalar | None = None
    lt: Scalar | None = None
    lte: Scalar | None = None
    boost: float = 1.0
    formats: tuple[str, ...] = ()
    time_zone: str | None = None


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


@dataclass(frozen=True, slots=True)
class ConstantScoreQuery:
    filter: QueryClause
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class DisMaxQuery:
    """The best of several, and of the others what the tie breaker leaves."""

    queries: tuple[QueryClause, ...]
    tie_breaker: float = 0.0
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class BoostingQuery:
    """What fits `positive`, and less so if it also fits `negative`."""

    positive: QueryClause
    negative: QueryClause
    negative_boost: float
    boost: float = 1.0


QueryClause = (
    MatchAllQuery
    | MatchQuery
    | MatchPhraseQuery
    | MultiMatchQuery
    | MultiPrefixQuery
    | PrefixQuery
    | WildcardQuery
    | FuzzyQuery
    | TermsQuery
    | RangeQuery
    | IdsQuery
    | ExistsQuery
    | BoolQuery
    | ConstantScoreQuery
    | DisMaxQuery
    | BoostingQuery
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


MetricKind = Literal["avg", "sum", "min", "max", "stats", "value_count", "cardinality"]


@dataclass(frozen=True, slots=True)
class MetricAggregation:
    """One figure, or with stats five, over the values of a field."""

    name: str
    kind: MetricKind
    field: str
    missing: Scalar | None = None


@dataclass(frozen=True, slots=True)
class TermsAggregation:
    """A bucket for every value; ordered by count, by key, or by a figure computed in it."""

    name: str
    field: str
    size: int = 10
    order_by: str = "_count"
    is_ascending: bool = False
    min_doc_count: int = 1
    missing: Scalar | None = None
    inside: tuple[Aggregation, ...] = ()


@dataclass(frozen=True, slots=True)
class HistogramAggregation:
    """A bucket for every interval of a number, or of a date where `calendar` or milliseconds."""

    name: str
    field: str
    interval: float = 0.0
    calendar: str = ""
    is_date: bool = False
    min_doc_count: int = 0
    is_keyed: bool = False
    format: str = ""
    time_zone: str | None = None
    is_falling: bool = False
    inside: tuple[Aggregation, ...] = ()


@dataclass(frozen=True, slots=True)
class RangesAggregation:
    """A bucket for every range, from its beginning and without its end."""

    name: str
    field: str
    ranges: tuple[tuple[str | None, Scalar | None, Scalar | None], ...]
    is_date: bool = False
    is_keyed: bool = False
    inside: tuple[Aggregation, ...] = ()


@dataclass(frozen=True, slots=True)
class FiltersAggregation:
    """A bucket for every query; the single bucket of a `filter` has no name."""

    name: str
    filters: tuple[tuple[str, QueryClause], ...]
    is_single: bool = False
    is_keyed: bool = True
    inside: tuple[Aggregation, ...] = ()


@dataclass(frozen=True, slots=True)
class MissingAggregation:
    """The documents without the field."""

    name: str
    field: str
    inside: tuple[Aggregation, ...] = ()


Aggregation = (
    MetricAggregation
    | TermsAggregation
    | HistogramAggregation
    | RangesAggregation
    | FiltersAggregation
    | MissingAggregation
)


@dataclass(frozen=True, slots=True)
class HighlightField:
    """How the matches of one field, or of all that a pattern names, are marked."""

    field: str
    pre_tag: str = "<em>"
    post_tag: str = "</em>"
    fragment_size: int = 100
    number_of_fragments: int = 5
    no_match_size: int = 0
    needs_own_match: bool = True


@dataclass(frozen=True, slots=True)
class SearchRequest:
    query: QueryClause = field(default_factory=MatchAllQuery)
    first: int = 0
    size: int = 10
    sort: tuple[SortKey, ...] = ()
    source: SourceFilter = SourceFilter()
    highlight: tuple[HighlightField, ...] = ()
    aggregations: tuple[Aggregation, ...] = ()
    post_filter: QueryClause | None = None
    min_score: float | None = None
    search_after: tuple[Scalar | None, ...] | None = None
