"""Pausing, resuming and cancelling: what people do to a run."""

from __future__ import annotations

from carrel.core.clock import Clock
from carrel.rooms.research.errors import WrongStateError
from carrel.rooms.research.models import ProjectChanged
from carrel.rooms.research.ports import ContextMemory, Ids
from carrel.rooms.research.records import Changes, Event, Project, ProjectStatus
from carrel.rooms.research.runs import Runner


class Steering:
    """Acts between steps: what was finished stays, what was not is done again by whoever goes on."""

    def __init__(self, memory: ContextMemory, runner: Runner, clock: Clock, ids: Ids) -> None:
        self._memory = memory
        self._runner = runner
        self._clock = clock
        self._ids = ids

    async def pause(self, project: Project) -> ProjectChanged:
        if project.status not in {"initializing", "active"}:
            raise WrongStateError(f"The project is {project.status}, so there is nothing to pause")
        for job in await self._memory.jobs(project.id):
            if job.state in {"waiting", "running"}:
                await self._memory.set_job(job.id, "paused", after=("waiting", "running"))
        return await self._changed(project, "paused", "Paused after the last finished step; resume_research goes on from there.")

    async def resume(self, project: Project) -> ProjectChanged:
        jobs = [job for job in await self._memory.jobs(project.id) if job.state in {"paused", "failed"}]
        if not jobs or project.status not in {"paused", "failed"}:
            raise WrongStateError(f"The project is {project.status}, so there is nothing to resume")
        for job in jobs:
            await self._memory.set_job(job.id, "waiting", after=("paused", "failed"))
        changed = await self._changed(project, "active", "The work goes on after the last finished step.")
        for job in jobs:
            self._runner.begin(job.id)
        return changed

    async def cancel(self, project: Project) -> ProjectChanged:
        if project.status in {"completed", "cancelled"}:
            raise WrongStateError(f"The project is {project.status}, so there is nothing to cancel")
        for job in await self._memory.jobs(project.id):
            if job.state in {"waiting", "running", "paused"}:
                await self._memory.set_job(job.id, "cancelled", after=("waiting", "running", "paused"))
        return await self._changed(project, "cancelled", "Cancelled; what was found so far stays.")

    async def _changed(self, project: Project, status: ProjectStatus, says: str) -> ProjectChanged:
        now = self._clock.now().isoformat()
        await self._memory.set_status(project.id, status, now)
        event = Event(id=self._ids("evt"), research_id=project.id, kind=status, says=says, created_at=now)
        await self._memory.keep(Changes(events=(event,)))
        return ProjectChanged(research_id=project.id, status=status, message=says)
