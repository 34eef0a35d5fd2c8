"""What the index of papers answers without ranking: words of facets, beginnings of titles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tantivy

from carrel.libraries.query.papers import FacetCategory
from carrel.libraries.text.analysis import exact_words
from carrel.stores.corpus.folder import CorpusSession
from carrel.stores.search.engine import all_of, any_of
from carrel.stores.search.views import View

_PAGE = 200
# The words of titles that a beginning may stand for, those of most papers first.
_MAX_WORDS = 100
_ROWS_AT_ONCE = 1_000


class IndexLookups:
    """Questions to the opened index of papers of one version of a corpus."""

    def __init__(self, papers: View) -> None:
        self._view = papers

    def with_facet_words(
        self, session: CorpusSession, categories: Sequence[FacetCategory], words: Sequence[str]
    ) -> Iterator[int]:
        """Rows that have all of these exact words in one of the categories, newest first."""
        query = any_of(
            [all_of([self._term(category, word) for word in words], []) for category in categories]
        )
        first = 0
        while page := self._newest(query, first, _PAGE):
            yield from _live(session, page)
            first += len(page)

    def with_title_beginning(
        self, session: CorpusSession, text: str, count: int
    ) -> tuple[list[int], int]:
        """The newest rows with such words in the title, the last a beginning; and how many."""
        query = self._title_beginning(text)
        if query is None:
            return [], 0
        found: list[int] = []
        first = 0
        while len(found) < count and (page := self._newest(query, first, _PAGE)):
            found += _live(session, page)
            first += len(page)
        return found[:count], self._count(query) - self._count_deleted(session, query)

    def _title_beginning(self, text: str) -> tantivy.Query | None:
        words = exact_words(text)
        if not words:
            return None
        if len(words) > 1:
            return tantivy.Query.phrase_prefix_query(self._view.schema, "title", list(words))
        known = self._view.searcher.terms_with_prefix("title", words[0], limit=_MAX_WORDS)
        return any_of([self._term("title", word) for word, _ in known])

    def _newest(self, query: tantivy.Query, first: int, count: int) -> list[int]:
        hits = self._view.searcher.search(
            query, count, count=False, offset=first, order_by_field="newness"
        ).hits
        rows = self._view.searcher.fast_field_values("row", [address for _, address in hits])
        return [int(row or 0) for row in rows]

    def _count(self, query: tantivy.Query) -> int:
        found: Any = self._view.searcher.search(query, 1, count=True)
        return int(found.count or 0)

    def _count_deleted(self, session: CorpusSession, query: tantivy.Query) -> int:
        deleted = [row for segment in session.version.segments for row in sorted(segment.deleted)]
        total = 0
        for first in range(0, len(deleted), _ROWS_AT_ONCE):
            rows = deleted[first : first + _ROWS_AT_ONCE]
            among = tantivy.Query.term_set_query(self._view.schema, "row", rows)
            total += self._count(all_of([query, among], []))
        return total

    def _term(self, field: str, word: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._view.schema, field, word, "basic")


def _live(session: CorpusSession, rows: Sequence[int]) -> list[int]:
    segments = session.version.segments
    return [row for row in rows if any(segment.may_have(row) for segment in segments)]
