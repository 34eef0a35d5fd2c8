"""What may be corrected of a paper, and what the papers room answers about corrections."""

from __future__ import annotations

import re
from datetime import date as calendar_date
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from carrel.core.operation import Answer, Question
from carrel.libraries.identifiers import ArxivId, Doi, Isbn, NotAnIdentifierError, Pmid
from carrel.libraries.text.control_characters import remove_controls
from carrel.rooms.papers.models import PaperId

MAX_MERGED = 50
MAX_RECORDS = 200
_MAX_LIST = 5_000
_FIRST_YEAR, _LAST_YEAR = 1500, 2099
_DATE = re.compile(r"(1[5-9]\d\d|20\d\d)(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
_ISSN = re.compile(r"[0-9]{4}-[0-9]{3}[0-9Xx]")
_KIND = re.compile(r"[a-z][a-z_-]{1,39}")
_URL = re.compile(r"https?://[^\s<>\"]+")

CorrectionAction = Literal["edit", "merge", "split", "remove", "undo"]
FieldName = Literal[
    "title", "authors", "editors", "year", "date", "venue", "volume", "issue", "pages",
    "publisher", "doi", "arxiv_id", "pmid", "pmcid", "isbn", "issn", "url", "abstract",
    "keywords", "tags", "institutions", "type", "language", "license",
]  # fmt: skip
# The fields of a record behind the names that answers show.
RECORD_FIELDS = {"type": "kind", "year": "publication_date", "date": "publication_date"}


def _check_line(text: str) -> str:
    line = " ".join(remove_controls(text).split())
    if not line:
        raise ValueError("is empty; name the field in `clear` to make it unknown")
    return line


def _check_text(text: str) -> str:
    cleaned = remove_controls(text).strip()
    if not cleaned:
        raise ValueError("is empty; name the field in `clear` to make it unknown")
    return cleaned


def _refuse_empty_list(value: object) -> object:
    if isinstance(value, list) and not value:
        raise ValueError("is empty; name the field in `clear` to make it unknown")
    return value


def _check_date(text: str) -> str:
    """No 30th of February."""
    try:
        calendar_date.fromisoformat(f"{text}-01-01"[:10] if len(text) < 10 else text)
    except ValueError as error:
        raise ValueError("is no day of the calendar") from error
    return text


def _check_isbn(text: str) -> str:
    try:
        Isbn.parse(text)
    except NotAnIdentifierError as error:
        raise ValueError("is not an ISBN: its check digit does not hold") from error
    return text.strip()


def _check_doi(text: str) -> str:
    try:
        return Doi.parse(text).value
    except NotAnIdentifierError as error:
        raise ValueError("is not a DOI such as 10.7554/eLife.00031") from error


def _check_arxiv_id(text: str) -> str:
    try:
        return ArxivId.parse(text).value
    except NotAnIdentifierError as error:
        raise ValueError("is not an arXiv id such as 1706.03762") from error


def _check_pmid(text: str) -> str:
    try:
        return Pmid.parse(text).value
    except NotAnIdentifierError as error:
        raise ValueError("is not a PubMed number") from error


def _check_form(pattern: re.Pattern[str], example: str) -> AfterValidator:
    def check(text: str) -> str:
        if not pattern.fullmatch(text.strip()):
            raise ValueError(f"must look like {example}")
        return text.strip()

    return AfterValidator(check)


_Line = Annotated[str, Field(max_length=1_000), AfterValidator(_check_line)]
_Short = Annotated[str, Field(max_length=100), AfterValidator(_check_line)]
_Lines = Annotated[
    list[_Line], Field(min_length=1, max_length=_MAX_LIST), BeforeValidator(_refuse_empty_list)
]
_RecordName = Annotated[int, Field(ge=1)] | Annotated[str, Field(max_length=300)]
_LongText = Annotated[str, Field(max_length=50_000), AfterValidator(_check_text)]
_Date = Annotated[
    str,
    Field(max_length=10),
    _check_form(_DATE, "2021-03 or 2021-03-09"),
    AfterValidator(_check_date),
]
_Isbn = Annotated[str, Field(max_length=100), AfterValidator(_check_isbn)]
_Issn = Annotated[str, Field(max_length=9), _check_form(_ISSN, "2050-084X")]
_Doi = Annotated[str, Field(max_length=300), AfterValidator(_check_doi)]
_ArxivId = Annotated[str, Field(max_length=300), AfterValidator(_check_arxiv_id)]
_Pmid = Annotated[str, Field(max_length=100), AfterValidator(_check_pmid)]
_Url = Annotated[str, Field(max_length=2_000), _check_form(_URL, "https://example.org/paper")]
_CslType = Annotated[
    str, Field(max_length=40, description="CSL type"), _check_form(_KIND, "article-journal")
]


class EditPaper(Question):
    """One correction; which fields it needs depends on the action."""

    action: CorrectionAction
    paper_id: Annotated[
        PaperId | None, Field(description="All but undo by number; of a merge, whose id stays")
    ] = None
    title: _Line | None = None
    authors: _Lines | None = None
    editors: _Lines | None = None
    year: Annotated[int | None, Field(ge=_FIRST_YEAR, le=_LAST_YEAR)] = None
    date: _Date | None = None
    venue: _Line | None = None
    volume: _Short | None = None
    issue: _Short | None = None
    pages: _Short | None = None
    publisher: _Line | None = None
    doi: _Doi | None = None
    arxiv_id: _ArxivId | None = None
    pmid: _Pmid | None = None
    pmcid: _Short | None = None
    isbn: _Isbn | None = None
    issn: _Issn | None = None
    url: _Url | None = None
    abstract: _LongText | None = None
    keywords: Annotated[_Lines | None, Field(description="All of them: replaces the old ones")] = (
        None
    )
    tags: Annotated[_Lines | None, Field(description="All of them: replaces the old ones")] = None
    institutions: _Lines | None = None
    type: _CslType | None = None
    language: _Short | None = None
    license: _Line | None = None
    clear: Annotated[
        list[FieldName],
        Field(
            default_factory=list,
            max_length=len(get_args(FieldName)),
            description="Fields to make unknown, whatever a source says",
        ),
    ]
    papers: Annotated[
        list[PaperId],
        Field(
            default_factory=list,
            max_length=MAX_MERGED,
            description="merge: these become part of it",
        ),
    ]
    records: Annotated[
        list[_RecordName],
        Field(
            default_factory=list,
            max_length=MAX_RECORDS,
            description="split: numbers or sources (paper_history) of what is another paper; "
            "none: each its own",
        ),
    ]
    number: Annotated[
        int | None, Field(ge=1, description="undo: a decision; else the paper's last")
    ] = None
    expected_version: Annotated[
        str | None, Field(max_length=64, description="Refuse if the paper has another by now")
    ] = None
    dry_run: Annotated[bool, Field(description="Only say what would change")] = False

    @model_validator(mode="after")
    def _fits_its_action(self) -> EditPaper:
        given = {*self.set_fields(), *self.clear}
        if self.action != "undo" and self.paper_id is None:
            raise ValueError("paper_id is required")
        needed: dict[str, tuple[str, object]] = {
            "edit": ("a field to set, or one in `clear`", given),
            "merge": ("`papers`, those that become part of paper_id", self.papers),
            "split": ("`records`", self.records),
            "undo": ("a number", self.number),
        }
        for action, (what, value) in needed.items():
            if value and action != self.action:
                raise ValueError(f"{self.action} does not take {what}: {action} does")
            if not value and action == self.action and action in {"edit", "merge"}:
                raise ValueError(f"{action} needs {what}")
        self._check_fields()
        return self

    def _check_fields(self) -> None:
        if "title" in self.clear:
            raise ValueError("a paper needs a title: set another one")
        cleared = {RECORD_FIELDS.get(name, name) for name in self.clear}
        if twice := cleared.intersection(self.set_fields()):
            raise ValueError(f"set and cleared at once: {', '.join(sorted(twice))}")
        if self.year is not None and self.date and not self.date.startswith(str(self.year)):
            raise ValueError("year and date differ")

    def given_names(self) -> dict[str, str]:
        """The names that the caller used, by the names of a record's fields."""
        given = [name for name in get_args(FieldName) if getattr(self, name) is not None]
        return {RECORD_FIELDS.get(name, name): name for name in (*given, *self.clear)}

    def set_fields(self) -> dict[str, str | tuple[str, ...]]:
        """The values to set, by the names of a record's fields."""
        found: dict[str, str | tuple[str, ...]] = {}
        for name in get_args(FieldName):
            value = getattr(self, name)
            if value is not None:
                record_field = RECORD_FIELDS.get(name, name)
                found[record_field] = tuple(value) if isinstance(value, list) else str(value)
        return found


class ShownChange(Answer):
    """A field before and after; null is unknown."""

    field: str
    before: str | list[str] | None
    after: str | list[str] | None
    # The name under which the caller set it, where that is another.
    set_as: str | None = Field(default=None, exclude_if=lambda value: value is None)


class CorrectedPaper(Answer):
    """A paper as it is after a correction; `sources` name the files that it is made of."""

    paper_id: str
    title: str
    year: str
    version: str
    sources: list[str]


class PaperCorrected(Answer):
    """What a correction did, or with dry_run would do. `decision` is the number to undo it by.

    `hidden_texts` are sources of a merged paper whose texts it does not show.
    """

    action: str
    message: str
    decision: int | None
    dry_run: bool
    papers: list[CorrectedPaper]
    changes: list[ShownChange] = Field(default=[], exclude_if=lambda value: not value)
    hidden_texts: list[str] = Field(default=[], exclude_if=lambda value: not value)
    next_step: str


class PaperHistoryOf(Question):
    """Of one paper, or of the whole corpus."""

    paper_id: Annotated[PaperId | None, Field(description="All papers without it")] = None
    action: Annotated[
        Literal["edit", "merge", "split", "remove", "undo", "join"] | None,
        Field(description="split: what is never to be one paper again"),
    ] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    page: Annotated[int, Field(ge=1, le=1_000)] = 1


class HistoryRecord(Answer):
    """One source's record of the paper; `shares` are the keys it has with records above it."""

    number: int
    source: str
    title: str
    year: str
    doi: str | None
    shares: list[str]


class ShownJoin(Answer):
    """Why two sources are one paper though no identifier says so; undone by a split."""

    source: str
    other_source: str
    rule: str
    score: float
    reason: str


class ShownDecision(Answer):
    """A decision; one that is undone counts no more."""

    number: int
    at: str
    who: str
    action: str
    message: str
    paper_ids: list[str]
    changes: list[ShownChange] = Field(default=[], exclude_if=lambda value: not value)
    undoes: int | None = Field(default=None, exclude_if=lambda value: value is None)
    undone_by: int | None = Field(default=None, exclude_if=lambda value: value is None)


class PaperHistory(Answer):
    """What a paper is made of and what was decided about it, newest first.

    `version` goes into expected_version of edit_paper; null where the paper was removed.
    """

    paper_id: str | None
    title: str | None
    version: str | None
    is_removed: bool
    former_ids: list[str]
    records: list[HistoryRecord]
    joins: list[ShownJoin] = Field(default=[], exclude_if=lambda value: not value)
    decisions: list[ShownDecision]
    total: int
