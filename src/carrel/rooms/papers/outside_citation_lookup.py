"""Citations of a paper in the corpus and outside; the paper need not be in the corpus."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.core.caller import Call
from carrel.core.errors import InsufficientPermissionsError, InvalidInputError
from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Pmcid, Pmid, parse_or_none
from carrel.rooms.papers.citation_models import CitationAnswer, GetCitations
from carrel.rooms.papers.citation_ports import CitationStore
from carrel.rooms.papers.citations import PaperCitations
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.papers.outside_citations import (
    LITERATURE_SCOPE,
    OneWay,
    OutsideCitationSource,
)
from carrel.rooms.papers.service import Papers, first_of_page

# A bare number is a PMID, which the other kinds do not take.
_KINDS: tuple[type[Identifier], ...] = (Doi, ArxivId, Pmcid, Pmid)


class OutsideCitationLookup:
    """Answers get_citations where services outside are asked as well."""

    def __init__(
        self,
        papers: Papers,
        citations: PaperCitations,
        store: CitationStore,
        source: OutsideCitationSource,
    ) -> None:
        self._papers = papers
        self._citations = citations
        self._store = store
        self._source = source

    async def get(self, question: GetCitations, call: Call) -> CitationAnswer:
        """As PaperCitations.get, with what services know.

        Raises InsufficientPermissionsError without literature:read, InvalidInputError for a paper
        without an identifier, and what the source raises.
        """
        needed = frozenset({LITERATURE_SCOPE})
        if not needed <= call.caller.scopes:
            raise InsufficientPermissionsError(needed, call.caller.scopes)
        try:
            inside = await self._citations.get(question)
            identifiers = await self._identify_paper(inside.paper_id)
        except PaperNotFoundError:
            identifiers = _parse_name(question.paper_id)
            if not identifiers:
                raise
            inside = await self._explain_unknown(question.paper_id)
        directions: Sequence[OneWay] = (
            ("out", "in") if question.direction == "both" else (question.direction,)
        )
        first = first_of_page(question.page, question.limit)
        outside = await self._source.find(identifiers, directions, first, question.limit, call)
        return inside.model_copy(
            update={"title": inside.title or outside.title, "outside": outside}
        )

    async def _identify_paper(self, paper_id: str) -> list[Identifier]:
        paper = await self._papers.stored_metadata(paper_id)
        named = ((Doi, paper.doi), (ArxivId, paper.arxiv_id), (Pmid, paper.pmid))
        found = [parse_or_none(kind, value) for kind, value in (*named, (Pmcid, paper.pmcid))]
        identifiers = [each for each in found if each is not None]
        if not identifiers:
            raise InvalidInputError(
                "The paper has no DOI, arXiv id or PMID, by which services know citations",
                next_step="Set its doi with edit_paper, or ask without outside.",
            )
        return identifiers

    async def _explain_unknown(self, name: str) -> CitationAnswer:
        """The answer about a work that the corpus does not have."""
        coverage = await self._store.count_coverage()
        return CitationAnswer(
            paper_id="",
            title="",
            message=f"The corpus does not have {name}; what follows is from services outside.",
            references_known=False,
            reference_count=None,
            linked_count=None,
            references=None,
            cited_by_count=None,
            cited_by=None,
            papers_with_references=coverage.with_references,
            papers=coverage.papers,
            papers_with_text=coverage.with_text,
        )


def _parse_name(name: str) -> list[Identifier]:
    for kind in _KINDS:
        found = parse_or_none(kind, name)
        if found is not None:
            return [found]
    return []
