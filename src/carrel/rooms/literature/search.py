"""Searches literature services at the same time and merges what they have into one list."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from carrel.libraries.literature.merging import merge_records
from carrel.libraries.literature.queries.apostrophes import join_apostrophes
from carrel.libraries.literature.query_filter import QueryJudgement, judge_work
from carrel.libraries.literature.ranking import rank_works
from carrel.libraries.literature.records import MergedWork
from carrel.libraries.query.papers import PaperQuery
from carrel.rooms.literature.asking import Answered, Asking, Failed, NotAsked, ask_all
from carrel.rooms.literature.coverage import SearchCoverage
from carrel.rooms.literature.errors import NetworkForbiddenError
from carrel.rooms.literature.ports import (
    SearchOrder,
    ServiceCatalogue,
    ServiceSearchAnswer,
    ServiceSearchRequest,
    TranslatedQuery,
)
from carrel.rooms.literature.service_choice import (
    PriceBook,
    SearchPolicy,
    ServiceChoice,
    choose_services,
)


@dataclass(frozen=True, slots=True)
class FoundWorks:
    """The merged works of one search, best first, with what stayed unchecked of each."""

    works: Sequence[MergedWork]
    unchecked: Sequence[tuple[str, ...]]
    coverage: SearchCoverage
    # By service, the works that no other service found.
    new: Mapping[str, int]


class LiteratureSearch:
    """Searches the services and merges what they have; whoever makes it closes the services."""

    def __init__(self, services: ServiceCatalogue, policy: SearchPolicy) -> None:
        self._services = services
        self._policy = policy
        self._prices = PriceBook()

    @property
    def is_network_allowed(self) -> bool:
        return self._policy.is_network_allowed

    async def find(self, request: ServiceSearchRequest, named: Sequence[str] = ()) -> FoundWorks:
        """Ask the named services, or the usual ones.

        Raises LiteratureUnavailableError where none answered, NetworkForbiddenError where settings
        forbid to ask, InvalidInputError for a service that cannot be searched.
        """
        if not self._policy.is_network_allowed:
            raise NetworkForbiddenError
        known = self._services.all()
        choice = choose_services(named, self._policy, known, self._prices, request.limit)
        asked = replace(request, query=join_apostrophes(request.query))
        translated = {name: each.translate(asked) for name, each in choice.asked.items()}
        choice = _leave_out_mute(choice, translated)
        outcomes = await self._ask(choice, asked)
        names = {name: service.title for name, service in known.items()}
        coverage = SearchCoverage([*outcomes, *choice.not_asked], names, translated)
        coverage.raise_if_silent()
        return await asyncio.to_thread(_merge, request, coverage)

    async def _ask(
        self, choice: ServiceChoice, request: ServiceSearchRequest
    ) -> list[Answered[ServiceSearchAnswer] | Failed]:
        questions = [
            Asking(name, service.title, partial(service.search, request))
            for name, service in choice.asked.items()
        ]
        outcomes = await ask_all(questions, self._policy.timeout_seconds)
        for outcome in outcomes:
            if isinstance(outcome, Answered):
                self._prices.note(outcome.service, outcome.answer.cost, outcome.answer.sent)
        return outcomes


def _leave_out_mute(
    choice: ServiceChoice, translated: Mapping[str, TranslatedQuery]
) -> ServiceChoice:
    """Services that can express nothing of the query are not asked."""
    mute = [name for name, query in translated.items() if not query.text]
    not_asked = [
        NotAsked(
            name,
            f"it cannot be asked this: {'; '.join(translated[name].not_expressed)}",
            is_wanted=True,
        )
        for name in mute
    ]
    asked = {name: service for name, service in choice.asked.items() if name not in mute}
    return ServiceChoice(asked, [*choice.not_asked, *not_asked])


def _merge(request: ServiceSearchRequest, coverage: SearchCoverage) -> FoundWorks:
    """Merge, leave out what contradicts the query, and order what stays."""
    records = [record for answer in coverage.answers for record in answer.records]
    merged = merge_records(records)
    judged: list[tuple[MergedWork, QueryJudgement]] = []
    for work in merged:
        if work.work.kind == "preprint" and not request.includes_preprints:
            continue
        judgement = judge_work(request.query, work, coverage.expressing)
        if judgement.is_kept:
            judged.append((work, judgement))
    unchecked = {_key(work): judgement.unchecked for work, judgement in judged}
    works = order_works([work for work, _ in judged], request.query, request.order)
    return FoundWorks(
        works,
        [unchecked.get(_key(work), ()) for work in works],
        coverage,
        _count_new(works),
    )


def order_works(
    works: Sequence[MergedWork], query: PaperQuery, order: SearchOrder
) -> list[MergedWork]:
    """The best first, or the newest or most cited; false copies last whatever they say."""
    ranked = rank_works(works, query)
    match order:
        case "relevance":
            return list(ranked)
        case "newest":
            return sorted(
                ranked,
                key=lambda each: (each.copy_of is None, each.work.issued or ""),
                reverse=True,
            )
        case "most_cited":
            return sorted(
                ranked,
                key=lambda each: (
                    each.copy_of is None,
                    max(each.citation_counts.values(), default=-1),
                ),
                reverse=True,
            )


def _key(found: MergedWork) -> tuple[tuple[str, str], ...]:
    """Names a merged work while its score changes."""
    return tuple((record.service, record.service_id) for record in found.records)


def _count_new(works: Sequence[MergedWork]) -> Counter[str]:
    found_by = [{record.service for record in work.records} for work in works]
    return Counter(next(iter(services)) for services in found_by if len(services) == 1)
