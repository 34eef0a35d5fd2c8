"""What the papers room needs to answer about citations inside a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from carrel.libraries.query.papers import PaperQuery
from carrel.libraries.works.cited_works import CitedWork
from carrel.rooms.papers.citation_models import (
    BriefPaper,
    CitingPaper,
    Follow,
    LinkKind,
    MissingWork,
    PathStep,
    RankedCitedPaper,
    RankingMeasure,
    RelatedPaper,
)


@dataclass(frozen=True, slots=True)
class CitationCoverage:
    """How many papers there are, and of how many the reference list is known.

    `papers_to_renew` are in files of an earlier version, where titles link nothing. `with_text`
    counts the papers whose full text was read, with a list or without.
    """

    papers: int
    with_references: int
    papers_to_renew: int = 0
    with_text: int = 0


@dataclass(frozen=True, slots=True)
class LinkedReference:
    """An entry of a reference list and the paper that it is; several where nothing decides."""

    number: int
    work: CitedWork
    paper_id: str | None
    linked_by: LinkKind | None
    may_be: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CitingPage:
    """A page of the papers that cite, newest first, and how many there are in all."""

    papers: tuple[CitingPaper, ...]
    count: int
    unclear_count: int


@dataclass(frozen=True, slots=True)
class MissingWorks:
    """The first of the works that the corpus lacks, how many there are, and how many it may have.

    The `doubtful_count` works are not among the others.
    """

    works: tuple[MissingWork, ...]
    count: int
    doubtful_count: int


@dataclass(frozen=True, slots=True)
class CitationNeighbours:
    """Papers that a paper cites and that cite it, each work once."""

    cited: tuple[str, ...]
    citing: tuple[str, ...]


class CitationStore(Protocol):
    """Citations of a corpus; ids must be of papers that exist, others are passed over.

    Methods raise SnapshotUnavailableError without a corpus.
    """

    async def count_coverage(self) -> CitationCoverage: ...

    async def list_references(self, paper_id: str) -> list[LinkedReference] | None:
        """The reference list of a paper, linked; None where it is not known."""
        ...

    async def list_citing(self, paper_id: str, *, first: int, count: int) -> CitingPage:
        """`count` papers after the `first` that cite any version of a paper."""
        ...

    async def list_versions(self, paper_id: str) -> list[BriefPaper]:
        """Other versions of a paper, such as its preprint."""
        ...

    async def find_coupled(self, paper_ids: Sequence[str], count: int) -> list[RelatedPaper]:
        """Papers that cite most of the works that these papers cite, most shared first."""
        ...

    async def find_co_cited(self, paper_ids: Sequence[str], count: int) -> list[RelatedPaper]:
        """Papers that are cited together with these, most often first."""
        ...

    async def find_path(
        self, start: str, end: str, max_steps: int, follow: Follow
    ) -> list[PathStep] | None:
        """A shortest chain of citations, or None."""
        ...

    async def rank_papers(
        self, query: PaperQuery | None, by: RankingMeasure, count: int
    ) -> list[RankedCitedPaper]:
        """The papers with the highest measure, of all or of those that match."""
        ...

    async def list_neighbours(
        self, paper_ids: Sequence[str]
    ) -> Mapping[str, CitationNeighbours]: ...

    async def keep_with_references(self, paper_ids: Sequence[str]) -> frozenset[str]:
        """Those of the papers whose reference list is known."""
        ...

    async def find_matching(self, query: PaperQuery) -> frozenset[str]:
        """The papers that match a query, as many as a search lists."""
        ...

    async def describe_papers(self, paper_ids: Sequence[str]) -> list[BriefPaper]:
        """The papers in this order."""
        ...

    async def list_missing(self, paper_ids: Sequence[str], count: int) -> MissingWorks:
        """Works that the papers cite and the corpus lacks, most cited first."""
        ...
