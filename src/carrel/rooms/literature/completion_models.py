"""Questions and answers about completing records of corpus and library."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from carrel.core.operation import Answer, Question
from carrel.rooms.literature.completion_ports import CompletionState, Target
from carrel.rooms.literature.errors import FailureKind

MAX_NAMED = 500
Id = Annotated[str, Field(min_length=1, max_length=500)]


class CompleteRecords(Question):
    """Looks for gaps and proposes what fills them; or applies proposals, or takes them back."""

    ids: list[Id] = Field(
        default_factory=list, max_length=MAX_NAMED, description="Only these; all without it"
    )
    apply: bool = Field(default=False, description="Fill in what was proposed before")
    undo: bool = Field(default=False, description="Take back what was filled in")
    guess: bool = Field(
        default=False,
        description="Also records without an identifier, by title, author and year; with apply, "
        "also those proposals",
    )
    limit: int = Field(default=200, ge=1, le=MAX_NAMED, description="Records at once")

    @model_validator(mode="after")
    def _is_one_thing(self) -> CompleteRecords:
        if self.apply and self.undo:
            raise ValueError("apply and undo are two calls")
        return self


class ListCompletions(Question):
    """Which completions to show; no service is asked and nothing changes."""

    target: Target = Field(description="Whose gaps")
    state: Literal["proposed", "applied"] = Field(
        default="proposed", description="What waits for a decision, or what was filled in"
    )
    limit: int = Field(default=100, ge=1, le=MAX_NAMED)


class ProposedValue(Answer):
    """A value for a field that is empty, and the service that gave it."""

    field: str
    value: Any
    origin: str


class DifferentValue(Answer):
    """What a record says and a service says otherwise; nothing is changed for it."""

    field: str
    here: str
    there: str
    origin: str


class CompletionProposal(Answer):
    """What was found for one record, as it is stored."""

    title: str = ""
    gaps: list[str] = Field(default_factory=list)
    values: list[ProposedValue] = Field(default_factory=list)
    differences: list[DifferentValue] = Field(default_factory=list)
    is_guess: bool = False
    found: str = ""
    contradiction: str = ""
    unanswered: list[str] = Field(default_factory=list)
    # What undoes the filling.
    receipt: str = ""


class ShownCompletion(Answer):
    """One record: what would be filled in, or was."""

    id: str
    title: str
    state: CompletionState
    gaps: list[str] = Field(default=[], exclude_if=lambda value: not value)
    values: list[ProposedValue] = Field(default=[], exclude_if=lambda value: not value)
    differences: list[DifferentValue] = Field(default=[], exclude_if=lambda value: not value)
    is_guess: bool = Field(default=False, exclude_if=lambda value: not value)
    found: str = Field(default="", exclude_if=lambda value: not value)
    contradiction: str = Field(default="", exclude_if=lambda value: not value)
    unanswered: list[str] = Field(default=[], exclude_if=lambda value: not value)


class NotCompleted(Answer):
    """A record that could not be changed, and why."""

    id: str
    code: str
    reason: str


class ServiceFailure(Answer):
    service: str
    failure: FailureKind
    reason: str


class RecordsCompleted(Answer):
    """What was done, and the proposals that wait for a decision.

    `waiting` counts records that services have not answered for; a later call asks again.
    """

    message: str
    target: Literal["paper", "reference"]
    changed: int = 0
    waiting: int = 0
    proposed: int = 0
    without_identifier: int = 0
    entries: list[ShownCompletion] = Field(default_factory=list)
    not_done: list[NotCompleted] = Field(default=[], exclude_if=lambda value: not value)
    unanswered: list[ServiceFailure] = Field(default=[], exclude_if=lambda value: not value)
