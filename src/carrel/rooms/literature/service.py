"""The service of the literature room: one question, many services, one answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Protocol, cast

from carrel.libraries.literature.records import Author, ServiceRecord
from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.literature.asking import Answered, Asking, Failed, ask_all
from carrel.rooms.literature.errors import LiteratureUnavailableError, NetworkForbiddenError
from carrel.rooms.literature.models import (
    FoundLiterature,
    FoundWork,
    SearchLiterature,
    ServiceCoverage,
)
from carrel.rooms.literature.ports import (
    LiteratureService,
    SearchAnswer,
    SearchRequest,
    SearchService,
)

DEFAULT_SERVICES = ("openalex", "crossref", "pubmed", "europepmc", "arxiv")


class Services(Protocol):
    """The literature services there are."""

    def all(self) -> Mapping[str, LiteratureService]:
        """Every service by its name."""
        ...


@dataclass(frozen=True, slots=True)
class SearchPolicy:
    """What settings say of searches; no services named means the usual ones."""

    services: tuple[str, ...] = ()
    has_semantic_scholar_key: bool = False
    timeout_seconds: float = 20.0
    max_cost_usd: float | None = None
    is_network_allowed: bool = True


class Literature:
    """Searches literature services and looks up single works."""

    def __init__(self, services: Services, policy: SearchPolicy) -> None:
        self._services = services
        self._policy = policy

    async def search(self, question: SearchLiterature) -> FoundLiterature:
        """What the services have; raises LiteratureUnavailableError if none answered."""
        if not self._policy.is_network_allowed:
            raise NetworkForbiddenError
        request = SearchRequest(parse_paper_query(question.query), order=question.order)
        chosen = question.services or self._policy.services or DEFAULT_SERVICES
        services = {
            name: cast(SearchService, service)
            for name, service in self._services.all().items()
            if name in chosen and hasattr(service, "search")
        }
        outcomes = await ask_all(
            [
                Asking(name, service.title, partial(service.search, request))
                for name, service in services.items()
            ],
            self._policy.timeout_seconds,
        )
        if not any(isinstance(outcome, Answered) for outcome in outcomes):
            raise LiteratureUnavailableError("No literature service answered")
        found = [
            record
            for outcome in outcomes
            if isinstance(outcome, Answered)
            for record in outcome.answer.records
        ]
        return FoundLiterature(
            message="",
            total=len(found),
            page=question.page,
            limit=question.limit,
            works=[_view(record) for record in found[: question.limit]],
            coverage=[_cover(outcome) for outcome in outcomes],
        )


def _cover(outcome: Answered[SearchAnswer] | Failed) -> ServiceCoverage:
    if isinstance(outcome, Failed):
        return ServiceCoverage(service=outcome.service, state="failed", reason=outcome.reason)
    return ServiceCoverage(service=outcome.service, state="answered")


def _view(record: ServiceRecord) -> FoundWork:
    work = record.work
    return FoundWork(
        title=work.title,
        authors=[_name(author) for author in work.authors[:3]],
        author_count=len(work.authors),
        year=work.year,
        venue=work.venue.name,
        kind=work.kind,
        ids={
            each.name: value
            for each in fields(work.ids)
            if (value := getattr(work.ids, each.name)) is not None
        },
        found_by={record.service: record.rank},
    )


def _name(author: Author) -> str:
    return author.literal or f"{author.given} {author.family}".strip()
