"""What the literature room needs from outside: literature services and the rest of the desk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol, runtime_checkable

from carrel.libraries.identifiers import Identifier
from carrel.libraries.literature.records import (
    CitedWorkRecord,
    Notice,
    ServiceRecord,
    TextLocation,
)
from carrel.libraries.query.papers import PaperQuery

SearchOrder = Literal["relevance", "newest", "most_cited"]


@dataclass(frozen=True, slots=True)
class ServiceSearchRequest:
    """One question to a service; `since` and `until` bound when a work came to it (alerts)."""

    query: PaperQuery
    limit: int = 25
    order: SearchOrder = "relevance"
    since: date | None = None
    until: date | None = None
    includes_preprints: bool = True


@dataclass(frozen=True, slots=True)
class TranslatedQuery:
    """A query in a service's own language, and what of it the service cannot express."""

    # As sent, without keys and addresses.
    text: str
    not_expressed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request as it left, or would have left if the cache had not answered."""

    method: str
    # Without keys and contact address.
    url: str
    is_from_cache: bool = False
    # ISO time of the answer, which may be that of an earlier day where it was cached or recorded.
    answered_at: str = ""
    # Whether a recording answered; nothing left then either.
    is_recorded: bool = False


@dataclass(frozen=True, slots=True)
class ServiceCost:
    """What answers of a service cost, as its headers say; None where they do not."""

    cost_usd: float | None = None
    budget_left_usd: float | None = None
    requests_left: int | None = None
    resets_in_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ServiceSearchAnswer:
    """What one service found. `is_complete` says that no match was left out."""

    service: str
    translated: TranslatedQuery
    records: tuple[ServiceRecord, ...]
    total: int | None = None
    is_complete: bool = False
    sent: tuple[SentRequest, ...] = ()
    cost: ServiceCost = ServiceCost()
    # What was passed over and why, in plain words ("2 entries without a title").
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LookupAnswer:
    """The records of the identifiers that the service knows; it knows none of the others."""

    service: str
    found: tuple[tuple[Identifier, ServiceRecord], ...]
    sent: tuple[SentRequest, ...] = ()
    cost: ServiceCost = ServiceCost()


@dataclass(frozen=True, slots=True)
class OwnRecordAnswer:
    """The record that a service has under its own name for it, or none."""

    service: str
    record: ServiceRecord | None
    sent: tuple[SentRequest, ...] = ()
    cost: ServiceCost = ServiceCost()


@dataclass(frozen=True, slots=True)
class CitationEdges:
    """The works on the other end of a work's citations, as one service knows them.

    `works` is None where the service has no list for the work, which is not an empty list.
    """

    service: str
    works: tuple[CitedWorkRecord, ...] | None
    total: int | None = None
    is_complete: bool = False
    sent: tuple[SentRequest, ...] = ()
    cost: ServiceCost = ServiceCost()


class LiteratureService(Protocol):
    """A service outside. Methods raise LiteratureServiceError with a reason for people.

    An unanswered question is always an error, never an empty answer.
    """

    @property
    def name(self) -> str:
        """As in settings: `openalex`."""
        ...

    @property
    def title(self) -> str:
        """As people write it: `OpenAlex`."""
        ...


class SearchService(LiteratureService, Protocol):
    """A service that can be searched."""

    def translate(self, request: ServiceSearchRequest) -> TranslatedQuery:
        """The query as it would be sent; asks nothing."""
        ...

    async def search(self, request: ServiceSearchRequest) -> ServiceSearchAnswer: ...


class RecordService(LiteratureService, Protocol):
    """A service that knows works by identifiers."""

    def knows(self, identifier: Identifier) -> bool:
        """Whether the service can be asked for an identifier of this kind."""
        ...

    async def look_up(self, identifiers: Sequence[Identifier]) -> LookupAnswer:
        """The records there are, asked for in batches where the service allows it."""
        ...


@runtime_checkable
class OwnRecordService(LiteratureService, Protocol):
    """A service that gives records by its own names for them."""

    async def look_up_own(self, kind: str, value: str) -> OwnRecordAnswer:
        """The record of that name; `kind` and `value` as in WorkIds: `openalex` and `W123`."""
        ...


class CitationService(LiteratureService, Protocol):
    """A service that knows citations."""

    def knows_citations(self, identifier: Identifier, direction: Literal["in", "out"]) -> bool: ...

    async def citations(
        self, identifier: Identifier, direction: Literal["in", "out"], limit: int
    ) -> CitationEdges:
        """`out` is the work's reference list, `in` the works that cite it."""
        ...


class LocationService(LiteratureService, Protocol):
    """A service that knows where open texts of a work are."""

    def knows(self, identifier: Identifier) -> bool: ...

    async def locate(
        self, identifier: Identifier
    ) -> tuple[tuple[TextLocation, ...], tuple[SentRequest, ...]]: ...


class NoticeService(LiteratureService, Protocol):
    """A service that knows retractions and corrections."""

    def knows(self, identifier: Identifier) -> bool: ...

    async def notices(
        self, identifiers: Sequence[Identifier]
    ) -> tuple[tuple[tuple[Identifier, Notice], ...], tuple[SentRequest, ...]]: ...


class ServiceCatalogue(Protocol):
    """The literature services there are."""

    def all(self) -> Mapping[str, LiteratureService]:
        """Every service by its name."""
        ...
