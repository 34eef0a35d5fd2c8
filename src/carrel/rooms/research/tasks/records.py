"""Research tasks: pieces of a project's work that a caller's assistant does under a lease."""

from __future__ import annotations

from typing import Literal

from carrel.rooms.research.records import CitedPassage, Record, StepKey

Role = Literal["generate", "review", "compare", "evolve", "summarise"]
TaskState = Literal["waiting", "leased", "done"]
# The answer with faults that gives a task back.
MOST_FAILURES = 3
PairKind = Literal["match", "repeat", "broken"]


class Pair(Record):
    """Two hypotheses to compare; `is_swapped` is a stored random bit: the second is shown as A.

    A `repeat` is a pair this judge has seen the other way round; in a `broken` pair the second
    is the first with its reasoning taken from another hypothesis. Neither counts as a match.
    """

    first: str
    second: str
    is_swapped: bool
    kind: PairKind = "match"
    is_own: bool = False


class TaskMaterial(Record):
    """What was handed out with a task; `found` are passages that its worker searched for."""

    count: int = 0
    passages: tuple[CitedPassage, ...] = ()
    found: tuple[CitedPassage, ...] = ()
    hypothesis_ids: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()
    supersedes: tuple[str, ...] = ()

    @property
    def citable(self) -> dict[str, CitedPassage]:
        """Passages that an answer may cite, by id."""
        return {one.id: one for one in (*self.passages, *self.found)}


class Holder(Record):
    """Who had a task under which lease; `gave_back` after too many answers that failed."""

    lease: int
    worker: str
    gave_back: bool = False


class TaskResult(Record):
    """What an accepted answer became: ids of hypotheses, reviews or an output; and for a judge
    how its guards came out.
    """

    ids: tuple[str, ...] = ()
    says: str = ""
    repeats_agreed: int = 0
    repeats_denied: int = 0
    broken_found: int = 0
    broken_missed: int = 0


class ResearchTask(Record):
    """One piece of work, what was handed out, who has it, and the answer that was accepted.

    `idle_seconds` and `is_expired` are by the database's clock at the moment of reading.
    """

    id: str
    research_id: str
    role: Role
    step: StepKey
    material: TaskMaterial = TaskMaterial()
    state: TaskState = "waiting"
    worker: str = ""
    lease: int = 0
    lease_until: str = ""
    is_expired: bool = True
    idle_seconds: float = 0.0
    failures: int = 0
    holders: tuple[Holder, ...] = ()
    answer: str | None = None
    result: str | None = None
    created_at: str
    finished_at: str | None = None

    @property
    def is_held(self) -> bool:
        return self.state == "leased" and not self.is_expired

    @property
    def made_ids(self) -> tuple[str, ...]:
        """Ids of what the accepted answer became."""
        return () if self.result is None else tuple(TaskResult.model_validate_json(self.result).ids)

    @property
    def handed_id(self) -> str:
        """The id that callers get: it names the lease, so that a late answer is known as such."""
        return f"{self.id}-{self.lease}"

    def holder_of(self, lease: int) -> str | None:
        """Who had the task under this lease; None if there was no such lease."""
        return next((one.worker for one in self.holders if one.lease == lease), None)

    def was_given_back_by(self, worker: str) -> bool:
        return any(one.gave_back for one in self.holders if one.worker == worker)


def split_handed_id(handed_id: str) -> tuple[str, int]:
    """The id of the task and the number of the lease; 0 if the text names none."""
    task_id, _, number = handed_id.strip().rpartition("-")
    is_number = number.isascii() and number.isdigit() and len(number) < 10
    return (task_id, int(number)) if task_id and is_number else (handed_id.strip(), 0)
