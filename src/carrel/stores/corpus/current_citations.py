"""Citations of the corpus at a place: from its segments, or none in somebody's snapshot."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NoReturn, TypeVar

from carrel.libraries.query.papers import PaperQuery
from carrel.rooms.papers.citation_models import (
    BriefPaper,
    Follow,
    MissingWork,
    PathStep,
    RankedCitedPaper,
    RelatedPaper,
)
from carrel.rooms.papers.citation_ports import (
    CitationCoverage,
    CitationNeighbours,
    CitationStore,
    CitingPage,
    LinkedReference,
)
from carrel.rooms.papers.errors import CitationsUnknownError
from carrel.stores.corpus.current import ReaderByKind

AnswerT = TypeVar("AnswerT")


class NoCitations:
    """A snapshot, which has no reference lists: nothing is known of any citation."""

    def __init__(self, count_papers: Callable[[], Awaitable[int]]) -> None:
        self._count_papers = count_papers

    async def coverage(self) -> CitationCoverage:
        return CitationCoverage(await self._count_papers(), 0)

    async def references(self, paper_id: str) -> list[LinkedReference] | None:
        return None

    async def citing(self, paper_id: str, *, first: int, count: int) -> CitingPage:
        await self._refuse()

    async def versions(self, paper_id: str) -> list[BriefPaper]:
        await self._refuse()

    async def coupled(self, paper_ids: Sequence[str], count: int) -> list[RelatedPaper]:
        await self._refuse()

    async def co_cited(self, paper_ids: Sequence[str], count: int) -> list[RelatedPaper]:
        await self._refuse()

    async def path(
        self, start: str, end: str, max_steps: int, follow: Follow
    ) -> list[PathStep] | None:
        await self._refuse()

    async def ranked(self, query: PaperQuery | None, count: int) -> list[RankedCitedPaper]:
        await self._refuse()

    async def neighbours(self, paper_ids: Sequence[str]) -> Mapping[str, CitationNeighbours]:
        await self._refuse()

    async def with_references(self, paper_ids: Sequence[str]) -> frozenset[str]:
        await self._refuse()

    async def matching(self, query: PaperQuery) -> frozenset[str]:
        await self._refuse()

    async def brief(self, paper_ids: Sequence[str]) -> list[BriefPaper]:
        await self._refuse()

    async def missing(self, paper_ids: Sequence[str], count: int) -> tuple[list[MissingWork], int]:
        await self._refuse()

    async def _refuse(self) -> NoReturn:
        raise CitationsUnknownError(await self._count_papers())


class CurrentCitations:
    """The store of citations over the corpus at a place."""

    def __init__(self, readers: ReaderByKind[CitationStore]) -> None:
        self._readers = readers

    async def coverage(self) -> CitationCoverage:
        return await self._readers.ask(lambda it: it.coverage())

    async def references(self, paper_id: str) -> list[LinkedReference] | None:
        return await self._readers.ask(lambda it: it.references(paper_id))

    async def citing(self, paper_id: str, *, first: int, count: int) -> CitingPage:
        return await self._readers.ask(lambda it: it.citing(paper_id, first=first, count=count))

    async def versions(self, paper_id: str) -> list[BriefPaper]:
        return await self._readers.ask(lambda it: it.versions(paper_id))

    async def coupled(self, paper_ids: Sequence[str], count: int) -> list[RelatedPaper]:
        return await self._readers.ask(lambda it: it.coupled(paper_ids, count))

    async def co_cited(self, paper_ids: Sequence[str], count: int) -> list[RelatedPaper]:
        return await self._readers.ask(lambda it: it.co_cited(paper_ids, count))

    async def path(
        self, start: str, end: str, max_steps: int, follow: Follow
    ) -> list[PathStep] | None:
        return await self._readers.ask(lambda it: it.path(start, end, max_steps, follow))

    async def ranked(self, query: PaperQuery | None, count: int) -> list[RankedCitedPaper]:
        return await self._readers.ask(lambda it: it.ranked(query, count))

    async def neighbours(self, paper_ids: Sequence[str]) -> Mapping[str, CitationNeighbours]:
        return await self._readers.ask(lambda it: it.neighbours(paper_ids))

    async def with_references(self, paper_ids: Sequence[str]) -> frozenset[str]:
        return await self._readers.ask(lambda it: it.with_references(paper_ids))

    async def matching(self, query: PaperQuery) -> frozenset[str]:
        return await self._readers.ask(lambda it: it.matching(query))

    async def brief(self, paper_ids: Sequence[str]) -> list[BriefPaper]:
        return await self._readers.ask(lambda it: it.brief(paper_ids))

    async def missing(self, paper_ids: Sequence[str], count: int) -> tuple[list[MissingWork], int]:
        return await self._readers.ask(lambda it: it.missing(paper_ids, count))
