"""Adds works by identifier: a durable job looks up what neither library nor corpus has.

The job stores each work as soon as it is found, so it can be resumed after an interruption.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from carrel.core.answer import Job, JobState
from carrel.core.background_jobs import BackgroundJobs, JobProgress, JobRecord, JobRun
from carrel.core.caller import Call, Caller
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.core.stored_jobs import (
    check_job_access,
    describe_job,
    follow_job,
    list_stored_jobs,
)
from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Isbn, Pmcid, Pmid
from carrel.rooms.references.additions import (
    Candidate,
    InputReader,
    ReadFile,
    add_to,
    not_added,
    unexpected_failure,
)
from carrel.rooms.references.items import Item, KnownIdentifiers, identifier_work_keys
from carrel.rooms.references.key_patterns import MakeKey, default_key
from carrel.rooms.references.models import AddedReferences, NotAdded, SkippedAsDuplicate, Warned
from carrel.rooms.references.ports import Libraries, Library, Literature, PapersAtHand, Parsers
from carrel.rooms.references.shared.errors import SharedLibraryNotFoundError
from carrel.rooms.references.shared.members import MemberCaller

KIND = "add_references"
SCOPES = frozenset({"references:write"})
# Each service's client limits its requests; this limits how many works wait for one, and so how
# many can go together where a service takes batches.
_LOOKUPS_AT_ONCE = 256
# The caller as a writer of a shared library; raises CarrelError where that is over.
EnterShared = Callable[[str, Caller], Awaitable[Caller]]
IdentifierKind = Literal["doi", "pmid", "pmcid", "arxiv", "isbn"]
_TYPES: dict[IdentifierKind, type[Identifier]] = {
    "doi": Doi,
    "pmid": Pmid,
    "pmcid": Pmcid,
    "arxiv": ArxivId,
    "isbn": Isbn,
}


class Work(BaseModel):
    """A work to be looked up, and every element of the input that named it."""

    model_config = ConfigDict(frozen=True)

    kind: IdentifierKind
    value: str
    sources: tuple[str, ...]

    @classmethod
    def of(cls, identifier: Identifier, sources: Sequence[str]) -> Work:
        kind = next(kind for kind, known in _TYPES.items() if isinstance(identifier, known))
        return cls(kind=kind, value=str(identifier), sources=tuple(sources))

    @property
    def identifier(self) -> Identifier:
        return _TYPES[self.kind].parse(self.value)


class LookupInput(BaseModel):
    """What the job is to do."""

    works: tuple[Work, ...]
    # The id of a shared library; None for the owner's own.
    shared_library: str | None = None


class LookupProgress(BaseModel):
    """The answer of the whole call so far, and the places of the works that are settled."""

    answer: AddedReferences
    settled: list[int] = []

    @classmethod
    def of(cls, record: JobRecord) -> LookupProgress:
        return cls.model_validate_json(record.result or "{}")


async def _enter_none(library_id: str, caller: Caller) -> Caller:
    raise SharedLibraryNotFoundError(library_id)


def _shared_library(caller: Caller) -> str | None:
    return caller.library_id if isinstance(caller, MemberCaller) else None


class LookupJob:
    """Runs the job; works settled by an earlier run of it are not looked up again."""

    def __init__(
        self,
        libraries: Libraries,
        literature: Literature,
        clock: Clock,
        make_key: MakeKey = default_key,
        enter: EnterShared = _enter_none,
    ) -> None:
        self._libraries = libraries
        self._enter = enter
        self._make_key = make_key
        self._literature = literature
        self._clock = clock

    @property
    def is_resumable(self) -> bool:
        return True

    async def run(self, job: JobRun) -> str:
        asked = LookupInput.model_validate_json(job.record.input)
        works = asked.works
        progress = LookupProgress.of(job.record)
        # Scopes were checked when the job began; a role may have been taken away since.
        owner = Caller(job.record.owner, frozenset())
        if asked.shared_library is not None:
            owner = await self._enter(asked.shared_library, owner)
        library = self._libraries.of(owner)
        left = [(place, works[place]) for place in _unsettled(works, progress)]
        if job.is_resumed:
            # An interrupted run may have added works without being able to say so.
            unknown = await _skip_known(library, [work for _, work in left], progress.answer)
            unknown_ids = {id(work) for work in unknown}
            progress.settled += [place for place, work in left if id(work) not in unknown_ids]
            left = [(place, work) for place, work in left if id(work) in unknown_ids]
        await self._look_up(job, library, left, progress, len(works))
        answer = progress.answer
        return (
            f"Done: {len(answer.added)} added, {len(answer.skipped)} skipped, "
            f"{len(answer.failed)} failed."
        )

    async def _look_up(
        self,
        job: JobRun,
        library: Library,
        works: Sequence[tuple[int, Work]],
        progress: LookupProgress,
        total: int,
    ) -> None:
        found: asyncio.Queue[tuple[int, Item | CarrelError]] = asyncio.Queue()
        waiting = iter(works)
        sources = {place: work.sources for place, work in works}

        async def worker() -> None:
            for place, work in waiting:
                await found.put((place, await self._find(work.identifier)))

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
                candidates = [
                    Candidate(item, source)
                    for place, item in batch
                    if not isinstance(item, CarrelError)
                    for source in sources[place]
                ]
                progress.answer.extend(
                    await add_to(library, candidates, self._clock, self._make_key)
                )
                for place, item in batch:
                    progress.settled.append(place)
                    if isinstance(item, CarrelError):
                        failed = [not_added(source, item) for source in sources[place]]
                        progress.answer.failed.extend(failed)
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
            return await self._literature.find(identifier)
        except CarrelError as error:
            return error
        except Exception:  # noqa: BLE001 - a fault with one answer must not cost the other works
            return unexpected_failure("work could not be looked up")


@dataclass(frozen=True, slots=True)
class LookupWaits:
    """How long a call waits before look-ups become a job; `follower_seconds` for task clients."""

    seconds: float = 20.0
    follower_seconds: float = 1.0


class Additions:
    """Adds to the caller's library; look-up jobs are visible to their owners only."""

    def __init__(
        self,
        libraries: Libraries,
        papers: PapersAtHand,
        parsers: Parsers,
        jobs: BackgroundJobs,
        clock: Clock,
        waits: LookupWaits,
        titles: str = "as-written",
        make_key: MakeKey = default_key,
    ) -> None:
        self._libraries = libraries
        self._make_key = make_key
        self._papers = papers
        self._reader = InputReader(papers, parsers, titles)
        self._jobs = jobs
        self._clock = clock
        self._waits = waits

    async def add(
        self,
        elements: Sequence[object],
        read_file: ReadFile,
        call: Call,
        attach: Callable[[Library, AddedReferences], Awaitable[None]] | None = None,
    ) -> AddedReferences | Job:
        """The outcome of every element, some pending, or a job if the caller can follow one.

        `attach` gets what was added from bibliographies, and attaches the files they name.
        """
        read = await self._reader.read(elements, read_file)
        answer = read.answer
        library = self._libraries.of(call.caller)
        answer.extend(await add_to(library, read.candidates, self._clock, self._make_key))
        if attach is not None and answer.added:
            await attach(library, answer)
        works = [Work.of(*found) for found in read.sources_by_identifier.items()]
        if works:
            works = await _skip_known(library, works, answer)
        if works:
            works = await self._add_papers_at_hand(library, works, answer)
        return await self._look_up(works, answer, call) if works else answer

    async def _add_papers_at_hand(
        self, library: Library, works: list[Work], answer: AddedReferences
    ) -> list[Work]:
        """Adds the works that the corpus has; returns the others."""
        try:
            papers = await self._papers.find_many([work.identifier for work in works])
        except CarrelError as error:
            message = (
                f"The papers at hand could not be asked, so the works are looked up "
                f"elsewhere: {error.message}"
            )
            answer.warnings.append(Warned(source="papers", message=message))
            return works
        found = [(papers.get(work.identifier), work) for work in works]
        candidates = [
            Candidate(paper, source)
            for paper, work in found
            if paper is not None
            for source in work.sources
        ]
        answer.extend(await add_to(library, candidates, self._clock, self._make_key))
        return [work for paper, work in found if paper is None]

    async def _look_up(
        self, works: Sequence[Work], answer: AddedReferences, call: Call
    ) -> AddedReferences | Job:
        wait = self._waits.seconds
        if call.can_follow:
            wait = min(wait, self._waits.follower_seconds)
        try:
            record = await self._run_job(works, answer, call, wait)
        except CarrelError as error:
            # What was added before stays acknowledged.
            answer.failed.extend(
                not_added(source, error) for work in works for source in work.sources
            )
            return answer
        return _as_job(record) if call.can_follow and not record.has_ended else _answer_of(record)

    async def _run_job(
        self, works: Sequence[Work], so_far: AddedReferences, call: Call, wait_seconds: float
    ) -> JobRecord:
        """Start a job and wait for it at most `wait_seconds`; a cancelled call cancels the job."""
        record = await self._jobs.submit(
            KIND,
            call.caller.user_id,
            LookupInput(
                works=tuple(works), shared_library=_shared_library(call.caller)
            ).model_dump_json(),
            len(works),
            LookupProgress(answer=so_far).model_dump_json(),
        )
        return await follow_job(self._jobs, record, call, wait_seconds)

    async def find_job(self, job_id: str, call: Call, wait_seconds: float = 0.0) -> Job:
        await check_job_access(self._jobs, job_id, call, SCOPES)
        return _as_job(await self._jobs.wait(job_id, call.caller.user_id, wait_seconds))

    async def cancel_job(self, job_id: str, call: Call) -> Job:
        await check_job_access(self._jobs, job_id, call, SCOPES)
        return _as_job(await self._jobs.cancel(job_id, call.caller.user_id))

    async def list_jobs(self, call: Call, state: JobState | None, limit: int) -> list[Job]:
        return await list_stored_jobs(self._jobs, call, SCOPES, state, limit)


