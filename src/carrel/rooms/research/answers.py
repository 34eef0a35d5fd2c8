"""What a job answers its caller with: when it has ended, and before."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.core.answer import Job as BackgroundJob
from carrel.core.answer import Partial
from carrel.core.errors import CarrelError, InvalidInputError, StorageFullError
from carrel.rooms.research import errors
from carrel.rooms.research.models import HypothesisRow, HypothesisShown, ReviewShown
from carrel.rooms.research.order import by_elo
from carrel.rooms.research.ports import ContextMemory
from carrel.rooms.research.records import Job
from carrel.rooms.research.showing import review_shown, row, shown

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
