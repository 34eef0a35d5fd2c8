"""How jobs ended, kept in memory for as long as it cannot be written."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from dataclasses import dataclass

from carrel.core.errors import CarrelError, StorageFullError
from carrel.rooms.research.errors import BudgetExhaustedError
from carrel.rooms.research.records import Job, JobState, Project, ProjectStatus

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended. `is_held` says whether it was this worker's when it did; otherwise it could
    not even be taken.
    """

    job: Job
    state: JobState
    at: str
    problem: str | None = None
    problem_code: str | None = None
    is_held: bool = True

    @property
    def project_status(self) -> ProjectStatus | None:
        """What the project is from now on, where the job is its run."""
        if self.job.kind != "research":
            return None
        return (
            "completed"
            if self.state == "completed"
            else "paused"
            if self.state == "paused"
            else "failed"
        )


def outcome_of_failure(job: Job, error: Exception, at: str, *, is_held: bool = True) -> Outcome:
    """A budget that is used up and a full disk pause a job, since nothing is wrong with it;
    everything else fails it.
    """
    if isinstance(error, OSError) and error.errno in _FULL:
        error = StorageFullError.at("the home folder")
    if isinstance(error, StorageFullError):
        message = (
            f"{error.message}. Free some space there, then resume_research: nothing that "
            f"was finished is lost or done again."
        )
        return Outcome(job, "paused", at, message, error.code, is_held)
    if isinstance(error, CarrelError):
        message = f"{error.message.rstrip('.')}. {error.next_step or ''}".strip()
        state: JobState = "paused" if isinstance(error, BudgetExhaustedError) else "failed"
        return Outcome(job, state, at, message, error.code, is_held)
    return Outcome(job, "failed", at, "An unexpected error occurred", "internal_error", is_held)


class UnwrittenOutcomes:
    """Outcomes that wait to be written. What is read of a job or a project is shown as they say."""

    def __init__(self) -> None:
        self._by_job: dict[str, Outcome] = {}

    def __len__(self) -> int:
        return len(self._by_job)

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._by_job

    def add(self, outcome: Outcome) -> None:
        self._by_job[outcome.job.id] = outcome

    def remove(self, job_id: str) -> None:
        self._by_job.pop(job_id, None)

    def all(self) -> Iterable[Outcome]:
        return tuple(self._by_job.values())

    def show_job(self, job: Job) -> Job:
        outcome = self._by_job.get(job.id)
        if outcome is None or job.state not in {"waiting", "running"}:
            return job
        told = {
            "state": outcome.state,
            "problem": outcome.problem,
            "problem_code": outcome.problem_code,
        }
        return job.model_copy(update=told)

    def show_project(self, project: Project) -> Project:
        if project.status not in {"initializing", "active"}:
            return project
        for outcome in self._by_job.values():
            if outcome.job.research_id == project.id and outcome.project_status is not None:
                told = {
                    "status": outcome.project_status,
                    "problem": outcome.problem,
                    "updated_at": outcome.at,
                }
                return project.model_copy(update=told)
        return project
