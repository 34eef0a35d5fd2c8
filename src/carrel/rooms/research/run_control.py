"""Pausing, resuming and cancelling a run."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.core.clock import Clock
from carrel.rooms.research.errors import WrongStateError
from carrel.rooms.research.models import ProjectChanged
from carrel.rooms.research.ports import ContextMemory, Ids
from carrel.rooms.research.records import Event, JobState, Project, ProjectStatus
from carrel.rooms.research.runner import Runner


class Steering:
    """Acts between steps: what was finished stays, what was not is done again by whoever goes
    on.
    """

    def __init__(self, memory: ContextMemory, runner: Runner, clock: Clock, ids: Ids) -> None:
        self._memory = memory
        self._runner = runner
        self._clock = clock
        self._ids = ids

    async def pause(self, project: Project) -> ProjectChanged:
        if project.status not in {"initializing", "active"}:
            raise WrongStateError(f"The project is {project.status}, so there is nothing to pause")
        says = "Paused after the last finished step; resume_research goes on from there."
        return await self._steered(project, ("waiting", "running"), "paused", "paused", says)

    async def resume(self, project: Project) -> ProjectChanged:
        await self._runner.write_outcomes()
        jobs = [
            job for job in await self._memory.jobs(project.id) if job.state in {"paused", "failed"}
        ]
        if not jobs or project.status not in {"paused", "failed"}:
            raise WrongStateError(f"The project is {project.status}, so there is nothing to resume")
        says = "The work goes on after the last finished step."
        changed = await self._steered(project, ("paused", "failed"), "waiting", "active", says)
        for job in jobs:
            self._runner.begin(job.id)
        return changed

    async def cancel(self, project: Project) -> ProjectChanged:
        if project.status in {"completed", "cancelled"}:
            raise WrongStateError(f"The project is {project.status}, so there is nothing to cancel")
        says = "Cancelled; what was found so far stays."
        return await self._steered(
            project, ("waiting", "running", "paused"), "cancelled", "cancelled", says
        )

    async def _steered(
        self,
        project: Project,
        after: Sequence[JobState],
        state: JobState,
        status: ProjectStatus,
        says: str,
    ) -> ProjectChanged:
        now = self._clock.now().isoformat()
        event = Event(
            id=self._ids("evt"), research_id=project.id, kind=status, says=says, created_at=now
        )
        await self._memory.steer(project.id, after, state, status, event)
        return ProjectChanged(research_id=project.id, status=status, message=says)
