"""The part of the papers room in the search over the desk."""

from __future__ import annotations

from carrel.core.caller import Call
from carrel.core.desk_search import DeskCandidate, RoomFindings
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.papers.models import MAX_QUERY_CHARACTERS, PaperHit, PaperMetadata
from carrel.rooms.papers.paper_names import MAX_NAME_CHARACTERS
from carrel.rooms.papers.passages import PaperPassages
from carrel.rooms.papers.resources import SCOPES
from carrel.rooms.papers.service import Papers


class PaperDeskSearch:
    """Papers by their ids and identifiers, by title, and by their best passages."""

    scopes = SCOPES

    def __init__(self, papers: Papers, passages: PaperPassages) -> None:
        self._papers = papers
        self._passages = passages

    async def search(self, query: str, call: Call, count: int) -> RoomFindings:
        named = await self._named(query)
        asked = query[:MAX_QUERY_CHARACTERS]
        hits = await self._papers.search(asked, page=1, limit=count)
        texts = await self._passages.best_texts(asked) if hits else {}
        found = [] if named is None else [_named_candidate(named)]
        found += [
            _candidate(hit, texts.get(hit.paper_id, ""))
            for hit in hits
            if named is None or hit.paper_id != named.paper_id
        ]
        if found:
            return RoomFindings(found)
        return RoomFindings((), (await self._papers.explain_empty(asked)).message)

    async def _named(self, query: str) -> PaperMetadata | None:
        if len(query) > MAX_NAME_CHARACTERS:
            return None
        try:
            return (await self._papers.find_paper(query.strip().strip("<>\"'"))).metadata
        except PaperNotFoundError:
            return None


def _named_candidate(paper: PaperMetadata) -> DeskCandidate:
    people = ", ".join(paper.authors[:3])
    return DeskCandidate(
        "paper",
        paper.paper_id,
        paper.title,
        f"{people} {paper.year} {paper.venue}",
        "get_paper_metadata",
        {"paper_id": paper.paper_id},
        is_named=True,
    )


def _candidate(hit: PaperHit, passage: str) -> DeskCandidate:
    return DeskCandidate(
        "paper",
        hit.paper_id,
        hit.title,
        " ".join((*hit.authors, hit.year, hit.venue, passage or hit.snippet_markdown)),
        "get_paper_metadata",
        {"paper_id": hit.paper_id},
        snippet=hit.snippet_markdown,
    )
