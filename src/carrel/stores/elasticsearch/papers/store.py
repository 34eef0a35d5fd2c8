"""The papers room's store on a cluster alone, for servers that have no corpus of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypeVar

from carrel.core.errors import UnavailableError
from carrel.libraries.query.papers import FacetCategory, PaperQuery
from carrel.libraries.text.analysis import exact_words
from carrel.libraries.text.snippets import Marker
from carrel.libraries.text.words import Phrase, split_words
from carrel.rooms.papers.building.doubts import DoubtKind
from carrel.rooms.papers.models import CorpusStatistics, FacetCount, Paper, PaperHit
from carrel.rooms.papers.review import DoubtsPage
from carrel.stores.corpus.hits import make_hit, make_keyword_hit, telling_texts
from carrel.stores.corpus.keywords import CATEGORIES, matching_values
from carrel.stores.corpus.papers import shown_paper
from carrel.stores.corpus.passage_rows import StoredPassage
from carrel.stores.corpus.passages import abstract_text
from carrel.stores.elasticsearch.papers.facets import top_facets
from carrel.stores.elasticsearch.papers.ranking import ClusterRanking
from carrel.stores.elasticsearch.papers.records import HeldPaper, PaperRecords
from carrel.stores.search.engine import MatchCount, Query
from carrel.stores.search.ranking import RankedPaper

# Threads wait for the cluster most of the time.
THREADS = 16
# How often a search is asked again where papers were written anew between its steps.
_TRIES = 3
_PAGE = 200
_MOST_KEYS = 5_000

ResultT = TypeVar("ResultT")


class ClusterPaperStore:
    """Searches and reads the papers that another server keeps in a cluster."""

    def __init__(self, ranking: ClusterRanking) -> None:
        self._ranking = ranking
        self._set = ranking.set
        self._records = PaperRecords(ranking.set)
        self._threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="cluster")

    async def search(self, query: PaperQuery, *, first: int, count: int) -> list[PaperHit]:
        def work() -> list[PaperHit]:
            ranked = self._ranking.search(query, first, count)
            held = self._records.by_rows([each.row for each in ranked])
            for _ in range(_TRIES - 1):
                if len(held) == len(ranked):
                    break
                # A paper was written anew since it was ranked.
                ranked = self._ranking.search(query, first, count)
                held = self._records.by_rows([each.row for each in ranked])
            total = self._ranking.count(query) if held else MatchCount(0)
            marker = Marker(query.phrases, self._ranking.stem)
            return self._hits(ranked, held, marker, total.count if total.is_exact else None)

        return await self._run(work)

    async def search_by_keyword(self, keyword: str, *, first: int, count: int) -> list[PaperHit]:
        def work() -> list[PaperHit]:
            marker = Marker([Phrase((word,)) for word in split_words(keyword)])
            words = frozenset(exact_words(keyword))
            value = " ".join(keyword.lower().split())
            return [
                make_keyword_hit(
                    each.paper, matching_values(each.paper.record, words, value), marker
                )
                for each in islice(self._with_keyword(words, value), first, first + count)
            ]

        return await self._run(work)

    async def find(self, paper_id: str) -> Paper | None:
        def work() -> Paper | None:
            held = self._records.by_id(paper_id)
            if held is None:
                return None
            return replace(shown_paper(held.paper), other_texts=held.other_texts)

        return await self._run(work)

    async def find_by_keys(self, keys: Sequence[str]) -> dict[str, str]:
        def work() -> dict[str, str]:
            rows: dict[str, int] = {}
            for at in range(0, len(keys), _MOST_KEYS):
                rows |= self._set.papers.rows_by_key(keys[at : at + _MOST_KEYS])
            numbers = list(dict.fromkeys(rows.values()))
            ids = self._records.ids_of_rows(numbers)
            return {key: ids[row] for key, row in rows.items() if row in ids}

        return await self._run(work) if keys else {}

    async def abstract(self, paper_id: str) -> str | None:
        held = await self._run(partial(self._records.by_id, paper_id))
        return None if held is None else abstract_text(held.paper.record)

    async def bibtex(self, paper_id: str) -> str | None:
        held = await self._run(partial(self._records.by_id, paper_id))
        entry = None if held is None else held.paper.record.bibtex
        return None if entry is None else entry.raw

    async def list_ids(self, *, first: int, count: int) -> list[str]:
        def work() -> list[str]:
            everything: Query = {"match_all": {}}
            engine = self._set.papers
            hits = engine.hits(everything, first + count, frozenset(), newest_first=True)
            return self._ids([hit.row for hit in islice(hits, first, None)])

        return await self._run(work)

    async def words_like(self, word: str) -> list[tuple[str, int]]:
        return await self._run(partial(self._ranking.words_like, word))

    async def ids_like(self, text: str, count: int) -> tuple[list[str], int]:
        """Ids with this beginning, then of papers with such a word in the title, and how many."""

        def work() -> tuple[list[str], int]:
            engine = self._set.papers
            begins: Query = {"prefix": {"paper_id": {"value": text.lower()}}}
            if not text:
                begins = {"match_all": {}}
            hits = engine.hits(begins, count, frozenset(), newest_first=True)
            rows, total = [hit.row for hit in hits], engine.count(begins)
            if text and split_words(text):
                titled, by_title = self._ranking.with_title_beginning(text, count)
                rows, total = list(dict.fromkeys((*rows, *titled)))[:count], total + by_title
            return self._ids(rows), total

        return await self._run(work)

    async def statistics(self) -> CorpusStatistics:
        def work() -> CorpusStatistics:
            facts = dict(self._set.state(is_fresh=True).statistics)
            return CorpusStatistics.model_validate({**facts, "index": self._ranking.name})

        return await self._run(work)

    async def top_facets(self, category: FacetCategory, count: int) -> list[FacetCount]:
        return await self._run(partial(top_facets, self._set.papers.search, category, count))

    async def search_passages(
        self, query: PaperQuery, *, within: Sequence[str], first: int, count: int
    ) -> list[StoredPassage]:
        """`count` passages after the `first` best ones, of these papers or of all."""

        def work() -> list[StoredPassage]:
            rows = list(self._set.papers.rows_by_key(within).values()) if within else None
            ranked = self._ranking.search_passages(query, rows, first, count)
            places = [(each.row, each.number) for each in ranked]
            found = self._records.passages_at(places)
            return [found[place] for place in places if place in found]

        return await self._run(work)

    async def papers_in_doubt(
        self,
        kind: DoubtKind | None,
        field: str | None,
        *,
        first: int,
        count: int,
        paper_id: str | None = None,
    ) -> DoubtsPage | None:
        """Papers are reviewed where the corpus is."""
        return None

    async def check(self) -> None:
        """Raises UnavailableError where the cluster is away or holds no records of papers."""
        await self._run(lambda: self._set.state(is_fresh=True))

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)

    def _ids(self, rows: Sequence[int]) -> list[str]:
        ids = self._records.ids_of_rows(rows)
        return [ids[row] for row in rows if row in ids]

    def _hits(
        self,
        ranked: Sequence[RankedPaper],
        held: Sequence[HeldPaper],
        marker: Marker,
        total: int | None,
    ) -> list[PaperHit]:
        best = {each.row: each.passage for each in ranked if each.passage is not None}
        places = [
            (each.row, best[each.row])
            for each in held
            if each.row in best and each.paper.record.markdown_sha256
        ]
        passages = {row: each.text for (row, _), each in self._records.passages_at(places).items()}

        def texts(each: HeldPaper) -> Iterator[str]:
            def all_passages() -> Iterator[str]:
                return (one.text for one in self._records.passages_of_row(each.row))

            return telling_texts(each.paper, passages.get(each.row, ""), all_passages)

        return [make_hit(each.paper, marker.snippet(texts(each)), total) for each in held]

    def _with_keyword(self, words: frozenset[str], value: str) -> Iterator[HeldPaper]:
        """Papers with this value, then with one that contains its words, newest first."""
        if not words:
            return
        engine = self._set.papers
        exact = engine.any_of(
            [{"term": {f"f_{category}": {"value": value}}} for category in CATEGORIES]
        )
        hits = engine.hits(
            engine.drop_scores(exact), _MOST_KEYS * 2, frozenset(), newest_first=True
        )
        yield from self._in_pages(hit.row for hit in hits)
        wider = self._ranking.with_facet_words(CATEGORIES, sorted(words))
        for each in self._in_pages(wider):
            values = matching_values(each.paper.record, words, value)
            if values and value not in values:
                yield each

    def _in_pages(self, rows: Iterator[int]) -> Iterator[HeldPaper]:
        while page := list(islice(rows, _PAGE)):
            yield from self._records.by_rows(page)

    async def _run(self, work: Callable[[], ResultT]) -> ResultT:
        def job() -> ResultT:
            self._require_records()
            return work()

        return await asyncio.get_running_loop().run_in_executor(self._threads, job)

    def _require_records(self) -> None:
        """UnavailableError for a cluster that was filled from a snapshot, or not at all."""
        if not self._set.state().statistics:
            raise UnavailableError(
                "The cluster holds words of papers and not the papers themselves",
                next_step="Fill it from a corpus of segments: run `carrel search sync --index "
                "papers` where `carrel papers build` made one.",
            )
