"""Jobs as callers meet them: started, waited for, followed, answered and cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from carrel.core.answer import Job as BackgroundJob
from carrel.core.answer import Partial
from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.errors import (
    CarrelError,
    InsufficientPermissionsError,
    InvalidInputError,
    StorageFullError,
)
from carrel.rooms.research import errors
from carrel.rooms.research.hypothesis_views import by_elo, review_shown, row, shown
from carrel.rooms.research.models import HypothesisRow, HypothesisShown, ReviewShown
from carrel.rooms.research.ports import ContextMemory, Ids
from carrel.rooms.research.records import Job, JobKind, Project, Work
from carrel.rooms.research.runner import Runner, has_ended

JobAnswer = HypothesisShown | ReviewShown | Sequence[HypothesisRow] | Partial | BackgroundJob

FETCH = (
    "The work goes on. get_job with the job_id waits for it; list_hypotheses has the rest "
    "when it is done."
)
_FETCH_ONE = {
    "review": "The work goes on. get_job with the job_id waits for it; get_hypothesis has every "
    "review.",
    "evolve": "The work goes on. get_job with the job_id waits for it; list_hypotheses will have "
    "it, too.",
}
_STOPPED = {
    "paused": "The work was paused before it was done. resume_research goes on with it.",
    "cancelled": "The work was cancelled before it was done. Call again to begin anew.",
}


class Answers:
    """Made from what the memory holds at that moment, so that whoever asks, and when, gets the same
    kind of answer.
    """

    def __init__(self, memory: ContextMemory) -> None:
        self._memory = memory

    async def of(self, job: Job) -> JobAnswer:
        """The answer of a job that has ended. Raises what stopped it."""
        if job.state in {"failed", "paused"} and job.problem_code is not None:
            raise _problem(job)
        match job.kind:
            case "generate" | "rank":
                rows = await self._rows(job)
                if job.state in _STOPPED:
                    return Partial(
                        rows, await self._pending(job, rows), job.id, _STOPPED[job.state]
                    )
                return list(rows)
            case "review" | "evolve":
                if job.state in _STOPPED:
                    raise errors.WorkStoppedError(job.id, _STOPPED[job.state])
                return await self._one(job)
            case "research":
                raise errors.JobNotFoundError(job.id)

    async def so_far(self, job: Job) -> Partial:
        """What there is of a job that goes on. One whose answer is a single thing has nothing yet:
        StillWorkingError.
        """
        if job.kind in _FETCH_ONE:
            raise errors.StillWorkingError(job.id, _FETCH_ONE[job.kind])
        rows = await self._rows(job)
        return Partial(rows, await self._pending(job, rows), job.id, FETCH)

    async def _pending(self, job: Job, rows: Sequence[HypothesisRow]) -> int:
        if job.kind == "generate":
            return job.work.count - len(rows)
        return max(1, job.planned_steps - len(await self._memory.steps(job.id)))

    async def _rows(self, job: Job) -> tuple[HypothesisRow, ...]:
        hypotheses = await self._memory.hypotheses(job.research_id)
        if job.kind == "rank":
            return tuple(row(made) for made in by_elo(hypotheses))
        by_id = {hypothesis.id: hypothesis for hypothesis in hypotheses}
        return tuple(shown(by_id[name]) for name in await self._made(job) if name in by_id)

    async def _one(self, job: Job) -> HypothesisShown | ReviewShown:
        made = next(iter(await self._made(job)), None)
        if job.kind == "review":
            return next(
                review_shown(review)
                for review in await self._memory.reviews(job.research_id)
                if review.id == made
            )
        child = await self._memory.hypothesis(made) if made else None
        if child is None:
            raise errors.UnsafeGoalError(
                "evolved hypothesis",
                "hypothesis",
                "The safety check left it out.",
                "Try another strategy.",
            )
        return shown(child)

    async def _made(self, job: Job) -> list[str]:
        return [name for step in await self._memory.steps(job.id) for name in step.made]


_PROBLEMS: dict[str, type[CarrelError]] = {
    kind.code: kind
    for kind in (
        errors.GoalNotInCorpusError,
        errors.NoConnectionFoundError,
        errors.NothingToEvolveError,
        errors.BudgetExhaustedError,
        errors.ModelUnavailableError,
        errors.CorpusEmptyError,
        InvalidInputError,
        StorageFullError,
    )
}


def _problem(job: Job) -> CarrelError:
    kind = _PROBLEMS.get(job.problem_code or "", CarrelError)
    return kind(
        job.problem or "The work failed",
        next_step="get_research_status says more.",
        details={"job_id": job.id},
    )


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


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call waits for its work before it answers with what is done, or, where its caller
    can follow the work,
    with that."""

    seconds: float = 20.0
    look_every_seconds: float = 0.5
    follower_seconds: float = 1.0


