"""Everybody's background jobs, and backups, for administrators."""

from __future__ import annotations

from pydantic import Field

from carrel.core.answer import JobState
from carrel.core.background_jobs import JobRecord
from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.errors import NotConfiguredError
from carrel.core.jobs import NamedJob
from carrel.core.operation import Effect, Question
from carrel.doors.web.admin.callers import ADMIN_SCOPES, READ_COST, refuse_programs
from carrel.doors.web.admin.models import (
    AdminJob,
    AdminJobList,
    BackupList,
    RevokedAccess,
    StartedJob,
    StreamedFile,
)
from carrel.doors.web.admin.ports import BackupShelf, EverybodysJobs
from carrel.doors.web.admin.questions import EmptyQuestion

BACKUP_JOBS = frozenset({"make_backup", "check_backup"})
_MOST_JOBS = 200
_BACKUP_JOBS_SHOWN = 10


class ListAllJobs(Question):
    state: JobState | None = None
    limit: int = Field(default=100, ge=1, le=_MOST_JOBS)


class NamedBackup(Question):
    name: str = Field(min_length=1, max_length=200)


class AllJobsOperations:
    """Lists and cancels jobs, whoever began them."""

    def __init__(self, jobs: EverybodysJobs) -> None:
        self._jobs = jobs

    @operation(
        title="List all jobs",
        description="Everybody's background jobs, newest first.",
        scopes=ADMIN_SCOPES,
        cost=READ_COST,
    )
    async def list_all_jobs(self, question: ListAllJobs, call: Call) -> AdminJobList:
        found = await self._jobs.list_jobs(question.state, question.limit)
        return AdminJobList(
            jobs=[describe_record(record) for record in found],
            running=await self._jobs.count_running(),
        )

    @operation(
        title="Cancel any job",
        description="Stop a background job of anybody; what it has done stays.",
        scopes=ADMIN_SCOPES,
        effect=Effect.WRITES,
    )
    async def cancel_any_job(self, question: NamedJob, call: Call) -> AdminJob:
        return describe_record(await self._jobs.cancel(question.job_id, call))


class BackupOperations:
    """Makes, checks, lists and hands out backups, which hold every secret of the desk."""

    def __init__(self, shelf: BackupShelf, jobs: EverybodysJobs) -> None:
        self._shelf = shelf
        self._jobs = jobs

    @operation(
        title="List backups",
        description="The backups in the home's folder, and what is written or checked now.",
        scopes=ADMIN_SCOPES,
        cost=READ_COST,
    )
    async def list_backups(self, question: EmptyQuestion, call: Call) -> BackupList:
        records = await self._jobs.list_jobs(None, _MOST_JOBS)
        ours = [record for record in records if record.kind in BACKUP_JOBS]
        problem = self._shelf.problem
        return BackupList(
            folder=self._shelf.folder,
            can_make=not problem,
            problem=problem,
            backups=[] if problem else await self._shelf.list_files(),
            jobs=[describe_record(record) for record in ours[:_BACKUP_JOBS_SHOWN]],
            elsewhere=list(self._shelf.elsewhere),
        )

    @operation(
        title="Make a backup",
        description="Write everything embedded into one file of the home, as a job.",
        scopes=ADMIN_SCOPES,
        effect=Effect.WRITES,
    )
    async def make_backup(self, question: EmptyQuestion, call: Call) -> StartedJob:
        self._refuse_where_impossible()
        return StartedJob(job_id=await self._shelf.start_backup(call.caller.user_id))

    @operation(
        title="Check a backup",
        description="Read all of a backup and compare every file with its hash, as a job.",
        scopes=ADMIN_SCOPES,
        effect=Effect.WRITES,
    )
    async def check_backup(self, question: NamedBackup, call: Call) -> StartedJob:
        self._refuse_where_impossible()
        return StartedJob(job_id=await self._shelf.start_check(question.name, call.caller.user_id))

    @operation(
        title="Download a backup",
        description="The bytes of a backup, which holds every secret of the desk.",
        scopes=ADMIN_SCOPES,
        # Recorded for certain before the first byte leaves.
        effect=Effect.WRITES,
    )
    async def download_backup(self, question: NamedBackup, call: Call) -> StreamedFile:
        refuse_programs(call)
        self._refuse_where_impossible()
        size, pieces = self._shelf.read(question.name)
        return StreamedFile(
            name=question.name, media_type="application/gzip", size_bytes=size, pieces=pieces
        )

    @operation(
        title="Remove a backup",
        description="Delete a backup for good.",
        scopes=ADMIN_SCOPES,
        effect=Effect.DESTROYS,
    )
    async def remove_backup(self, question: NamedBackup, call: Call) -> RevokedAccess:
        refuse_programs(call)
        self._refuse_where_impossible()
        await self._shelf.remove(question.name)
        return RevokedAccess(name=question.name)

    def _refuse_where_impossible(self) -> None:
        if self._shelf.problem:
            raise NotConfiguredError(
                self._shelf.problem,
                next_step="carrel backup FILE writes one to another place.",
            )


def describe_record(record: JobRecord) -> AdminJob:
    """A job without what it was given and made."""
    return AdminJob(
        job_id=record.id,
        operation=record.kind,
        owner=record.owner,
        state=record.state,
        message=record.message,
        started_at=record.created_at,
        updated_at=record.updated_at,
        done=record.done,
        total=record.total,
        in_bytes=record.kind in BACKUP_JOBS,
    )
