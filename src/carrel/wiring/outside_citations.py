"""Citations outside, as the papers room shows them: asked of the literature room's services."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from carrel.core.caller import Call
from carrel.core.errors import NotConfiguredError
from carrel.libraries.identifiers import Identifier
from carrel.rooms.papers.outside_citations import (
    OneWay,
    OutsideCitationAnswer,
    OutsideList,
    OutsideService,
    OutsideWork,
)

if TYPE_CHECKING:
    from carrel.libraries.literature.citation_edges import CitationEdge
    from carrel.rooms.literature.citations import CitationSearch, FoundCitations
    from carrel.rooms.literature.models import ServiceCoverage
    from carrel.rooms.literature.work_views import Kept

_SHOWN_AUTHORS = 3
_WORDS = {"out": "cites", "in": "is cited by"}


class LateCitationSearch:
    """The services that know citations; nobody until the literature room is open."""

    def __init__(self) -> None:
        self._search: CitationSearch | None = None

    def bind(self, search: CitationSearch) -> None:
        self._search = search

    async def find(
        self,
        identifiers: Sequence[Identifier],
        directions: Sequence[OneWay],
        first: int,
        limit: int,
        call: Call,
    ) -> OutsideCitationAnswer:
        if self._search is None:
            raise NotConfiguredError(
                "The literature room is not open here, so nobody outside can be asked.",
                next_step="Ask without outside, or open the literature room (rooms = …).",
            )
        page = slice(first, first + limit)
        found = await self._search.find(identifiers, directions, page, call)
        lists = {each.direction: each for each in found.found}
        return OutsideCitationAnswer(
            message=" ".join(_say(each) for each in found.found),
            title=found.title,
            versions=list(found.versions),
            references=_show_list(lists.get("out"), page),
            cited_by=_show_list(lists.get("in"), page),
            coverage=[_show_service(line) for line in found.coverage],
            remarks=list(found.remarks),
        )


def _say(found: FoundCitations) -> str:
    """How many there are by whom, in one sentence."""
    if found.edges is None:
        return f"No service that answered has a list of what it {_WORDS[found.direction]}."
    counts = ", ".join(f"{name} {count:,}" for name, count in sorted(found.counts.items()))
    more = "" if found.is_complete else "; not every list came whole"
    works = "1 work" if len(found.edges) == 1 else f"{len(found.edges):,} works"
    return f"It {_WORDS[found.direction]} {works} ({counts}{more})."


def _show_list(found: FoundCitations | None, page: slice) -> OutsideList | None:
    if found is None or found.edges is None:
        return None
    shown = zip(found.edges[page], found.kept, strict=True)
    return OutsideList(
        count=len(found.edges),
        counts=found.counts,
        is_complete=found.is_complete,
        works=[_show_work(edge, kept) for edge, kept in shown],
    )


def _show_work(edge: CitationEdge, kept: Kept) -> OutsideWork:
    from carrel.rooms.literature.work_views import author_name, list_ids

    work = edge.work.work
    return OutsideWork(
        title=work.title,
        text=" ".join(edge.unstructured.split())[:500],
        authors=[author_name(author) for author in work.authors[:_SHOWN_AUTHORS]],
        year=work.year,
        venue=work.venue.name,
        ids=list_ids(work.ids),
        said_by={service: list(versions) for service, versions in edge.said_by},
        in_corpus=kept.paper_id,
        in_library=kept.reference_id,
    )


def _show_service(line: ServiceCoverage) -> OutsideService:
    return OutsideService(
        service=line.service,
        state=line.state,
        failure=line.failure,
        reason=line.reason,
        listed=line.returned,
        is_complete=line.is_complete,
        cost_usd=line.cost_usd,
        remarks=line.remarks,
        sent=[each.url for each in line.sent if each.answered_by == "service"],
    )
