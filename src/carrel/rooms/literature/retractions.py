"""Checks the corpus, a library or a draft for retracted and corrected works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from carrel.core.caller import Call
from carrel.core.errors import InsufficientPermissionsError, NotConfiguredError
from carrel.core.work_notices import GONE, WorkNotice, sort_notices
from carrel.libraries.identifiers import Doi, Identifier, Pmid, identifier_keys, parse_or_none
from carrel.libraries.literature.cited_in_text import find_cited
from carrel.libraries.literature.records import Notice
from carrel.libraries.literature.retraction_watch import SERVICE
from carrel.rooms.literature.asking import Answered, Asking, Failed, ask_all
from carrel.rooms.literature.coverage import sent_out
from carrel.rooms.literature.errors import LiteratureUnavailableError, NetworkForbiddenError
from carrel.rooms.literature.ports import NoticeService, SentRequest, ServiceCatalogue
from carrel.rooms.literature.retraction_models import (
    CheckRetractions,
    NoticeCoverage,
    NoticedWork,
    RetractionsChecked,
)
from carrel.rooms.literature.retraction_ports import (
    CorpusWorks,
    DeskWork,
    LibraryReferences,
    NoticeRow,
    NoticeStore,
)
from carrel.rooms.literature.service_choice import SearchPolicy
from carrel.rooms.literature.work_notices import StoredNotices

READ_PAPERS = frozenset({"papers:read"})
READ_REFERENCES = frozenset({"references:read"})
# Works that one call asks services about.
MAX_ASKED_OUTSIDE = 1_000
_KEYS_AT_ONCE = 5_000
# Services take works in batches and answer a few batches a second.
_SECONDS_PER_WORK = 0.05
_MOST_SECONDS = 110.0

NoticesFound = tuple[tuple[tuple[Identifier, Notice], ...], tuple[SentRequest, ...]]


@dataclass(slots=True)
class _ToCheck:
    """The works of one check; `total` counts also those that need not be listed."""

    works: list[DeskWork] = field(default_factory=list)
    total: int = 0
    unchecked: int = 0
    unknown: tuple[str, ...] = ()


class Retractions:
    """Looks works up in the stored notices, and outside where that is asked for."""

    def __init__(
        self,
        notices: StoredNotices,
        store: NoticeStore,
        corpus: CorpusWorks,
        libraries: LibraryReferences,
        services: ServiceCatalogue,
        policy: SearchPolicy,
    ) -> None:
        self._notices = notices
        self._store = store
        self._corpus = corpus
        self._libraries = libraries
        self._services = services
        self._policy = policy

    async def check(self, question: CheckRetractions, call: Call) -> RetractionsChecked:
        """Raises NotConfiguredError where there is nothing to check with."""
        if question.outside and not self._policy.is_network_allowed:
            raise NetworkForbiddenError
        table = await self._notices.loaded(SERVICE)
        if table is None and not question.outside:
            problem = f": {self._notices.problem}" if self._notices.problem else ""
            raise NotConfiguredError(
                f"There is no table of retractions here, so nothing was checked{problem}.",
                next_step="Load the Retraction Watch table with carrel literature retractions load "
                "FILE, or set outside to ask services.",
            )
        to_check = await self._find_works(question, call)
        coverage: list[NoticeCoverage] = []
        if question.outside:
            coverage = await self._ask_outside(to_check.works)
            _refuse_silence(coverage, has_table=table is not None)
        works = to_check.works
        found = await self._notices.find([work.keys for work in works])
        noticed = [
            _show(question.scope, work, notices)
            for work, notices in zip(works, found, strict=True)
            if notices
        ]
        noticed.sort(key=lambda each: not _is_gone(each.notices))
        answer = RetractionsChecked(
            message="",
            checked=to_check.total - to_check.unchecked,
            unchecked=to_check.unchecked,
            retracted=sum(_is_gone(each.notices) for each in noticed),
            works=noticed[: question.limit],
            left_out=max(0, len(noticed) - question.limit),
            unknown=list(to_check.unknown),
            table_loaded_at=table.loaded_at if table is not None else None,
            table_records=table.row_count if table is not None else None,
            coverage=coverage,
        )
        return answer.model_copy(update={"message": _say(answer, len(noticed))})

    async def _find_works(self, question: CheckRetractions, call: Call) -> _ToCheck:
        match question.scope:
            case "corpus":
                _need(READ_PAPERS, call)
                return await self._corpus_works(question.outside)
            case "library":
                _need(READ_REFERENCES, call)
                works = await self._libraries.list_works(call.caller)
                return _ToCheck(works, len(works), sum(not work.keys for work in works))
            case "draft":
                return await self._draft_works(question.text, call)

    async def _corpus_works(self, outside: bool) -> _ToCheck:
        """The papers that stored notices name, found in one pass over the notices."""
        total, with_doi = await self._corpus.count()
        ids: dict[str, None] = {}
        after = ""
        while keys := await self._store.list_keys(after, _KEYS_AT_ONCE):
            ids |= dict.fromkeys((await self._corpus.find_by_keys(keys)).values())
            after = keys[-1]
        works = [work for each in ids if (work := await self._corpus.find(each)) is not None]
        if outside:
            known = {work.name for work in works}
            newest = await self._corpus.list_works(0, MAX_ASKED_OUTSIDE)
            works += [work for work in newest if work.name not in known]
        return _ToCheck(works, total, total - with_doi)

    async def _draft_works(self, text: str, call: Call) -> _ToCheck:
        cited = find_cited(text)
        works = [
            DeskWork(str(each), "", identifier_keys(each))
            for each in cited.identifiers
            if identifier_keys(each)
        ]
        unknown: list[str] = []
        if cited.keys:
            _need(READ_REFERENCES, call)
            known = {each.name: each for each in await self._libraries.list_works(call.caller)}
            works += [known[key] for key in cited.keys if key in known]
            unknown = [key for key in cited.keys if key not in known]
        # A work that is cited by its key and by its DOI is one.
        by_keys: dict[tuple[str, ...], DeskWork] = {}
        for work in works:
            by_keys[work.keys or (f"name:{work.name}",)] = work
        unique = list(by_keys.values())
        unchecked = sum(not work.keys for work in unique)
        return _ToCheck(unique, len(unique), unchecked, tuple(unknown))

    async def _ask_outside(self, works: Sequence[DeskWork]) -> list[NoticeCoverage]:
        """Asks every service that knows notices, and stores what they say."""
        asked = [work for work in works if work.keys][:MAX_ASKED_OUTSIDE]
        questions: list[Asking[NoticesFound]] = []
        about: dict[str, dict[Identifier, DeskWork]] = {}
        for name, service in self._services.all().items():
            if not hasattr(service, "notices"):
                continue
            knowing = cast(NoticeService, service)
            wanted = {
                one: work for work in asked for one in _identifiers(work) if knowing.knows(one)
            }
            about[name] = wanted
            if wanted:
                ask = partial(knowing.notices, list(wanted))
                questions.append(Asking(name, service.title, ask))
        patience = self._policy.timeout_seconds + len(asked) * _SECONDS_PER_WORK
        outcomes = await ask_all(questions, min(patience, _MOST_SECONDS))
        return [await self._keep(outcome, about[outcome.service]) for outcome in outcomes]

    async def _keep(
        self, outcome: Answered[NoticesFound] | Failed, about: dict[Identifier, DeskWork]
    ) -> NoticeCoverage:
        if isinstance(outcome, Failed):
            return NoticeCoverage(
                service=outcome.service,
                state="failed",
                works=len(about),
                failure=outcome.failure,
                reason=outcome.reason,
            )
        found, sent = outcome.answer
        rows = [
            NoticeRow(key, notice.doi or notice.pmid or f"{notice.kind} {notice.date}", notice)
            for identifier, notice in found
            if identifier in about
            for key in about[identifier].keys
        ]
        keys = list(dict.fromkeys(key for work in about.values() for key in work.keys))
        await self._store.replace_said(outcome.service, keys, rows)
        return NoticeCoverage(
            service=outcome.service,
            state="answered",
            works=len({work.keys for work in about.values()}),
            sent=[sent_out(each) for each in sent],
        )


def _refuse_silence(coverage: Sequence[NoticeCoverage], *, has_table: bool) -> None:
    """Raises LiteratureUnavailableError where nothing at all could say anything."""
    if has_table or not coverage or any(each.state == "answered" for each in coverage):
        return
    reasons = "; ".join(each.reason for each in coverage)
    raise LiteratureUnavailableError(
        f"No service said anything of retractions: {reasons}",
        next_step="Try again later, or load the Retraction Watch table.",
    )


def _identifiers(work: DeskWork) -> list[Identifier]:
    found: list[Identifier] = []
    for key in work.keys:
        kind, _, value = key.partition(":")
        one = parse_or_none(Doi if kind == "doi" else Pmid, value) if kind in _KINDS else None
        if one is not None:
            found.append(one)
    return found


_KINDS = frozenset({"doi", "pmid"})


def _need(scopes: frozenset[str], call: Call) -> None:
    if not scopes <= call.caller.scopes:
        raise InsufficientPermissionsError(scopes, call.caller.scopes)


def _is_gone(notices: Sequence[WorkNotice]) -> bool:
    return any(each.kind in GONE for each in notices)


def _show(scope: str, work: DeskWork, notices: Sequence[WorkNotice]) -> NoticedWork:
    doi = next((key.removeprefix("doi:") for key in work.keys if key.startswith("doi:")), None)
    return NoticedWork.model_validate(
        {
            "where": scope,
            "id": work.name,
            "title": work.title,
            "doi": doi,
            "notices": list(sort_notices(notices)),
        }
    )


def _say(answer: RetractionsChecked, noticed: int) -> str:
    works = "1 work" if answer.checked == 1 else f"{answer.checked:,} works"
    said = [
        f"{answer.retracted:,} of {works} retracted, withdrawn or removed; "
        f"{noticed - answer.retracted:,} corrected or under concern."
    ]
    if answer.unchecked:
        said.append(f"{answer.unchecked:,} without a DOI or PMID could not be checked.")
    if answer.unknown:
        said.append(f"The library does not have {', '.join(answer.unknown[:10])}.")
    if answer.table_loaded_at is None:
        said.append("No Retraction Watch table is loaded; only services were asked.")
    failed = [each.service for each in answer.coverage if each.state == "failed"]
    if failed:
        said.append(
            f"Not answered: {', '.join(failed)}; a retraction that only they know of is "
            "not among these."
        )
    return " ".join(said)
