"""Asks services for the works of records with gaps, many records at a time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from carrel.core.errors import CarrelError
from carrel.libraries.identifiers import Identifier
from carrel.libraries.literature.merging import merge_records
from carrel.libraries.literature.records import MergedWork, ServiceRecord
from carrel.libraries.query.papers import PaperQuery, parse_paper_query
from carrel.libraries.works.comparison import LinkVerdict, compare
from carrel.libraries.works.keys import family_key, title_key
from carrel.libraries.works.work import Work
from carrel.rooms.literature.asking import Answered, Asking, Failed, ask_all
from carrel.rooms.literature.completion_ports import RecordToComplete
from carrel.rooms.literature.desk_works import linkage_work, list_keys
from carrel.rooms.literature.errors import NetworkForbiddenError
from carrel.rooms.literature.ports import (
    LookupAnswer,
    RecordService,
    ServiceCatalogue,
    ServiceSearchRequest,
)
from carrel.rooms.literature.search import LiteratureSearch
from carrel.rooms.literature.service_choice import KEYED_SERVICE, SearchPolicy

# Services whose records say more than where a text is or who cites it.
COMPLETING = frozenset(
    {"crossref", "pubmed", "europepmc", "openalex", "arxiv", "datacite", "biorxiv", KEYED_SERVICE}
)
# Records that are asked for at once; services cut them into batches of their own.
BATCH = 100
# Services take works in batches and answer a batch or two a second.
_SECONDS_PER_RECORD = 0.2
_MOST_SECONDS = 110.0
_GUESSED_WORKS = 5
_TITLE_CHARACTERS = 300
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class FoundForRecord:
    """The work of a record, if a service has it, and the services that did not answer."""

    work: MergedWork | None = None
    unanswered: list[str] = field(default_factory=list)
    is_guess: bool = False


class CompletionSearch:
    """Finds the works that records are about."""

    def __init__(
        self, services: ServiceCatalogue, search: LiteratureSearch, policy: SearchPolicy
    ) -> None:
        self._services = services
        self._search = search
        self._policy = policy

    @property
    def is_allowed(self) -> bool:
        return self._policy.is_network_allowed

    async def find(
        self, records: Sequence[RecordToComplete]
    ) -> tuple[list[FoundForRecord], list[Failed]]:
        """What services have by the identifiers of the records. Raises NetworkForbiddenError."""
        if not self.is_allowed:
            raise NetworkForbiddenError
        wanted = {one: None for record in records for one in record.identifiers}
        questions: list[Asking[LookupAnswer]] = []
        asked: dict[str, set[Identifier]] = {}
        for name, service in self._services.all().items():
            if not hasattr(service, "look_up") or not self._is_asked(name):
                continue
            knowing = cast(RecordService, service)
            known = [one for one in wanted if knowing.knows(one)]
            if known:
                asked[name] = set(known)
                ask = partial(knowing.look_up, known)
                questions.append(Asking(name, service.title, ask))
        patience = self._policy.timeout_seconds + len(records) * _SECONDS_PER_RECORD
        outcomes = await ask_all(questions, min(patience, _MOST_SECONDS))
        failed = [each for each in outcomes if isinstance(each, Failed)]
        by_identifier: dict[Identifier, list[ServiceRecord]] = {}
        for outcome in outcomes:
            if isinstance(outcome, Answered):
                for identifier, known_record in outcome.answer.found:
                    by_identifier.setdefault(identifier, []).append(known_record)
        found = await asyncio.to_thread(_choose_works, records, by_identifier)
        for record, each in zip(records, found, strict=True):
            each.unanswered = [
                one.service for one in failed if asked[one.service] & set(record.identifiers)
            ]
        return found, failed

    async def guess(self, record: RecordToComplete) -> FoundForRecord:
        """The one work that title, first author and year all name, and no other."""
        own = _work_of(record)
        if own is None:
            return FoundForRecord()
        request = ServiceSearchRequest(_as_words(record.title), limit=_GUESSED_WORKS)
        try:
            found = await self._search.find(request)
        except CarrelError:
            return FoundForRecord(unanswered=["search"])
        certain = [each for each in found.works if _is_certain(own, each)]
        if len(certain) != 1:
            return FoundForRecord()
        return FoundForRecord(certain[0], is_guess=True)

    def _is_asked(self, name: str) -> bool:
        if self._policy.services:
            return name in self._policy.services
        is_open = name != KEYED_SERVICE or self._policy.has_semantic_scholar_key
        return name in COMPLETING and is_open


def _choose_works(
    records: Sequence[RecordToComplete], by_identifier: dict[Identifier, list[ServiceRecord]]
) -> list[FoundForRecord]:
    return [_choose_work(record, by_identifier) for record in records]


def _choose_work(
    record: RecordToComplete, by_identifier: dict[Identifier, list[ServiceRecord]]
) -> FoundForRecord:
    """The merged work that has the record's strongest identifier."""
    found = [each for one in record.identifiers for each in by_identifier.get(one, [])]
    if not found:
        return FoundForRecord()
    merged = merge_records({(each.service, each.service_id): each for each in found}.values())
    for identifier in record.identifiers:
        own = {(each.service, each.service_id) for each in by_identifier.get(identifier, [])}
        for work in merged:
            if not own.isdisjoint((each.service, each.service_id) for each in work.records):
                return FoundForRecord(work)
    return FoundForRecord(merged[0] if len(merged) == 1 else None)


def _as_words(title: str) -> PaperQuery:
    """A title as plain words: nothing in it is an operator."""
    return parse_paper_query(" ".join(_WORD.findall(title.lower()))[:_TITLE_CHARACTERS])


def _work_of(record: RecordToComplete) -> Work | None:
    """What is compared; None where a record says too little to be sure of anything."""
    item = record.item
    people = item.get("author")
    names = [_name(each) for each in people if isinstance(each, dict)] if people else []
    year = _year(item.get("issued"))
    if title_key(record.title) is None or len(record.title.split()) < 5:
        return None
    if not names or not names[0] or year is None:
        return None
    return Work(title=record.title, people=tuple(names), year=year)


def _name(person: dict[str, object]) -> str:
    family = str(person.get("family") or person.get("literal") or "")
    given = str(person.get("given") or "")
    return f"{family}, {given}" if given else family


def _year(issued: object) -> int | None:
    parts = issued.get("date-parts") if isinstance(issued, dict) else None
    try:
        return int(parts[0][0]) if parts else None
    except (TypeError, ValueError, IndexError, KeyError):
        return None


def _is_certain(own: Work, found: MergedWork) -> bool:
    """Equal titles, the same first author, years at most one apart, and linkage agrees."""
    other = linkage_work(found.work)
    if own.year is None or other.year is None or abs(own.year - other.year) > 1:
        return False
    if (
        title_key(own.title) != title_key(other.title)
        or not other.people
        or not list_keys(found.work.ids)
    ):
        return False
    if family_key(own.people[0]) != family_key(_family_first(found)):
        return False
    return compare(own, other).verdict is LinkVerdict.SAME


def _family_first(found: MergedWork) -> str:
    author = found.work.authors[0]
    return f"{author.family}," if author.family else author.literal
