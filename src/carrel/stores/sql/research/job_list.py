"""Everybody's research jobs, for the administrator's list: reads alone."""

from __future__ import annotations

from carrel.core.answer import JobState
from carrel.core.background_jobs import JobRecord
from carrel.core.secrets import mask_secrets
from carrel.stores.sql.driver import Driver

_STATES: dict[str, JobState] = {
    "waiting": "running",
    "running": "running",
    "paused": "running",
    "cancelled": "cancelled",
    "completed": "completed",
    "failed": "failed",
}


class ResearchJobList:
    """Jobs of all projects; the kind is the work's, and the input names the project."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def list_all(self, state: JobState | None, limit: int) -> list[JobRecord]:
        """Newest first; work that waits, or is paused, is told as running."""
        sql = """SELECT j.id, j.kind, p.owner, j.state, j.problem, j.research_id, j.created_at,
              COALESCE((SELECT max(s.finished_at) FROM research_steps AS s WHERE s.job_id = j.id),
                j.created_at),
              (SELECT count(*) FROM research_steps AS s WHERE s.job_id = j.id),
              j.planned_steps, j.problem_code
            FROM research_jobs AS j JOIN research_projects AS p ON p.id = j.research_id
            WHERE :state = '' OR j.state = :state OR (:state = 'running' AND j.state = 'waiting')
            ORDER BY j.created_at DESC, j.id DESC LIMIT :limit"""
        rows = (await self._driver.run((sql, {"state": state or "", "limit": limit})))[0]
        return [
            JobRecord(
                id=row[0],
                kind=row[1],
                owner=row[2],
                state=_STATES[row[3]],
                message=mask_secrets(str(row[4] or row[3])),
                input=row[5],
                created_at=row[6],
                updated_at=row[7],
                done=int(row[8]),
                total=int(row[9]) or None,
                error_code=row[10],
            )
            for row in rows
        ]

    async def count_running(self) -> int:
        """Jobs that wait or run."""
        sql = "SELECT count(*) FROM research_jobs WHERE state IN ('waiting', 'running')"
        return int((await self._driver.run((sql, {})))[0][0][0])
