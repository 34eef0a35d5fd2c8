"""Drawing the map as a background job."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from carrel.core.answer import Job, JobState
from carrel.core.background_jobs import BackgroundJobs, JobProgress, JobRecord, JobRun
from carrel.core.caller import Call
from carrel.core.jobs import JobNotFoundError, JobSource
from carrel.core.stored_jobs import check_job_access, describe_job, list_stored_jobs
from carrel.rooms.papers.addition_job import AdditionProgress
from carrel.rooms.papers.map_models import MapReport, UpdatePaperMap
from carrel.rooms.papers.map_ports import DrawMap

KIND = "update_paper_map"
SCOPES = frozenset({"papers:write"})
_LOOK_EVERY_SECONDS = 0.5


class MapJob:
    """Draws the map and saves how far it is."""

    def __init__(self, draw: DrawMap) -> None:
        self._draw = draw

    @property
    def is_resumable(self) -> bool:
        """It begins anew, and gives the same map."""
        return True

    async def run(self, job: JobRun) -> str:
        question = UpdatePaperMap.model_validate_json(job.record.input)
        progress = AdditionProgress()
        drawing = asyncio.create_task(self._run(question.again, progress))
        try:
            while not drawing.done():
                seen = JobProgress("", progress.done, progress.total, progress.message)
                await job.save(seen)
                await asyncio.wait({drawing}, timeout=_LOOK_EVERY_SECONDS)
            report = drawing.result()
        finally:
            drawing.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await drawing
        await job.save(JobProgress(report.model_dump_json(), 1, 1, "Drawn."))
        return f"The map shows {report.papers:,} papers; {report.placed:,} of them are new on it."

    async def _run(self, again: bool, progress: AdditionProgress) -> MapReport:
        return await self._draw(again, progress)


class MapJobs:
    """Starts and follows the drawing of the map; its owner must close it."""

    def __init__(self, jobs: BackgroundJobs) -> None:
        self._jobs = jobs

    def take_up_work(self, has_work: Callable[[], bool]) -> None:
        """Goes on with what an earlier process began."""
        self._jobs.take_up_work(has_work)

    async def close(self) -> None:
        await self._jobs.close()

    async def start(self, question: UpdatePaperMap, call: Call) -> JobRecord:
        """A new job, or the caller's that runs already."""
        owner = call.caller.user_id
        running = await self._jobs.list_owned(owner, "running", 1)
        if running:
            return running[0]
        return await self._jobs.submit(KIND, owner, question.model_dump_json(), None)

    async def find_job(self, job_id: str, call: Call, wait_seconds: float = 0.0) -> Job:
        await check_job_access(self._jobs, job_id, call, SCOPES)
        return as_job(await self._jobs.wait(job_id, call.caller.user_id, wait_seconds))

    async def cancel_job(self, job_id: str, call: Call) -> Job:
        await check_job_access(self._jobs, job_id, call, SCOPES)
        return as_job(await self._jobs.cancel(job_id, call.caller.user_id))

    async def list_jobs(self, call: Call, state: JobState | None, limit: int) -> list[Job]:
        return await list_stored_jobs(self._jobs, call, SCOPES, state, limit)


class JoinedJobs:
    """The jobs of several sources as those of one room."""

    def __init__(self, sources: Sequence[JobSource]) -> None:
        self._sources = tuple(sources)

    async def find_job(self, job_id: str, call: Call, wait_seconds: float = 0.0) -> Job:
        for source in self._sources:
            with suppress(JobNotFoundError):
                return await source.find_job(job_id, call, wait_seconds)
        raise JobNotFoundError(job_id)

    async def cancel_job(self, job_id: str, call: Call) -> Job:
        for source in self._sources:
            with suppress(JobNotFoundError):
                return await source.cancel_job(job_id, call)
        raise JobNotFoundError(job_id)

    async def list_jobs(self, call: Call, state: JobState | None, limit: int) -> list[Job]:
        return [
            job for source in self._sources for job in await source.list_jobs(call, state, limit)
        ]


def as_job(record: JobRecord) -> Job:
    """A drawing in its public form."""
    result: MapReport | None = None
    with suppress(ValueError):
        result = MapReport.model_validate_json(record.result or "")
    return describe_job(record, result, next_step="Start it again with update_paper_map.")
