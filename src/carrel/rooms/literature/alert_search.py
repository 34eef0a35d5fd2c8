"""Asks services what came to them since a day, in slices of time that they answer completely."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial

from carrel.libraries.literature.merging import merge_records
from carrel.libraries.literature.query_filter import judge_work
from carrel.libraries.literature.records import MergedWork, ServiceRecord
from carrel.libraries.query.papers import PaperQuery, parse_paper_query
from carrel.rooms.literature.alert_ports import Alert, AlertMark
from carrel.rooms.literature.asking import Asking, Failed, ask_all
from carrel.rooms.literature.errors import NetworkForbiddenError
from carrel.rooms.literature.ports import SearchRequest, SearchService
from carrel.rooms.literature.search import Services
from carrel.rooms.literature.service_choice import PriceBook, SearchPolicy, choose_services

# Works come into an index late and out of order: a run asks again for the days before its mark.
OVERLAP_DAYS = 2
# These ask by the day of publication, which may be weeks before a work comes to them.
OVERLAP_BY_PUBLICATION_DAYS = 45
BY_PUBLICATION = frozenset({"openalex", "semantic_scholar"})
# These cannot be asked for a time at all: all of their matches come back each time.
UNDATED = frozenset({"dblp"})
# Works of one slice of time, and of a day that cannot be cut smaller.
SLICE_LIMIT = 200
DAY_LIMIT = 1_000
# Questions to one service in one run; the rest of the time is for the next run.
MAX_SLICES = 16
TOO_MANY = "too_many"
NOT_FINISHED = "not_finished"


@dataclass(slots=True)
class ServiceNews:
    """What one service said: its records, and the day up to which it answered completely."""

    service: str
    mark: AlertMark
    records: list[ServiceRecord] = field(default_factory=list)
    could_express: bool = True


@dataclass(frozen=True, slots=True)
class AlertNews:
    """What all services said of one alert, merged."""

    works: Sequence[MergedWork]
    marks: Sequence[AlertMark]


class AlertSearch:
    """Searches for an alert; changes nothing that is stored."""

    def __init__(self, services: Services, policy: SearchPolicy) -> None:
        self._services = services
        self._policy = policy
        self._prices = PriceBook()

    def check(self, services: Sequence[str]) -> None:
        """Raises InvalidInputError for a name that is no service that can be searched."""
        choose_services(services, self._policy, self._services.all(), self._prices)

    def need_network(self) -> None:
        """Raises NetworkForbiddenError where settings forbid to ask."""
        if not self._policy.is_network_allowed:
            raise NetworkForbiddenError

    async def find(
        self, alert: Alert, marks: Mapping[str, AlertMark], today: date, asked_at: str
    ) -> AlertNews:
        """Raises NetworkForbiddenError; what a service does is in its mark."""
        self.need_network()
        query = parse_paper_query(alert.query)
        choice = choose_services(alert.services, self._policy, self._services.all(), self._prices)
        news = await asyncio.gather(
            *(
                self._ask_service(
                    service, query, marks.get(name, AlertMark(name, alert.since)), today, asked_at
                )
                for name, service in choice.asked.items()
            )
        )
        works = await asyncio.to_thread(_merge, query, news)
        return AlertNews(works, [each.mark for each in news])

    async def _ask_service(
        self,
        service: SearchService,
        query: PaperQuery,
        mark: AlertMark,
        today: date,
        asked_at: str,
    ) -> ServiceNews:
        known = date.fromisoformat(mark.complete_until)
        overlap = OVERLAP_BY_PUBLICATION_DAYS if service.name in BY_PUBLICATION else OVERLAP_DAYS
        first = min(known, today) - timedelta(days=overlap)
        news = ServiceNews(service.name, mark)
        done, failure, reason, cost = known, "", "", 0.0
        waiting = [(first, today)]
        for _ in range(MAX_SLICES):
            begin, end = waiting.pop(0)
            limit = DAY_LIMIT if begin == end else SLICE_LIMIT
            request = SearchRequest(query, limit, order="newest", since=begin, until=end)
            outcome = (
                await ask_all(
                    [Asking(service.name, service.title, partial(service.search, request))],
                    self._policy.timeout_seconds,
                )
            )[0]
            if isinstance(outcome, Failed):
                failure, reason = outcome.failure, outcome.reason
                break
            answer = outcome.answer
            self._prices.note(service.name, answer.cost)
            cost += answer.cost.cost_usd or 0.0
            news.records += _within(answer.records, service.name, begin)
            news.could_express &= not answer.translated.not_expressed
            if answer.is_complete:
                done = max(done, end)
            elif begin == end or service.name in UNDATED:
                failure = TOO_MANY
                reason = f"More than {limit} works of {end} match; narrow the query"
                break
            else:
                middle = begin + (end - begin) // 2
                waiting[:0] = [(begin, middle), (middle + timedelta(days=1), end)]
            if not waiting:
                break
            if self._policy.max_cost_usd is not None and cost >= self._policy.max_cost_usd:
                failure, reason = (
                    "budget_spent",
                    "What a run may cost is spent; it goes on later",
                )
                break
        else:
            failure, reason = NOT_FINISHED, f"Complete up to {done}; the next run goes on"
        news.mark = AlertMark(service.name, done.isoformat(), asked_at, failure, reason)
        return news


def _within(records: Sequence[ServiceRecord], service: str, begin: date) -> list[ServiceRecord]:
    """The records; of a service that knows no time, those that are not of earlier years."""
    if service not in UNDATED:
        return list(records)
    return [each for each in records if each.work.year is None or each.work.year >= begin.year]


def _merge(query: PaperQuery, news: Sequence[ServiceNews]) -> list[MergedWork]:
    expressing = {each.service for each in news if each.could_express}
    merged = merge_records([record for each in news for record in each.records])
    return [work for work in merged if judge_work(query, work, expressing).is_kept]
