"""What the research room needs from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from carrel.core.caller import Call
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.records import Concepts, Paper
from carrel.rooms.research.outside_models import AskedService
from carrel.rooms.research.records import (
    AgentOutput,
    Changes,
    CitedPassage,
    Decision,
    Event,
    Hypothesis,
    Job,
    JobState,
    MatchPlayed,
    Project,
    ProjectStatus,
    Review,
    SafetyRecord,
    StepDone,
    StepKind,
)
from carrel.rooms.research.tasks.records import ResearchTask


class ResearchTaskStore(Protocol):
    """Storage of the work of assistants. Leases are by the database's clock.

    Every method raises UnavailableError; those that write raise StorageFullError where the disk is
    full.
    """

    async def of_project(self, research_id: str) -> list[ResearchTask]:
        """All of a project's, oldest first."""
        ...

    async def find(self, task_id: str) -> ResearchTask | None: ...

    async def take_over(self, research_id: str, event: Event) -> bool:
        """Makes the assistant a project's mind; False where the project may not be worked on."""
        ...

    async def complete(self, research_id: str, event: Event) -> None:
        """Marks a project as completed whose assistant has nothing left to do."""
        ...

    async def lease(self, task: ResearchTask, worker: str, seconds: float) -> ResearchTask | None:
        """Lease a task that is new, waiting or expired; None where it is not to be had."""
        ...

    async def renew(
        self, task_id: str, lease: int, seconds: float, found: Sequence[CitedPassage] = ()
    ) -> bool:
        """Renew a lease from now on and add what its worker found; False if it is not held."""
        ...

    async def finish(
        self, task: ResearchTask, lease: int, answer: str, result: str, at: str, changes: Changes
    ) -> None:
        """Store an accepted answer with its changes in one transaction, also a late one.

        Raises StepTakenError where the task is done, the project is cancelled or deleted, or the
        match count is not as expected.
        """
        ...

    async def fail(self, task_id: str, lease: int, most: int) -> int:
        """Count an answer that failed; the task is given back at `most`. 0 if it is not held."""
        ...


