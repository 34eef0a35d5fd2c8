"""Questions and answers about retractions and corrections."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from carrel.core.operation import Answer, Question
from carrel.core.work_notices import WorkNotice
from carrel.rooms.literature.errors import FailureKind
from carrel.rooms.literature.models import SentOut

MAX_DRAFT_CHARACTERS = 1_000_000


class CheckRetractions(Question):
    """Which works to check: those of the corpus, of the library, or those that a draft cites."""

    scope: Literal["corpus", "library", "draft"] = "library"
    text: Annotated[
        str,
        Field(
            max_length=MAX_DRAFT_CHARACTERS,
            description="A draft with DOIs, PMIDs or citation keys, for scope draft",
        ),
    ] = ""
    outside: bool = Field(
        default=False, description="Also ask Crossref, PubMed, OpenAlex and Europe PMC"
    )
    limit: int = Field(default=100, ge=1, le=1000, description="Works listed")

    @model_validator(mode="after")
    def _has_text(self) -> CheckRetractions:
        if (self.scope == "draft") != bool(self.text.strip()):
            raise ValueError("text is for scope draft, which needs it")
        return self


class NoticedWork(Answer):
    """A work with notices; `id` is its paper_id, the reference's id, or as a draft cites it."""

    where: Literal["corpus", "library", "draft"]
    id: str
    title: str = ""
    doi: str | None = Field(default=None, exclude_if=lambda value: value is None)
    notices: list[WorkNotice]


class NoticeCoverage(Answer):
    """What became of the question at one service; `works` is how many it was asked about."""

    service: str
    state: Literal["answered", "failed", "not_asked"]
    works: int = 0
    failure: FailureKind | None = Field(default=None, exclude_if=lambda value: value is None)
    reason: str = Field(default="", exclude_if=lambda value: not value)
    sent: list[SentOut] = Field(default=[], exclude_if=lambda value: not value)


class RetractionsChecked(Answer):
    """The works with notices, the gravest first, and what could be checked.

    `unchecked` counts works without a DOI or PMID; `unknown` are citation keys of the draft that
    the library does not have.
    """

    message: str
    checked: int
    unchecked: int = 0
    retracted: int = 0
    works: list[NoticedWork]
    left_out: int = Field(default=0, exclude_if=lambda value: not value)
    unknown: list[str] = Field(default=[], exclude_if=lambda value: not value)
    table_loaded_at: str | None = Field(default=None, exclude_if=lambda value: value is None)
    table_records: int | None = Field(default=None, exclude_if=lambda value: value is None)
    coverage: list[NoticeCoverage] = Field(default=[], exclude_if=lambda value: not value)
