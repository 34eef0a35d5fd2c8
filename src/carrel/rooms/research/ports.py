"""What the research room needs from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from carrel.libraries.discovery.generation import Discovery
from carrel.libraries.discovery.records import Paper
from carrel.rooms.research.records import (
    AgentOutput,
    Changes,
    Decision,
    Event,
    Hypothesis,
    Job,
    JobState,
    MatchPlayed,
    Pace,
    Project,
    ProjectStatus,
    Review,
    SafetyRecord,
    StepDone,
)

ResultT = TypeVar("ResultT")


class ContextMemory(Protocol):
    """Everything the room remembers. Ids are unguessable; whose a project is, the service
    decides.
    """

    async def keep(self, changes: Changes) -> None: ...

    async def project(self, research_id: str) -> Project | None: ...

    async def projects(
        self, owner: str, status: str | None, limit: int
    ) -> list[tuple[Project, int]]:
        """The owner's projects, newest first, each with how many hypotheses it has."""
        ...

    async def set_active(self, job_id: str, worker: str, at: str) -> None:
        """Says that the job's project is being worked on, unless the job has been taken from the
        worker in the meantime.
        """
        ...

    async def delete_project(self, research_id: str) -> None:
        """Forgets all of it but the decisions of the safety check."""
        ...

    async def hypothesis(self, hypothesis_id: str) -> Hypothesis | None: ...

    async def hypothesis_ids(self, owner: str, start: str, count: int) -> tuple[list[str], int]:
        """Ids of an owner's hypotheses that begin with a text, newest first, and how many there
        are.
        """
        ...

    async def hypotheses(self, research_id: str) -> list[Hypothesis]:
        """All of a project's, in the order they were made."""
        ...

    async def decide(self, hypothesis_id: str, decision: Decision) -> None: ...

    async def reviews(self, research_id: str) -> list[Review]: ...

    async def matches(self, research_id: str) -> list[MatchPlayed]: ...

    async def output(self, output_id: str) -> AgentOutput | None: ...

    async def outputs(
        self, research_id: str, *, agent: str | None = None, only_model_calls: bool = False
    ) -> list[AgentOutput]:
        """What agents did, in order: all of it, what one of them did, or what a model was asked
        for.
        """
        ...

    async def safety(self, owner: str) -> list[SafetyRecord]: ...

    async def events(self, research_id: str) -> list[Event]: ...

    async def add_job(self, job: Job) -> None: ...

    async def job(self, job_id: str) -> Job | None: ...

    async def jobs(self, research_id: str) -> list[Job]: ...

    async def open_jobs(self) -> list[str]:
        """Ids of jobs that wait or run, oldest first."""
        ...

    async def claim(self, job_id: str, worker: str, lease_seconds: float) -> bool:
        """Takes a waiting job, or a running one whose lease has run out by the database's clock.
        Whether it is now this worker's.
        """
        ...

    async def holder(self, job_id: str) -> str | None: ...

    async def release(self, job_id: str, worker: str) -> None:
        """Gives back a job that a worker holds, unfinished."""
        ...

    async def renew(self, job_id: str, worker: str, lease_seconds: float) -> bool:
        """Lengthens the lease from now on. False where the job is no longer this worker's."""
        ...

    async def end_job(
        self,
        job_id: str,
        worker: str,
        state: JobState,
        at: str,
        problem: str | None = None,
        problem_code: str | None = None,
        *,
        project_status: ProjectStatus | None = None,
    ) -> bool:
        """Ends a job that the worker holds, and in the same moment sets its project's status where
        one is given. False, and
        nothing is changed, where the job is no longer the worker's."""
        ...

    async def reconcile(self, at: str) -> None:
        """Gives every project that is said to be worked on, and whose run has ended or never was,
        the status that is true.
        """
        ...

    async def mask_stored_secrets(self) -> None:
        """Takes secrets out of what was kept of errors before they were masked."""
        ...

    async def steer(
        self,
        research_id: str,
        after: Sequence[JobState],
        state: JobState,
        status: ProjectStatus,
        event: Event,
    ) -> None:
        """Sets all of a project's jobs that are in one of these states, its status and the event in
        one moment.
        """
        ...

    async def set_job(
        self,
        job_id: str,
        state: JobState,
        problem: str | None = None,
        problem_code: str | None = None,
        *,
        after: Sequence[JobState] | None = None,
    ) -> bool:
        """Sets a job's state; with `after`, only where it is one of these at that moment. Whether
        it was set.
        """
        ...

    async def plan(self, job_id: str, worker: str, planned_steps: int) -> bool:
        """Says how many steps the job will have. False where the job is no longer this worker's."""
        ...

    async def steps(self, job_id: str) -> list[StepDone]: ...

    async def finish(self, step: StepDone, worker: str, changes: Changes) -> None:
        """Keeps a step and what it made in one moment. StepTakenError when it is finished already,
        the job is not the worker's,
        or the changes rest on matches that are no longer all."""
        ...

    async def pace(self) -> dict[str, Pace]:
        """Mean seconds by kind of step, over everything done so far."""
        ...

    async def close(self) -> None: ...


class Corpus(Protocol):
    """The papers at hand."""

    async def with_discovery(self, work: Callable[[Discovery], ResultT]) -> ResultT:
        """Runs work on the concept index of the corpus as it is now, off the event loop, one at a
        time.
        """
        ...

    def being_read(self) -> tuple[int, int] | None:
        """While the papers are read for the first time, or again: how many have been, and of how
        many.
        """
        ...

    async def papers(self, paper_ids: Sequence[str]) -> list[Paper]:
        """Those of the papers that exist, in the order asked for."""
        ...

    async def search(self, words: str, count: int) -> list[Paper]: ...

    async def references(self, paper_ids: Sequence[str]) -> list[dict[str, Any]]:
        """The papers as CSL-JSON, each under its paper id."""
        ...

    async def rendered(self, items: Sequence[dict[str, Any]]) -> list[str]:
        """The references as lines of a bibliography, in the style that is set."""
        ...

    async def bibtex(self, items: Sequence[dict[str, Any]]) -> str: ...


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer as the object it was asked for, and what it took."""

    answer: Mapping[str, Any]
    input_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class UnusableCompletion:
    """An answer that is not the object it was asked for, why, and what it took all the same."""

    text: str
    reason: str
    input_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class Window:
    """How many tokens a model may answer with, and how many it may be told at once; None where
    nobody has said.
    """

    answer_tokens: int
    input_tokens: int | None


class LanguageModel(Protocol):
    """A model that answers with an object of a given shape. ModelUnavailableError when it does not
    answer.
    """

    @property
    def name(self) -> str: ...

    @property
    def window(self) -> Window: ...

    async def complete(
        self, instructions: str, material: str, schema: Mapping[str, Any], schema_name: str
    ) -> Completion | UnusableCompletion: ...


class Ids(Protocol):
    """Makes unguessable ids."""

    def __call__(self, prefix: str) -> str: ...
