"""Everybody's jobs: those of the one table of jobs, and those of research."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from carrel.core.answer import JobState
from carrel.core.background_jobs import BackgroundJobs, JobRecord
from carrel.core.caller import Call, Caller
from carrel.core.jobs import JobNotFoundError, NamedJob
from carrel.policy.scopes import ALL_SCOPES
from carrel.settings.places import database_files
from carrel.stores.sql.research import SqlResearch
from carrel.wiring.home import open_driver
from carrel.wiring.jobs import has_jobs

if TYPE_CHECKING:
    from carrel.wiring.desk import Desk

_MOST_LOOKED_AT = 1000
_RUN = "research"


class AllJobs:
    """Lists every job, and cancels one as its owner would."""

    def __init__(self, desk: Desk, own: BackgroundJobs, own_kinds: frozenset[str]) -> None:
        settings = desk.settings
        self._desk = desk
        self._own = own
        self._own_kinds = own_kinds
        self._has_jobs = has_jobs(settings)
        self._research = SqlResearch(open_driver(settings, "research", SqlResearch.schema_steps))
        self._has_research = _has_research(desk)

    async def close(self) -> None:
        await self._research.close()

    async def list_jobs(self, state: JobState | None, limit: int) -> list[JobRecord]:
        found: list[JobRecord] = []
        if self._has_jobs():
            # Of these kinds nobody else looks for work that a stopped server left.
            self._own.take_up_work(self._has_jobs)
            found += await self._own.list_all(state, limit)
        if self._has_research():
            found += await self._research.all_jobs.list_all(state, limit)
        return sorted(found, key=lambda job: (job.created_at, job.id), reverse=True)[:limit]

    async def count_running(self) -> int:
        count = await self._research.all_jobs.count_running() if self._has_research() else 0
        if self._has_jobs():
            count += len(await self._own.list_all("running", _MOST_LOOKED_AT))
        return count

    async def cancel(self, job_id: str, call: Call) -> JobRecord:
        record = await self._find(job_id)
        # Whoever asks has been recorded by the gate; the room knows the owner alone.
        owner = Call(Caller(record.owner, ALL_SCOPES, is_limited=False), call.visit)
        operations = self._desk.catalogue.operations
        if record.kind in self._own_kinds:
            await self._own.cancel(job_id, record.owner)
        elif record.kind == _RUN and "cancel_research" in operations:
            cancel = operations["cancel_research"]
            await cancel.run(cancel.question(research_id=record.input), owner)
        elif self._desk.catalogue.jobs is not None:
            await self._desk.catalogue.jobs.cancel.run(NamedJob(job_id=job_id), owner)
        return await self._find(job_id)

    async def _find(self, job_id: str) -> JobRecord:
        for record in await self.list_jobs(None, _MOST_LOOKED_AT):
            if record.id == job_id:
                return record
        raise JobNotFoundError(job_id)


def _has_research(desk: Desk) -> Callable[[], bool]:
    """Whether there are tables of research, which none but the first project makes."""
    settings, file = desk.settings, database_files(desk.settings)["research"]
    is_open = any(room.name == _RUN for room in desk.catalogue.rooms)
    return lambda: is_open and (settings.database.url is not None or file.exists())
