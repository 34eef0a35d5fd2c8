"""Papers and passages by words and meaning together; what is asked for exactly stays exact."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from carrel.libraries.query.papers import PaperQuery
from carrel.stores.search.ranking import PaperRanking, RankedPaper, RankedPassage
from carrel.stores.vectors.fusion import FEEDBACK_WEIGHT, WINDOW, fuse, fuse_passages
from carrel.stores.vectors.passages import Embedder, NearPassage

# Up to here the vectors of all passages are compared, in about 10 ms; beyond it only those of the
# papers that the words have found.
MOST_COMPARED = 400_000


class NearPassages(Protocol):
    """Vectors of passages, by which the nearest are found."""

    def __len__(self) -> int: ...

    def best_by_row(
        self, vector: NDArray[np.float32], count: int, rows: Sequence[int]
    ) -> list[NearPassage]:
        """The nearest passage of each of these rows and of the nearest papers, best first."""
        ...

    def best_of_rows(self, vector: NDArray[np.float32], rows: Sequence[int]) -> list[NearPassage]:
        """The nearest passage of each of these rows alone, best first."""
        ...

    def vector_of(self, row: int, near: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """The vector of that passage of a row which is nearest to another vector."""
        ...

    def nearest(
        self, vector: NDArray[np.float32], count: int, rows: Sequence[int] | None = None
    ) -> list[NearPassage]:
        """The `count` nearest passages, of these rows or of all, best first."""
        ...


class SemanticPapers:
    """Ranks by words and nearness. Many threads may use it at once."""

    def __init__(self, words: PaperRanking, vectors: NearPassages, embedder: Embedder) -> None:
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

    def finds_more_than_words(self, query: PaperQuery) -> bool:
        """Whether papers may be found by nearness that have no word of the query."""
        return _asks_for_meaning(query) and self._is_open(query)

    def _is_open(self, query: PaperQuery) -> bool:
        return query.strict is None and len(self._vectors) <= MOST_COMPARED

    def _fused(self, query: PaperQuery) -> list[RankedPaper]:
        by_words = self._words.rank(query, WINDOW)
        vector = self._vector(query.text)
        is_open = self._is_open(query)
        fused = fuse(by_words, self._near(vector, by_words, is_open))
        best = self._vectors.vector_of(fused[0].row, vector) if fused else None
        if best is None:
            return fused
        # Once more, from a little nearer to the best: finds what says the same in other words.
        moved = vector + FEEDBACK_WEIGHT * best
        moved /= max(float(np.linalg.norm(moved)), 1e-12)
        return fuse(by_words, self._near(moved, by_words, is_open))

    def _near(
        self, vector: NDArray[np.float32], by_words: Sequence[RankedPaper], is_open: bool
    ) -> list[NearPassage]:
        rows = [paper.row for paper in by_words]
        if is_open:
            return self._vectors.best_by_row(vector, WINDOW, rows)
        return self._vectors.best_of_rows(vector, rows)


def _asks_for_meaning(query: PaperQuery) -> bool:
    """Whether plain words were typed; identifiers and beginnings of words mean only themselves."""
    is_exact = query.identifiers or any(phrase.is_prefix for phrase in query.loose)
    return bool(query.loose) and not is_exact
