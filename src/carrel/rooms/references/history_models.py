"""Questions and answers about the changes of a library."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from carrel.core.operation import POSITIONAL, Answer
from carrel.rooms.references.attachment_models import MissingFile
from carrel.rooms.references.models import LibraryAnswer, LibraryQuestion, Page

# How many ids of one change an answer names.
MAX_NAMED_IDS = 20


class ListLibraryChanges(LibraryQuestion):
    id: str | None = Field(
        default=None,
        min_length=1,
        max_length=500,
        description="Only changes of this reference",
        json_schema_extra=POSITIONAL,
    )
    limit: int = Field(default=50, ge=1, le=500, description="Changes per page")
    page: Page = 1


class ListedChange(Answer):
    """One change: the first ids that it wrote and removed, and how many there are.

    `can_undo` is false where one of its references says something else by now.
    """

    revision: int
    at: str
    # `carrel`, or whatever other program saved the file.
    origin: str
    written: list[str]
    written_count: int
    removed: list[str]
    removed_count: int
    can_undo: bool


class LibraryChanges(LibraryAnswer):
    """A page of changes, newest first."""

    total: int
    page: int
    limit: int
    changes: list[ListedChange]


class UndoLibraryChange(LibraryQuestion):
    revision: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="The change; without it the last one",
        json_schema_extra=POSITIONAL,
    )


class UndoneLibraryChange(LibraryAnswer):
    """The change that was undone; its references say again what they said before it.

    `missing_files` has files that they name and that are gone: undoing brings back no file.
    """

    revision: int
    at: str
    written: list[str]
    written_count: int
    removed: list[str]
    removed_count: int
    missing_files: list[MissingFile] = Field(default=[], exclude_if=lambda missing: not missing)
