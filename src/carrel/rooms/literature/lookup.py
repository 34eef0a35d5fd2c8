"""Looks up one work by any identifier at every service that knows the kind, and merges it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from carrel.core.errors import InvalidInputError
from carrel.libraries.identifiers import Identifier, NotAnIdentifierError
from carrel.libraries.literature.merging import merge_records
from carrel.libraries.literature.records import MergedWork, ServiceRecord
from carrel.libraries.literature.work_names import (
    OwnName,
    WorkName,
    has_name,
    list_identifiers,
    parse_work_name,
)
from carrel.rooms.literature.asking import Answered, Asking, Failed, NotAsked, ask_all
from carrel.rooms.literature.coverage import failed_line, lookup_line
from carrel.rooms.literature.errors import NetworkForbiddenError
from carrel.rooms.literature.models import ServiceCoverage
from carrel.rooms.literature.ports import (
    LiteratureService,
    OwnRecordService,
    RecordService,
    SentRequest,
    ServiceCatalogue,
    ServiceCost,
)
from carrel.rooms.literature.service_choice import (
    CONTACTED_SERVICE,
    KEYED_SERVICE,
    SearchPolicy,
)

# A look-up has two rounds, and a call two minutes for both.
_BOTH_ROUNDS_SECONDS = 110.0
_LEAST_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What services know of one name; no work where all that answered know none."""

    name: WorkName
    work: MergedWork | None
    coverage: Sequence[ServiceCoverage]
    failures: Sequence[Failed]
    titles: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one service gave for the name."""

    records: tuple[ServiceRecord, ...]
    sent: tuple[SentRequest, ...]
    cost: ServiceCost


@dataclass(slots=True)
class _Round:
    """What was asked so far, and the records that came."""

    asked: dict[str, Answered[_Answer] | Failed] = field(default_factory=dict)
    records: list[ServiceRecord] = field(default_factory=list)


def read_name(text: str) -> WorkName:
    """The name of a work. Raises InvalidInputError that says which forms there are."""
    try:
        return parse_work_name(text)
    except NotAnIdentifierError as error:
        raise InvalidInputError(
            f"{text[:120]!r} is no identifier of a work",
            next_step="Send a DOI, PMID, PMCID, arXiv id, ISBN, OpenAlex or Semantic Scholar id, "
            "bare or as a URL; search_literature finds works by words.",
        ) from error


class LiteratureLookup:
    """Asks services for single works."""

    def __init__(self, services: ServiceCatalogue, policy: SearchPolicy) -> None:
        self._services = services
        self._policy = policy

    def titles(self) -> dict[str, str]:
        """Services as people write them."""
        return {name: service.title for name, service in self._services.all().items()}

    async def find(self, name: WorkName) -> LookedUp:
        """Ask every service that knows the name, then those that know what these add to it.

        Raises NetworkForbiddenError where settings forbid to ask.
        """
        if not self._policy.is_network_allowed:
            raise NetworkForbiddenError
        known = self._services.all()
        so_far = _Round()
        await self._ask(_questions(name, known, self._policy), so_far)
        others = _further_questions(name, known, self._policy, so_far)
        if others:
            await self._ask(others, so_far, _BOTH_ROUNDS_SECONDS - self._policy.timeout_seconds)
        work = await asyncio.to_thread(_choose, so_far.records, name)
        lines = _lines(so_far, known, self._policy, work)
        return LookedUp(name, work, lines, _failed(so_far), self.titles())

    async def _ask(
        self, questions: Sequence[Asking[_Answer]], so_far: _Round, left_seconds: float = math.inf
    ) -> None:
        timeout_seconds = min(self._policy.timeout_seconds, max(_LEAST_SECONDS, left_seconds))
        for outcome in await ask_all(questions, timeout_seconds):
            so_far.asked[outcome.service] = outcome
            if isinstance(outcome, Answered):
                so_far.records.extend(outcome.answer.records)


def _questions(
    name: WorkName, known: Mapping[str, LiteratureService], policy: SearchPolicy
) -> list[Asking[_Answer]]:
    if isinstance(name, OwnName):
        service = known.get(name.service)
        if not isinstance(service, OwnRecordService):
            raise InvalidInputError(
                f"{name} cannot be looked up here", next_step="Send its DOI or another identifier."
            )
        return [Asking(name.service, service.title, partial(_ask_own, service, name))]
    return [
        Asking(service.name, service.title, partial(_ask_by_identifier, service, name))
        for service in _record_services(known, policy)
        if service.knows(name)
    ]


async def _ask_own(service: OwnRecordService, name: OwnName) -> _Answer:
    answer = await service.look_up_own(name.kind, name.value)
    records = () if answer.record is None else (answer.record,)
    return _Answer(records, answer.sent, answer.cost)


async def _ask_by_identifier(service: RecordService, identifier: Identifier) -> _Answer:
    answer = await service.look_up([identifier])
    return _Answer(tuple(record for _, record in answer.found), answer.sent, answer.cost)


def _record_services(
    known: Mapping[str, LiteratureService], policy: SearchPolicy
) -> list[RecordService]:
    """The services with records, without those that want a key or an address that is not set."""
    return [
        cast(RecordService, service)
        for name, service in known.items()
        if hasattr(service, "look_up") and _what_is_wanted(name, policy) is None
    ]


def _further_questions(
    name: WorkName,
    known: Mapping[str, LiteratureService],
    policy: SearchPolicy,
    so_far: _Round,
) -> list[Asking[_Answer]]:
    """What other identifiers of the work let other services be asked."""
    found = [record.work.ids for record in so_far.records]
    same = [ids for ids in found if has_name(ids, name)] or found
    identifiers = list(dict.fromkeys(each for ids in same for each in list_identifiers(ids)))
    questions: list[Asking[_Answer]] = []
    for service in _record_services(known, policy):
        if service.name in so_far.asked:
            continue
        fitting = next((each for each in identifiers if service.knows(each)), None)
        if fitting is not None:
            questions.append(
                Asking(service.name, service.title, partial(_ask_by_identifier, service, fitting))
            )
    return questions


def _choose(records: Sequence[ServiceRecord], name: WorkName) -> MergedWork | None:
    """The work of that name; versions that services gave beside it are linked from it."""
    merged = merge_records(records)
    exact = [
        work
        for work in merged
        if any(has_name(record.work.ids, name) for record in work.records)
        or has_name(work.work.ids, name)
    ]
    return next(iter(exact or merged), None)


def _lines(
    so_far: _Round,
    known: Mapping[str, LiteratureService],
    policy: SearchPolicy,
    work: MergedWork | None,
) -> list[ServiceCoverage]:
    services = set() if work is None else {record.service for record in work.records}
    lines: list[ServiceCoverage] = []
    for name, service in known.items():
        outcome = so_far.asked.get(name)
        if isinstance(outcome, Answered):
            answer = outcome.answer
            is_new = services == {name}
            lines.append(lookup_line(name, len(answer.records), is_new, answer.sent, answer.cost))
        elif isinstance(outcome, Failed):
            lines.append(failed_line(outcome))
        elif hasattr(service, "look_up"):
            skipped = NotAsked(name, _why_not(name, policy))
            lines.append(ServiceCoverage(service=name, state="not_asked", reason=skipped.reason))
    return lines


def _why_not(name: str, policy: SearchPolicy) -> str:
    return _what_is_wanted(name, policy) or "it does not know identifiers of this kind"


def _what_is_wanted(name: str, policy: SearchPolicy) -> str | None:
    if name == KEYED_SERVICE and not policy.has_semantic_scholar_key:
        return "it hardly answers without a key: set literature.semantic_scholar_api_key"
    if name == CONTACTED_SERVICE and not policy.has_contact:
        return "it wants an address: set literature.contact"
    return None


def _failed(so_far: _Round) -> list[Failed]:
    return [outcome for outcome in so_far.asked.values() if isinstance(outcome, Failed)]
