"""Additions that take long: the call waits a while, then the work goes on as a durable job."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict

from carrel.core.answer import Job, JobState
from carrel.core.background_jobs import BackgroundJobs, JobProgress, JobRecord, JobRun
from carrel.core.caller import Call
from carrel.core.stored_jobs import check_job_access, describe_job, list_stored_jobs
from carrel.rooms.papers.models import PaperAdded

KIND = "add_paper"
SCOPES = frozenset({"papers:write"})
_LOOK_EVERY_SECONDS = 1.0


class Addition(BaseModel):
    """A file to add: one of the inbox, or files where they lie, within folders if any are given.

    `upload_id` is discarded once the paper is added. `record` is a further file of the inbox that
    describes the paper, added after it.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["inbox", "path"]
    path: str
    owner: str
    within: tuple[str, ...] | None = None
    upload_id: str | None = None
    record: str | None = None


@dataclass(slots=True)
class AdditionProgress:
    """Progress that a thread writes and the event loop reads."""

    phase: str = "waiting"
    total: int | None = None
    unit: str = ""
    done: int = 0

    def begin(self, phase: str, total: int | None, unit: str, work: float | None = None) -> None:
        self.phase, self.total, self.unit, self.done = phase, total, unit, 0

    def advance(self, amount: int = 1, work: float | None = None) -> None:
        self.done += amount

    def end(self) -> None:
        return None

    @property
    def message(self) -> str:
        amount = f" {self.done:,} of {self.total:,} {self.unit}" if self.total else ""
        return f"{self.phase}{amount}"


@dataclass(frozen=True, slots=True)
class AdditionWaits:
    """How long a call waits before it becomes a job; `follower_seconds` for task clients."""

    seconds: float = 20.0
    follower_seconds: float = 1.0


Add = Callable[[Addition, AdditionProgress], Awaitable[PaperAdded]]


@dataclass(slots=True)
class _Running:
    task: asyncio.Task[PaperAdded]
    progress: AdditionProgress = field(default_factory=AdditionProgress)


class AdditionJob:
    """Runs additions; one that a call began is handed over, one of another process begins anew."""

    def __init__(self, add: Add) -> None:
        self._add = add
        self._handed_over: dict[str, _Running] = {}

    @property
    def is_resumable(self) -> bool:
        """Adding the same file twice makes one paper."""
        return True

    def begin(self, addition: Addition) -> _Running:
        progress = AdditionProgress()
        return _Running(asyncio.create_task(self._run(addition, progress)), progress)

    async def _run(self, addition: Addition, progress: AdditionProgress) -> PaperAdded:
        return await self._add(addition, progress)

    def hand_over(self, work: str, running: _Running) -> None:
        self._handed_over[work] = running

    async def run(self, job: JobRun) -> str:
        running = self._handed_over.pop(job.record.input, None)
        if running is None:
            running = self.begin(Addition.model_validate_json(job.record.input))
        try:
            while not running.task.done():
                seen = running.progress
                await job.save(JobProgress("", seen.done, seen.total, seen.message))
                await asyncio.wait({running.task}, timeout=_LOOK_EVERY_SECONDS)
            added = running.task.result()
        finally:
            running.task.cancel()
        await job.save(JobProgress(added.model_dump_json(), 1, 1, "Added."))
        return f"Added {added.count} papers." if added.count > 1 else f"Added {added.title!r}."


class LongAdditions:
    """Waits for an addition, and makes a job of it when that takes too long."""

    def __init__(
        self,
        jobs: BackgroundJobs,
        handler: AdditionJob,
        waits: AdditionWaits,
        name_job: Callable[[Addition, str], Awaitable[None]],
    ) -> None:
        self._jobs = jobs
        self._handler = handler
        self._waits = waits
        self._name_job = name_job

    async def add(self, addition: Addition, call: Call) -> PaperAdded | Job:
        """The paper, or a job where it takes longer than a call may wait."""
        running = self._handler.begin(addition)
        wait = self._waits.seconds
        if call.can_follow:
            wait = min(wait, self._waits.follower_seconds)
        try:
            while not running.task.done() and wait > 0:
                seen = running.progress
                await call.report_progress(seen.done, seen.total, seen.message)
                slice_seconds = min(_LOOK_EVERY_SECONDS, wait)
                await asyncio.wait({running.task}, timeout=slice_seconds)
                wait -= slice_seconds
            if running.task.done():
                return running.task.result()
            return await self._hand_over(addition, running, call)
        except asyncio.CancelledError:
            running.task.cancel()
            raise

    async def _hand_over(
        self, addition: Addition, running: _Running, call: Call
    ) -> PaperAdded | Job:
        work = addition.model_dump_json()
        self._handler.hand_over(work, running)
        record = await self._jobs.submit(KIND, call.caller.user_id, work, None)
        await self._name_job(addition, record.id)
        return _as_job(record) if call.can_follow else _pending(record)

    async def find_job(self, job_id: str, call: Call, wait_seconds: float = 0.0) -> Job:
        await check_job_access(self._jobs, job_id, call, SCOPES)
        return _as_job(await self._jobs.wait(job_id, call.caller.user_id, wait_seconds))

    async def cancel_job(self, job_id: str, call: Call) -> Job:
        await check_job_access(self._jobs, job_id, call, SCOPES)
        return _as_job(await self._jobs.cancel(job_id, call.caller.user_id))

    async def list_jobs(self, call: Call, state: JobState | None, limit: int) -> list[Job]:
        return await list_stored_jobs(self._jobs, call, SCOPES, state, limit)


def _pending(record: JobRecord) -> PaperAdded:
    """The answer for callers that cannot follow a job by its protocol."""
    return PaperAdded(
        paper_id="",
        title="",
        is_new=False,
        notes=["It is still being added."],
        job_id=record.id,
        next_step="get_job with this job_id tells when it is done and which paper it is.",
    )


def _as_job(record: JobRecord) -> Job:
    """An addition in its public form."""
    result: PaperAdded | None = None
    with suppress(ValueError):
        result = PaperAdded.model_validate_json(record.result or "")
    return describe_job(record, result, next_step="Correct what is wrong and call add_paper again.")
