"""Jobs as callers meet them: begun, waited for as long as a client may, and told of when they fail."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, InvalidInputError
from carrel.rooms.research import errors
from carrel.rooms.research.ports import ContextMemory, Ids
from carrel.rooms.research.records import Job, JobKind, Project, Work
from carrel.rooms.research.runs import Runner, has_ended

FETCH = "The work goes on. get_research_status says how far it is; list_hypotheses has the rest when it is done."


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call waits for its work before it answers with what is done."""

    seconds: float = 20.0
    look_every_seconds: float = 0.5


class Jobs:
    """Begins jobs and waits for them."""

    def __init__(self, memory: ContextMemory, runner: Runner, clock: Clock, ids: Ids, patience: Patience) -> None:
        self._memory = memory
        self._runner = runner
        self._clock = clock
        self._ids = ids
        self._patience = patience

    async def begin(self, project: Project, kind: JobKind, work: Work) -> Job:
        job = Job(id=self._ids("job"), research_id=project.id, kind=kind, work=work, created_at=self._clock.now().isoformat())
        await self._memory.add_job(job)
        self._runner.begin(job.id)
        return job

    async def done_or_told(self, job: Job, call: Call) -> Job:
        """Waits as long as a client may, telling how far it is; a job that failed raises what stopped it."""
        waited = 0.0
        while True:
            now = await self._runner.wait(job.id, min(self._patience.look_every_seconds, self._patience.seconds))
            if now is None:
                raise errors.ResearchNotFoundError(job.research_id)
            if has_ended(now):
                break
            waited += self._patience.look_every_seconds
            done = len(await self._memory.steps(job.id))
            await call.report_progress(done, now.planned_steps or None, f"{now.kind}: {done} of {now.planned_steps} steps")
            if waited >= self._patience.seconds:
                return now
            await asyncio.sleep(0)
        if now.state in {"failed", "paused"} and now.problem_code is not None:
            raise _problem(now)
        return now

    async def one_made(self, job: Job, call: Call) -> str | None:
        ended = await self.done_or_told(job, call)
        if not has_ended(ended):
            raise errors.StillWorkingError(job.id, FETCH)
        made = [name for step in await self._memory.steps(job.id) for name in step.made]
        return made[0] if made else None


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
    )
}


def _problem(job: Job) -> CarrelError:
    kind = _PROBLEMS.get(job.problem_code or "", CarrelError)
    return kind(job.problem or "The work failed", next_step="get_research_status says more.", details={"job_id": job.id})
