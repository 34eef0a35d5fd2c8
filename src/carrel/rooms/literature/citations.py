"""Citations of a work as services outside know them, for every version of the work."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from carrel.core.caller import Call
from carrel.core.errors import NotFoundError
from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Pmcid, Pmid
from carrel.libraries.literature.citation_edges import CitationEdge, ListedCitation, merge_edges
from carrel.libraries.literature.records import WorkRecord
from carrel.rooms.literature.asking import Answered, Asking, Failed, ask_all
from carrel.rooms.literature.citation_coverage import (
    AskedCitations,
    OneWay,
    asked_line,
    lookup_line,
    merge_lines,
)
from carrel.rooms.literature.coverage import raise_unavailable
from carrel.rooms.literature.desk_works import DeskWorks
from carrel.rooms.literature.errors import NetworkForbiddenError
from carrel.rooms.literature.models import ServiceCoverage
from carrel.rooms.literature.ports import (
    CitationEdges,
    CitationService,
    RecordService,
    ServiceCatalogue,
)
from carrel.rooms.literature.service_choice import KEYED_SERVICE, SearchPolicy
from carrel.rooms.literature.work_records import KnownWork, WorkRecords, with_twin
from carrel.rooms.literature.work_views import Kept

CITATION_SERVICES = (
    "europepmc", "semantic_scholar", "openalex", "opencitations", "crossref", "pubmed",
)  # fmt: skip
# Who says which works are versions of each other.
_VERSION_SERVICES = ("openalex", "crossref", "europepmc", "arxiv", "biorxiv")
# Entries asked of a service for one version in one direction.
MAX_LISTED = 500
# The best name of a version first.
_KINDS = ("doi", "arxiv", "pmid", "pmcid", "isbn")
# What a list costs, by the documentation of 2026; what it did cost is in coverage.
_LIST_PRICES = {"openalex": 0.0001}
_NO_KEY = "it hardly answers without a key: set literature.semantic_scholar_api_key"


@dataclass(frozen=True, slots=True)
class FoundCitations:
    """The citations of one direction; `edges` is None where no service has a list.

    `counts` are what each service says there are; `kept` says where the desk has each edge shown.
    """

    direction: OneWay
    edges: Sequence[CitationEdge] | None
    counts: dict[str, int]
    is_complete: bool
    kept: Sequence[Kept] = ()


@dataclass(frozen=True, slots=True)
class OutsideCitations:
    """What services know of the citations of a work."""

    title: str
    versions: Sequence[str]
    found: Sequence[FoundCitations]
    coverage: Sequence[ServiceCoverage]
    remarks: Sequence[str] = ()


class CitationSearch:
    """Asks services who cites a work and what it cites."""

    def __init__(self, services: ServiceCatalogue, policy: SearchPolicy, desk: DeskWorks) -> None:
        self._services = services
        self._policy = policy
        self._desk = desk
        self._records = WorkRecords(services, policy.timeout_seconds)

    async def find(
        self,
        identifiers: Sequence[Identifier],
        directions: Sequence[OneWay],
        page: slice,
        call: Call,
    ) -> OutsideCitations:
        """The citations of a work by any of its identifiers, for both of a preprint and article.

        Raises NetworkForbiddenError, LiteratureUnavailableError where no service answered, and
        NotFoundError where all that answered know no such work.
        """
        if not self._policy.is_network_allowed:
            raise NetworkForbiddenError
        known = await self._records.find(identifiers[0], _VERSION_SERVICES)
        versions = _list_versions(known, identifiers)
        outcomes = await self._ask(versions, directions)
        # What was asked for the versions counts no citations.
        looked_up = [line.model_copy(update={"returned": None}) for line in known.coverage]
        lines = merge_lines([*looked_up, *(asked_line(each) for each in outcomes)])
        lists = len(versions) * len(directions)
        lines += self._explain_unasked({each.service for each in lines}, lists)
        self._refuse_silence(identifiers[0], known, outcomes, lines)
        found = [await self._merge(way, outcomes) for way in directions]
        found, named = await self._name_untitled(found, page)
        lines = merge_lines([*lines, *named])
        shown, remarks = [], list[str]()
        for each in found:
            works = [] if each.edges is None else [edge.work for edge in each.edges[page]]
            kept, said = await self._desk.mark(works, call) if works else ([], [])
            shown.append(replace(each, kept=kept))
            remarks += said
        return OutsideCitations(
            _title(known),
            [_show_version(each) for each in versions],
            shown,
            lines,
            list(dict.fromkeys(remarks)),
        )

    async def _ask(
        self, versions: Sequence[tuple[Identifier, ...]], directions: Sequence[OneWay]
    ) -> list[AskedCitations]:
        services = self._services.all()
        questions: list[tuple[str, OneWay, str, Asking[CitationEdges]]] = []
        for name in CITATION_SERVICES:
            service = cast("CitationService | None", services.get(name))
            if service is None or not hasattr(service, "citations"):
                continue
            if self._why_not(name, len(versions) * len(directions)):
                continue
            for way in directions:
                for version in versions:
                    known = (each for each in version if service.knows_citations(each, way))
                    asked = next(known, None)
                    if asked is not None:
                        ask = partial(service.citations, asked, way, MAX_LISTED)
                        of = _show_version(version)
                        questions.append((name, way, of, Asking(name, service.title, ask)))
        outcomes = await ask_all([each[3] for each in questions], self._policy.timeout_seconds)
        return [
            AskedCitations(name, way, of, outcome)
            for (name, way, of, _), outcome in zip(questions, outcomes, strict=True)
        ]

    async def _merge(self, way: OneWay, outcomes: Sequence[AskedCitations]) -> FoundCitations:
        listed: list[ListedCitation] = []
        counts: dict[str, int] = {}
        is_complete, has_list = True, False
        for each in outcomes:
            if each.way != way:
                continue
            if isinstance(each.outcome, Failed):
                is_complete = False
                continue
            answer = each.outcome.answer
            if answer.works is None:
                continue
            has_list = True
            is_complete = is_complete and answer.is_complete
            listed += [ListedCitation(each.service, each.of, work) for work in answer.works]
            total = len(answer.works) if answer.total is None else answer.total
            # Versions have lists of their own; the longer one is what a service knows at least.
            counts[each.service] = max(total, counts.get(each.service, 0))
        edges = await asyncio.to_thread(merge_edges, listed) if has_list else None
        return FoundCitations(way, edges, counts, is_complete and has_list)

    async def _name_untitled(
        self, found: Sequence[FoundCitations], page: slice
    ) -> tuple[list[FoundCitations], list[ServiceCoverage]]:
        """The same, where entries of the page that are only DOIs have what Crossref says of them.

        Crossref gives many works at once and free of charge.
        """
        shown = [edge for each in found for edge in (each.edges or ())[page]]
        wanted = [
            Doi(ids.doi) for edge in shown if (ids := edge.work.work.ids).doi and not edge.title
        ]
        service = cast("RecordService | None", self._services.all().get("crossref"))
        if not wanted or service is None:
            return list(found), []
        asking = Asking(service.name, service.title, partial(service.look_up, wanted))
        (outcome,) = await ask_all([asking], self._policy.timeout_seconds)
        if isinstance(outcome, Failed):
            # Who cites is known; only names are missing.
            return list(found), []
        known = {each.value: record.work for each, record in outcome.answer.found}
        titled = [
            replace(each, edges=[_entitle(edge, known) for edge in each.edges])
            if each.edges is not None
            else each
            for each in found
        ]
        return titled, [lookup_line(outcome.answer)]

    def _explain_unasked(self, told: set[str], lists: int) -> list[ServiceCoverage]:
        return [
            ServiceCoverage(
                service=name,
                state="not_asked",
                reason=self._why_not(name, lists)
                or "it has no such list for this work's identifiers",
            )
            for name in CITATION_SERVICES
            if name not in told
        ]

    def _why_not(self, name: str, lists: int) -> str:
        """Why a service is not asked for so many lists; empty where it is."""
        if name == KEYED_SERVICE and not self._policy.has_semantic_scholar_key:
            return _NO_KEY
        most = self._policy.max_cost_usd
        if most is not None and _LIST_PRICES.get(name, 0.0) * lists > most:
            return f"{lists} lists cost more there than literature.max_cost_usd (${most:g})"
        return ""

    def _refuse_silence(
        self,
        identifier: Identifier,
        known: KnownWork,
        outcomes: Sequence[AskedCitations],
        lines: Sequence[ServiceCoverage],
    ) -> None:
        answered = [each for each in outcomes if isinstance(each.outcome, Answered)]
        failures = [each.outcome for each in outcomes if isinstance(each.outcome, Failed)]
        has_list = any(cast("Answered[CitationEdges]", e.outcome).answer.works for e in answered)
        if has_list or (answered and known.records):
            return
        titles = {name: service.title for name, service in self._services.all().items()}
        every = {failure.service: failure for failure in (*known.failures, *failures)}
        if every or not answered:
            message = "No service that answered knows its citations"
            raise_unavailable(message, list(every.values()), lines, titles)
        raise NotFoundError(
            "work",
            str(identifier),
            next_step="Check the identifier; search_literature finds works by their titles.",
        )


def _entitle(edge: CitationEdge, known: Mapping[str, WorkRecord]) -> CitationEdge:
    """The edge with the title, people and place of its record, where it has no title."""
    own = edge.work.work
    record = known.get(own.ids.doi or "")
    if edge.title or record is None:
        return edge
    work = replace(
        own,
        title=record.title,
        authors=own.authors or record.authors,
        issued=own.issued or record.issued,
        venue=record.venue if not own.venue.name else own.venue,
    )
    return replace(edge, work=replace(edge.work, work=work))


def _list_versions(
    known: KnownWork, identifiers: Sequence[Identifier]
) -> list[tuple[Identifier, ...]]:
    """The versions with their identifiers; what the caller knows of the first is added to it."""
    first = [*known.versions[0], *(twin for each in identifiers for twin in with_twin(each))]
    return [tuple(dict.fromkeys(first)), *known.versions[1:]]


def _show_version(version: Sequence[Identifier]) -> str:
    """The version by its best identifier: `doi:10.1/x`."""
    best = min(version, key=lambda each: _KINDS.index(_kind(each)))
    return f"{_kind(best)}:{best.value}"


def _kind(identifier: Identifier) -> str:
    match identifier:
        case Doi():
            return "doi"
        case ArxivId():
            return "arxiv"
        case Pmid():
            return "pmid"
        case Pmcid():
            return "pmcid"
        case _:
            return "isbn"


def _title(known: KnownWork) -> str:
    return next((record.work.title for record in known.records if record.work.title), "")
