"""Questions and answers about the files of references."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from carrel.core.operation import Answer
from carrel.rooms.references.models import LibraryAnswer, LibraryQuestion, ReferenceId

FileName = Annotated[str, Field(min_length=1, max_length=400, description="Name of the file")]
Role = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z0-9_-]{0,39}$",
        description="fulltext, supplement, data, notes or another word; unset: fulltext for the "
        "first PDF or Markdown, else supplement",
    ),
]
Label = Annotated[str, Field(max_length=200, description="What it is, for people")]
Place = Annotated[
    str, Field(min_length=1, max_length=1000, description="Path below the attachments folder")
]


class ListAttachments(LibraryQuestion):
    id: ReferenceId


class AttachFile(LibraryQuestion):
    id: ReferenceId
    path: str | None = Field(
        default=None,
        min_length=1,
        max_length=4096,
        description="File on the server's machine; or content",
    )
    content: str | None = Field(
        default=None, description="The file itself as base64, with name; instead of path"
    )
    name: FileName | None = None
    role: Role | None = None
    label: Label = ""


class DetachFile(LibraryQuestion):
    id: ReferenceId
    name: FileName


class OpenAttachedFile(LibraryQuestion):
    id: ReferenceId
    name: FileName


class AttachmentRow(Answer):
    """A file of a reference; `is_missing` where the reference names it and it is not there."""

    name: str
    role: str
    label: str = ""
    media_type: str
    size_bytes: int | None = None
    is_missing: bool = False


class AttachmentList(LibraryAnswer):
    id: str
    files: list[AttachmentRow]


class AttachedOne(LibraryAnswer):
    id: str
    file: AttachmentRow


class DetachedOne(LibraryAnswer):
    """`was_deleted` is true for copies that attaching made; other files stay where they are."""

    id: str
    name: str
    was_deleted: bool


class FindOrphans(LibraryQuestion):
    limit: int = Field(default=200, ge=1, le=2000, description="Of each list")


class OrphanFile(Answer):
    """A file in the folder of attachments that no reference names."""

    file: str
    size_bytes: int
    media_type: str


class MissingFile(Answer):
    """A file that a reference names and that is gone."""

    id: str
    name: str


class Orphans(LibraryAnswer):
    """The first of each list, and how many there are."""

    folder: str
    orphan_total: int
    orphan_bytes: int
    orphans: list[OrphanFile]
    missing_total: int
    missing: list[MissingFile]


class AdoptOrphan(LibraryQuestion):
    file: Place
    id: ReferenceId
    role: Role | None = None
    label: Label = ""


class RemoveOrphans(LibraryQuestion):
    files: list[Place] = Field(min_length=1, max_length=2000)
    dry_run: bool = Field(default=True, description="Only say what would be deleted")


class RemovedOrphans(LibraryAnswer):
    """What was deleted, or with `dry_run` would be; `kept` says why others stay."""

    dry_run: bool
    removed: list[str]
    kept: dict[str, str]
    freed_bytes: int
