"""Jobs as callers meet them: work that outlasts its call, followed and cancelled by its id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson
from pydantic import Field

from carrel.core.answer import Job, JobState
from carrel.core.answer_encoding import encode_answer
from carrel.core.caller import Call
from carrel.core.decorators import collect_operations, operation
from carrel.core.errors import NotFoundError
from carrel.core.operation import Answer, Effect, Operation, Question

JOBS_PURPOSE = "Follow and cancel work of every room that goes on after its call."
MAX_WAIT_SECONDS = 60
MAX_LISTED_JOBS = 200


class JobNotFoundError(NotFoundError):
    """No job of that id, or not the caller's."""

    def __init__(self, job_id: str) -> None:
        super().__init__(
            "Job",
            job_id,
            next_step="Use the job_id of an answer; finished jobs are kept for a while only.",
        )


class NamedJob(Question):
    job_id: str = Field(min_length=1, max_length=200)


class GetJob(NamedJob):
    wait_seconds: int = Field(
        default=0, ge=0, le=MAX_WAIT_SECONDS, description="Wait this long for its end"
    )


class ListJobs(Question):
    state: JobState | None = Field(default=None, description="Only jobs in this state")
    limit: int = Field(default=20, ge=1, le=MAX_LISTED_JOBS)


class JobRow(Answer):
    """A job among others, without its result."""

    job_id: str
    operation: str
    state: JobState
    message: str
    started_at: str
    updated_at: str
    done: int
    total: int | None = None


class JobReport(JobRow):
    """A job as it stands; `result` is the operation's answer, or what there is of it so far."""

    result: Any = None
    # Absent where there is none, as in every answer: clients take a null there for something else.
    error: dict[str, Any] | None = Field(default=None, exclude_if=lambda error: error is None)


class JobSource(Protocol):
    """The jobs of one room. A job of another room or caller raises NotFoundError."""

    async def find_job(self, job_id: str, call: Call, wait_seconds: float = 0.0) -> Job:
        """The job when it has ended, or its state after `wait_seconds`."""
        ...

    async def cancel_job(self, job_id: str, call: Call) -> Job:
        """Cancel the job; one that has ended is not changed."""
        ...

    async def list_jobs(self, call: Call, state: JobState | None, limit: int) -> Sequence[Job]:
        """The caller's newest jobs that their scopes let them follow, without results."""
        ...


# Longer than the longest wait, with time to read the job before and after it.
_TIMEOUT_SECONDS = 90.0
# Whose job it is, and with which scopes, is checked by its room.
_NO_SCOPES: frozenset[str] = frozenset()


