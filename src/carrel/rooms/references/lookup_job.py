"""The job that looks works up and keeps each as soon as it is found. It can be interrupted at any
moment and resumed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from carrel.core.answer import Job
from carrel.core.background_jobs import BackgroundJobs, JobProgress, JobRecord, JobRun
from carrel.core.caller import Call, Caller
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, InsufficientPermissionsError
from carrel.libraries.identifiers import ArxivId, Doi, Isbn, Pmcid, Pmid
from carrel.rooms.references.additions import (
    Candidate,
    InputReader,
    Outcome,
    ReadFile,
    ReadInput,
    WantedWork,
    add_to,
    not_added,
    unexpected_failure,
)
from carrel.rooms.references.items import Item, KnownIdentifiers
from carrel.rooms.references.models import AddedReferences, NotAdded, SkippedAsDuplicate, Warned
from carrel.rooms.references.ports import Formats, Identifier, Libraries, Library, Lookup

KIND = "add_references"
SCOPES = frozenset({"references:write"})
# Questions to one service are bounded by its client. This only bounds how many wait for their turn,
# which are also those that
# can go together in one request where a service takes many.
_LOOKUPS_AT_ONCE = 256
_PARSERS: dict[str, Callable[[str], Identifier]] = {
    "doi": Doi.parse,
    "pmid": Pmid.parse,
    "pmcid": Pmcid.parse,
    "arxiv": ArxivId.parse,
    "isbn": Isbn.parse,
}
_NAMES: dict[type[Identifier], Literal["doi", "pmid", "pmcid", "arxiv", "isbn"]] = {
    Doi: "doi",
    Pmid: "pmid",
    Pmcid: "pmcid",
    ArxivId: "arxiv",
    Isbn: "isbn",
}


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True)


class StoredWork(_Stored):
    """A work to be looked up, as the job's input names it."""

    kind: Literal["doi", "pmid", "pmcid", "arxiv", "isbn"]
    value: str
    sources: tuple[str, ...]

    @property
    def identifier(self) -> Identifier:
        return _PARSERS[self.kind](self.value)


class LookupInput(_Stored):
    """What the job is to do."""

    works: tuple[StoredWork, ...]


class LookupProgress(BaseModel):
    """What has become of the whole call so far, and which of the works (by their place) are
    settled.
    """

    answer: AddedReferences
    settled: list[int] = []


@dataclass(frozen=True, slots=True)
class _Found:
    """What a look-up gave."""

    place: int
    work: StoredWork
    item: Item | CarrelError


class LookupHandler:
    """Runs the job. What another run of the same job has settled is not looked up again."""

    def __init__(self, libraries: Libraries, lookup: Lookup, clock: Clock) -> None:
        self._libraries = libraries
        self._lookup = lookup
        self._clock = clock

    @property
    def is_resumable(self) -> bool:
        return True

    async def run(self, job: JobRun) -> str:
        works = LookupInput.model_validate_json(job.record.input).works
        progress = _progress(job.record)
        settled = set(progress.settled)
        open_works = [(place, work) for place, work in enumerate(works) if place not in settled]
        # Only the owner's name says whose library it is; what they may do was checked when the job
        # was begun.
        library = self._libraries.of(Caller(job.record.owner, frozenset()))
        if job.is_resumed:
            open_works = await self._settle_known(library, open_works, progress)
        await self._look_up(job, library, open_works, progress, len(works))
        answer = progress.answer
        return (
            f"Done: {len(answer.added)} added, {len(answer.skipped)} skipped, "
            f"{len(answer.failed)} failed."
        )

    async def _settle_known(
        self, library: Library, works: Sequence[tuple[int, StoredWork]], progress: LookupProgress
    ) -> list[tuple[int, StoredWork]]:
        """What an interrupted run kept without being able to say so is in the library, and not
        looked up again.
        """
        known = await asyncio.to_thread(KnownIdentifiers, (await library.shelf()).items)
        left = []
        for place, work in works:
            duplicate = known.find(work.identifier)
            if duplicate is None:
                left.append((place, work))
                continue
            progress.settled.append(place)
            progress.answer.skipped.extend(
                SkippedAsDuplicate(
                    duplicate_of=duplicate.reference_id, by=duplicate.by, source=source
                )
                for source in work.sources
            )
        return left

    async def _look_up(
        self,
        job: JobRun,
        library: Library,
        works: Sequence[tuple[int, StoredWork]],
        progress: LookupProgress,
        total: int,
    ) -> None:
        found: asyncio.Queue[_Found] = asyncio.Queue()
        waiting = iter(works)

        async def worker() -> None:
            for place, work in waiting:
                await found.put(_Found(place, work, await self._find(work.identifier)))

        workers = [asyncio.create_task(worker()) for _ in range(min(_LOOKUPS_AT_ONCE, len(works)))]
        try:
            left = len(works)
            while left:
                batch = [await found.get()]
                # Whatever has arrived meanwhile is kept in the same write of the library.
                with suppress(asyncio.QueueEmpty):
                    while True:
                        batch.append(found.get_nowait())
                left -= len(batch)
                await self._keep(library, batch, progress)
                message = f"{total - left} of {total} works looked up"
                await job.save(
                    JobProgress(progress.model_dump_json(), total - left, total, message)
                )
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _find(self, identifier: Identifier) -> Item | CarrelError:
        try:
            return await self._lookup.find(identifier)
        except CarrelError as error:
            return error
        except Exception:  # noqa: BLE001 - a fault with one answer must not cost the other works
            return unexpected_failure("work could not be looked up")

    async def _keep(
        self, library: Library, batch: Sequence[_Found], progress: LookupProgress
    ) -> None:
        candidates = [
            Candidate(found.item, source, None, has_own_key=False)
            for found in batch
            if not isinstance(found.item, CarrelError)
            for source in found.work.sources
        ]
        outcome = await add_to(library, candidates, self._clock)
        answer = progress.answer
        answer.added.extend(outcome.added)
        answer.skipped.extend(outcome.skipped)
        answer.failed.extend(outcome.failed)
        answer.warnings.extend(outcome.warnings)
        for found in batch:
            progress.settled.append(found.place)
            if isinstance(found.item, CarrelError):
                problem = found.item
                answer.failed.extend(not_added(source, problem) for source in found.work.sources)


