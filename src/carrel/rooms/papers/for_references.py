"""The papers of the corpus as the references room uses them: to cite, and to read by identifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from carrel.libraries.identifiers import Identifier, identifier_keys
from carrel.rooms.papers.errors import PaperNotFoundError, PassageNotFoundError
from carrel.rooms.papers.paper_names import (
    bare_paper_id,
    first_known,
    paper_keys,
    split_passage_id,
)
from carrel.rooms.papers.passages import PaperPassages
from carrel.rooms.papers.service import Papers, paper_as_csl


@dataclass(frozen=True, slots=True)
class CitedPaper:
    """A paper as a CSL item, and the page of the passage that was named."""

    paper_id: str
    item: dict[str, Any]
    page: int | None


@dataclass(frozen=True, slots=True)
class PaperText:
    """The full text of a paper."""

    paper_id: str
    markdown: str


class PapersForReferences:
    """A desk without a corpus has no papers, which is no fault."""

    def __init__(
        self, papers: Papers, passages: PaperPassages, has_papers: Callable[[], bool]
    ) -> None:
        self._papers = papers
        self._passages = passages
        self._has_papers = has_papers

    async def cite(self, name: str) -> CitedPaper | None:
        """The paper of an id, a DOI, an arXiv id, an address or a passage id."""
        if not self._has_papers() or (bare_paper_id(name) is None and not paper_keys(name)):
            return None
        page = None
        try:
            paper = await self._papers.find_paper(name)
            if split_passage_id(name) is not None:
                page = (await self._passages.read(name, before=0, after=0)).passages[0].page
        except (PaperNotFoundError, PassageNotFoundError):
            return None
        paper_id = paper.metadata.paper_id
        return CitedPaper(paper_id, await paper_as_csl(self._papers, paper_id), page)

    async def read(
        self, identifiers: Sequence[Identifier], paper_id: str | None
    ) -> PaperText | None:
        """The text of the paper that the id names, else one of the identifiers."""
        if not self._has_papers():
            return None
        keys = [key for identifier in identifiers for key in identifier_keys(identifier)]
        known = first_known(keys, await self._papers.ids_by_keys(keys))
        for name in (paper_id, known):
            if name is not None and (found := await self._read(name)) is not None:
                return found
        return None

    async def _read(self, paper_id: str) -> PaperText | None:
        try:
            paper = await self._papers.find_paper(paper_id)
        except PaperNotFoundError:
            return None
        text = await self._papers.source_text(paper)
        return None if text is None else PaperText(paper.metadata.paper_id, text)
