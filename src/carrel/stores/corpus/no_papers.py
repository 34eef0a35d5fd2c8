"""The papers of a desk that has none yet: every question has its answer, which is empty."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.libraries.query.papers import FacetCategory, PaperQuery
from carrel.rooms.papers.building.doubts import DoubtKind
from carrel.rooms.papers.models import CorpusStatistics, FacetCount, Paper, PaperHit
from carrel.rooms.papers.ports import StoredPassage
from carrel.rooms.papers.review import DoubtsPage


class NoPapers:
    """A store of papers before the first one; nothing is opened or made for it."""

    async def search(self, query: PaperQuery, *, first: int, count: int) -> list[PaperHit]:
        return []

    async def search_by_keyword(self, keyword: str, *, first: int, count: int) -> list[PaperHit]:
        return []

    async def find(self, paper_id: str) -> Paper | None:
        return None

    async def find_by_keys(self, keys: Sequence[str]) -> dict[str, str]:
        return {}

    async def abstract(self, paper_id: str) -> str | None:
        return None

    async def bibtex(self, paper_id: str) -> str | None:
        return None

    async def list_ids(self, *, first: int, count: int) -> list[str]:
        return []

    async def ids_like(self, text: str, count: int) -> tuple[list[str], int]:
        return [], 0

    async def words_like(self, word: str) -> list[tuple[str, int]]:
        return []

    async def statistics(self) -> CorpusStatistics:
        return CorpusStatistics(
            papers=0,
            with_doi=0,
            with_source=0,
            with_bibtex=0,
            with_translation=0,
            authors=0,
            venues=0,
            keywords=0,
            years=[],
            build_id="",
            built_at=None,
            index="",
        )

    async def top_facets(self, category: FacetCategory, count: int) -> list[FacetCount]:
        return []

    async def search_passages(
        self, query: PaperQuery, *, within: Sequence[str], first: int, count: int
    ) -> Sequence[StoredPassage] | None:
        return []

    async def papers_in_doubt(
        self,
        kind: DoubtKind | None,
        field: str | None,
        *,
        first: int,
        count: int,
        paper_id: str | None = None,
    ) -> DoubtsPage | None:
        return DoubtsPage((), 0)

    async def check(self) -> None:
        """There is nothing that could be damaged."""

    async def close(self) -> None:
        """There is nothing to close."""
