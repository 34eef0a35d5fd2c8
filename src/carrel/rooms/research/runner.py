"""Durable runs: jobs held by leases, taken step by step, and no finished step done again."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, StorageFullError, UnavailableError
from carrel.rooms.research.agents.supervisor import Step, Supervisor
from carrel.rooms.research.errors import BudgetExhaustedError, ModelUnavailableError, StepTakenError
from carrel.rooms.research.ports import ContextMemory
from carrel.rooms.research.records import Job, JobState, Project, ProjectStatus, StepDone

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended. `is_held` says whether it was this worker's when it did; otherwise it could
    not even be taken.
    """

    job: Job
    state: JobState
    at: str
    problem: str | None = None
    problem_code: str | None = None
    is_held: bool = True

    @property
    def project_status(self) -> ProjectStatus | None:
        """What the project is from now on, where the job is its run."""
        if self.job.kind != "research":
            return None
        return (
            "completed"
            if self.state == "completed"
            else "paused"
            if self.state == "paused"
            else "failed"
        )


def outcome_of_failure(job: Job, error: Exception, at: str, *, is_held: bool = True) -> Outcome:
    """A budget that is used up and a full disk pause a job, since nothing is wrong with it;
    everything else fails it.
    """
    if isinstance(error, OSError) and error.errno in _FULL:
        error = StorageFullError.at("the home folder")
    if isinstance(error, StorageFullError):
        message = (
            f"{error.message}. Free some space there, then resume_research: nothing that "
            f"was finished is lost or done again."
        )
        return Outcome(job, "paused", at, message, error.code, is_held)
    if isinstance(error, CarrelError):
        message = f"{error.message.rstrip('.')}. {error.next_step or ''}".strip()
        state: JobState = "paused" if isinstance(error, BudgetExhaustedError) else "failed"
        return Outcome(job, state, at, message, error.code, is_held)
    return Outcome(job, "failed", at, "An unexpected error occurred", "internal_error", is_held)


class UnwrittenOutcomes:
    """Outcomes that wait to be written. What is read of a job or a project is shown as they say."""

    def __init__(self) -> None:
        self._by_job: dict[str, Outcome] = {}

    def __len__(self) -> int:
        return len(self._by_job)

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._by_job

    def add(self, outcome: Outcome) -> None:
        self._by_job[outcome.job.id] = outcome

    def remove(self, job_id: str) -> None:
        self._by_job.pop(job_id, None)

    def all(self) -> Iterable[Outcome]:
        return tuple(self._by_job.values())

    def show_job(self, job: Job) -> Job:
        outcome = self._by_job.get(job.id)
        if outcome is None or job.state not in {"waiting", "running"}:
            return job
        told = {
            "state": outcome.state,
            "problem": outcome.problem,
            "problem_code": outcome.problem_code,
        }
        return job.model_copy(update=told)

    def show_project(self, project: Project) -> Project:
        if project.status not in {"initializing", "active"}:
            return project
        for outcome in self._by_job.values():
            if outcome.job.research_id == project.id and outcome.project_status is not None:
                told = {
                    "status": outcome.project_status,
                    "problem": outcome.problem,
                    "updated_at": outcome.at,
                }
                return project.model_copy(update=told)
        return project


log = logging.getLogger("carrel.research")

_ATTEMPTS = 4
_ENDED: frozenset[JobState] = frozenset({"completed", "failed", "cancelled", "paused"})


