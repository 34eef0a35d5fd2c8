"""Questions and answers about the keys of references."""

from __future__ import annotations

from pydantic import Field

from carrel.core.operation import Answer
from carrel.rooms.references.models import LibraryAnswer, LibraryQuestion, ReferenceId

MAX_SHOWN = 500


class RenameReference(LibraryQuestion):
    id: ReferenceId
    new_id: ReferenceId


class RenamedReference(LibraryAnswer):
    """`former_ids` still find the reference."""

    id: str
    former_ids: list[str]


class RenameKeys(LibraryQuestion):
    pattern: str = Field(
        default="",
        max_length=200,
        description="Such as {author}-{year}; unset: references.key_pattern",
    )
    query: str = Field(
        default="", max_length=500, description="Only references that match; all without it"
    )
    dry_run: bool = Field(default=True, description="Only say what would be renamed")


class KeyChange(Answer):
    id: str
    new_id: str


class RenamedKeys(LibraryAnswer):
    """The keys that change, or with `dry_run` would: `total` of them, of which the first."""

    dry_run: bool
    pattern: str
    total: int
    unchanged: int
    changes: list[KeyChange]
