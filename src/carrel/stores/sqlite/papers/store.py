"""Papers from a snapshot: questions run on threads of the store's own, never on the event loop."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from carrel.libraries.query.papers import FacetCategory, PaperQuery
from carrel.libraries.text.snippets import Marker
from carrel.libraries.text.words import Phrase, split_words
from carrel.rooms.papers.models import CorpusStatistics, FacetCount, Paper, PaperHit
from carrel.stores.sqlite.papers import rows
from carrel.stores.sqlite.papers.keywords import papers_with_keyword
from carrel.stores.sqlite.papers.search import Fts5Ranking, OpenRanking, Ranking
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot, Signature, SnapshotVersion

# More threads than cores would only wait for each other.
DEFAULT_THREADS = max(2, min(8, os.cpu_count() or 2))

ResultT = TypeVar("ResultT")
_Work = Callable[[SnapshotVersion, sqlite3.Connection], ResultT]


class SqlitePaperStore:
    """The papers room's store on a snapshot, which whoever opened it closes."""

    def __init__(
        self,
        snapshot: PaperSnapshot,
        *,
        threads: int = DEFAULT_THREADS,
        open_ranking: OpenRanking | None = None,
    ) -> None:
        """`open_ranking` opens the index beside a version of the snapshot, where there is one."""
        self.snapshot = snapshot
        self._open_ranking = open_ranking
        self._rankings: dict[Signature, Ranking] = {}
        self._threads = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="papers")
        self._facets: tuple[Signature, dict[tuple[FacetCategory, int], list[FacetCount]]] = ((), {})

    async def search(self, query: PaperQuery, *, first: int, count: int) -> list[PaperHit]:
        def work(generation: SnapshotVersion, connection: sqlite3.Connection) -> list[PaperHit]:
            ranking = self._ranking(generation)
            found = ranking.search(connection, query, first, count)
            facts = rows.hit_facts(connection, generation, found)
            total = ranking.total(connection, query) if found else None
            return _hits(connection, found, Marker(query.phrases, ranking.stem), facts, total)

        return await self._run(work)

    async def search_by_keyword(self, keyword: str, *, first: int, count: int) -> list[PaperHit]:
        def work(generation: SnapshotVersion, connection: sqlite3.Connection) -> list[PaperHit]:
            marker = Marker([Phrase((word,)) for word in split_words(keyword)])
            found = papers_with_keyword(generation, connection, keyword, first, count)
            facts = rows.hit_facts(connection, generation, [paper for paper, _ in found])
            return [
                PaperHit(
                    paper_id=paper.paper_id,
                    title=paper.title,
                    year=paper.year,
                    venue=paper.venue,
                    snippet_markdown=" — ".join(
                        filter(
                            None, (marker.mark(", ".join(values)), marker.snippet([paper.preview]))
                        )
                    ),
                    **facts[paper.paper_id]._asdict(),
                )
                for paper, values in found
            ]

        return await self._run(work)

    async def find(self, paper_id: str) -> Paper | None:
        return await self._run(
            lambda generation, connection: rows.read_paper(connection, generation, paper_id)
        )

    async def find_by_keys(self, keys: Sequence[str]) -> dict[str, str]:
        return await self._run(
            lambda generation, connection: rows.papers_by_keys(connection, generation, keys)
        )

    async def abstract(self, paper_id: str) -> str | None:
        return await self._run(lambda _, connection: rows.preview(connection, paper_id))

    async def bibtex(self, paper_id: str) -> str | None:
        return await self._run(
            lambda generation, connection: (
                rows.bibtex(connection, paper_id) if generation.has_bibtex else None
            ),
        )

    async def list_ids(self, *, first: int, count: int) -> list[str]:
        return await self._run(lambda _, connection: rows.list_ids(connection, first, count))

    async def words_like(self, word: str) -> list[tuple[str, int]]:
        return await self._run(lambda _, connection: rows.words_like(connection, word))

    async def ids_like(self, text: str, count: int) -> tuple[list[str], int]:
        return await self._run(lambda _, connection: rows.ids_like(connection, text, count))

    async def statistics(self) -> CorpusStatistics:
        def work(generation: SnapshotVersion, connection: sqlite3.Connection) -> CorpusStatistics:
            return rows.statistics(connection, generation, self._ranking(generation).name)

        return await self._run(work)

    async def top_facets(self, category: FacetCategory, count: int) -> list[FacetCount]:
        """Remembered while the snapshot stays the same, so that asking again costs no thread."""
        signature = self.snapshot.recent_signature()
        if self._facets[0] != signature:
            self._facets = (signature, {})
        known = self._facets[1]
        if (category, count) not in known:
            known[category, count] = await self._run(
                lambda _, connection: rows.facet_counts(connection, category, count)
            )
        return known[category, count]

    async def search_passages(
        self, query: PaperQuery, *, within: Sequence[str], first: int, count: int
    ) -> None:
        """A snapshot has no index of passages."""

    async def papers_in_doubt(
        self,
        kind: str | None,
        field: str | None,
        *,
        first: int,
        count: int,
        paper_id: str | None = None,
    ) -> None:
        """A snapshot does not say where its fields come from."""

    async def check(self) -> None:
        """Raises SnapshotUnavailableError where the snapshot cannot be opened."""
        await self._run(
            lambda _, connection: connection.execute("SELECT 1 FROM paper LIMIT 1").fetchone()
        )

    async def close(self) -> None:
        """Waits for questions under way; the snapshot stays open."""
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)

    def _ranking(self, generation: SnapshotVersion) -> Ranking:
        """The current ranking; if two threads open one at once, only one is kept."""
        known = self._rankings.get(generation.signature)
        if known is None:
            beside = (
                self._open_ranking(generation.path, generation.build_id)
                if self._open_ranking
                else None
            )
            known = beside if beside is not None else Fts5Ranking(generation)
            self._rankings = {generation.signature: known}
        return known

    async def _run(self, work: _Work[ResultT]) -> ResultT:
        """A question on one of the threads. A caller who gives up stops it there, too."""
        used: list[sqlite3.Connection] = []

        def job() -> ResultT:
            generation = self.snapshot.current()
            with generation.connection() as connection:
                used.append(connection)
                try:
                    return work(generation, connection)
                finally:
                    used.clear()

        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, job)
        except asyncio.CancelledError:
            for connection in tuple(used):
                connection.interrupt()
            raise


def _hits(
    connection: sqlite3.Connection,
    found: list[rows.ListedPaper],
    marker: Marker,
    facts: Mapping[str, rows.HitFacts],
    total: int | None,
) -> list[PaperHit]:
    return [
        PaperHit(
            paper_id=paper.paper_id,
            title=paper.title,
            year=paper.year,
            venue=paper.venue,
            snippet_markdown=marker.snippet(rows.indexed_texts(connection, paper)),
            **facts[paper.paper_id]._asdict(),
            total=total,
        )
        for paper in found
    ]
