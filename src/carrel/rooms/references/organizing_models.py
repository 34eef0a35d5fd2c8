"""Questions and answers about tags, collections and read state."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from carrel.core.operation import POSITIONAL, Answer
from carrel.rooms.references.items import ReadState
from carrel.rooms.references.models import LibraryAnswer, LibraryQuestion, Page, ReferenceId

GroupName = Annotated[str, Field(min_length=1, max_length=200)]
MAX_ORGANIZED_IDS = 500
# How many of the changed references an answer names.
MAX_NAMED = 200


class OrganizeReferences(LibraryQuestion):
    ids: list[ReferenceId] = Field(
        default_factory=list,
        max_length=MAX_ORGANIZED_IDS,
        description="Reference ids",
        json_schema_extra=POSITIONAL,
    )
    query: str = Field(
        default="", max_length=500, description="Instead of ids: all that match; * for all"
    )
    add_tags: list[GroupName] = Field(default_factory=list, max_length=50, description="New tags")
    remove_tags: list[GroupName] = Field(
        default_factory=list, max_length=50, description="Tags to take off"
    )
    add_collections: list[GroupName] = Field(
        default_factory=list, max_length=50, description="Paths such as Thesis/Chapter 1"
    )
    remove_collections: list[GroupName] = Field(
        default_factory=list, max_length=50, description="Also out of those that lie in them"
    )
    read_state: ReadState | None = Field(default=None, description="How far they were read")
    force: bool = Field(
        default=False, description="Needed with query, which without it only says what would change"
    )


class OrganizedReferences(LibraryAnswer):
    """How many references were meant and changed; `ids` has the first of the changed ones.

    After a dry run nothing was changed: `changed` and `ids` are what would be.
    """

    matched: int
    changed: int
    ids: list[str]
    missing: list[str] = Field(default=[], exclude_if=lambda missing: not missing)
    is_dry_run: bool
    next_step: str = Field(default="", exclude_if=lambda step: not step)


class ListReferenceGroups(LibraryQuestion):
    kind: Literal["collections", "tags", "read_states"] = Field(
        default="collections", description="What is listed", json_schema_extra=POSITIONAL
    )
    query: str = Field(default="", max_length=200, description="Only names with this in them")
    limit: int = Field(default=200, ge=1, le=2000, description="Names per page")
    page: Page = 1


class ReferenceGroup(Answer):
    """A tag, collection or read state; `count` of a collection has those in it at any depth."""

    name: str
    count: int
    direct: int


class ReferenceGroups(LibraryAnswer):
    """Collections in the order of their paths, tags by how many references have them."""

    kind: str
    total: int
    page: int
    limit: int
    groups: list[ReferenceGroup]


class RenameReferenceGroup(LibraryQuestion):
    kind: Literal["tag", "collection"] = Field(
        description="What the name is of", json_schema_extra=POSITIONAL
    )
    group: GroupName = Field(description="The present name", json_schema_extra=POSITIONAL)
    new_name: GroupName | None = Field(
        default=None,
        description="One that there is already takes the references in; see is_removed",
    )
    is_removed: bool = Field(
        default=False, description="Instead: take the name off; no reference is removed"
    )
    dry_run: bool = Field(default=False, description="Only say what would change")
