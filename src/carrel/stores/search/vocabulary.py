"""The words that an index knows: which of a query matched nothing, and what was meant instead."""

from __future__ import annotations

from carrel.libraries.query.suggestions import candidate_prefixes, suggest_spelling
from carrel.libraries.text.analysis import AskedWord, analyze_query
from carrel.stores.search.compiler import stem
from carrel.stores.search.views import View

# The commonest words with a beginning that a mistyped word is compared with.
MAX_CANDIDATES = 3_000
_FIELDS = ("text", "body")


class Vocabulary:
    """Looks up words in a view."""

    def __init__(self, view: View) -> None:
        self._searcher = view.searcher

    def count(self, word: AskedWord) -> int:
        """At least how many documents have the word in any of its forms."""
        return max(
            (min(map(self._count_term, choice), default=0) for choice in word.choices), default=0
        )

    def unmatched_words(self, text: str) -> list[str]:
        """The words of a query that no document has, as they were typed."""
        return [word.typed for word in analyze_query(text) if not self.count(word)]

    def suggest(self, word: str) -> list[str]:
        """Known words that the typed one is nearest to, best first; empty for a known word."""
        return suggest_spelling(word, self.words_like(word))

    def words_like(self, word: str) -> list[tuple[str, int]]:
        """Known words that begin as a mistyped one may, and how many documents have them."""
        candidates = dict[str, int]()
        for prefix in candidate_prefixes(word):
            candidates |= self._searcher.terms_with_prefix("exact", prefix, limit=MAX_CANDIDATES)
        return list(candidates.items())

    def _count_term(self, term: str) -> int:
        stemmed = stem(term)
        known = max(self._searcher.doc_freq(field, stemmed) for field in _FIELDS)
        return known or int(self._searcher.doc_freq("exact", term))