class LookupJobs:
    """Begins look-up jobs, and shows them to their owners."""

    def __init__(self, jobs: BackgroundJobs) -> None:
        self._jobs = jobs

    async def add(
        self, wanted: Sequence[WantedWork], so_far: AddedReferences, call: Call, wait_seconds: float
    ) -> JobRecord:
        """Begins a job, and gives it back when it has ended or the wait is over. A call that ends
        before takes its job along.
        """
        works = tuple(
            StoredWork(
                kind=_NAMES[type(work.identifier)], value=str(work.identifier), sources=work.sources
            )
            for work in wanted
        )
        owner = call.caller.user_id
        record = await self._jobs.submit(
            KIND,
            owner,
            LookupInput(works=works).model_dump_json(),
            len(works),
            LookupProgress(answer=so_far).model_dump_json(),
        )
        try:
            record = await self._follow(record, call, wait_seconds)
        except asyncio.CancelledError:
            # Its caller is gone and nobody else knows its id.
            with suppress(CarrelError):
                await asyncio.shield(self._jobs.cancel(record.id, owner))
            raise
        if record.has_ended:
            await self._jobs.discard(record.id)
        return record

    async def _follow(self, record: JobRecord, call: Call, wait_seconds: float) -> JobRecord:
        until = wait_seconds
        while True:
            await call.report_progress(record.done, record.total, record.message)
            slice_seconds = min(1.0, until)
            record = await self._jobs.wait(record.id, record.owner, slice_seconds)
            until -= slice_seconds
            if record.has_ended or until <= 0:
                return record

    async def find_job(self, job_id: str, call: Call, wait_seconds: float = 0.0) -> Job:
        await self._check(job_id, call)
        return show_job(await self._jobs.wait(job_id, call.caller.user_id, wait_seconds))

    async def cancel_job(self, job_id: str, call: Call) -> Job:
        await self._check(job_id, call)
        return show_job(await self._jobs.cancel(job_id, call.caller.user_id))

    async def _check(self, job_id: str, call: Call) -> None:
        await self._jobs.find(job_id, call.caller.user_id)
        if not call.caller.scopes >= SCOPES:
            raise InsufficientPermissionsError(SCOPES, call.caller.scopes)


def show_job(record: JobRecord) -> Job:
    """A look-up job as its owner sees it."""
    return Job(
        job_id=record.id,
        operation=KIND,
        state=record.state,
        message=record.message,
        started_at=record.created_at,
        updated_at=record.updated_at,
        done=record.done,
        total=record.total,
        result=answer_of(record),
        error=None
        if record.error_code is None
        else _StoredError(record.error_code, record.message),
    )


