"""Durable runs: jobs under leases, done step by step; a finished step is never repeated.

A step and its results are stored in one transaction. When a worker dies, another claims its jobs
and continues after the last finished step. A job's outcome is stored together with its project's
status; while that cannot be written, it is served from memory and retried.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass

from carrel.core.clock import Clock
from carrel.core.errors import DISK_FULL, CarrelError, StorageFullError, UnavailableError
from carrel.rooms.research.agents.supervisor import Step, Supervisor
from carrel.rooms.research.errors import (
    BudgetExhaustedError,
    ModelUnavailableError,
    StepTakenError,
)
from carrel.rooms.research.ports import ResearchStore
from carrel.rooms.research.records import Job, JobState, Project, ProjectStatus, StepDone

log = logging.getLogger("carrel.research")

_MAX_ATTEMPTS = 4
_INITIAL_BACKOFF_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """How a job ended; `is_claimed` is False if claiming failed."""

    job: Job
    state: JobState
    at: str
    problem: str | None = None
    problem_code: str | None = None
    is_claimed: bool = True

    @property
    def project_status(self) -> ProjectStatus | None:
        """The project's new status, if the job is its run."""
        if self.job.kind != "research":
            return None
        match self.state:
            case "completed" | "paused":
                return self.state
            case _:
                return "failed"


def outcome_of_failure(
    job: Job, error: Exception, at: str, *, is_claimed: bool = True
) -> JobOutcome:
    """An exhausted budget or a full disk pauses a job; any other error fails it."""
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        error = StorageFullError.at("the home folder")
    if isinstance(error, StorageFullError):
        message = (
            f"{error.message}. Free some space there, then resume_research: nothing that "
            f"was finished is lost or done again."
        )
        return JobOutcome(job, "paused", at, message, error.code, is_claimed)
    if isinstance(error, CarrelError):
        message = f"{error.message.rstrip('.')}. {error.next_step or ''}".strip()
        state: JobState = "paused" if isinstance(error, BudgetExhaustedError) else "failed"
        return JobOutcome(job, state, at, message, error.code, is_claimed)
    message = "An unexpected error occurred"
    return JobOutcome(job, "failed", at, message, "internal_error", is_claimed)


class UnwrittenOutcomes(dict[str, JobOutcome]):
    """Outcomes by job id that wait to be written; jobs and projects are shown as they say."""

    def apply_to_job(self, job: Job) -> Job:
        outcome = self.get(job.id)
        if outcome is None or not job.is_open:
            return job
        changed = {
            "state": outcome.state,
            "problem": outcome.problem,
            "problem_code": outcome.problem_code,
        }
        return job.model_copy(update=changed)

    def apply_to_project(self, project: Project) -> Project:
        if project.status not in {"initializing", "active"}:
            return project
        for outcome in self.values():
            if outcome.job.research_id == project.id and outcome.project_status is not None:
                changed = {
                    "status": outcome.project_status,
                    "problem": outcome.problem,
                    "updated_at": outcome.at,
                }
                return project.model_copy(update=changed)
        return project


