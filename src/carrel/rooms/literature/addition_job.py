"""Adding several works: the call waits a while, then the rest goes on as a durable job."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from carrel.core.answer import Job, JobState
from carrel.core.background_jobs import BackgroundJobs, JobProgress, JobRecord, JobRun
from carrel.core.caller import Call, Caller, Visit
from carrel.core.stored_jobs import (
    check_job_access,
    describe_job,
    follow_job,
    list_stored_jobs,
)
from carrel.rooms.literature.addition_models import (
    AddedWork,
    AddWorks,
    ServiceTally,
    Target,
    WorksAdded,
)
from carrel.rooms.literature.additions import (
    WRITE_PAPERS,
    WRITE_REFERENCES,
    DeskAdditions,
    SettledWork,
    check_scopes,
)
from carrel.rooms.literature.models import ServiceCoverage

KIND = "add_works"
SCOPES = frozenset({"literature:read"})
# Works looked up at once; each service's own limits hold beside it.
_AT_ONCE = 4
_SHOWN_SENT = 5


class AdditionInput(BaseModel):
    """What a job is to do."""

    model_config = ConfigDict(frozen=True)

    identifiers: tuple[str, ...]
    into: Target
    with_fulltext: bool = False


class AdditionState(BaseModel):
    """The works that are settled, by their place in the input, and what was asked for them."""

    settled: dict[int, AddedWork] = {}
    tallies: dict[str, ServiceTally] = {}

    def keep(self, place: int, settled: SettledWork) -> None:
        self.settled[place] = settled.added
        for line in settled.coverage:
            if line.state != "not_asked":
                known = self.tallies.get(line.service, ServiceTally(service=line.service))
                self.tallies[line.service] = _add_line(known, line)


def _add_line(tally: ServiceTally, line: ServiceCoverage) -> ServiceTally:
    is_failed = line.state == "failed"
    sent = [each.url for each in line.sent if each.answered_by == "service"]
    return tally.model_copy(
        update={
            "answered": tally.answered + (not is_failed),
            "failed": tally.failed + is_failed,
            "reason": line.reason if is_failed else tally.reason,
            "sent": [*tally.sent, *sent][:_SHOWN_SENT],
        }
    )


class WorkAdditionJob:
    """Runs the job; works settled by an earlier run of it are not added again."""

    def __init__(self, additions: DeskAdditions) -> None:
        self._additions = additions

    @property
    def is_resumable(self) -> bool:
        """What was added twice is one work in corpus and library."""
        return True

    async def run(self, job: JobRun) -> str:
        asked = AdditionInput.model_validate_json(job.record.input)
        state = AdditionState.model_validate_json(job.record.result or "{}")
        total = len(asked.identifiers)
        # Scopes were checked when the job began; only the owner's name selects the library.
        scopes = frozenset({WRITE_PAPERS, WRITE_REFERENCES, "papers:read", "references:read"})
        call = Call(Caller(job.record.owner, scopes), Visit("job", job.record.id))
        waiting = iter([place for place in range(total) if place not in state.settled])
        done: asyncio.Queue[tuple[int, SettledWork]] = asyncio.Queue()

        async def worker() -> None:
            for place in waiting:
                name = asked.identifiers[place]
                settled = await self._additions.add(name, asked.into, asked.with_fulltext, call)
                await done.put((place, settled))

        left = total - len(state.settled)
        workers = [asyncio.create_task(worker()) for _ in range(min(_AT_ONCE, left))]
        try:
            for _ in range(left):
                place, settled = await done.get()
                state.keep(place, settled)
                count = len(state.settled)
                message = f"{count} of {total} works settled"
                await job.save(JobProgress(state.model_dump_json(), count, total, message))
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        return describe_outcomes(list(state.settled.values()))


@dataclass(frozen=True, slots=True)
class WorkAdditionWaits:
    """How long a call waits before it goes on as a job; `follower_seconds` for task clients."""

    seconds: float = 20.0
    follower_seconds: float = 1.0


class WorkAdditions:
    """Adds works for callers; jobs are visible to their owners only."""

    def __init__(self, jobs: BackgroundJobs, waits: WorkAdditionWaits) -> None:
        self._jobs = jobs
        self._waits = waits

    async def add(self, question: AddWorks, call: Call) -> WorksAdded | Job:
        """The outcome of every work, some waiting, or a job if the caller can follow one.

        Raises InsufficientPermissionsError for a place that the caller may not write.
        """
        check_scopes(question.into, question.with_fulltext, call.caller)
        asked = AdditionInput(
            identifiers=tuple(dict.fromkeys(question.identifiers)),
            into=question.into,
            with_fulltext=question.with_fulltext,
        )
        wait = self._waits.seconds
        if call.can_follow:
            wait = min(wait, self._waits.follower_seconds)
        record = await self._jobs.submit(
            KIND, call.caller.user_id, asked.model_dump_json(), len(asked.identifiers)
        )
        record = await follow_job(self._jobs, record, call, wait)
        return _as_job(record) if call.can_follow and not record.has_ended else _answer_of(record)

    async def find_job(self, job_id: str, call: Call, wait_seconds: float = 0.0) -> Job:
        await check_job_access(self._jobs, job_id, call, SCOPES)
        return _as_job(await self._jobs.wait(job_id, call.caller.user_id, wait_seconds))

    async def cancel_job(self, job_id: str, call: Call) -> Job:
        await check_job_access(self._jobs, job_id, call, SCOPES)
        return _as_job(await self._jobs.cancel(job_id, call.caller.user_id))

    async def list_jobs(self, call: Call, state: JobState | None, limit: int) -> list[Job]:
        return await list_stored_jobs(self._jobs, call, SCOPES, state, limit)


def _as_job(record: JobRecord) -> Job:
    return describe_job(
        record, _answer_of(record), next_step="Call add_works again with what is missing."
    )


def _answer_of(record: JobRecord) -> WorksAdded:
    """The answer so far; once the job has ended, works that it did not reach count as failed."""
    asked = AdditionInput.model_validate_json(record.input)
    state = AdditionState.model_validate_json(record.result or "{}")
    works = [
        state.settled.get(place) or _unsettled(name, record)
        for place, name in enumerate(asked.identifiers)
    ]
    answer = WorksAdded(
        message=describe_outcomes(works), works=works, coverage=list(state.tallies.values())
    )
    if record.has_ended:
        return answer
    step = "get_job with this job_id tells when the rest is done."
    return answer.model_copy(update={"job_id": record.id, "next_step": step})


def _unsettled(name: str, record: JobRecord) -> AddedWork:
    if not record.has_ended:
        return AddedWork(identifier=name, outcome="waiting")
    code = record.error_code or record.state
    return AddedWork(identifier=name, outcome="failed", code=code, reason=record.message)


def describe_outcomes(works: Sequence[AddedWork]) -> str:
    """`2 added, 1 known before, 1 failed.`"""
    words = {"added": "added", "known": "known before", "failed": "failed", "waiting": "waiting"}
    counts = {each: sum(work.outcome == each for work in works) for each in words}
    said = [f"{counts[each]} {word}" for each, word in words.items() if counts[each]]
    return f"{', '.join(said) or 'Nothing to add'}."