async def _skip_known(
    library: Library, works: Sequence[Work], answer: AddedReferences
) -> list[Work]:
    """The works that the library does not have; the answer names the others as duplicates."""
    keys = {key for work in works for key in identifier_work_keys(work.identifier)}
    known = KnownIdentifiers(await library.find_works(keys))
    left = []
    for work in works:
        duplicate = known.find(work.identifier)
        if duplicate is None:
            left.append(work)
            continue
        answer.skipped.extend(
            SkippedAsDuplicate(duplicate_of=duplicate.reference_id, by=duplicate.by, source=source)
            for source in work.sources
        )
    return left


def _as_job(record: JobRecord) -> Job:
    """A look-up job in its public form."""
    return describe_job(
        record, _answer_of(record), next_step="Call add_references again with what is missing."
    )


def _answer_of(record: JobRecord) -> AddedReferences:
    """The answer so far; once the job has ended, pending works count as failed."""
    works = LookupInput.model_validate_json(record.input).works
    progress = LookupProgress.of(record)
    waiting = [each for place in _unsettled(works, progress) for each in works[place].sources]
    answer = progress.answer
    match record.state:
        case "running":
            update = {
                "pending": len(waiting),
                "waiting": waiting,
                "job_id": record.id,
                "next_step": "The works in waiting are still looked up; get_job tells when they "
                "are done.",
            }
            return answer.model_copy(update=update)
        case "completed":
            return answer
        case "failed" | "cancelled":
            code = record.error_code or record.state
            reason = f"Not looked up: {record.message}"
            failed = [NotAdded(source=each, code=code, reason=reason) for each in waiting]
            return answer.model_copy(update={"failed": [*answer.failed, *failed]})


def _unsettled(works: Sequence[Work], progress: LookupProgress) -> list[int]:
    """The indexes of the works still to look up."""
    settled = set(progress.settled)
    return [place for place in range(len(works)) if place not in settled]
