"""Retractions and corrections beside the papers of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from carrel.core.work_notices import NoticesAbout, WorkNotice, find_notices, work_keys
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.papers.models import PaperHit, PaperMetadata, PassageHit
from carrel.rooms.papers.service import Papers

HitT = TypeVar("HitT", PaperHit, PassageHit)


class PaperNotices:
    """Finds the notices about papers of the corpus."""

    def __init__(self, papers: Papers, notices: NoticesAbout) -> None:
        self._papers = papers
        self._notices = notices

    async def mark_hits(self, hits: list[HitT]) -> list[HitT]:
        """The hits, those of works with notices with them; by PMID where a hit has no DOI."""
        keys = [work_keys(hit.doi) or await self._keys_of(hit.paper_id) for hit in hits]
        found = await find_notices(self._notices, keys)
        if not any(found):
            return hits
        return [
            hit.model_copy(update={"notices": notices}) if notices else hit
            for hit, notices in zip(hits, found, strict=True)
        ]

    async def about(self, paper: PaperMetadata) -> tuple[WorkNotice, ...]:
        """The notices about one paper by any of its identifiers."""
        return (await find_notices(self._notices, [paper_work_keys(paper)]))[0]

    async def about_papers(self, paper_ids: Sequence[str]) -> dict[str, tuple[WorkNotice, ...]]:
        """The notices about those of the papers that have some."""
        names = list(dict.fromkeys(paper_ids))
        found = await find_notices(self._notices, [await self._keys_of(name) for name in names])
        return {name: notices for name, notices in zip(names, found, strict=True) if notices}

    async def _keys_of(self, paper_id: str) -> tuple[str, ...]:
        try:
            return paper_work_keys(await self._papers.stored_metadata(paper_id))
        except PaperNotFoundError:
            return ()


def paper_work_keys(paper: PaperMetadata) -> tuple[str, ...]:
    """The keys under which notices may name a paper."""
    return work_keys(paper.doi, paper.pmid, paper.arxiv_id)
