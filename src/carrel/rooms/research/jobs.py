"""Jobs as callers meet them: started, waited for, followed, answered and cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from carrel.core.answer import Job as BackgroundJob
from carrel.core.answer import JobState, Partial
from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.errors import (
    CarrelError,
    InsufficientPermissionsError,
    InvalidInputError,
    StorageFullError,
)
from carrel.rooms.research import errors
from carrel.rooms.research.goal_approval import require_not_held
from carrel.rooms.research.hypothesis_views import (
    describe_hypothesis,
    describe_review,
    sort_by_elo,
    summarize_hypothesis,
)
from carrel.rooms.research.models import HypothesisRow, HypothesisShown, ReviewShown
from carrel.rooms.research.ports import Ids, ResearchStore
from carrel.rooms.research.records import Changes, GenerateWork, Job, JobKind, Project, Work
from carrel.rooms.research.runner import Runner

JobAnswer = HypothesisShown | ReviewShown | Sequence[HypothesisRow] | Partial | BackgroundJob

OPERATION_OF: Mapping[JobKind, str] = {
    "generate": "generate_hypotheses",
    "review": "review_hypothesis",
    "rank": "rank_hypotheses",
    "evolve": "evolve_hypothesis",
}
# What each of them asks of its caller; whoever may do the work may follow it.
SCOPES_OF: Mapping[JobKind, frozenset[str]] = {
    "generate": frozenset({"hypotheses:generate"}),
    "review": frozenset({"reviews:write"}),
    "rank": frozenset({"hypotheses:generate", "reviews:read"}),
    "evolve": frozenset({"hypotheses:evolve"}),
}
_MOST_PROJECTS_LISTED = 100
_STILL_RUNNING = {
    "generate": "list_hypotheses has the rest when it is done.",
    "rank": "list_hypotheses has the rest when it is done.",
    "review": "get_hypothesis has every review.",
    "evolve": "list_hypotheses will have it, too.",
}
_STOPPED = {
    "paused": "The work was paused before it was done. resume_research goes on with it.",
    "cancelled": "The work was cancelled before it was done. Call again to begin anew.",
}
_ERRORS: dict[str, type[CarrelError]] = {
    kind.code: kind
    for kind in (
        errors.GoalNotInCorpusError,
        errors.GoalUnclearError,
        errors.NoConnectionFoundError,
        errors.NothingToEvolveError,
        errors.BudgetExhaustedError,
        errors.ModelUnavailableError,
        errors.CorpusEmptyError,
        InvalidInputError,
        StorageFullError,
    )
}


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call waits for its job; shorter if the caller can follow it."""

    seconds: float = 20.0
    look_every_seconds: float = 0.5
    follower_seconds: float = 1.0


