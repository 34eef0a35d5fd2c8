"""Papers from a corpus of segments: questions run on threads of the store's own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Protocol, TypeVar

from carrel.libraries.query.papers import FacetCategory, PaperQuery
from carrel.libraries.text.snippets import Marker, Stem
from carrel.libraries.text.words import Phrase, split_words
from carrel.rooms.papers.building.doubts import DoubtKind
from carrel.rooms.papers.models import (
    CorpusStatistics,
    FacetCount,
    Paper,
    PaperHit,
)
from carrel.rooms.papers.review import DoubtsPage
from carrel.stores.corpus import doubts, facets, keywords, papers, passage_rows
from carrel.stores.corpus.folder import CorpusFolder, CorpusSession, Signature, retry_if_swept
from carrel.stores.corpus.hits import make_hit, make_keyword_hit, telling_texts
from carrel.stores.corpus.papers import FoundPaper
from carrel.stores.corpus.passage_rows import StoredPassage
from carrel.stores.corpus.passages import abstract_text
from carrel.stores.corpus.statistics import corpus_statistics
from carrel.stores.search.engine import MatchCount
from carrel.stores.search.ranking import RankedPaper, RankedPassage

# More threads than cores would only wait for each other.
DEFAULT_THREADS = max(2, min(8, os.cpu_count() or 2))


ResultT = TypeVar("ResultT")


class CorpusRanking(Protocol):
    """The index over all segments of one version of a corpus."""

    @property
    def name(self) -> str:
        """A display name of the index."""
        ...

    @property
    def stem(self) -> Stem | None:
        """The stemmer by which words match, for marking them; None where only equal words match."""
        ...

    def search(
        self, session: CorpusSession, query: PaperQuery, first: int, count: int
    ) -> list[RankedPaper]:
        """`count` papers after the `first` best ones; no deleted rows."""
        ...

    def count(self, query: PaperQuery) -> MatchCount:
        """How many papers match in all."""
        ...

    def search_passages(
        self, query: PaperQuery, within_rows: Sequence[int] | None, first: int, count: int
    ) -> list[RankedPassage]:
        """`count` passages after the `first` best ones, of these rows or of all."""
        ...

    def words_like(self, word: str) -> list[tuple[str, int]]:
        """Known words that begin as a mistyped one may, and how many papers have them."""
        ...

    def with_facet_words(
        self, session: CorpusSession, categories: Sequence[FacetCategory], words: Sequence[str]
    ) -> Iterator[int]:
        """Rows that have all of these words in one of the categories, newest first."""
        ...

    def with_title_beginning(
        self, session: CorpusSession, text: str, count: int
    ) -> tuple[list[int], int]:
        """The newest rows with such words in the title, the last a beginning; and how many."""
        ...


OpenCorpusRanking = Callable[[CorpusSession], CorpusRanking]
"""From a version of the corpus to the index over its segments."""


class CorpusPaperStore:
    """The papers room's store on a corpus folder, which whoever opened it closes."""

    def __init__(
        self,
        folder: CorpusFolder,
        open_ranking: OpenCorpusRanking,
        *,
        threads: int = DEFAULT_THREADS,
    ) -> None:
        self.folder = folder
        self._open_ranking = open_ranking
        self._rankings: dict[Signature, CorpusRanking] = {}
        self._threads = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="corpus")

    async def search(self, query: PaperQuery, *, first: int, count: int) -> list[PaperHit]:
        def work(session: CorpusSession) -> list[PaperHit]:
            ranking = self.ranking(session)
            ranked = ranking.search(session, query, first, count)
            total = ranking.count(query) if ranked else MatchCount(0)
            marker = Marker(query.phrases, ranking.stem)
            return _hits(session, ranked, marker, total.count if total.is_exact else None)

        return await self.run(work)

    async def search_by_keyword(self, keyword: str, *, first: int, count: int) -> list[PaperHit]:
        def work(session: CorpusSession) -> list[PaperHit]:
            marker = Marker([Phrase((word,)) for word in split_words(keyword)])
            ranking = self.ranking(session)

            def with_words(words: Sequence[str]) -> Iterator[int]:
                return ranking.with_facet_words(session, keywords.CATEGORIES, words)

            found = keywords.papers_with_keyword(session, keyword, first, count, with_words)
            return [make_keyword_hit(paper.paper, values, marker) for paper, values in found]

        return await self.run(work)

    async def find(self, paper_id: str) -> Paper | None:
        def work(session: CorpusSession) -> Paper | None:
            found = papers.find_paper(session, paper_id)
            if found is None:
                return None
            paper = papers.shown_paper(found.paper)
            if not paper.metadata.former_ids:
                return paper
            return replace(paper, other_texts=papers.other_texts(session, found))

        return await self.run(work)

    async def find_by_keys(self, keys: Sequence[str]) -> dict[str, str]:
        return await self.run(lambda session: papers.ids_by_keys(session, keys))

    async def abstract(self, paper_id: str) -> str | None:
        def work(session: CorpusSession) -> str | None:
            found = papers.find_paper(session, paper_id)
            return None if found is None else abstract_text(found.paper.record)

        return await self.run(work)

    async def bibtex(self, paper_id: str) -> str | None:
        def work(session: CorpusSession) -> str | None:
            found = papers.find_paper(session, paper_id)
            entry = None if found is None else found.paper.record.bibtex
            return None if entry is None else entry.raw

        return await self.run(work)

    async def list_ids(self, *, first: int, count: int) -> list[str]:
        return await self.run(lambda session: papers.list_ids(session, first, count))

    async def words_like(self, word: str) -> list[tuple[str, int]]:
        return await self.run(lambda session: self.ranking(session).words_like(word))

    async def ids_like(self, text: str, count: int) -> tuple[list[str], int]:
        """Ids with this beginning, then of papers with such a word in the title, and how many."""

        def work(session: CorpusSession) -> tuple[list[str], int]:
            if not text:
                return papers.list_ids(session, 0, count), session.version.papers
            rows, by_id = papers.ids_beginning_with(session, text, count)
            by_title = 0
            if split_words(text):
                titled, by_title = self.ranking(session).with_title_beginning(session, text, count)
                rows = list(dict.fromkeys((*rows, *titled)))[:count]
            ids = papers.ids_of_rows(session, rows)
            return [ids[row] for row in rows], by_id + by_title

        return await self.run(work)

    async def statistics(self) -> CorpusStatistics:
        return await self.run(
            lambda session: corpus_statistics(session, self.ranking(session).name)
        )

    async def top_facets(self, category: FacetCategory, count: int) -> list[FacetCount]:
        # A change of threads costs more than all the rest of a call whose answer is known.
        key = ("shown facets", category, count)
        known: tuple[FacetCount, ...] | None = self.folder.remembered(key)
        if known is not None:
            return list(known)

        def work(session: CorpusSession) -> list[FacetCount]:
            found = facets.top_facets(session, category, count)
            values = [value for value, _ in found]
            if category in facets.SPELLED:
                values = facets.spelled_facets(session, category, values)
            shown = [
                FacetCount(value=value, paper_count=number)
                for value, (_, number) in zip(values, found, strict=True)
            ]
            if count <= facets.MAX_LISTED:
                session.version.answers[key] = tuple(shown)
            return shown

        return await self.run(work)

    async def search_passages(
        self, query: PaperQuery, *, within: Sequence[str], first: int, count: int
    ) -> list[StoredPassage]:
        """`count` passages after the `first` best ones, of these papers or of all."""

        def work(session: CorpusSession) -> list[StoredPassage]:
            rows = [paper.row for paper in papers.find_papers(session, within)] if within else None
            ranked = self.ranking(session).search_passages(query, rows, first, count)
            places = [(each.row, each.number) for each in ranked]
            found = passage_rows.passages_at(session, places)
            return [found[place] for place in places if place in found]

        return await self.run(work)

    async def papers_in_doubt(
        self,
        kind: DoubtKind | None,
        field: str | None,
        *,
        first: int,
        count: int,
        paper_id: str | None = None,
    ) -> DoubtsPage | None:
        return await self.run(
            lambda session: doubts.papers_in_doubt(session, kind, field, first, count, paper_id)
        )

    async def check(self) -> None:
        """Raises SnapshotUnavailableError where the corpus cannot be read."""

        def work(session: CorpusSession) -> None:
            papers.list_ids(session, 0, 1)
            self.ranking(session)

        await self.run(work)

    async def close(self) -> None:
        """Waits for questions under way; the folder stays open."""
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)

    def ranking(self, session: CorpusSession) -> CorpusRanking:
        """The current ranking; if two threads open one at once, only one is kept."""
        signature = session.version.signature
        known = self._rankings.get(signature)
        if known is None:
            known = self._open_ranking(session)
            self._rankings = {signature: known}
        return known

    async def run(self, work: Callable[[CorpusSession], ResultT]) -> ResultT:
        """A question on one of the threads. A caller who gives up stops it there, too."""
        under_way: list[CorpusSession] = []

        def job() -> ResultT:
            try:
                return retry_if_swept(self.folder, work, under_way.append)
            finally:
                under_way.clear()

        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, job)
        except asyncio.CancelledError:
            for session in tuple(under_way):
                session.interrupt()
            raise


def _hits(
    session: CorpusSession, ranked: Sequence[RankedPaper], marker: Marker, total: int | None
) -> list[PaperHit]:
    found = papers.papers_of_rows(session, [each.row for each in ranked])
    best = {each.row: each.passage for each in ranked}
    return [
        make_hit(paper.paper, marker.snippet(_texts(session, paper, best.get(paper.row))), total)
        for paper in found
    ]


def _texts(session: CorpusSession, paper: FoundPaper, passage: int | None) -> Iterator[str]:
    best = ""
    if passage is not None and paper.paper.record.markdown_sha256:
        found = passage_rows.passages_at(session, [(paper.row, passage)])
        best = "\n".join(each.text for each in found.values())

    def all_passages() -> Iterator[str]:
        return (each.text for each in passage_rows.passages_of_row(session, paper))

    return telling_texts(paper.paper, best, all_passages)
