"""Papers and passages ranked by a cluster, as the embedded index ranks them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Protocol

from carrel.libraries.query.papers import FacetCategory, PaperIdentifier, PaperQuery
from carrel.libraries.text.analysis import exact_words
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.snippets import Stem
from carrel.stores.corpus.folder import CorpusSession
from carrel.stores.corpus.store import CorpusRanking
from carrel.stores.elasticsearch.papers.state import PaperSet
from carrel.stores.search.engine import MatchCount, Query
from carrel.stores.search.ranking import PaperRanking, RankedPaper, RankedPassage
from carrel.stores.search.snapshot_index import list_papers
from carrel.stores.sqlite.papers.rows import ListedPaper

NAME = "a real Elasticsearch"
# Words like a mistyped one that the cluster is asked for.
_MAX_ALIKE = 200
_MAX_BEGINNINGS = 10_000


class RankedByMeaning(Protocol):
    """Papers and passages by words and nearness together."""

    def search(self, query: PaperQuery, first: int, count: int) -> list[RankedPaper]: ...

    def search_passages(
        self, query: PaperQuery, within_rows: Sequence[int] | None, first: int, count: int
    ) -> list[RankedPassage]: ...

    def finds_more_than_words(self, query: PaperQuery) -> bool: ...


AddMeaning = Callable[[PaperRanking, PaperSet], RankedByMeaning | None]
"""From the ranking by words to one by meaning too; None where the cluster has no vectors for it."""


class ClusterRanking:
    """The papers of one cluster, ranked by the words that they have now."""

    name = NAME

    def __init__(
        self, papers: PaperSet, add_meaning: AddMeaning = lambda words, papers: None
    ) -> None:
        self.set = papers
        self._add_meaning = add_meaning

    @property
    def stem(self) -> Stem:
        return PaperRanking.stem

    def words(self) -> PaperRanking:
        """The ranking by words, with the abbreviations of the present build."""
        return PaperRanking(
            self.set.papers,
            self.set.passages,
            rows_of_identifiers=self._rows_of_identifiers,
            abbreviations=self.set.abbreviations(),
        )

    def search(self, query: PaperQuery, first: int, count: int) -> list[RankedPaper]:
        words = self.words()
        return (self._add_meaning(words, self.set) or words).search(query, first, count)

    def count(self, query: PaperQuery) -> MatchCount:
        words = self.words()
        found, meaning = words.count(query), self._add_meaning(words, self.set)
        if meaning is not None and meaning.finds_more_than_words(query):
            return MatchCount(found.count, is_exact=False)
        return found

    def search_passages(
        self, query: PaperQuery, within_rows: Sequence[int] | None, first: int, count: int
    ) -> list[RankedPassage]:
        words = self.words()
        meaning = self._add_meaning(words, self.set)
        if meaning is not None:
            return meaning.search_passages(query, within_rows, first, count)
        return words.passages.search(query, within_rows, first, count)

    def words_like(self, word: str) -> list[tuple[str, int]]:
        """Words of the papers that differ from a typed one by a few letters, and their papers."""
        asked = fold_text(word)
        term = {
            "field": "w_exact",
            "suggest_mode": "always",
            "prefix_length": 0,
            "min_word_length": 3,
            "size": _MAX_ALIKE,
        }
        found = self.set.papers.search.ask(size=0, suggest={"alike": {"text": asked, "term": term}})
        options = [each for part in found["suggest"]["alike"] for each in part["options"]]
        return [(str(each["text"]), int(each["freq"])) for each in options]

    def with_facet_words(
        self, categories: Sequence[FacetCategory], words: Sequence[str]
    ) -> Iterator[int]:
        """Rows that have all of these exact words in one of the categories, newest first."""
        engine = self.set.papers
        query = engine.any_of(
            [
                engine.all_of([engine.term(category, word) for word in words], [])
                for category in categories
            ]
        )
        hits = engine.hits(query, _MAX_BEGINNINGS, frozenset(), newest_first=True)
        return (hit.row for hit in hits)

    def with_title_beginning(self, text: str, count: int) -> tuple[list[int], int]:
        """The newest rows with such words in the title, the last a beginning; and how many."""
        engine, query = self.set.papers, self._title_beginning(text)
        if query is None:
            return [], 0
        hits = engine.hits(query, count, frozenset(), newest_first=True)
        return [hit.row for hit in islice(hits, count)], engine.count(query)

    def _title_beginning(self, text: str) -> Query | None:
        words = exact_words(text)
        if not words:
            return None
        if len(words) > 1:
            return self.set.papers.phrase_beginning("title", words)
        return self.set.papers.beginning("title", words[0], 0)[0]

    def _rows_of_identifiers(self, identifiers: Sequence[PaperIdentifier]) -> list[int]:
        keys = [
            each.value if each.kind == "paper_id" else f"{each.kind}:{each.value}"
            for each in identifiers
        ]
        return list(dict.fromkeys(self.set.papers.rows_by_key(keys).values())) if keys else []


class ClusterCorpusRanking:
    """A version of a corpus of segments that a cluster holds as well.

    Until the cluster has followed the corpus to just this version, the corpus's own index answers.
    """

    def __init__(self, cluster: ClusterRanking, build_id: str, own: CorpusRanking) -> None:
        self.name = cluster.name
        self._cluster = cluster
        self._build_id = build_id
        self._own = own

    @property
    def stem(self) -> Stem | None:
        return self._cluster.stem

    def search(
        self, session: CorpusSession, query: PaperQuery, first: int, count: int
    ) -> list[RankedPaper]:
        if self._is_behind():
            return self._own.search(session, query, first, count)
        return self._cluster.search(query, first, count)

    def count(self, query: PaperQuery) -> MatchCount:
        return self._own.count(query) if self._is_behind() else self._cluster.count(query)

    def search_passages(
        self, query: PaperQuery, within_rows: Sequence[int] | None, first: int, count: int
    ) -> list[RankedPassage]:
        if self._is_behind():
            return self._own.search_passages(query, within_rows, first, count)
        return self._cluster.search_passages(query, within_rows, first, count)

    def with_facet_words(
        self, session: CorpusSession, categories: Sequence[FacetCategory], words: Sequence[str]
    ) -> Iterator[int]:
        return self._own.with_facet_words(session, categories, words)

    def words_like(self, word: str) -> list[tuple[str, int]]:
        return self._own.words_like(word)

    def with_title_beginning(
        self, session: CorpusSession, text: str, count: int
    ) -> tuple[list[int], int]:
        return self._own.with_title_beginning(session, text, count)

    def _is_behind(self) -> bool:
        """Raises UnavailableError where the cluster is away or holds no papers at all."""
        return self._cluster.set.unusable_for(self._build_id) is not None


class ClusterSnapshotRanking:
    """A snapshot that a cluster holds; UnavailableError where it does not hold just this one."""

    name = NAME

    def __init__(self, cluster: ClusterRanking, build_id: str) -> None:
        self._cluster = cluster
        self._build_id = build_id
        self.stem: Stem = cluster.stem

    def search(
        self, connection: sqlite3.Connection, query: PaperQuery, first: int, count: int
    ) -> list[ListedPaper]:
        self._require_build()
        return list_papers(connection, self._cluster.search(query, first, count))

    def total(self, connection: sqlite3.Connection, query: PaperQuery) -> int | None:
        self._require_build()
        found = self._cluster.count(query)
        return found.count if found.is_exact else None

    def _require_build(self) -> None:
        error = self._cluster.set.unusable_for(self._build_id)
        if error is not None:
            raise error
