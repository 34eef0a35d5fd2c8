"""What ranking asks of an index, whichever engine holds it, and the same of tantivy."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import tantivy
from tantivy import Occur

from carrel.stores.search.schema import FULL_WEIGHT, HAS_BODY

# A query in the language of the engine that made it; only that engine reads it.
Query = Any
FrequencyOption = Literal["basic", "freq"]

# Counting so many matches costs about a millisecond; beyond it a lower bound is told.
CHEAP_MATCHES = 50_000


class Hit(NamedTuple):
    """A document by its paper's row and its number in the paper, with its weighted score."""

    row: int
    number: int
    score: float


@dataclass(frozen=True, slots=True)
class MatchCount:
    """How many match; `is_exact` is false where there may be more."""

    count: int
    is_exact: bool = True


class IndexEngine(Protocol):
    """One index: makes queries of its own language, and answers them."""

    def term(self, field: str, value: str, option: FrequencyOption = "basic") -> Query: ...

    def phrase(self, field: str, words: Sequence[str]) -> Query: ...

    def phrase_beginning(self, field: str, words: Sequence[str]) -> Query:
        """Words in this order; the last may be the beginning of one."""
        ...

    def beginning(
        self, field: str, prefix: str, limit: int, option: FrequencyOption = "basic"
    ) -> tuple[Query, list[str]]:
        """The commonest `limit` terms with a beginning; and these terms, where they are known."""
        ...

    def years(self, first: int | None, last: int | None) -> Query: ...

    def rows(self, numbers: Iterable[int]) -> Query:
        """The documents of these rows, unscored."""
        ...

    def any_of(self, choices: Sequence[Query]) -> Query:
        """At least one of the choices; nothing where there are none."""
        ...

    def all_of(self, wanted: Sequence[Query], unwanted: Sequence[Query]) -> Query:
        """All that is wanted and nothing unwanted; everything where nothing is wanted."""
        ...

    def best_of(self, choices: Sequence[Query], others: float) -> Query:
        """The score of the best choice, and of the others this share."""
        ...

    def boost(self, query: Query, weight: float) -> Query: ...

    def drop_scores(self, query: Query) -> Query: ...

    def with_scores(self, filtered: Query, scored: Query) -> Query:
        """What the filter lets through, with the scores of what is scored besides."""
        ...

    def is_known(self, field: str, term: str) -> bool:
        """Whether any document may have this term."""
        ...

    def has_bodies(self) -> bool:
        """Whether any document has a body beside its own text."""
        ...

    def hits(
        self, query: Query, wanted: int, deleted: Container[int], *, newest_first: bool = False
    ) -> Iterator[Hit]:
        """The best `wanted` documents that are not deleted, best first; or the newest first."""
        ...

    def rows_of_keys(self, keys: Sequence[str]) -> list[int]:
        """The rows of documents with one of these keys, in ascending order."""
        ...

    def count_matches(self, query: Query, terms: Sequence[str]) -> MatchCount:
        """How many match; a lower bound where the terms are so common that counting is dear."""
        ...

    def count(self, query: Query) -> int: ...


class Searched(Protocol):
    """Whatever holds an engine."""

    @property
    def engine(self) -> IndexEngine: ...


# Rows of one identifier, and titles of one spelling, that are looked at.
_MOST_KEYS = 50