class Jobs:
    """Starts jobs, waits for them, and builds their answers from the store."""

    def __init__(
        self, store: ResearchStore, runner: Runner, clock: Clock, ids: Ids, patience: Patience
    ) -> None:
        self._store = store
        self._runner = runner
        self._clock = clock
        self._ids = ids
        self._patience = patience

    def new_job(self, project: Project, work: Work, planned_steps: int = 0) -> Job:
        """A new job, neither stored nor started."""
        return Job(
            id=self._ids("job"),
            research_id=project.id,
            work=work,
            planned_steps=planned_steps,
            created_at=self._clock.now().isoformat(),
        )

    async def do(self, project: Project, work: Work, call: Call) -> JobAnswer:
        """The job's result, what there is of it on timeout, or the job if the caller can follow."""
        require_not_held(project)
        if project.status == "cancelled":
            raise errors.WrongStateError(
                "The project is cancelled; what was found stays",
                next_step="Start a new project to find more.",
            )
        job = await self._find_same(project, work)
        if job is None:
            job = self.new_job(project, work)
            await self._store.save(Changes(jobs=(job,)))
            self._runner.begin(job.id)
        job = await self._wait(job, call)
        if not job.is_open:
            return await self._answer(job)
        return await self._view(job) if call.can_follow else await self._answer_so_far(job)

    async def _find_same(self, project: Project, work: Work) -> Job | None:
        """An open job with the same work, for a caller that retries; never one that generates."""
        if isinstance(work, GenerateWork):
            return None
        jobs = await self._store.jobs(project.id)
        return next((job for job in jobs if job.work == work and job.is_open), None)

    async def describe_open(self, jobs: Sequence[Job]) -> list[str]:
        """One line for each open job of a project."""
        current = [self._runner.unwritten.apply_to_job(job) for job in jobs]
        return [
            _progress_message(job, len(await self._store.steps(job.id)))
            for job in current
            if job.is_open
        ]

    async def find_job(self, job_id: str, call: Call, wait_seconds: float = 0.0) -> BackgroundJob:
        """The caller's job. Raises JobNotFoundError."""
        job = await self._find_own(job_id, call)
        if wait_seconds and job.is_open:
            job = await self._runner.wait(job.id, wait_seconds) or job
        return await self._view(job)

    async def wait_for_run(self, project: Project, seconds: float) -> None:
        """Returns when the project's run has ended or stopped, or after so many seconds."""
        jobs = await self._store.jobs(project.id)
        run = next((job for job in jobs if job.kind == "research"), None)
        if run is not None:
            await self._runner.wait(run.id, seconds)

    async def cancel_job(self, job_id: str, call: Call) -> BackgroundJob:
        """Cancel a job after its current step; one that has ended is not changed."""
        job = await self._find_own(job_id, call)
        await self._store.cancel_job(job.id)
        return await self._view(await self._store.job(job.id) or job)

    async def list_jobs(
        self, call: Call, state: JobState | None, limit: int
    ) -> list[BackgroundJob]:
        """The jobs of the caller's newest projects that their scopes let them follow."""
        projects = await self._store.projects(call.caller.user_id, None, _MOST_PROJECTS_LISTED)
        found = [
            self._runner.unwritten.apply_to_job(job)
            for project, _ in projects
            for job in await self._store.jobs(project.id)
            if job.kind in OPERATION_OF and SCOPES_OF[job.kind] <= call.caller.scopes
        ]
        newest = sorted(found, key=lambda job: job.created_at, reverse=True)
        views: list[BackgroundJob] = []
        for job in newest:
            if len(views) == limit:
                break
            view = await self._view(job)
            if state is None or view.state == state:
                views.append(view)
        return views

    async def _wait(self, job: Job, call: Call) -> Job:
        """Waits as long as the client may, reporting progress."""
        patience = self._patience.seconds
        if call.can_follow:
            patience = min(patience, self._patience.follower_seconds)
        waited = 0.0
        progress = _ProgressReport(call)
        await progress.report(job, 0, waited)
        while True:
            seconds = min(self._patience.look_every_seconds, patience)
            current = await self._runner.wait(job.id, seconds)
            if current is None:
                raise errors.ResearchNotFoundError(job.research_id)
            if not current.is_open:
                return current
            waited += self._patience.look_every_seconds
            await progress.report(current, len(await self._store.steps(job.id)), waited)
            if waited >= patience:
                return current
            await asyncio.sleep(0)

    async def _find_own(self, job_id: str, call: Call) -> Job:
        job = await self._store.job(job_id)
        project = None if job is None else await self._store.project(job.research_id)
        if (
            job is None
            or project is None
            or project.owner != call.caller.user_id
            or job.kind not in OPERATION_OF
        ):
            raise errors.JobNotFoundError(job_id)
        if not SCOPES_OF[job.kind] <= call.caller.scopes:
            raise InsufficientPermissionsError(SCOPES_OF[job.kind], call.caller.scopes)
        return self._runner.unwritten.apply_to_job(job)

    async def _view(self, job: Job) -> BackgroundJob:
        steps = await self._store.steps(job.id)
        view = BackgroundJob(
            job_id=job.id,
            operation=OPERATION_OF[job.kind],
            state="running",
            message=_progress_message(job, len(steps)),
            started_at=job.created_at,
            updated_at=max((step.finished_at for step in steps), default=job.created_at),
            done=len(steps),
            total=job.planned_steps or None,
        )
        if job.state == "cancelled":
            message = "Cancelled; what was made until then stays."
            return replace(view, state="cancelled", message=message)
        if job.is_open or (job.state == "paused" and job.problem_code is None):
            return view
        try:
            result = await self._answer(job)
        except CarrelError as problem:
            return replace(view, state="failed", message=problem.message, error=problem)
        return replace(view, state="completed", message="Done.", result=result)

    async def _answer(self, job: Job) -> JobAnswer:
        """The answer of a job that has ended. Raises what stopped it."""
        if job.state in {"failed", "paused"} and job.problem_code is not None:
            raise _ERRORS.get(job.problem_code, CarrelError)(
                job.problem or "The work failed",
                next_step="get_research_status says more.",
                details={"job_id": job.id},
            )
        match job.kind:
            case "generate" | "rank":
                rows = await self._rows(job)
                if job.state in _STOPPED:
                    pending = await self._pending(job, rows)
                    return Partial(rows, pending, job.id, _STOPPED[job.state])
                return list(rows)
            case "review" | "evolve":
                if job.state in _STOPPED:
                    raise errors.WorkStoppedError(job.id, _STOPPED[job.state])
                return await self._single_result(job)
            case "research":
                raise errors.JobNotFoundError(job.id)

    async def _answer_so_far(self, job: Job) -> Partial:
        """The partial list of an open job; StillWorkingError if its result is a single object."""
        next_step = (
            f"The work goes on. get_job with the job_id waits for it; {_STILL_RUNNING[job.kind]}"
        )
        if job.kind in {"review", "evolve"}:
            raise errors.StillWorkingError(job.id, next_step)
        rows = await self._rows(job)
        return Partial(rows, await self._pending(job, rows), job.id, next_step)

    async def _pending(self, job: Job, rows: Sequence[HypothesisRow]) -> int:
        if isinstance(job.work, GenerateWork):
            return job.work.count - len(rows)
        return max(1, job.planned_steps - len(await self._store.steps(job.id)))

    async def _rows(self, job: Job) -> tuple[HypothesisRow, ...]:
        hypotheses = await self._store.hypotheses(job.research_id)
        if job.kind == "rank":
            return tuple(map(summarize_hypothesis, sort_by_elo(hypotheses)))
        by_id = {hypothesis.id: hypothesis for hypothesis in hypotheses}
        ids = await self._result_ids(job)
        return tuple(describe_hypothesis(by_id[one]) for one in ids if one in by_id)

    async def _single_result(self, job: Job) -> HypothesisShown | ReviewShown:
        result_id = next(iter(await self._result_ids(job)), None)
        if job.kind == "review":
            reviews = await self._store.reviews(job.research_id)
            return next(describe_review(review) for review in reviews if review.id == result_id)
        child = await self._store.hypothesis(result_id) if result_id else None
        if child is None:
            raise errors.UnsafeGoalError(
                "evolved hypothesis",
                "hypothesis",
                "The safety check left it out.",
                "Try another strategy.",
            )
        return describe_hypothesis(child)

    async def _result_ids(self, job: Job) -> list[str]:
        return [one for step in await self._store.steps(job.id) for one in step.result_ids]


class _ProgressReport:
    """Reports progress, which must always grow: within a step it approaches the next integer."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._done = 0
        self._since = 0.0

    async def report(self, job: Job, done: int, waited: float) -> None:
        if done > self._done:
            self._done, self._since = done, waited
        inside = waited - self._since
        figure = round(self._done + inside / (inside + 10.0), 3)
        message = _progress_message(job, done)
        await self._call.report_progress(figure, job.planned_steps or None, message)


def _progress_message(job: Job, done: int) -> str:
    if job.state == "paused":
        return f"{job.kind}: paused after {done} steps; resume_research goes on."
    if job.planned_steps:
        return f"{job.kind}: {done} of {job.planned_steps} steps"
    return f"{job.kind}: begun"
