"""The records of one work and of its versions, asked for by identifier in a few rounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Pmcid, Pmid, parse_or_none
from carrel.libraries.literature.records import ServiceRecord, TextLocation, WorkIds
from carrel.rooms.literature.asking import Asking, Failed, NotAsked, ask_all
from carrel.rooms.literature.coverage import cost_fields, failed_line, sent_out
from carrel.rooms.literature.models import ServiceCoverage
from carrel.rooms.literature.ports import (
    LiteratureService,
    LocationService,
    LookupAnswer,
    RecordService,
    SentRequest,
    ServiceCatalogue,
)

# A work, its preprint or article, and one more.
_MOST_VERSIONS = 3
_MOST_ROUNDS = 3
_KINDS: tuple[tuple[str, type[Identifier]], ...] = (
    ("doi", Doi),
    ("arxiv", ArxivId),
    ("pmid", Pmid),
    ("pmcid", Pmcid),
)


@dataclass(slots=True)
class WorkVersionIds:
    """The identifiers of one version of a work, and which services have told of it."""

    identifiers: dict[str, Identifier] = field(default_factory=dict)
    known_to: set[str] = field(default_factory=set)
    asked: set[tuple[str, str]] = field(default_factory=set)

    def learn(self, found: Iterable[Identifier]) -> None:
        for each in found:
            self.identifiers.setdefault(f"{type(each).__name__}:{each.value}", each)

    def has_any(self, found: Iterable[Identifier]) -> bool:
        return any(f"{type(each).__name__}:{each.value}" in self.identifiers for each in found)


@dataclass(frozen=True, slots=True)
class KnownWork:
    """What services told of a work and its versions; the first version is the one asked for."""

    records: tuple[ServiceRecord, ...]
    locations: tuple[TextLocation, ...]
    versions: tuple[tuple[Identifier, ...], ...]
    coverage: tuple[ServiceCoverage, ...]
    failures: tuple[Failed, ...]

    def identifiers(self) -> tuple[Identifier, ...]:
        return tuple(each for version in self.versions for each in version)


_Locations = tuple[tuple[TextLocation, ...], tuple[SentRequest, ...]]


class WorkRecords:
    """Asks the named services for a work, then for what they said of its other identifiers."""

    def __init__(self, services: ServiceCatalogue, timeout_seconds: float) -> None:
        self._services = services
        self._timeout_seconds = timeout_seconds

    async def find(
        self,
        identifier: Identifier,
        names: Sequence[str],
        not_asked: Sequence[NotAsked] = (),
        *,
        with_versions: bool = True,
    ) -> KnownWork:
        """Never raises for a service: `coverage` and `failures` say what became of each."""
        known = self._services.all()
        chosen = {name: known[name] for name in names if name in known}
        versions = [WorkVersionIds()]
        versions[0].learn(with_twin(identifier))
        records: list[ServiceRecord] = []
        locations: list[TextLocation] = []
        lines = {each.service: _not_asked_line(each) for each in not_asked}
        failures: dict[str, Failed] = {}
        for _ in range(_MOST_ROUNDS):
            questions = [
                (version, name, asked)
                for version in versions[:_MOST_VERSIONS]
                for name, service in chosen.items()
                if name not in failures and (asked := _next_identifier(version, name, service))
            ]
            if not questions:
                break
            outcomes = await ask_all(
                [_asking(chosen[name], asked) for _, name, asked in questions],
                self._timeout_seconds,
            )
            for (version, name, _), outcome in zip(questions, outcomes, strict=True):
                if isinstance(outcome, Failed):
                    failures[name] = outcome
                    continue
                answer = outcome.answer
                if isinstance(answer, LookupAnswer):
                    found = [record for _, record in answer.found]
                    records += found
                    _learn(versions, version, name, found, with_versions=with_versions)
                else:
                    locations += answer[0]
                    if answer[0]:
                        version.known_to.add(name)
                lines[name] = _add_line(lines.get(name), name, answer)
        lines.update((name, failed_line(failure)) for name, failure in failures.items())
        for name in chosen:
            if name not in lines:
                reason = "it knows works by other identifiers"
                lines[name] = ServiceCoverage(service=name, state="not_asked", reason=reason)
        return KnownWork(
            tuple(records),
            tuple(locations),
            tuple(tuple(each.identifiers.values()) for each in versions),
            tuple(lines.values()),
            tuple(failures.values()),
        )


def with_twin(identifier: Identifier) -> tuple[Identifier, ...]:
    """The identifier, and the one that arXiv registers for the same preprint."""
    if isinstance(identifier, Doi) and identifier.arxiv is not None:
        return (identifier, identifier.arxiv)
    if isinstance(identifier, ArxivId):
        return (identifier, Doi(identifier.doi))
    return (identifier,)


def identifiers_of(ids: WorkIds) -> tuple[Identifier, ...]:
    """The identifiers of a record by which services can be asked."""
    found = (parse_or_none(kind, getattr(ids, name)) for name, kind in _KINDS)
    return tuple(twin for each in found if each is not None for twin in with_twin(each))


def _next_identifier(
    version: WorkVersionIds, name: str, service: LiteratureService
) -> Identifier | None:
    """What the service is asked next of a version; None where it has told of it, or will not.

    Who does not know a work by its DOI is not asked for it by other identifiers.
    """
    if name in version.known_to or (name, "doi") in version.asked:
        return None
    asker = cast("RecordService | LocationService", service)
    for key, each in version.identifiers.items():
        if (name, key) not in version.asked and asker.knows(each):
            version.asked |= {(name, key), *([(name, "doi")] if isinstance(each, Doi) else [])}
            return each
    return None


def _asking(
    service: LiteratureService, identifier: Identifier
) -> Asking[LookupAnswer | _Locations]:
    if hasattr(service, "look_up"):
        look_up = cast(RecordService, service).look_up
        return Asking(service.name, service.title, partial(look_up, [identifier]))
    locate = cast(LocationService, service).locate
    return Asking(service.name, service.title, partial(locate, identifier))


def _learn(
    versions: list[WorkVersionIds],
    version: WorkVersionIds,
    service: str,
    records: Sequence[ServiceRecord],
    *,
    with_versions: bool,
) -> None:
    for record in records:
        version.known_to.add(service)
        version.learn(identifiers_of(record.work.ids))
        if not with_versions:
            continue
        for pointer in record.work.versions:
            named = identifiers_of(pointer.ids)
            if named and not any(each.has_any(named) for each in versions):
                versions.append(WorkVersionIds())
                versions[-1].learn(named)


def _add_line(
    line: ServiceCoverage | None, name: str, answer: LookupAnswer | _Locations
) -> ServiceCoverage:
    """One entry a service, whatever it was asked for."""
    if isinstance(answer, LookupAnswer):
        sent, count = answer.sent, len(answer.found)
        cost = cost_fields(answer.cost, answer.sent)
    else:
        sent, count, cost = answer[1], len(answer[0]), {}
    before = line if line is not None and line.state == "answered" else None
    return ServiceCoverage(
        service=name,
        state="answered",
        returned=count + ((before.returned or 0) if before else 0),
        is_complete=True,
        sent=[*(before.sent if before else []), *(sent_out(each) for each in sent)],
        **cost,
    )


def _not_asked_line(each: NotAsked) -> ServiceCoverage:
    return ServiceCoverage(service=each.service, state="not_asked", reason=each.reason)
