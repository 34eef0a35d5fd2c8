"""Questions and answers about references of one work."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from carrel.core.operation import Answer
from carrel.rooms.references.models import LibraryAnswer, LibraryQuestion, ReferenceId

MAX_MERGED = 50


class FindDuplicates(LibraryQuestion):
    certainty: Literal["certain", "possible", "all"] = Field(
        default="all", description="certain: one work; possible: a person should look"
    )
    ids: list[ReferenceId] = Field(
        default_factory=list, max_length=200, description="Only groups with one of these"
    )
    limit: int = Field(default=50, ge=1, le=500, description="Groups per page")
    page: int = Field(default=1, ge=1, le=100_000, description="Page, from 1")


class DuplicateMember(Answer):
    """A reference of a group; `is_suggested` marks the one to keep, which says most."""

    id: str
    title: str
    authors: str
    year: int | None
    type: str
    venue: str
    doi: str | None
    file_count: int
    is_suggested: bool


class DuplicateReason(Answer):
    """Why two references may be one work; `relation` where they are versions of one."""

    one: str
    other: str
    reason: str
    relation: str | None = Field(default=None, exclude_if=lambda relation: relation is None)


class FoundGroup(Answer):
    certainty: Literal["certain", "possible"]
    references: list[DuplicateMember]
    reasons: list[DuplicateReason]


class FoundDuplicates(LibraryAnswer):
    """A page of groups, the certain ones first."""

    certain_total: int
    possible_total: int
    page: int
    limit: int
    groups: list[FoundGroup]


class MergeReferences(LibraryQuestion):
    keep: ReferenceId
    others: list[ReferenceId] = Field(min_length=1, max_length=MAX_MERGED)
    fields: dict[str, str] = Field(
        default_factory=dict,
        description="Field and the id of the reference whose value is taken; else that of keep, "
        "then of the first that has one",
    )
    dry_run: bool = Field(default=True, description="Only show what would come of it")


class MergedField(Answer):
    """A field on which the references differ: whose value is taken, and each one's."""

    field: str
    taken_from: str
    values: dict[str, Any]


class MergedReferences(LibraryAnswer):
    """The merged reference, or with `dry_run` what it would be. restore_references with `undo_ids`
    brings all back as they were.
    """

    dry_run: bool
    id: str
    merged: list[str]
    fields: list[MergedField]
    reference: dict[str, Any]
    undo_ids: list[str]
