"""Asks services what came to them since a day, in slices of time that they answer completely."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial

from carrel.libraries.literature.merging import merge_records
from carrel.libraries.literature.queries.apostrophes import join_apostrophes
from carrel.libraries.literature.queries.boolean import list_conjuncts
from carrel.libraries.literature.query_filter import judge_work
from carrel.libraries.literature.records import MergedWork, ServiceRecord
from carrel.libraries.query.papers import AllOf, PaperQuery, parse_paper_query
from carrel.rooms.literature.alert_ports import Alert, AlertMark
from carrel.rooms.literature.asking import Answered, Asking, Failed, ask_all
from carrel.rooms.literature.errors import NetworkForbiddenError
from carrel.rooms.literature.ports import (
    SearchOrder,
    SearchService,
    ServiceCatalogue,
    ServiceSearchAnswer,
    ServiceSearchRequest,
)
from carrel.rooms.literature.service_choice import PriceBook, SearchPolicy, choose_services

# Works come into an index late and out of order: a run asks again for the days before its mark.
OVERLAP_DAYS = 2
# These are asked by the day of submission or publication, which is before a work comes to them:
# arXiv announces what moderators hold back days later, the others find it weeks later.
LONGER_OVERLAPS: Mapping[str, int] = {"arxiv": 14, "openalex": 45, "semantic_scholar": 45}
# These cannot be asked for a time at all: all of their matches come back each time.
UNDATED = frozenset({"dblp"})
# Works of one slice of time, and of a day that cannot be cut smaller.
SLICE_LIMIT = 200
DAY_LIMIT = 1_000
# Questions to one service in one run; the rest of the time is for the next run.
MAX_SLICES = 16
# A service that gives works with any of the words gives those with all of them first: where so
# many in a row lack some, what it left out lacks some too.
TAIL_RECORDS = 50
TOO_MANY = "too_many"
NOT_FINISHED = "not_finished"
NOT_ASKED = "not_asked"
_BUDGET_SPENT = "What a run may cost is spent; the next run goes on"


@dataclass(slots=True)
class ServiceNews:
    """What one service said: its records, and the day up to which it answered completely."""

    service: str
    mark: AlertMark
    could_express: bool
    records: list[ServiceRecord] = field(default_factory=list)
    # Those of the records that were there before the alert.
    earlier: list[ServiceRecord] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AlertNews:
    """What all services said of one alert, merged; `earlier` works were there before it."""

    works: Sequence[MergedWork]
    earlier: Sequence[MergedWork]
    marks: Sequence[AlertMark]


@dataclass(frozen=True, slots=True)
class _Days:
    """The first day of an alert, and the day and time of a run."""

    since: date
    today: date
    asked_at: str

    def to_ask(self, mark: AlertMark, overlap: int) -> list[tuple[date, date]]:
        """The time to ask about, oldest first; what was before the alert apart in its first run."""
        known = date.fromisoformat(mark.complete_until)
        first = min(known, self.today) - timedelta(days=overlap)
        if mark.resume_from:
            first = min(date.fromisoformat(mark.resume_from), self.today)
        if known <= self.since and first < self.since <= self.today:
            return [(first, self.since - timedelta(days=1)), (self.since, self.today)]
        return [(first, self.today)]

    def move(self, mark: AlertMark, done: date | None, failure: str, reason: str) -> AlertMark:
        """The mark after a run that was complete up to a day; None where it was for no time."""
        began = date.fromisoformat(mark.pass_began) if mark.pass_began else self.today
        known = date.fromisoformat(mark.complete_until)
        if done is None:
            return replace(mark, asked_at=self.asked_at, failure=failure, reason=reason)
        # Never past the day on which this pass over the time began: what came late since then is
        # found by the next pass.
        until = max(known, min(done, began)).isoformat()
        is_finished = done >= self.today
        return AlertMark(
            mark.service,
            until,
            self.asked_at,
            failure,
            reason,
            "" if is_finished else (done + timedelta(days=1)).isoformat(),
            "" if is_finished else began.isoformat(),
        )


class AlertSearch:
    """Searches for an alert; changes nothing that is stored."""

    def __init__(self, services: ServiceCatalogue, policy: SearchPolicy) -> None:
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
        days = _Days(date.fromisoformat(alert.since), today, asked_at)
        asked, unasked = dict[str, SearchService](), dict[str, str]()
        unasked.update((each.service, each.reason) for each in choice.not_asked if each.is_wanted)
        for name, service in choice.asked.items():
            said = service.translate(ServiceSearchRequest(join_apostrophes(query)))
            if said.text:
                asked[name] = service
            else:
                unasked[name] = f"It cannot be asked this: {'; '.join(said.not_expressed)}"

        def mark_of(name: str) -> AlertMark:
            return marks.get(name, AlertMark(name, alert.since))

        news = await asyncio.gather(
            *(
                self._ask_service(service, query, mark_of(name), days)
                for name, service in asked.items()
            )
        )
        works, earlier = await asyncio.to_thread(_merge, query, news)
        left = [days.move(mark_of(name), None, NOT_ASKED, why) for name, why in unasked.items()]
        return AlertNews(works, earlier, [*(each.mark for each in news), *left])

    async def _ask_service(
        self, service: SearchService, query: PaperQuery, mark: AlertMark, days: _Days
    ) -> ServiceNews:
        # Of the words alone: no service knows all that came to it between two days.
        asked = join_apostrophes(query)
        is_exact = not service.translate(ServiceSearchRequest(asked)).not_expressed
        news = ServiceNews(service.name, mark, is_exact)
        known, done = date.fromisoformat(mark.complete_until), None
        waiting = days.to_ask(mark, LONGER_OVERLAPS.get(service.name, OVERLAP_DAYS))
        failure, reason, cost = "", "", 0.0
        for _ in range(MAX_SLICES):
            begin, end = waiting.pop(0)
            outcome = await self._ask_slice(service, query, begin, end, is_exact)
            if isinstance(outcome, Failed):
                failure, reason = outcome.failure, outcome.reason
                break
            answer = outcome.answer
            cost += answer.cost.cost_usd or 0.0
            records = _within(answer.records, service.name, begin)
            news.records += records
            is_earlier = known <= days.since and end < days.since
            if is_earlier:
                news.earlier += records
            is_complete = answer.is_complete or (not is_exact and _has_ended(query, answer.records))
            # Of a day before the alert, as much as can be had is enough: it is not told.
            if is_complete or (is_earlier and begin == end):
                done = end
            elif begin == end or service.name in UNDATED:
                failure = TOO_MANY
                reason = f"More than {len(answer.records)} works of {end} match; narrow the query"
                break
            else:
                waiting[:0] = _cut(begin, end, answer.total)
            if not waiting:
                break
            if self._policy.max_cost_usd is not None and cost >= self._policy.max_cost_usd:
                failure, reason = "budget_spent", _BUDGET_SPENT
                break
        else:
            failure, reason = NOT_FINISHED, "It has more to say; the next run goes on"
        news.mark = days.move(mark, done, failure, reason)
        return news

    async def _ask_slice(
        self, service: SearchService, query: PaperQuery, begin: date, end: date, is_exact: bool
    ) -> Answered[ServiceSearchAnswer] | Failed:
        limit = DAY_LIMIT if begin == end else SLICE_LIMIT
        order: SearchOrder = "newest" if is_exact else "relevance"
        asked = join_apostrophes(query)
        request = ServiceSearchRequest(asked, limit, order=order, since=begin, until=end)
        asking = Asking(service.name, service.title, partial(service.search, request))
        outcome = (await ask_all([asking], self._policy.timeout_seconds))[0]
        if isinstance(outcome, Answered):
            self._prices.note(service.name, outcome.answer.cost, outcome.answer.sent)
        return outcome


def _cut(begin: date, end: date, total: int | None) -> list[tuple[date, date]]:
    """The time in pieces that a service may answer completely, by how much it has in all of it."""
    days = (end - begin).days + 1
    pieces = min(days, max(2, -(-(total or 0) // SLICE_LIMIT)), MAX_SLICES)
    length = -(-days // pieces)
    starts = [begin + timedelta(days=place) for place in range(0, days, length)]
    return [(start, min(end, start + timedelta(days=length - 1))) for start in starts]


def _within(records: Sequence[ServiceRecord], service: str, begin: date) -> list[ServiceRecord]:
    """The records; of a service that knows no time, those that are not of earlier years."""
    if service not in UNDATED:
        return list(records)
    return [each for each in records if each.work.year is None or each.work.year >= begin.year]


def _merge(
    query: PaperQuery, news: Sequence[ServiceNews]
) -> tuple[list[MergedWork], list[MergedWork]]:
    expressing = {each.service for each in news if each.could_express}
    merged = merge_records([record for each in news for record in each.records])
    before = {(record.service, record.service_id) for each in news for record in each.earlier}
    works: tuple[list[MergedWork], list[MergedWork]] = ([], [])
    for work in merged:
        if _fits(query, work, expressing):
            names = {(record.service, record.service_id) for record in work.records}
            works[not names.isdisjoint(before)].append(work)
    return works


def _fits(query: PaperQuery, work: MergedWork, expressing: Collection[str]) -> bool:
    """Whether a work has all that the query asks for; what nothing decides is no news."""
    parts = list_conjuncts(query)
    strict = replace(query, loose=(), strict=AllOf(parts) if parts else None)
    judgement = judge_work(strict, work, expressing)
    return judgement.is_kept and not judgement.unchecked


def _has_ended(query: PaperQuery, records: Sequence[ServiceRecord]) -> bool:
    """Whether the last of the records that a service ranks lack what the query asks for."""
    tail = records[-TAIL_RECORDS:]
    if len(tail) < TAIL_RECORDS:
        return False
    return not any(_fits(query, MergedWork(one.work, {}, (one,)), ()) for one in tail)
