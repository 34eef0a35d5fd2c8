"""Papers and passages by words and meaning together; what is asked for exactly stays exact."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from carrel.libraries.query.papers import PaperQuery
from carrel.stores.search.ranking import PaperRanking, RankedPaper, RankedPassage
from carrel.stores.vectors.fusion import WINDOW, fuse, fuse_passages
from carrel.stores.vectors.passages import Embedder, PassageVectors

# Up to here the vectors of all passages are compared, in about 10 ms; beyond it only those of the
# papers that the words have found.
MOST_COMPARED = 400_000


class SemanticPapers:
    """Ranks by words and nearness. Many threads may use it at once."""

    def __init__(self, words: PaperRanking, vectors: PassageVectors, embedder: Embedder) -> None:
        self._words = words
        self._vectors = vectors
        self._vector = lru_cache(maxsize=256)(embedder.vector)

    def search(self, query: PaperQuery, first: int, count: int) -> list[RankedPaper]:
        """`count` papers after the `first` best."""
        if not _asks_for_meaning(query):
            return self._words.search(query, first, count)
        named = self._words.find_named(query)
        page = named[first : first + count]
        wanted = count - len(page)
        if not wanted:
            return page
        known = {paper.row for paper in named}
        fused = [paper for paper in self._fused(query) if paper.row not in known]
        skip = max(0, first - len(named))
        chosen = fused[skip : skip + wanted]
        if len(chosen) < wanted:
            # Past the fused ones, the words alone go on.
            seen = known | {paper.row for paper in fused}
            ranked = self._words.rank(query, first + count + len(seen), without=seen)
            at = max(0, skip - len(fused))
            chosen += ranked[at : at + wanted - len(chosen)]
        return page + chosen

    def search_passages(
        self, query: PaperQuery, within_rows: Sequence[int] | None, first: int, count: int
    ) -> list[RankedPassage]:
        """`count` passages after the `first` best, of these rows or of all."""
        passages = self._words.passages
        is_all = within_rows is None and query.strict is None
        if (
            not _asks_for_meaning(query)
            or first + count > WINDOW
            or query.strict is not None
            or (is_all and len(self._vectors) > MOST_COMPARED)
        ):
            return passages.search(query, within_rows, first, count)
        by_words = passages.search(query, within_rows, 0, WINDOW)
        near = self._vectors.nearest(self._vector(query.text), WINDOW, within_rows)
        return fuse_passages(by_words, near)[first : first + count]

    def _fused(self, query: PaperQuery) -> list[RankedPaper]:
        by_words = self._words.rank(query, WINDOW)
        rows = [paper.row for paper in by_words]
        vector = self._vector(query.text)
        if query.strict is None and len(self._vectors) <= MOST_COMPARED:
            return fuse(by_words, self._vectors.best_by_row(vector, WINDOW, rows))
        return fuse(by_words, self._vectors.best_of_rows(vector, rows))


def _asks_for_meaning(query: PaperQuery) -> bool:
    """Whether plain words were typed; identifiers and beginnings of words mean only themselves."""
    is_exact = query.identifiers or any(phrase.is_prefix for phrase in query.loose)
    return bool(query.loose) and not is_exact