class ResearchStore(Protocol):
    """Storage of the room; ids are unguessable, and the service checks who may see a project.

    Every method raises UnavailableError; those that write raise StorageFullError where the disk is
    full.
    """

    @property
    def tasks(self) -> ResearchTaskStore: ...

    async def save(self, changes: Changes) -> None:
        """Store all changes or none; raises ConflictError if a record exists."""
        ...

    async def project(self, research_id: str) -> Project | None: ...

    async def projects(
        self, owner: str, status: str | None, limit: int
    ) -> list[tuple[Project, int]]:
        """The owner's projects, newest first, each with how many hypotheses it has."""
        ...

    async def undecided_counts(self, owner: str) -> dict[str, int]:
        """By project of the owner, the hypotheses that nobody decided on and none superseded."""
        ...

    async def held_projects(self, limit: int) -> list[Project]:
        """The projects of everybody whose goals wait for approval, oldest first."""
        ...

    async def set_active(self, job_id: str, worker: str, at: str) -> None:
        """Marks the job's project as being worked on, if the worker still holds the job."""
        ...

    async def delete_project(self, research_id: str) -> None:
        """Deletes all of it but the decisions of the safety check."""
        ...

    async def hypothesis(self, hypothesis_id: str) -> Hypothesis | None: ...

    async def hypothesis_ids(self, owner: str, start: str, count: int) -> tuple[list[str], int]:
        """Ids of an owner's hypotheses with this prefix, newest first, and how many there are."""
        ...

    async def hypotheses(self, research_id: str) -> list[Hypothesis]:
        """All hypotheses of a project, in the order of creation."""
        ...

    async def decide(self, hypothesis_id: str, decision: Decision) -> None: ...

    async def reviews(self, research_id: str) -> list[Review]:
        """All of a project's, oldest first."""
        ...

    async def matches(self, research_id: str) -> list[MatchPlayed]:
        """All of a project's, by number."""
        ...

    async def output(self, output_id: str) -> AgentOutput | None: ...

    async def outputs(self, research_id: str, *, agent: str | None = None) -> list[AgentOutput]:
        """Outputs of all agents of a project, or of one, oldest first."""
        ...

    async def model_usage(self, research_id: str) -> tuple[int, float]:
        """How many answers of models a project has, and their cost."""
        ...

    async def safety(self, owner: str, research_id: str | None = None) -> list[SafetyRecord]:
        """The decisions of the safety check for an owner, or for one project, oldest first."""
        ...

    async def events(self, research_id: str) -> list[Event]: ...

    async def job(self, job_id: str) -> Job | None: ...

    async def jobs(self, research_id: str) -> list[Job]:
        """All of a project's, oldest first."""
        ...

    async def open_jobs(self) -> list[str]:
        """Ids of jobs that wait or run, oldest first."""
        ...

    async def claim(self, job_id: str, worker: str, lease_seconds: float) -> bool:
        """Claim a waiting job, or a running one whose lease expired by the database's clock."""
        ...

    async def holder(self, job_id: str) -> str | None:
        """The worker of a running job."""
        ...

    async def release(self, job_id: str, worker: str) -> None:
        """Release an unfinished job that the worker holds."""
        ...

    async def renew(self, job_id: str, worker: str, lease_seconds: float) -> bool:
        """Renew the lease from now on; False if the worker no longer holds the job."""
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
        """End the worker's job and set the project's status, atomically; False if not held."""
        ...

    async def decide_goal(
        self,
        research_id: str,
        status: ProjectStatus,
        problem: str | None,
        at: str,
        changes: Changes,
    ) -> bool:
        """Move a held project to `status` and store the changes, atomically; False if not held."""
        ...

    async def cancel_job(self, job_id: str) -> bool:
        """Cancel a job that waits, runs or is paused; False if it had ended."""
        ...

    async def reconcile(self, at: str) -> None:
        """Correct projects marked as running whose run has ended or does not exist."""
        ...

    async def mask_stored_secrets(self) -> None:
        """Masks secrets in errors that were stored before they were masked."""
        ...

    async def steer(
        self,
        research_id: str,
        after: Sequence[JobState],
        state: JobState,
        status: ProjectStatus,
        event: Event,
    ) -> None:
        """Move jobs in a state of `after` to `state`, set the status, store the event; atomic."""
        ...

    async def plan(self, job_id: str, worker: str, planned_steps: int) -> bool:
        """Set the planned number of steps; False if the worker no longer holds the job."""
        ...

    async def steps(self, job_id: str) -> list[StepDone]:
        """The finished steps of a job, oldest first."""
        ...

    async def finish_step(self, step: StepDone, worker: str, changes: Changes) -> None:
        """Store a step with its changes in one transaction.

        Raises StepTakenError where the step is finished already, the job is not the worker's, or
        the match count is not as expected.
        """
        ...

    async def mean_step_seconds(self) -> dict[StepKind, float]:
        """Mean duration by kind of step, over all runs."""
        ...

    async def close(self) -> None: ...


class PaperTexts(Protocol):
    """The titles, abstracts and keywords of the corpus, read from its snapshot."""

    def signature(self) -> object:
        """A value that changes when the corpus does."""
        ...

    def fingerprints(self) -> Iterator[tuple[str, str]]:
        """The id of every paper with a fingerprint that changes when it does."""
        ...

    def everything(self) -> Iterator[tuple[Paper, str]]:
        """Every paper with its fingerprint."""
        ...

    def paper(self, id: str, /) -> Paper | None: ...

    def papers(self, paper_ids: Sequence[str]) -> list[Paper]:
        """Those of the papers that exist, in the order asked for."""
        ...


class ConceptIndexes(Protocol):
    """Keeps the concept index of the corpus, for all processes."""

    def open(self, state: str, vocabulary: Vocabulary | None) -> Concepts | None:
        """The index of the papers in this state; None where another, or none, was made."""
        ...

    def make(
        self,
        papers: PaperTexts,
        state: str,
        vocabulary: Vocabulary | None,
        report: Callable[[int, int], None],
    ) -> Concepts:
        """Make the index of the papers in this state; tells how many of how many are read."""
        ...


class Neighbours(Protocol):
    """What the rooms of papers and references do for this one."""

    async def search_papers(self, words: str, count: int) -> list[str]:
        """Ids of papers with these words, best first."""
        ...

    async def find_paper_id(self, name: str) -> str | None:
        """The id of the paper that a DOI, arXiv id or passage id names; None if there is none."""
        ...

    async def paper_as_csl(self, paper_id: str) -> dict[str, Any] | None:
        """The paper as CSL-JSON; None if the corpus no longer has it."""
        ...

    async def format_bibliography(self, items: Sequence[dict[str, Any]]) -> list[str]:
        """The references as lines of a bibliography, in the style that is set."""
        ...


@dataclass(frozen=True, slots=True)
class EvidencePassage:
    """The passage that holds a sentence of evidence, and its page where it has one."""

    passage_id: str
    page: int | None