class _StoredError(CarrelError):
    """Why a job failed, as it was kept."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message, next_step="Call add_references again with what is missing.")
        self.code = code  # type: ignore[misc]


def answer_of(record: JobRecord) -> AddedReferences:
    """The answer of the whole call as far as it is known: what a job could not do before it ended
    has failed.
    """
    works = LookupInput.model_validate_json(record.input).works
    progress = _progress(record)
    settled = set(progress.settled)
    waiting = [
        source
        for place, work in enumerate(works)
        if place not in settled
        for source in work.sources
    ]
    answer = progress.answer
    match record.state:
        case "running":
            next_step = (
                "The works in waiting are still looked up; get_job tells when they are done."
            )
            update = {
                "pending": len(waiting),
                "waiting": waiting,
                "job_id": record.id,
                "next_step": next_step,
            }
            return answer.model_copy(update=update)
        case "completed":
            return answer
        case "failed" | "cancelled":
            code = record.error_code or record.state
            failed = [
                NotAdded(source=source, code=code, reason=f"Not looked up: {record.message}")
                for source in waiting
            ]
            return answer.model_copy(update={"failed": [*answer.failed, *failed]})


def _progress(record: JobRecord) -> LookupProgress:
    return LookupProgress.model_validate_json(record.result or "{}")


@dataclass(frozen=True, slots=True)
class LookupWaits:
    """How long a call waits for look-ups before the rest goes on as a job: anybody's, and one that
    can follow a task.
    """

    seconds: float = 20.0
    follower_seconds: float = 1.0


@dataclass(slots=True)
class _KnownAt:
    """The identifiers of one library at one generation."""

    generation: int
    identifiers: KnownIdentifiers


class Additions:
    """Adds to whoever's library it is."""

    def __init__(
        self,
        libraries: Libraries,
        formats: Formats,
        lookup: Lookup,
        jobs: LookupJobs,
        clock: Clock,
        waits: LookupWaits,
    ) -> None:
        self._libraries = libraries
        self._lookup = lookup
        self._clock = clock
        self._waits = waits
        self._reader = InputReader(formats, lookup)
        self._known: dict[int, _KnownAt] = {}
        self.jobs = jobs

    async def add(
        self, elements: Sequence[object], read_file: ReadFile, call: Call
    ) -> AddedReferences | Job:
        """What became of every element; where work goes on, with what is pending, or as a job where
        the caller can follow it.
        """
        read = await self._reader.read(elements, read_file)
        library = self._libraries.of(call.caller)
        answer = _answer(read, await add_to(library, read.candidates, self._clock))
        wanted = await self._skip_known(library, read.wanted, answer)
        wanted = await self._keep_at_hand(library, wanted, answer)
        return await self._look_up(wanted, answer, call) if wanted else answer

    async def _skip_known(
        self, library: Library, wanted: Sequence[WantedWork], answer: AddedReferences
    ) -> list[WantedWork]:
        """Those that the library does not have."""
        if not wanted:
            return []
        known = await self._known_identifiers(library)
        left = []
        for work in wanted:
            duplicate = known.find(work.identifier)
            if duplicate is None:
                left.append(work)
                continue
            answer.skipped.extend(
                SkippedAsDuplicate(
                    duplicate_of=duplicate.reference_id, by=duplicate.by, source=source
                )
                for source in work.sources
            )
        return left

    async def _known_identifiers(self, library: Library) -> KnownIdentifiers:
        shelf = await library.shelf()
        known = self._known.get(id(library))
        if known is None or known.generation != shelf.generation:
            known = _KnownAt(
                shelf.generation, await asyncio.to_thread(KnownIdentifiers, shelf.items)
            )
            self._known[id(library)] = known
        return known.identifiers

    async def _keep_at_hand(
        self, library: Library, wanted: Sequence[WantedWork], answer: AddedReferences
    ) -> list[WantedWork]:
        """Those that are not among the papers at hand; the others are kept."""
        if not wanted:
            return []
        try:
            at_hand = await self._lookup.at_hand([work.identifier for work in wanted])
        except CarrelError as error:
            message = (
                f"The papers at hand could not be asked, so the works are looked up "
                f"elsewhere: {error.message}"
            )
            answer.warnings.append(Warned(source="papers", message=message))
            return list(wanted)
        found = [work for work in wanted if work.identifier in at_hand]
        candidates = [
            Candidate(at_hand[work.identifier], source, None, False)
            for work in found
            for source in work.sources
        ]
        _extend(answer, await add_to(library, candidates, self._clock))
        return [work for work in wanted if work.identifier not in at_hand]

    async def _look_up(
        self, wanted: Sequence[WantedWork], answer: AddedReferences, call: Call
    ) -> AddedReferences | Job:
        wait = (
            min(self._waits.seconds, self._waits.follower_seconds)
            if call.can_follow
            else self._waits.seconds
        )
        try:
            record = await self.jobs.add(wanted, answer, call, wait)
        except CarrelError as error:
            # What was kept before stays acknowledged.
            answer.failed.extend(
                not_added(source, error) for work in wanted for source in work.sources
            )
            return answer
        return show_job(record) if call.can_follow and not record.has_ended else answer_of(record)


def _answer(read: ReadInput, outcome: Outcome) -> AddedReferences:
    answer = AddedReferences(
        added=[], skipped=[], failed=list(read.failed), warnings=list(read.warnings)
    )
    _extend(answer, outcome)
    return answer


def _extend(answer: AddedReferences, outcome: Outcome) -> None:
    answer.added.extend(outcome.added)
    answer.skipped.extend(outcome.skipped)
    answer.failed.extend(outcome.failed)
    answer.warnings.extend(outcome.warnings)
