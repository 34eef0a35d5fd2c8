"""Citations of the corpus at a place: from its segments, or none in somebody's snapshot."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NoReturn, TypeVar

from carrel.libraries.query.papers import PaperQuery
from carrel.rooms.papers.citation_models import (
    BriefPaper,
    Follow,
    PathStep,
    RankedCitedPaper,
    RankingMeasure,
    RelatedPaper,
)
from carrel.rooms.papers.citation_ports import (
    CitationCoverage,
    CitationNeighbours,
    CitationStore,
    CitingPage,
    LinkedReference,
    MissingWorks,
)
from carrel.rooms.papers.errors import CitationsUnknownError
from carrel.stores.corpus.current import ReaderByKind

AnswerT = TypeVar("AnswerT")


class NoCitations:
    """A snapshot, which has no reference lists: nothing is known of any citation."""

    def __init__(self, count_papers: Callable[[], Awaitable[int]]) -> None:
        self._count_papers = count_papers

    async def count_coverage(self) -> CitationCoverage:
        return CitationCoverage(await self._count_papers(), 0)

    async def list_references(self, paper_id: str) -> list[LinkedReference] | None:
        return None

    async def list_citing(self, paper_id: str, *, first: int, count: int) -> CitingPage:
        await self._refuse()

    async def list_versions(self, paper_id: str) -> list[BriefPaper]:
        await self._refuse()

    async def find_coupled(self, paper_ids: Sequence[str], count: int) -> list[RelatedPaper]:
        await self._refuse()

    async def find_co_cited(self, paper_ids: Sequence[str], count: int) -> list[RelatedPaper]:
        await self._refuse()

    async def find_path(
        self, start: str, end: str, max_steps: int, follow: Follow
    ) -> list[PathStep] | None:
        await self._refuse()

    async def rank_papers(
        self, query: PaperQuery | None, by: RankingMeasure, count: int
    ) -> list[RankedCitedPaper]:
        await self._refuse()

    async def list_neighbours(self, paper_ids: Sequence[str]) -> Mapping[str, CitationNeighbours]:
        await self._refuse()

    async def keep_with_references(self, paper_ids: Sequence[str]) -> frozenset[str]:
        await self._refuse()

    async def find_matching(self, query: PaperQuery) -> frozenset[str]:
        await self._refuse()

    async def describe_papers(self, paper_ids: Sequence[str]) -> list[BriefPaper]:
        await self._refuse()

    async def list_missing(self, paper_ids: Sequence[str], count: int) -> MissingWorks:
        await self._refuse()

    async def _refuse(self) -> NoReturn:
        raise CitationsUnknownError(await self._count_papers())


class CurrentCitations:
    """The store of citations over the corpus at a place."""

    def __init__(self, readers: ReaderByKind[CitationStore]) -> None:
        self._readers = readers

    async def count_coverage(self) -> CitationCoverage:
        return await self._readers.ask(lambda it: it.count_coverage())

    async def list_references(self, paper_id: str) -> list[LinkedReference] | None:
        return await self._readers.ask(lambda it: it.list_references(paper_id))

    async def list_citing(self, paper_id: str, *, first: int, count: int) -> CitingPage:
        return await self._readers.ask(
            lambda it: it.list_citing(paper_id, first=first, count=count)
        )

    async def list_versions(self, paper_id: str) -> list[BriefPaper]:
        return await self._readers.ask(lambda it: it.list_versions(paper_id))

    async def find_coupled(self, paper_ids: Sequence[str], count: int) -> list[RelatedPaper]:
        return await self._readers.ask(lambda it: it.find_coupled(paper_ids, count))

    async def find_co_cited(self, paper_ids: Sequence[str], count: int) -> list[RelatedPaper]:
        return await self._readers.ask(lambda it: it.find_co_cited(paper_ids, count))

    async def find_path(
        self, start: str, end: str, max_steps: int, follow: Follow
    ) -> list[PathStep] | None:
        return await self._readers.ask(lambda it: it.find_path(start, end, max_steps, follow))

    async def rank_papers(
        self, query: PaperQuery | None, by: RankingMeasure, count: int
    ) -> list[RankedCitedPaper]:
        return await self._readers.ask(lambda it: it.rank_papers(query, by, count))

    async def list_neighbours(self, paper_ids: Sequence[str]) -> Mapping[str, CitationNeighbours]:
        return await self._readers.ask(lambda it: it.list_neighbours(paper_ids))

    async def keep_with_references(self, paper_ids: Sequence[str]) -> frozenset[str]:
        return await self._readers.ask(lambda it: it.keep_with_references(paper_ids))

    async def find_matching(self, query: PaperQuery) -> frozenset[str]:
        return await self._readers.ask(lambda it: it.find_matching(query))

    async def describe_papers(self, paper_ids: Sequence[str]) -> list[BriefPaper]:
        return await self._readers.ask(lambda it: it.describe_papers(paper_ids))

    async def list_missing(self, paper_ids: Sequence[str], count: int) -> MissingWorks:
        return await self._readers.ask(lambda it: it.list_missing(paper_ids, count))
