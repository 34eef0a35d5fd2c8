"""Questions and answers of the references room."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from carrel.core.note_links import NoteLink
from carrel.core.operation import Answer, Question
from carrel.core.work_notices import WorkNotice
from carrel.rooms.references.cited_items import read_label

Page = Annotated[int, Field(ge=1, le=100_000, description="Page, from 1")]
Limit = Annotated[int, Field(ge=1, le=500, description="References per page")]
ReferenceId = Annotated[str, Field(min_length=1, max_length=500, description="Reference id")]


class LibraryQuestion(Question):
    """A question about a library: the caller's own, or a shared one that it names."""

    shared_library: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Shared library instead of your own",
        # Told by list_libraries; in every listed tool it would cost a model 80 bytes.
        json_schema_extra={"x-unlisted": True},
    )


# What is no text fails alone, with a code, and costs no other element; the schema asks for texts.
Element = Annotated[Any, WithJsonSchema({"type": "string"})]


class SearchReferences(LibraryQuestion):
    query: str = Field(min_length=1, max_length=500)
    limit: Limit = 50
    page: Page = 1


class ListReferences(LibraryQuestion):
    format: Literal["json", "bibtex", "pretty"] = "json"
    limit: Limit = 50
    page: Page = 1


class AddReferences(LibraryQuestion):
    input: (
        Annotated[str, Field(min_length=1)]
        | Annotated[list[Element], Field(min_length=1, max_length=1000)]
    ) = Field(
        description="DOI, PMID, PMCID, arXiv id, ISBN, paper_id, a bibliography as text, or a "
        "path to one; or a list of these"
    )


class RemoveReference(LibraryQuestion):
    id: ReferenceId
    force: bool = Field(default=False, description="Must be true")


class GetReference(LibraryQuestion):
    id: ReferenceId


class EditReference(LibraryQuestion):
    id: ReferenceId
    changes: dict[str, Any] = Field(
        description="CSL-JSON fields with their new values; null removes a field"
    )


class CitedReference(Question):
    """A reference with the place in it that is cited."""

    id: ReferenceId
    locator: str = Field(default="", max_length=100)
    label: Annotated[str, AfterValidator(read_label), Field(max_length=20)] = "page"


class CiteReferences(LibraryQuestion):
    ids: list[Annotated[str, Field(max_length=500)] | CitedReference] = Field(
        min_length=1,
        max_length=500,
        description="Reference ids, paper ids, DOIs or passage ids; with a place: doe2020, p. 5",
    )
    style: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="CSL style name; without it the server's default style",
    )
    format: Literal["text", "html"] = "text"
    kind: Literal["bibliography", "in_text"] = "bibliography"
    locale: str | None = Field(default=None, max_length=35, description="Such as de-DE")


class ListCitationStyles(Question):
    query: str = Field(
        min_length=1,
        max_length=200,
        description="Words of a style's name, title or field of science; * for all",
    )
    format: Literal["author-date", "author", "numeric", "label", "note"] | None = Field(
        default=None, description="How it cites in the text"
    )
    field: str | None = Field(
        default=None, max_length=60, description="Field of science, such as medicine"
    )
    parent: str | None = Field(
        default=None, max_length=200, description="Only other names of this style"
    )
    is_independent: bool | None = Field(
        default=None, description="True: no other names of styles; false: only those"
    )
    limit: int = Field(default=50, ge=1, le=500)
    page: Page = 1


# How many works an export can name one by one.
MAX_EXPORTED_IDS = 200


class ExportReferences(LibraryQuestion):
    format: Literal["csl-json", "bibtex", "biblatex", "ris"] = "bibtex"
    query: str | None = Field(
        default=None, max_length=500, description="Only references that match; all without it"
    )
    ids: list[Annotated[str, Field(max_length=500)]] = Field(
        default_factory=list, max_length=MAX_EXPORTED_IDS, description="Only these"
    )
    lossless: bool = Field(
        default=False,
        description="Also what the format cannot hold, for Carrel alone",
    )


class AttachFulltext(LibraryQuestion):
    id: ReferenceId
    path: str = Field(
        min_length=1, max_length=4096, description="PDF or Markdown file on the server's machine"
    )


class GetFulltext(LibraryQuestion):
    id: ReferenceId
    max_chars: int | None = Field(default=None, ge=1, le=1_000_000, description="All if absent")
    offset: int = Field(default=0, ge=0, description="Start at this character")


class DetachFulltext(LibraryQuestion):
    id: ReferenceId