class EvidencePassages(Protocol):
    """The passages of papers."""

    async def find(self, paper_id: str, sentence: str) -> EvidencePassage | None:
        """The passage of the paper that has this sentence; None where no text has it."""
        ...


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that a search found, word for word; an abstract has no section."""

    passage_id: str
    paper_id: str
    section: str
    page: int | None
    text: str


class PassageSearch(Protocol):
    """Search in the abstracts and full texts of the corpus, for claim checking."""

    async def count_papers(self) -> int: ...

    async def search_passages(
        self, words: str, within: Sequence[str], count: int
    ) -> list[FoundPassage]:
        """Passages with these words, best first, of these papers or of all."""
        ...

    async def first_passages(self, paper_id: str, count: int) -> list[FoundPassage]:
        """The first passages of a paper; none where its text cannot be had."""
        ...


@dataclass(frozen=True, slots=True)
class LibraryWork:
    """A reference of the caller's library: the names of its work, and the text that is known."""

    key: str
    title: str
    year: int | None
    identifiers: tuple[str, ...]
    text: str


class DeskTexts(Protocol):
    """Notes and references, read with the caller's own rights."""

    async def note(self, note_id: str, call: Call) -> tuple[str, str]:
        """Title and text of a note; NotFoundError, NotConfiguredError without the room, or
        InsufficientPermissionsError.
        """
        ...

    async def find_reference(self, name: str, call: Call) -> LibraryWork | None:
        """The work of a key or DOI; None where the caller's library has none or is not open.

        Raises InsufficientPermissionsError where the caller may not read references.
        """
        ...


class TaskPassages(Protocol):
    """Search for passages to hand out with research tasks."""

    async def search(self, words: str, within: Sequence[str], count: int) -> list[CitedPassage]:
        """Passages with these words, best first, of these papers or of all.

        Papers without a full text have their abstract as a passage.
        """
        ...


class Notebook(Protocol):
    """The knowledge room, for saving notes."""

    async def save(self, title: str, content: str, tags: Sequence[str], call: Call) -> str:
        """Saves the caller's own note and answers its id; NotConfiguredError without the room."""
        ...


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer as the object it was asked for, and what it took."""

    answer: Mapping[str, Any]
    input_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class UnusableCompletion:
    """An answer that does not fit the schema, with the reason and its cost."""

    text: str
    reason: str
    input_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class Window:
    """A model's limits of output and input tokens; None if unknown."""

    answer_tokens: int
    input_tokens: int | None


class LanguageModel(Protocol):
    """A model that answers with an object of a given schema, or raises ModelUnavailableError."""

    @property
    def name(self) -> str: ...

    @property
    def window(self) -> Window: ...

    async def complete(
        self, instructions: str, material: str, schema: Mapping[str, Any], schema_name: str
    ) -> Completion | UnusableCompletion: ...


class ModelUse(Protocol):
    """Counts what language models take for people."""

    async def check(self, owner: str) -> None:
        """Raises OwnersQuotaError where nothing is left of what the owner may use today."""
        ...

    async def add(self, owner: str, tokens: int) -> None: ...


class Ids(Protocol):
    """Makes unguessable ids."""

    def __call__(self, prefix: str) -> str: ...


@dataclass(frozen=True, slots=True)
class FoundOutside:
    """A work that services outside know; `key` names it when it is added."""

    key: str
    title: str
    abstract: str = ""
    year: int | None = None
    doi: str | None = None
    is_retracted: bool = False


@dataclass(frozen=True, slots=True)
class OutsideAnswer:
    """What was found, and what became of the question at every service."""

    works: tuple[FoundOutside, ...]
    services: tuple[AskedService, ...]


@dataclass(frozen=True, slots=True)
class AddedPapers:
    """The papers of the corpus by the keys of works, those that are new, and what went wrong."""

    ids: Mapping[str, str]
    added: tuple[str, ...] = ()
    problem: str = ""


class OutsideLiterature(Protocol):
    """Literature services, where settings and the caller's scopes allow to ask them."""

    def require_allowed(self, call: Call) -> None:
        """Raises NotConfiguredError, NetworkForbiddenError or InsufficientPermissionsError."""
        ...

    async def search(self, query: str, owner: str, limit: int) -> OutsideAnswer:
        """Works for a query of our language; CarrelError where no service could be asked."""
        ...

    async def add_to_corpus(self, keys: Sequence[str], owner: str) -> AddedPapers:
        """Adds works of earlier searches by their keys; those already there are joined."""
        ...
