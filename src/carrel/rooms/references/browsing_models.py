"""Questions and answers of the operations for people: the table, the editor and the history."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from carrel.core.operation import Answer, Question
from carrel.rooms.references.citation_runs import CitationRun
from carrel.rooms.references.items import ReadState
from carrel.rooms.references.models import LibraryAnswer, LibraryQuestion, ReferenceId

SortName = Literal["author", "title", "year", "added", "key", "relevance"]
# How many references one selection can name.
MAX_SELECTED = 200


class BrowsePlace(Question):
    """A place in a sorted library: the value that is sorted by, and the id of a reference."""

    value: str = Field(max_length=500)
    id: str = Field(max_length=500)


class BrowseReferences(LibraryQuestion):
    sort: SortName = Field(default="added", description="Order; relevance needs query")
    is_descending: bool = Field(default=False, description="The last first")
    query: str = Field(default="", max_length=500, description="Words as for search_references")
    type: str = Field(default="", max_length=60, description="Only this CSL type")
    first_year: int | None = Field(default=None, description="Not older than this year")
    last_year: int | None = Field(default=None, description="Not newer than this year")
    has_fulltext: bool | None = Field(default=None, description="With, or without, a full text")
    collection: str = Field(
        default="", max_length=200, description="Only this collection and those in it"
    )
    tag: str = Field(default="", max_length=200, description="Only this whole tag")
    read_state: ReadState | None = Field(default=None, description="Only so far read")
    after: BrowsePlace | None = Field(default=None, description="Rows after this place")
    before: BrowsePlace | None = Field(default=None, description="Rows before this place")
    position: int = Field(
        default=0, ge=0, le=10**7, description="Rows from this one, without after and before"
    )
    limit: int = Field(default=100, ge=1, le=500, description="Rows")


class BrowsedRow(Answer):
    """A reference as a line of a table."""

    id: str
    title: str
    authors: str
    year: int | None
    type: str
    venue: str
    added: str
    has_fulltext: bool
    read_state: ReadState = "unread"


class TypeCount(Answer):
    type: str
    count: int


class BrowsedReferences(LibraryAnswer):
    """Rows from `position` of `total`; `previous` and `next` are the places where others follow.

    `generation` changes with the library. With `is_partial` no reference has all the words.
    """

    total: int
    library_total: int
    position: int
    generation: int
    rows: list[BrowsedRow]
    types: list[TypeCount]
    previous: BrowsePlace | None = None
    next: BrowsePlace | None = None
    is_partial: bool = False


class SaveReference(LibraryQuestion):
    id: ReferenceId
    version: str = Field(min_length=1, max_length=64, description="The version that was edited")
    changes: dict[str, Any] = Field(
        description="CSL-JSON fields with their new values; null removes a field"
    )


class RemoveReferences(LibraryQuestion):
    ids: list[ReferenceId] = Field(min_length=1, max_length=MAX_SELECTED)
    force: bool = Field(default=False, description="Must be true")


class RemovedReferences(LibraryAnswer):
    """The ids that were removed, and those that were not there."""

    removed: list[str]
    missing: list[str]


class PreviewCitation(Question):
    item: dict[str, Any] = Field(description="A CSL-JSON item; it need not be in the library")
    style: str | None = Field(
        default=None, min_length=1, max_length=200, description="Style; unset: the usual one"
    )
    locale: str | None = Field(default=None, max_length=35, description="Language, such as de-DE")


class PreviewProblem(Answer):
    """A field that CSL-JSON does not allow; it is left out of the preview."""

    field: str
    expected: str
    found: str


class CitationPreview(Answer):
    style: str
    text: str
    runs: list[CitationRun]
    problems: list[PreviewProblem]


class ListReferenceVersions(LibraryQuestion):
    id: ReferenceId


class ReferenceVersion(Answer):
    """What a reference said from a revision on: absent, kept in `item`, or no longer kept."""

    revision: int
    # Empty where the change that made it is no longer known.
    at: str
    origin: str
    state: Literal["kept", "not kept", "absent"]
    item: dict[str, Any] | None = None


class ReferenceVersions(LibraryAnswer):
    """The versions of a reference, newest first; the first is the present one."""

    id: str
    versions: list[ReferenceVersion]


class RestoreReferences(LibraryQuestion):
    ids: list[ReferenceId] = Field(min_length=1, max_length=MAX_SELECTED)
    revision: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="What it said at this revision; without it before its last change"
    )


class RestoredReferences(LibraryAnswer):
    restored: list[str]


class OpenAttachment(LibraryQuestion):
    id: ReferenceId