class Jobs:
    """Begins jobs and waits for them."""

    def __init__(
        self, memory: ContextMemory, runner: Runner, clock: Clock, ids: Ids, patience: Patience
    ) -> None:
        self._memory = memory
        self._runner = runner
        self._clock = clock
        self._ids = ids
        self._patience = patience
        self._answers = Answers(memory)

    def planned(self, project: Project, kind: JobKind, work: Work, planned_steps: int = 0) -> Job:
        """A job that is still to be kept, and then begun by the runner."""
        at = self._clock.now().isoformat()
        return Job(
            id=self._ids("job"),
            research_id=project.id,
            kind=kind,
            work=work,
            planned_steps=planned_steps,
            created_at=at,
        )

    async def begin(self, project: Project, kind: JobKind, work: Work) -> Job:
        job = self.planned(project, kind, work)
        await self._memory.add_job(job)
        self._runner.begin(job.id)
        return job

    async def do(self, project: Project, kind: JobKind, work: Work, call: Call) -> JobAnswer:
        """Begins a job and answers with what it made, with what there is of it when patience ends,
        or with the job itself.
        """
        if project.status == "cancelled":
            raise errors.WrongStateError(
                "The project is cancelled; what was found stays",
                next_step="Start a new project to find more.",
            )
        job = await self._waited_for(
            await self._same(project, kind, work) or await self.begin(project, kind, work), call
        )
        if has_ended(job):
            return await self._answers.of(job)
        return await self._seen(job) if call.can_follow else await self._answers.so_far(job)

    async def _same(self, project: Project, kind: JobKind, work: Work) -> Job | None:
        """The very same work where it is going on already: a caller whose patience ended comes back
        for it. Hypotheses are
        generated anew each time, since whoever asks twice wants more."""
        if kind == "generate":
            return None
        return next(
            (
                job
                for job in await self._memory.jobs(project.id)
                if job.kind == kind and job.work == work and job.state in {"waiting", "running"}
            ),
            None,
        )

    async def working_on(self, jobs: Sequence[Job]) -> list[str]:
        """What goes on in a project, a line each."""
        shown = [self._runner.unwritten.show_job(job) for job in jobs]
        return [
            _says(job, len(await self._memory.steps(job.id)))
            for job in shown
            if job.state in {"waiting", "running"}
        ]

    async def find_job(self, job_id: str, call: Call, wait_seconds: float = 0.0) -> BackgroundJob:
        job = await self._own(job_id, call)
        if wait_seconds and not has_ended(job):
            job = await self._runner.wait(job.id, wait_seconds) or job
        return await self._seen(job)

    async def cancel_job(self, job_id: str, call: Call) -> BackgroundJob:
        """Cancels a job after the step that it is at. One that has ended stays as it is."""
        job = await self._own(job_id, call)
        await self._memory.set_job(job.id, "cancelled", after=("waiting", "running", "paused"))
        return await self._seen(await self._memory.job(job.id) or job)

    async def _waited_for(self, job: Job, call: Call) -> Job:
        """Waits as long as the client may, telling how far it is."""
        patience = self._patience.seconds
        if call.can_follow:
            patience = min(patience, self._patience.follower_seconds)
        waited = 0.0
        told = _Told(call)
        await told.tell(job, 0, waited)
        while True:
            now = await self._runner.wait(job.id, min(self._patience.look_every_seconds, patience))
            if now is None:
                raise errors.ResearchNotFoundError(job.research_id)
            if has_ended(now):
                return now
            waited += self._patience.look_every_seconds
            await told.tell(now, len(await self._memory.steps(job.id)), waited)
            if waited >= patience:
                return now
            await asyncio.sleep(0)

    async def _own(self, job_id: str, call: Call) -> Job:
        job = await self._memory.job(job_id)
        project = None if job is None else await self._memory.project(job.research_id)
        if (
            job is None
            or project is None
            or project.owner != call.caller.user_id
            or job.kind not in OPERATION_OF
        ):
            raise errors.JobNotFoundError(job_id)
        if not SCOPES_OF[job.kind] <= call.caller.scopes:
            raise InsufficientPermissionsError(SCOPES_OF[job.kind], call.caller.scopes)
        return self._runner.unwritten.show_job(job)

    async def _seen(self, job: Job) -> BackgroundJob:
        steps = await self._memory.steps(job.id)
        seen = BackgroundJob(
            job_id=job.id,
            operation=OPERATION_OF[job.kind],
            state="running",
            message=_says(job, len(steps)),
            started_at=job.created_at,
            updated_at=max((step.at for step in steps), default=job.created_at),
            done=len(steps),
            total=job.planned_steps or None,
        )
        if job.state == "cancelled":
            return replace(
                seen, state="cancelled", message="Cancelled; what was made until then stays."
            )
        if not has_ended(job) or (job.state == "paused" and job.problem_code is None):
            return seen
        try:
            return replace(
                seen, state="completed", message="Done.", result=await self._answers.of(job)
            )
        except CarrelError as problem:
            return replace(seen, state="failed", message=problem.message, error=problem)


class _Told:
    """Tells a caller how far a job is. Every figure must exceed the one before, so inside a step it
    creeps towards the next.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._done = 0
        self._since = 0.0

    async def tell(self, job: Job, done: int, waited: float) -> None:
        if done > self._done:
            self._done, self._since = done, waited
        inside = waited - self._since
        figure = round(self._done + inside / (inside + 10.0), 3)
        await self._call.report_progress(figure, job.planned_steps or None, _says(job, done))


def _says(job: Job, done: int) -> str:
    if job.state == "paused":
        return f"{job.kind}: paused after {done} steps; resume_research goes on."
    return (
        f"{job.kind}: {done} of {job.planned_steps} steps"
        if job.planned_steps
        else f"{job.kind}: begun"
    )
