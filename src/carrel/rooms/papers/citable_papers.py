"""The papers of the corpus as CSL items, for the rooms that cite them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from carrel.libraries.identifiers import ArxivId, Doi, Identifier
from carrel.rooms.papers.bibliography import cited_item
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.papers.service import Papers


class CitablePapers:
    """Items without a key. A desk without a corpus has no papers, which is no fault."""

    def __init__(self, papers: Papers, has_papers: Callable[[], bool]) -> None:
        self._papers = papers
        self._has_papers = has_papers

    async def find_many(self, identifiers: Sequence[Identifier]) -> dict[Identifier, Any]:
        """The papers that the identifiers name, as far as the corpus has them."""
        keys = {identifier: _paper_keys(identifier) for identifier in identifiers}
        names = [key for several in keys.values() for key in several]
        ids = await self._papers.ids_by_keys(names) if names and self._has_papers() else {}
        return {
            identifier: await paper_as_csl(self._papers, paper_id)
            for identifier, several in keys.items()
            if (paper_id := next((ids[name] for name in several if name in ids), None)) is not None
        }

    async def find(self, paper_id: str) -> dict[str, Any] | None:
        """The paper of that id, or None."""
        if not self._has_papers():
            return None
        try:
            return await paper_as_csl(self._papers, paper_id)
        except PaperNotFoundError:
            return None


def _paper_keys(identifier: Identifier) -> tuple[str, ...]:
    """The keys under which a corpus may know the work; it knows no PubMed numbers."""
    match identifier:
        case Doi(value=value) if identifier.arxiv is not None:
            return (f"doi:{value}", f"arxiv:{identifier.arxiv.value}")
        case Doi(value=value):
            return (f"doi:{value}",)
        case ArxivId(value=value):
            return (f"arxiv:{value}", f"doi:10.48550/arxiv.{value}")
        case _:
            return ()


async def paper_as_csl(papers: Papers, paper_id: str) -> dict[str, Any]:
    """A paper as a CSL item without a key, its title in sentence case. PaperNotFoundError."""
    paper = await papers.to_cite(paper_id)
    item = await asyncio.to_thread(cited_item, paper, has_sentence_case=True)
    return {name: value for name, value in item.items() if name != "id"}