class TantivyEngine:
    """An opened tantivy index."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher) -> None:
        self._schema = schema
        self._searcher = searcher

    def term(self, field: str, value: str, option: FrequencyOption = "basic") -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, option)

    def phrase(self, field: str, words: Sequence[str]) -> tantivy.Query:
        return tantivy.Query.phrase_query(self._schema, field, list(words))

    def phrase_beginning(self, field: str, words: Sequence[str]) -> tantivy.Query:
        return tantivy.Query.phrase_prefix_query(self._schema, field, list(words))

    def beginning(
        self, field: str, prefix: str, limit: int, option: FrequencyOption = "basic"
    ) -> tuple[tantivy.Query, list[str]]:
        found = self._searcher.terms_with_prefix(field, prefix, limit=limit)
        terms = [term for term, _ in found]
        return any_of([self.term(field, term, option) for term in terms]), terms

    def years(self, first: int | None, last: int | None) -> tantivy.Query:
        kind = tantivy.FieldType.Unsigned
        return tantivy.Query.range_query(
            self._schema, "year", kind, max(first or 1, 1), last or 9999
        )

    def rows(self, numbers: Iterable[int]) -> tantivy.Query:
        return drop_scores(tantivy.Query.term_set_query(self._schema, "row", list(numbers)))

    def any_of(self, choices: Sequence[tantivy.Query]) -> tantivy.Query:
        return any_of(choices)

    def all_of(
        self, wanted: Sequence[tantivy.Query], unwanted: Sequence[tantivy.Query]
    ) -> tantivy.Query:
        return all_of(wanted, unwanted)

    def best_of(self, choices: Sequence[tantivy.Query], others: float) -> tantivy.Query:
        return tantivy.Query.disjunction_max_query(list(choices), others)

    def boost(self, query: tantivy.Query, weight: float) -> tantivy.Query:
        return tantivy.Query.boost_query(query, weight)

    def drop_scores(self, query: tantivy.Query) -> tantivy.Query:
        return drop_scores(query)

    def with_scores(self, filtered: tantivy.Query, scored: tantivy.Query) -> tantivy.Query:
        return tantivy.Query.boolean_query([(Occur.Must, filtered), (Occur.Should, scored)])

    def is_known(self, field: str, term: str) -> bool:
        return bool(self._searcher.doc_freq(field, term))

    def has_bodies(self) -> bool:
        return self._searcher.doc_freq("key", HAS_BODY) > 0

    def hits(
        self,
        query: tantivy.Query,
        wanted: int,
        deleted: Container[int],
        *,
        newest_first: bool = False,
    ) -> Iterator[Hit]:
        if wanted <= 0:
            return
        order = "newness" if newest_first else None
        limit, given = wanted, 0
        seen = 0
        while True:
            hits = self._searcher.search(
                query, limit, count=False, offset=seen, order_by_field=order
            ).hits
            rows, numbers = self._numbers("row", hits), self._numbers("number", hits)
            weights = self._numbers("weight", hits)
            for row, number, weight, (score, _) in zip(rows, numbers, weights, hits, strict=True):
                if row not in deleted:
                    yield Hit(row, number, float(score) * weight / FULL_WEIGHT)
                    given += 1
                    if given == wanted:
                        return
            if len(hits) < limit:
                return
            seen += len(hits)

    def rows_of_keys(self, keys: Sequence[str]) -> list[int]:
        query = any_of([self.term("key", key) for key in keys])
        hits = self._searcher.search(query, _MOST_KEYS, count=False).hits
        return sorted(self._numbers("row", hits))

    def count_matches(self, query: tantivy.Query, terms: Sequence[str]) -> MatchCount:
        known = [
            self._searcher.doc_freq(field, term) for term in terms for field in ("text", "body")
        ]
        if sum(known) <= CHEAP_MATCHES:
            return MatchCount(self.count(query))
        return MatchCount(max(known), is_exact=False)

    def count(self, query: tantivy.Query) -> int:
        found: Any = self._searcher.search(query, 1, count=True)
        return int(found.count)

    def _numbers(self, field: str, hits: Sequence[tuple[object, tantivy.DocAddress]]) -> list[int]:
        found = self._searcher.fast_field_values(field, [address for _, address in hits])
        return [int(number or 0) for number in found]


def any_of(choices: Sequence[tantivy.Query]) -> tantivy.Query:
    """At least one of the choices; nothing where there are none."""
    if not choices:
        return tantivy.Query.empty_query()
    if len(choices) == 1:
        return choices[0]
    return tantivy.Query.boolean_query([(Occur.Should, choice) for choice in choices])


def all_of(wanted: Sequence[tantivy.Query], unwanted: Sequence[tantivy.Query]) -> tantivy.Query:
    """All that is wanted and nothing unwanted; everything where nothing is wanted."""
    if len(wanted) == 1 and not unwanted:
        return wanted[0]
    signs = [(Occur.Must, part) for part in wanted or [drop_scores(tantivy.Query.all_query())]]
    return tantivy.Query.boolean_query([*signs, *((Occur.MustNot, part) for part in unwanted)])


def drop_scores(query: tantivy.Query) -> tantivy.Query:
    return tantivy.Query.const_score_query(query, 0.0)
