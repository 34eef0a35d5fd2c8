"""Services whose works come on days that the test says, a clock that it moves, and alerts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

from carrel.core.caller import Call, Caller, Visit
from carrel.libraries.literature.records import Author, ServiceRecord, WorkIds, WorkRecord
from carrel.policy.scopes import ALL_SCOPES
from carrel.rooms.literature.alert_digest import AlertDigests
from carrel.rooms.literature.alert_search import AlertSearch
from carrel.rooms.literature.alerts import Alerts
from carrel.rooms.literature.errors import LiteratureServiceError
from carrel.rooms.literature.ports import (
    LiteratureService,
    ServiceSearchAnswer,
    ServiceSearchRequest,
    TranslatedQuery,
)
from carrel.rooms.literature.service_choice import SearchPolicy
from carrel.stores.sql.literature import SqlLiterature


def day(text: str) -> date:
    return date.fromisoformat(text)


@dataclass
class MovedClock:
    """Stands still until the test moves it."""

    at: datetime = field(default_factory=lambda: datetime(2026, 3, 1, 8, tzinfo=UTC))

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.at.timestamp()

    def go_to(self, text: str) -> None:
        self.at = datetime.fromisoformat(f"{text}T08:00:00+00:00")

    def wait(self, **time: float) -> None:
        self.at += timedelta(**time)


def record(service: str, title: str, **ids: str) -> ServiceRecord:
    work = WorkRecord(
        WorkIds(**ids), title, authors=(Author("Moor", "Ada"),), issued="2026-03-02",
        kind="article-journal",
    )  # fmt: skip
    return ServiceRecord(service, next(iter(ids.values())), work)


@dataclass
class NewsService:
    """Gives what came to it between two days, at most as many as it is asked for."""

    name: str
    news: list[tuple[date, ServiceRecord]] = field(default_factory=list)
    failure: str = ""
    asked: list[ServiceSearchRequest] = field(default_factory=list)
    not_expressed: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.name.capitalize()

    def add(self, on: str, title: str, **ids: str) -> None:
        self.news.append((day(on), record(self.name, title, **ids)))

    def translate(self, request: ServiceSearchRequest) -> TranslatedQuery:
        return TranslatedQuery(request.query.text, self.not_expressed)

    async def search(self, request: ServiceSearchRequest) -> ServiceSearchAnswer:
        self.asked.append(request)
        if self.failure:
            raise LiteratureServiceError(self.name, self.failure)
        since, until = request.since or date.min, request.until or date.max
        found = [each for on, each in self.news if since <= on <= until]
        given = tuple(
            replace(one, rank=place) for place, one in enumerate(found[: request.limit], 1)
        )
        is_complete = len(found) <= request.limit
        return ServiceSearchAnswer(
            self.name, self.translate(request), given, len(found), is_complete
        )


@dataclass(frozen=True)
class FewServices:
    services: Mapping[str, LiteratureService]

    def all(self) -> Mapping[str, LiteratureService]:
        return self.services


class NothingHeld:
    """A desk without corpus and library."""

    async def find(self, works: object, call: Call) -> list[tuple[str, ...]]:
        assert isinstance(works, list)
        return [()] * len(works)


def open_alerts(
    store: SqlLiterature, clock: MovedClock, *services: NewsService, network: bool = True
) -> tuple[Alerts, AlertDigests]:
    policy = SearchPolicy(
        services=tuple(each.name for each in services), is_network_allowed=network
    )
    search = AlertSearch(FewServices({each.name: each for each in services}), policy)
    alerts = Alerts(store.alerts, store.leases, search, clock)
    return alerts, AlertDigests(alerts, store.alerts, NothingHeld(), clock)


def as_user(name: str = "ada") -> Call:
    return Call(Caller(name, ALL_SCOPES, is_limited=False), Visit("stdio", "test"))