class JobTools:
    """The tools over all rooms' jobs; `operations` give the form of results."""

    def __init__(
        self, sources: Sequence[JobSource], operations: Mapping[str, Operation[Any]]
    ) -> None:
        self._sources = sources
        self._operations = operations

    @operation(
        title="Get a job",
        description="State and result of work that went on after its call (its answer had a "
        "job_id).",
        scopes=_NO_SCOPES,
        timeout_seconds=_TIMEOUT_SECONDS,
        command="get",
        phrases=(
            "status of a background job; is my import done; follow long work; result of a job; "
            "check on a job; is the job finished; has my upload been processed; is the import "
            "finished; how far is the import"
        ),
    )
    async def get_job(self, question: GetJob, call: Call) -> JobReport:
        job = await self.find(question.job_id, call, question.wait_seconds)
        return report_job(job, self._operations)

    @operation(
        title="Cancel a job",
        description="Stop such work; what it has done stays.",
        scopes=_NO_SCOPES,
        effect=Effect.WRITES,
        is_idempotent=True,
        command="cancel",
        phrases=(
            "cancel a background job; stop a running import; abort a job; stop the running job; "
            "cancel long-running work; stop importing; stop the upload"
        ),
    )
    async def cancel_job(self, question: NamedJob, call: Call) -> JobReport:
        return report_job(await self.cancel(question.job_id, call), self._operations)

    @operation(
        title="List jobs",
        description="Your work that went on after its call, newest first.",
        scopes=_NO_SCOPES,
        timeout_seconds=_TIMEOUT_SECONDS,
        command="list",
        is_listed=False,
        phrases=(
            "list my background jobs; which jobs are running; all jobs; what work is still going "
            "on in the background; I lost the job id; what is running right now; which imports "
            "are under way; work in progress"
        ),
    )
    async def list_jobs(self, question: ListJobs, call: Call) -> list[JobRow]:
        found = [
            job
            for source in self._sources
            for job in await source.list_jobs(call, question.state, question.limit)
        ]
        newest = sorted(found, key=lambda job: job.started_at, reverse=True)
        return [_job_row(job) for job in newest[: question.limit]]

    async def find(self, job_id: str, call: Call, wait_seconds: float = 0.0) -> Job:
        """The job of whichever room has it. Raises JobNotFoundError."""
        for source in self._sources:
            try:
                return await source.find_job(job_id, call, wait_seconds)
            except NotFoundError:
                continue
        raise JobNotFoundError(job_id)

    async def cancel(self, job_id: str, call: Call) -> Job:
        """Cancels the job in whichever room has it. Raises JobNotFoundError."""
        for source in self._sources:
            try:
                return await source.cancel_job(job_id, call)
            except NotFoundError:
                continue
        raise JobNotFoundError(job_id)


class TaskOperations:
    """Job operations for doors with task clients: they return the job instead of a report."""

    def __init__(self, jobs: JobTools) -> None:
        self._jobs = jobs

    @operation(
        title="Look at a task", description="How far work is, and its answer.", scopes=_NO_SCOPES
    )
    async def look_at_task(self, question: NamedJob, call: Call) -> Job:
        return await self._jobs.find(question.job_id, call)

    @operation(
        title="Stop a task",
        description="Cancel work.",
        scopes=_NO_SCOPES,
        effect=Effect.WRITES,
    )
    async def stop_task(self, question: NamedJob, call: Call) -> Job:
        return await self._jobs.cancel(question.job_id, call)


@dataclass(frozen=True, slots=True)
class JobOperations:
    """The operations over all rooms' jobs: tools, and two for clients that speak of tasks."""

    get: Operation[GetJob]
    cancel: Operation[NamedJob]
    list_own: Operation[ListJobs]
    find_task: Operation[NamedJob]
    cancel_task: Operation[NamedJob]

    @property
    def tools(self) -> tuple[Operation[Any], ...]:
        return (self.get, self.cancel, self.list_own)


def job_operations(
    sources: Sequence[JobSource], operations: Mapping[str, Operation[Any]]
) -> JobOperations:
    """The operations over these rooms' jobs."""
    tools = JobTools(sources, operations)
    return JobOperations(
        *collect_operations("jobs", tools), *collect_operations("jobs", TaskOperations(tools))
    )


def _job_row(job: Job) -> JobRow:
    return JobRow(
        job_id=job.job_id,
        operation=job.operation,
        state=job.state,
        message=job.message,
        started_at=job.started_at,
        updated_at=job.updated_at,
        done=job.done,
        total=job.total,
    )


def report_job(job: Job, operations: Mapping[str, Operation[Any]]) -> JobReport:
    """The report of a job, with its result in the form of its operation's answer."""
    return JobReport(
        job_id=job.job_id,
        operation=job.operation,
        state=job.state,
        message=job.message,
        started_at=job.started_at,
        updated_at=job.updated_at,
        done=job.done,
        total=job.total,
        result=None if job.result is None else _plain(job.result, operations.get(job.operation)),
        error=None if job.error is None else job.error.to_facts(),
    )


def _plain(result: Any, operation: Operation[Any] | None) -> Any:
    """The result as JSON has it."""
    answer_type = type(result) if operation is None else operation.answer
    return orjson.loads(encode_answer(answer_type, result))