class Runner:
    """Runs jobs in this process; `before_first` is called once, before the first claim.

    `is_gone` says whether another worker is known to be dead, so that its lease is not awaited.
    """

    def __init__(
        self,
        store: ResearchStore,
        supervisor: Supervisor,
        clock: Clock,
        worker: str,
        *,
        max_concurrent_runs: int = 4,
        lease_seconds: float = 20.0,
        look_every_seconds: float = 2.0,
        is_gone: Callable[[str], bool] = lambda _: False,
        before_first: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._supervisor = supervisor
        self._clock = clock
        self._worker = worker
        self._lease_seconds = lease_seconds
        self._look_every_seconds = look_every_seconds
        self._is_gone = is_gone
        self._before_first = before_first
        self._run_slots = asyncio.Semaphore(max_concurrent_runs)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._begin_again: set[str] = set()
        self._project_locks: dict[str, asyncio.Lock] = {}
        self._recovery: asyncio.Task[None] | None = None
        self._heartbeat: asyncio.Task[None] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._claimed: set[str] = set()
        self.unwritten = UnwrittenOutcomes()

    def begin(self, job_id: str) -> None:
        """Runs the job here; one that is just stopping, having been paused, when it has stopped."""
        if job_id in self._tasks:
            self._begin_again.add(job_id)
            return
        task = asyncio.create_task(self._run(job_id), name=f"research {job_id}")
        self._tasks[job_id] = task
        task.add_done_callback(lambda done: self._on_task_end(job_id, done))
        if self._heartbeat is None:
            self._before_first()
            self._heartbeat = asyncio.create_task(self._renew_leases(), name="research leases")

    def _on_task_end(self, job_id: str, task: asyncio.Task[None]) -> None:
        self._tasks.pop(job_id, None)
        if job_id in self._begin_again:
            self._begin_again.discard(job_id)
            if not task.cancelled():
                self.begin(job_id)

    def look_for_work(self, has_store: Callable[[], bool] = lambda: True) -> None:
        """Start claiming abandoned jobs; opens no store while `has_store` returns False."""
        if self._recovery is None:
            self._recovery = asyncio.create_task(self._look(has_store), name="research recovery")

    async def wait(self, job_id: str, seconds: float) -> Job | None:
        """The job when it has ended, or its state after `seconds`; None if there is none."""
        task = self._tasks.get(job_id)
        if task is not None:
            await asyncio.wait({task}, timeout=seconds)
            return await self._find_job(job_id)
        job = await self._find_job(job_id)
        if job is not None and job.is_open:
            # Another process has it.
            await asyncio.sleep(seconds)
            job = await self._find_job(job_id)
        return job

    async def _find_job(self, job_id: str) -> Job | None:
        job = await self._store.job(job_id)
        return None if job is None else self.unwritten.apply_to_job(job)

    async def write_outcomes(self) -> None:
        """Writes outcomes that could not be written before. Raises what still prevents it."""
        for outcome in tuple(self.unwritten.values()):
            if outcome.is_claimed:
                await self._write(outcome)
            elif outcome.job.id not in self._tasks:
                # It was never ours: once it can be claimed, it goes on by itself.
                self.begin(outcome.job.id)

    async def close(self) -> None:
        """Stop all runs; an unfinished step is repeated by the next worker."""
        tasks = [
            task
            for task in (self._recovery, self._heartbeat, self._writing, *self._tasks.values())
            if task is not None
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._recovery = self._heartbeat = self._writing = None
        for outcome in tuple(self.unwritten.values()):
            if outcome.is_claimed:
                with suppress(CarrelError):
                    await self._write(outcome)

    async def _look(self, has_store: Callable[[], bool]) -> None:
        is_reconciled = False
        while True:
            try:
                if not is_reconciled and await asyncio.to_thread(has_store):
                    await self._store.reconcile(self._now())
                    await self._store.mask_stored_secrets()
                    is_reconciled = True
                for job_id in await self._store.open_jobs() if is_reconciled else ():
                    if job_id not in self._tasks and job_id not in self.unwritten:
                        self.begin(job_id)
            except CarrelError as error:
                log.warning("research jobs cannot be looked for", extra={"reason": error.message})
            await asyncio.sleep(self._look_every_seconds)

    async def _renew_leases(self) -> None:
        while True:
            await asyncio.sleep(self._lease_seconds / 4)
            for job_id in list(self._claimed):
                try:
                    is_ours = await self._store.renew(job_id, self._worker, self._lease_seconds)
                    holder = self._worker if is_ours else await self._store.holder(job_id)
                except CarrelError as error:
                    log.warning(
                        "a research lease cannot be renewed",
                        extra={"job_id": job_id, "reason": error.code},
                    )
                    continue
                task = self._tasks.get(job_id)
                if holder not in {None, self._worker} and task is not None:
                    # The new holder does the same step: further model calls would be paid twice.
                    log.warning(
                        "a research job was taken by another worker", extra={"job_id": job_id}
                    )
                    task.cancel()

    async def _run(self, job_id: str) -> None:
        try:
            job = await self._store.job(job_id)
        except UnavailableError as error:
            extra = {"job_id": job_id, "reason": error.code}
            log.warning("a research job cannot be read", extra=extra)
            return
        if job is None:
            return
        # Whole runs share a few slots; what a caller waits for does not stand in line behind them.
        async with self._run_slots if job.kind == "research" else nullcontext():
            try:
                is_ours = await self._claim(job_id)
            except UnavailableError as error:
                self._remember(outcome_of_failure(job, error, self._now(), is_claimed=False))
                return
            self.unwritten.pop(job_id, None)
            if is_ours:
                await self._run_claimed(job)

    async def _run_claimed(self, job: Job) -> None:
        self._claimed.add(job.id)
        try:
            await self._work(job.id)
        except StepTakenError:
            # The job was paused, cancelled, deleted or taken by another worker.
            return
        except asyncio.CancelledError:
            with suppress(CarrelError):
                await asyncio.shield(self._store.release(job.id, self._worker))
            raise
        except Exception as error:
            if not isinstance(error, CarrelError):
                log.error("research job failed", extra={"job_id": job.id}, exc_info=error)
            await self._end(outcome_of_failure(job, error, self._now()))
        finally:
            self._claimed.discard(job.id)

    async def _claim(self, job_id: str) -> bool:
        if await self._store.claim(job_id, self._worker, self._lease_seconds):
            return True
        holder = await self._store.holder(job_id)
        if holder is not None and holder != self._worker and self._is_gone(holder):
            await self._store.release(job_id, holder)
            return await self._store.claim(job_id, self._worker, self._lease_seconds)
        return False

    async def _end(self, outcome: JobOutcome) -> None:
        try:
            await self._write(outcome)
        except UnavailableError as error:
            log.error(
                "how a research job ended cannot be written yet",
                extra={"job_id": outcome.job.id, "reason": error.code},
            )
            self._remember(outcome)

    async def _write(self, outcome: JobOutcome) -> None:
        await self._store.end_job(
            outcome.job.id,
            self._worker,
            outcome.state,
            outcome.at,
            outcome.problem,
            outcome.problem_code,
            project_status=outcome.project_status,
        )
        self.unwritten.pop(outcome.job.id, None)

    def _remember(self, outcome: JobOutcome) -> None:
        self.unwritten[outcome.job.id] = outcome
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(
                self._write_when_possible(), name="research outcomes"
            )

    async def _write_when_possible(self) -> None:
        while self.unwritten:
            await asyncio.sleep(self._look_every_seconds)
            with suppress(CarrelError):
                await self.write_outcomes()

    async def _work(self, job_id: str) -> None:
        job = await self._store.job(job_id)
        project = None if job is None else await self._store.project(job.research_id)
        if job is None or project is None:
            return
        if job.kind == "research" and project.status != "active":
            await self._store.set_active(job_id, self._worker, self._now())
        attempts = 0
        while True:
            done = await self._store.steps(job_id)
            hypotheses = await self._store.hypotheses(project.id)
            expected = self._supervisor.expected_steps(job, project, done, hypotheses)
            if not await self._store.plan(job_id, self._worker, expected):
                raise StepTakenError("The job is another worker's, or was stopped")
            step = await self._supervisor.next_step(job, project, done)
            if step is None:
                break
            try:
                await self._do(job, project, step)
                attempts = 0
            except StepTakenError:
                # Another worker may have played the same match; retry unless the job is gone.
                attempts += 1
                if attempts >= _MAX_ATTEMPTS or await self._store.holder(job_id) != self._worker:
                    raise
            except (ModelUnavailableError, StorageFullError):
                # The client has used up its retries; a full disk does not empty itself.
                raise
            except UnavailableError:
                attempts += 1
                if attempts >= _MAX_ATTEMPTS:
                    raise
                await asyncio.sleep(_INITIAL_BACKOFF_SECONDS * 2**attempts)
        await self._end(JobOutcome(job, "completed", self._now()))

    async def _do(self, job: Job, project: Project, step: Step) -> None:
        async with self._project_locks.setdefault(project.id, asyncio.Lock()):
            started = self._clock.monotonic()
            brief = await self._supervisor.context.brief(project, job, step.key)
            result = await step.work(brief)
            done = StepDone(
                job_id=job.id,
                key=step.key,
                seconds=self._clock.monotonic() - started,
                result_ids=result.ids,
                finished_at=self._now(),
            )
            await self._store.finish_step(done, self._worker, result.changes)

    def _now(self) -> str:
        return self._clock.now().isoformat()
