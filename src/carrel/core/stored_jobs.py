"""Background jobs of a room as callers see them, and who may see them."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from carrel.core.answer import Job, JobState
from carrel.core.background_jobs import BackgroundJobs, JobRecord
from carrel.core.caller import Call
from carrel.core.errors import CarrelError, InsufficientPermissionsError
from carrel.core.operation import Answer

_REPORT_SECONDS = 1.0


class StoredJobError(CarrelError):
    """Why a job failed, as its record says."""

    def __init__(self, code: str, message: str, next_step: str) -> None:
        super().__init__(message, next_step=next_step)
        self.code = code  # type: ignore[misc]


def describe_job(record: JobRecord, result: Answer | None, *, next_step: str) -> Job:
    """A job in its public form; `next_step` is what to do where it failed."""
    code = record.error_code
    return Job(
        job_id=record.id,
        operation=record.kind,
        state=record.state,
        message=record.message,
        started_at=record.created_at,
        updated_at=record.updated_at,
        done=record.done,
        total=record.total,
        result=result,
        error=None if code is None else StoredJobError(code, record.message, next_step),
    )


async def follow_job(
    jobs: BackgroundJobs, record: JobRecord, call: Call, wait_seconds: float
) -> JobRecord:
    """Wait for a new job at most `wait_seconds` and report its progress; ended ones are discarded.

    A cancelled call cancels the job.
    """
    owner = call.caller.user_id
    try:
        while True:
            await call.report_progress(record.done, record.total, record.message)
            slice_seconds = min(_REPORT_SECONDS, wait_seconds)
            record = await jobs.wait(record.id, owner, slice_seconds)
            wait_seconds -= slice_seconds
            if record.has_ended or wait_seconds <= 0:
                break
    except asyncio.CancelledError:
        # Its caller is gone and nobody else knows its id.
        with suppress(CarrelError):
            await asyncio.shield(jobs.cancel(record.id, owner))
        raise
    if record.has_ended:
        await jobs.discard(record.id)
    return record


async def list_stored_jobs(
    jobs: BackgroundJobs, call: Call, scopes: frozenset[str], state: JobState | None, limit: int
) -> list[Job]:
    """The caller's jobs without results; none for a caller without the scopes to follow them."""
    if not call.caller.scopes >= scopes:
        return []
    records = await jobs.list_owned(call.caller.user_id, state, limit)
    return [describe_job(record, None, next_step="") for record in records]


async def check_job_access(
    jobs: BackgroundJobs, job_id: str, call: Call, scopes: frozenset[str]
) -> None:
    """Raises JobNotFoundError for another caller's job, InsufficientPermissionsError for scopes."""
    await jobs.find(job_id, call.caller.user_id)
    if not call.caller.scopes >= scopes:
        raise InsufficientPermissionsError(scopes, call.caller.scopes)