class LibraryAnswer(Answer):
    """An answer about the library; `notices` tells once of merges with other programs' saves."""

    notices: list[str] = Field(default=[], exclude_if=lambda notices: not notices)


class AboutWorks(LibraryAnswer):
    """An answer about references; `work_notices` has retractions and corrections by their ids."""

    work_notices: dict[str, tuple[WorkNotice, ...]] = Field(
        default={}, exclude_if=lambda value: not value
    )


class ReferencePassage(Answer):
    """Where an attached text has what was asked for."""

    id: str
    reference: str
    section: str = Field(default="", exclude_if=lambda section: not section)
    page: int | None = Field(default=None, exclude_if=lambda page: page is None)
    text: str


class References(AboutWorks):
    """A page of references as CSL-JSON; `text` holds them instead where another format was asked
    for.
    """

    total: int
    page: int
    limit: int
    references: list[dict[str, Any]] | None = None
    text: str | None = None
    # Of a search: the best passage of each reference whose attached text has words of it.
    passages: list[ReferencePassage] = Field(default=[], exclude_if=lambda found: not found)
    # By the id of the reference: the newest notes that point at it and that the caller may see.
    notes: dict[str, tuple[NoteLink, ...]] = Field(default={}, exclude_if=lambda value: not value)


class Added(Answer):
    id: str
    title: str | None = None
    source: str
    line: int | None = None
    # The files that the entry named and that are attached now.
    attached: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)


class SkippedAsDuplicate(Answer):
    title: str | None = None
    duplicate_of: str
    by: str
    source: str
    line: int | None = None


class NotAdded(Answer):
    source: str
    line: int | None = None
    code: str
    reason: str


class Warned(Answer):
    source: str
    line: int | None = None
    message: str


class AddedReferences(AboutWorks):
    """What became of every element of the input. `pending` works are still looked up by the job
    `job_id`; `waiting` names them.
    """

    added: list[Added]
    skipped: list[SkippedAsDuplicate]
    failed: list[NotAdded]
    warnings: list[Warned]
    pending: int = 0
    waiting: list[str] = Field(default_factory=list)
    job_id: str | None = None
    next_step: str | None = None

    @classmethod
    def empty(cls) -> AddedReferences:
        return cls(added=[], skipped=[], failed=[], warnings=[])

    def extend(self, other: AddedReferences) -> None:
        """Add the outcomes of further elements."""
        self.added.extend(other.added)
        self.skipped.extend(other.skipped)
        self.failed.extend(other.failed)
        self.warnings.extend(other.warnings)


class OneReference(AboutWorks):
    reference: dict[str, Any]
    # The newest notes that point at it and that the caller may see.
    notes: tuple[NoteLink, ...] = Field(default=(), exclude_if=lambda value: not value)


class RemovedReference(LibraryAnswer):
    removed: dict[str, Any]


class Citation(Answer):
    id: str
    text: str


class Citations(AboutWorks):
    """The rendered text; for a bibliography each entry by its id, too."""

    style: str
    format: str
    kind: str
    text: str
    entries: list[Citation]


class FoundStyle(Answer):
    """A style by the name to cite with; `parent` is the style that it is another name of."""

    name: str
    title: str
    parent: str | None = Field(default=None, exclude_if=lambda parent: parent is None)
    format: str = Field(default="", exclude_if=lambda value: not value)
    fields: list[str] = Field(default=[], exclude_if=lambda value: not value)
    # How many styles are other names of this one.
    dependents: int = Field(default=0, exclude_if=lambda value: not value)


class FoundStyles(Answer):
    """A page of styles; `default` is used where none is named."""

    total: int
    page: int
    limit: int
    default: str
    styles: list[FoundStyle]


class AttachedFile(LibraryAnswer):
    id: str
    role: str
    path: str


class PdfPath(Answer):
    path: str


class Fulltext(LibraryAnswer):
    """A PDF by its path, Markdown by its text; `paper_id` where the text is that of a paper of the
    corpus, because nothing is attached.
    """

    text_field: ClassVar[str] = "markdown"

    id: str
    pdf: PdfPath | None = None
    markdown: str | None = None
    paper_id: str | None = Field(default=None, exclude_if=lambda paper_id: paper_id is None)
    notice: str | None = Field(default=None, exclude_if=lambda notice: notice is None)


class DetachedFiles(LibraryAnswer):
    id: str
    detached: list[str]
    deleted_files: list[str]
