"""Questions and answers of research tasks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from carrel.core.operation import Answer, Question
from carrel.rooms.research.models import ResearchId
from carrel.rooms.research.tasks.answers import Problem

WorkerName = Field(default="", max_length=60, description="If you are several")


# Every task says what it holds; tool lists need not.
_LISTED = WithJsonSchema({"type": "array"})


def _is_empty(value: object) -> bool:
    return value is None or value in ([], "", {})


def _shown(default: Any) -> Any:
    """A field that is left out where it is empty."""
    return Field(default=default, exclude_if=_is_empty)


class NextResearchTask(Question):
    research_id: ResearchId
    roles: list[Literal["generate", "review", "compare", "evolve", "summarise"]] = Field(
        default_factory=list, max_length=5
    )
    worker: str = WorkerName
    take_over: bool = False


class SubmitResearchTask(Question):
    task_id: str = Field(min_length=1, max_length=100, description="From next_research_task")
    # Whatever a client makes of it is read: an object, a list, or either as text.
    answer: Annotated[Any, WithJsonSchema({"type": "object"})] = Field(
        description="As answer_shape says"
    )
    and_next: bool = Field(default=True, description="Bring the next")


class HandedPassage(Answer):
    """A passage that an answer may cite by its id."""

    id: str
    paper: str
    year: int | None = _shown(None)
    section: str = _shown("")
    text: str


class KnownHypothesis(Answer):
    """A hypothesis as a task shows it: what it says, never who made it or how it stands."""

    id: str = _shown("")
    title: str
    summary: str = _shown("")
    rationale: str = _shown("")
    predictions: list[str] = _shown([])
    refutations: list[str] = _shown([])
    experiment: list[str] = _shown([])
    remarks: list[str] = _shown([])


class PairShown(Answer):
    """Two hypotheses to compare, in random order."""

    pair: int
    a: KnownHypothesis = Field(serialization_alias="A")
    b: KnownHypothesis = Field(serialization_alias="B")


class NextTask(Answer):
    """One piece of work; or `waiting` with when to ask again; or `done`."""

    task_id: str = _shown("")
    role: str = _shown("")
    worker: str = _shown("")
    lease_until: str = _shown("")
    goal: str = _shown("")
    understood: str = _shown("")
    criteria: str = _shown("")
    do: str = _shown("")
    passages: Annotated[list[HandedPassage], _LISTED] = _shown([])
    known: Annotated[list[KnownHypothesis], _LISTED] = _shown([])
    pairs: Annotated[list[PairShown], _LISTED] = _shown([])
    answer_shape: dict[str, Any] = _shown({})
    left: dict[str, int] = _shown({})
    budget: dict[str, int] = _shown({})
    waiting: bool | None = _shown(None)
    retry_after: int | None = _shown(None)
    why: str = _shown("")
    done: bool | None = _shown(None)
    report: str = _shown("")


class SubmittedTask(Answer):
    """What became of an answer, and the next task where it was asked for."""

    kept: bool
    says: str
    ids: list[str] = _shown([])
    problems: list[Problem] = _shown([])
    # As next_research_task answers; tool lists need not say it twice.
    next: Annotated[NextTask | None, WithJsonSchema({"type": "object"})] = _shown(None)
