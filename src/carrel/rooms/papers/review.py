"""Reviewing a corpus: the papers with doubtful fields, most useful to correct first."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field

from carrel.core.answer import Explained, Explanation
from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Answer, Question
from carrel.core.paging import explain_past_end
from carrel.core.quoting import QuotedSource
from carrel.rooms.papers.building.doubts import Doubt, DoubtKind
from carrel.rooms.papers.building.paper_groups import Conflict
from carrel.rooms.papers.building.paper_records import OtherValue, PaperRecord, PossibleTwin
from carrel.rooms.papers.building.papers import shown_name
from carrel.rooms.papers.errors import NO_PAPERS_YET, ReviewNotAvailableError
from carrel.rooms.papers.models import Limit, Page
from carrel.rooms.papers.paper_names import MAX_NAME_CHARACTERS
from carrel.rooms.papers.resources import SCOPES

_EDIT = "carrel papers edit"
_MAX_COMMAND_VALUE = 200
_FULL_DATE = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?")
_YEAR = re.compile(r"[0-9]{4}")
# Options of `carrel papers edit`, by field.
_OPTIONS = {
    "title": "--title",
    "authors": "--author",
    "publication_date": "--date",
    "doi": "--doi",
    "arxiv_id": "--arxiv-id",
    "venue": "--venue",
    "volume": "--volume",
    "issue": "--issue",
    "pages": "--pages",
}
ReviewField = Literal[
    "paper",
    "title",
    "authors",
    "publication_date",
    "doi",
    "arxiv_id",
    "venue",
    "volume",
    "issue",
    "pages",
]


class ReviewPapers(Question):
    """Which doubtful papers."""

    limit: Limit = 20
    page: Page = 1
    paper_id: str | None = Field(
        default=None, max_length=MAX_NAME_CHARACTERS, description="Only the paper of this id"
    )
    field: ReviewField | None = Field(default=None, description="Only doubts about this field")
    kind: DoubtKind | None = Field(
        default=None,
        description="Only twin (another paper may be the same work), guess (no source states it), "
        "differs (sources disagree), unsure (read from the page), identifier (another paper has it "
        "too) or missing",
    )


class OtherSourceValue(Answer):
    """What another source says."""

    value: str
    origin: str
    confidence: float


class DoubtfulField(Answer):
    """One field to look at: its value, where that comes from, and what other sources say.

    `command` sets it to the value that is shown; put the right one in its place.
    """

    field: str
    kind: DoubtKind
    value: str | None
    origin: str | None
    confidence: float | None
    alternatives: list[OtherSourceValue] = Field(exclude_if=lambda value: not value)
    note: Annotated[str | None, Field(exclude_if=lambda value: value is None)] = None
    command: str


class DoubtfulPaper(Answer):
    """A paper with doubtful fields, and the names of the files it was read from."""

    paper_id: str
    title: str
    sources: list[str]
    fields: list[DoubtfulField]
    # How many papers the list has in all.
    total: int


@dataclass(frozen=True, slots=True)
class PaperInDoubt:
    """A stored paper and its doubts, the greatest first."""

    paper_id: str
    record: PaperRecord
    conflicts: tuple[Conflict, ...]
    sources: tuple[str, ...]
    doubts: tuple[Doubt, ...]
    twins: tuple[PossibleTwin, ...] = ()


@dataclass(frozen=True, slots=True)
class DoubtsPage:
    """Some of the papers in doubt, and how many there are."""

    papers: tuple[PaperInDoubt, ...]
    total: int


class ReviewList(Protocol):
    """The papers in doubt of a corpus."""

    async def list_ids(self, *, first: int, count: int) -> list[str]:
        """Ids of `count` papers after the `first`."""
        ...

    async def papers_in_doubt(
        self,
        kind: DoubtKind | None,
        field: str | None,
        *,
        first: int,
        count: int,
        paper_id: str | None = None,
    ) -> DoubtsPage | None:
        """`count` papers after the `first`, most useful to correct first, or of them the one that
        is named; None where the corpus does not say what is doubtful.
        """
        ...


def _listed_papers(
    arguments: Mapping[str, Any], answer: list[DoubtfulPaper], caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("paper", paper.paper_id, paper.title) for paper in answer]


class ReviewOperations:
    """Lists what a person should look at."""

    def __init__(self, papers: ReviewList) -> None:
        self._papers = papers

    @operation(
        title="Review papers",
        description=(
            "Papers with doubtful fields, most useful to correct first: guesses, sources that "
            "disagree, identifiers claimed twice. Each with values, origins and the command that "
            "settles it."
        ),
        scopes=SCOPES,
        quotes=_listed_papers,
        command="review",
        is_listed=False,
        next_command="carrel papers edit PAPER_ID --title … settles one.",
        phrases=(
            "which papers have doubtful metadata; review guessed titles and authors; what is "
            "uncertain in the corpus; papers whose sources disagree; check the records of the "
            "corpus; metadata to correct; which fields were guessed; wrong or missing authors in "
            "the papers; papers without a DOI; papers that lack an abstract, a year or authors; "
            "records to check by hand; likely duplicates among the papers; find duplicate papers; "
            "possible duplicates; what is missing in my papers; papers with incomplete metadata"
        ),
    )
    async def review_papers(
        self, question: ReviewPapers, call: Call
    ) -> list[DoubtfulPaper] | Explained:
        first = (question.page - 1) * question.limit
        found = await self._papers.papers_in_doubt(
            question.kind,
            question.field,
            first=first,
            count=question.limit,
            paper_id=question.paper_id,
        )
        if found is None:
            raise ReviewNotAvailableError
        papers = [_describe_paper(paper, question, found.total) for paper in found.papers]
        if papers:
            return papers
        if found.total:
            past = explain_past_end(question.page, question.limit, found.total, "papers")
            return Explained([], past)
        has_papers = bool(await self._papers.list_ids(first=0, count=1))
        nothing = (
            "Nothing of that kind is doubtful in this corpus." if has_papers else (NO_PAPERS_YET)
        )
        return Explained([], Explanation(message=nothing))


def _describe_paper(paper: PaperInDoubt, asked: ReviewPapers, total: int) -> DoubtfulPaper:
    shown = [
        _describe_field(paper, doubt)
        for doubt in paper.doubts
        if (asked.field is None or doubt.field == asked.field)
        and (asked.kind is None or doubt.kind == asked.kind)
    ]
    return DoubtfulPaper(
        paper_id=paper.paper_id,
        title=paper.record.title,
        sources=list(paper.sources),
        fields=shown,
        total=total,
    )


def _describe_twins(paper: PaperInDoubt, doubt: Doubt) -> DoubtfulField:
    """The papers that may be the same work; merging joins them, and nothing else settles it."""
    others = [twin.paper_id for twin in paper.twins]
    return DoubtfulField(
        field=doubt.field,
        kind=doubt.kind,
        value="; ".join(others),
        origin=None,
        confidence=None,
        alternatives=[],
        note="; ".join(f"{twin.source}: {twin.reason}" for twin in paper.twins),
        command=" ".join(["carrel papers merge", paper.paper_id, *others]),
    )


def _describe_field(paper: PaperInDoubt, doubt: Doubt) -> DoubtfulField:
    if doubt.kind == "twin":
        return _describe_twins(paper, doubt)
    value = _shown_value(getattr(paper.record, doubt.field))
    origin = paper.record.origin_of(doubt.field)
    others = [each for each in paper.record.other_values if each.field == doubt.field]
    return DoubtfulField(
        field=shown_name(doubt.field),
        kind=doubt.kind,
        value=value,
        origin=origin.origin if value else None,
        confidence=round(origin.confidence, 2) if value else None,
        alternatives=[_describe_other(each) for each in others],
        note=_conflict_note(paper, doubt),
        command=edit_command(paper.paper_id, doubt.field, getattr(paper.record, doubt.field)),
    )


def _describe_other(other: OtherValue) -> OtherSourceValue:
    return OtherSourceValue(
        value=other.value, origin=other.origin, confidence=round(other.confidence, 2)
    )


def _conflict_note(paper: PaperInDoubt, doubt: Doubt) -> str | None:
    """Who else claims the identifier, by file names alone: paths of the machine are not shown."""
    if doubt.kind != "identifier":
        return None
    return "; ".join(
        f"{_file_name(each.source)} claims {each.key}, which {_file_name(each.other_source)} has "
        f"for another work"
        for each in paper.conflicts
    )


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _shown_value(value: object) -> str | None:
    if isinstance(value, tuple):
        return "; ".join(value) or None
    return str(value) if value else None


def edit_command(paper_id: str, field: str, value: object) -> str:
    """The command that sets a field, with the present value as what to change."""
    values = value if isinstance(value, tuple) else (value,)
    option = _OPTIONS[field]
    if field == "publication_date" and not _FULL_DATE.fullmatch(str(value)):
        option, values = "--year", (value if _YEAR.fullmatch(str(value)) else None,)
    if sum(len(str(each)) for each in values) > _MAX_COMMAND_VALUE:
        values = (None,)
    given = (shlex.quote(str(each)) if each else "…" for each in values or (None,))
    return " ".join([_EDIT, paper_id, *(f"{option} {each}" for each in given)])