class Runner:
    """Runs jobs in this process. `is_gone` says whether another worker is known to be dead, so that
    nobody waits for its lease;
    `before_first` is called once, before the first job is taken."""

    def __init__(
        self,
        memory: ContextMemory,
        supervisor: Supervisor,
        clock: Clock,
        worker: str,
        *,
        most_at_once: int = 4,
        lease_seconds: float = 20.0,
        look_every_seconds: float = 2.0,
        is_gone: Callable[[str], bool] = lambda _: False,
        before_first: Callable[[], None] = lambda: None,
    ) -> None:
        self._memory = memory
        self._supervisor = supervisor
        self._clock = clock
        self._worker = worker
        self._lease_seconds = lease_seconds
        self._look_every_seconds = look_every_seconds
        self._is_gone = is_gone
        self._before_first = before_first
        self._room = asyncio.Semaphore(most_at_once)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._project_locks: dict[str, asyncio.Lock] = {}
        self._watch: asyncio.Task[None] | None = None
        self._heartbeat: asyncio.Task[None] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._held: set[str] = set()
        self.unwritten = UnwrittenOutcomes()

    def begin(self, job_id: str) -> None:
        """Sees to it that the job runs here. One that is just stopping, having been paused, is
        begun again when it has.
        """
        if job_id in self._tasks:
            self._again.add(job_id)
            return
        task = asyncio.create_task(self._run(job_id), name=f"research {job_id}")
        self._tasks[job_id] = task
        task.add_done_callback(lambda done: self._ended(job_id, done))
        if self._heartbeat is None:
            self._before_first()
            self._heartbeat = asyncio.create_task(self._keep_leases(), name="research leases")

    def _ended(self, job_id: str, task: asyncio.Task[None]) -> None:
        self._tasks.pop(job_id, None)
        is_wanted = job_id in self._again
        self._again.discard(job_id)
        if is_wanted and not task.cancelled():
            self.begin(job_id)

    def look_for_work(self, has_memory: Callable[[], bool] = lambda: True) -> None:
        """From now on takes up jobs that nobody runs: those of a process that died, and those that
        wait. While `has_memory` says
        that there is nothing to look at yet, nothing is opened or made: another process may be the
        first to begin a job."""
        if self._watch is None:
            self._watch = asyncio.create_task(self._look(has_memory), name="research recovery")

    async def wait(self, job_id: str, seconds: float) -> Job | None:
        """The job once it has ended, or as it is when the time is over."""
        task = self._tasks.get(job_id)
        if task is not None:
            await asyncio.wait({task}, timeout=seconds)
            return await self._shown_job(job_id)
        job = await self._shown_job(job_id)
        if job is not None and not has_ended(job):
            # Another process has it.
            await asyncio.sleep(seconds)
            job = await self._shown_job(job_id)
        return job

    async def _shown_job(self, job_id: str) -> Job | None:
        job = await self._memory.job(job_id)
        return None if job is None else self.unwritten.show_job(job)

    async def write_outcomes(self) -> None:
        """Writes how jobs ended where that could not be written before. Raises what still prevents
        it.
        """
        for outcome in self.unwritten.all():
            if outcome.is_held:
                await self._write(outcome)
            elif outcome.job.id not in self._tasks:
                # It was never ours: once it can be taken, it goes on by itself.
                self.begin(outcome.job.id)

    async def close(self) -> None:
        """Stops between or inside steps; what was not finished is done again by whoever goes on."""
        tasks = [
            task
            for task in (self._watch, self._heartbeat, self._writing, *self._tasks.values())
            if task is not None
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._watch = self._heartbeat = self._writing = None
        for outcome in self.unwritten.all():
            if outcome.is_held:
                with suppress(CarrelError):
                    await self._write(outcome)

    async def _look(self, has_memory: Callable[[], bool]) -> None:
        is_reconciled = False
        while True:
            try:
                if not is_reconciled and await asyncio.to_thread(has_memory):
                    await self._memory.reconcile(self._at())
                    await self._memory.mask_stored_secrets()
                    is_reconciled = True
                for job_id in await self._memory.open_jobs() if is_reconciled else ():
                    if job_id not in self._tasks and job_id not in self.unwritten:
                        self.begin(job_id)
            except CarrelError as error:
                log.warning("research jobs cannot be looked for", extra={"reason": error.message})
            await asyncio.sleep(self._look_every_seconds)

    async def _keep_leases(self) -> None:
        while True:
            await asyncio.sleep(self._lease_seconds / 4)
            for job_id in list(self._held):
                try:
                    is_ours = await self._memory.renew(job_id, self._worker, self._lease_seconds)
                    holder = self._worker if is_ours else await self._memory.holder(job_id)
                except CarrelError as error:
                    log.warning(
                        "a research lease cannot be renewed",
                        extra={"job_id": job_id, "reason": error.code},
                    )
                    continue
                task = self._tasks.get(job_id)
                if holder not in {None, self._worker} and task is not None:
                    # Whoever has it now does the same step: what this one still asks a model for
                    # would be paid for twice.
                    log.warning(
                        "a research job was taken by another worker", extra={"job_id": job_id}
                    )
                    task.cancel()

    async def _run(self, job_id: str) -> None:
        job = await self._open_job(job_id)
        if job is None:
            return
        # Whole runs share a few places; what a caller waits for does not stand in line behind them.
        async with self._room if job.kind == "research" else nullcontext():
            try:
                is_ours = await self._taken(job_id)
            except UnavailableError as error:
                self._remember(outcome_of_failure(job, error, self._at(), is_held=False))
                return
            self.unwritten.remove(job_id)
            if not is_ours:
                return
            self._held.add(job_id)
            try:
                await self._work(job_id)
            except StepTakenError:
                # The job was paused, cancelled, deleted or taken by another worker: it is no longer
                # ours.
                return
            except asyncio.CancelledError:
                with suppress(CarrelError):
                    await asyncio.shield(self._memory.release(job_id, self._worker))
                raise
            except Exception as error:
                if not isinstance(error, CarrelError):
                    log.error("research job failed", extra={"job_id": job_id}, exc_info=error)
                await self._end(outcome_of_failure(job, error, self._at()))
            finally:
                self._held.discard(job_id)

    async def _open_job(self, job_id: str) -> Job | None:
        try:
            return await self._memory.job(job_id)
        except UnavailableError as error:
            log.warning(
                "a research job cannot be read", extra={"job_id": job_id, "reason": error.code}
            )
            return None

    async def _taken(self, job_id: str) -> bool:
        if await self._memory.claim(job_id, self._worker, self._lease_seconds):
            return True
        holder = await self._memory.holder(job_id)
        if holder is not None and holder != self._worker and self._is_gone(holder):
            await self._memory.release(job_id, holder)
            return await self._memory.claim(job_id, self._worker, self._lease_seconds)
        return False

    async def _end(self, outcome: Outcome) -> None:
        try:
            await self._write(outcome)
        except UnavailableError as error:
            log.error(
                "how a research job ended cannot be written yet",
                extra={"job_id": outcome.job.id, "reason": error.code},
            )
            self._remember(outcome)

    async def _write(self, outcome: Outcome) -> None:
        await self._memory.end_job(
            outcome.job.id,
            self._worker,
            outcome.state,
            outcome.at,
            outcome.problem,
            outcome.problem_code,
            project_status=outcome.project_status,
        )
        self.unwritten.remove(outcome.job.id)

    def _remember(self, outcome: Outcome) -> None:
        self.unwritten.add(outcome)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(
                self._write_when_possible(), name="research outcomes"
            )

    async def _write_when_possible(self) -> None:
        while len(self.unwritten):
            await asyncio.sleep(self._look_every_seconds)
            with suppress(CarrelError):
                await self.write_outcomes()

    async def _work(self, job_id: str) -> None:
        job = await self._memory.job(job_id)
        project = None if job is None else await self._memory.project(job.research_id)
        if job is None or project is None:
            return
        if job.kind == "research" and project.status != "active":
            await self._memory.set_active(job_id, self._worker, self._at())
        attempts = 0
        while True:
            done = await self._memory.steps(job_id)
            hypotheses = await self._memory.hypotheses(project.id)
            expected = self._supervisor.expected_steps(job, project, done, hypotheses)
            if not await self._memory.plan(job_id, self._worker, expected):
                raise StepTakenError("The job is another worker's, or was stopped")
            step = await self._supervisor.next_step(job, project, done)
            if step is None:
                break
            try:
                await self._do(job, project, step)
                attempts = 0
            except StepTakenError:
                # Somebody else may have played the same match at the same time; look again, unless
                # the job itself is gone.
                attempts += 1
                if attempts >= _ATTEMPTS or await self._memory.holder(job_id) != self._worker:
                    raise
            except (ModelUnavailableError, StorageFullError):
                # The client has tried again as often as makes sense; a full disk does not empty
                # itself.
                raise
            except UnavailableError:
                attempts += 1
                if attempts >= _ATTEMPTS:
                    raise
                await asyncio.sleep(0.25 * 2**attempts)
        await self._end(Outcome(job, "completed", self._at()))

    async def _do(self, job: Job, project: Project, step: Step) -> None:
        lock = self._project_locks.setdefault(project.id, asyncio.Lock())
        async with lock:
            began = self._clock.monotonic()
            brief = await self._supervisor.workshop.brief(project, job, step.name)
            made = await step.work(brief)
            done = StepDone(
                job_id=job.id,
                name=step.name,
                kind=step.kind,
                seconds=self._clock.monotonic() - began,
                made=made.ids,
                at=self._clock.now().isoformat(),
            )
            await self._memory.finish(done, self._worker, made.changes)

    def _at(self) -> str:
        return self._clock.now().isoformat()


def has_ended(job: Job) -> bool:
    """Whether nothing more will happen by itself."""
    return job.state in _ENDED
