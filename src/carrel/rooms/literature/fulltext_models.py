"""What is asked about full texts, and what is answered."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AliasChoices, Field

from carrel.core.operation import Answer, Question
from carrel.rooms.literature.fulltext_ports import PlaceOutcome
from carrel.rooms.literature.models import Identifier, ServiceCoverage

DEFAULT_CHARACTERS = 20_000
WantedFormat = Literal["any", "jats", "html", "tex", "pdf"]


class FindFulltext(Question):
    """Whose text, in which format, which part of it, and whether the corpus shall have it."""

    identifier: Annotated[
        Identifier,
        Field(
            validation_alias=AliasChoices("identifier", "id", "doi"),
            description="DOI, PMID, PMCID or arXiv id",
        ),
    ]
    format: WantedFormat = "any"
    add_to_corpus: bool = Field(default=False, description="Needs papers:write")
    max_chars: Annotated[int, Field(ge=1, le=1_000_000)] = DEFAULT_CHARACTERS
    offset: Annotated[int, Field(ge=0)] = 0


class TriedPlace(Answer):
    """A place where the text may be had, who named it, and what became of it."""

    url: str
    format: str
    version: str | None = Field(default=None, exclude_if=lambda value: value is None)
    licence: str | None = Field(default=None, exclude_if=lambda value: value is None)
    named_by: list[str] = Field(default_factory=list, exclude_if=lambda value: not value)
    outcome: PlaceOutcome
    reason: str = Field(default="", exclude_if=lambda value: not value)


class TextSource(Answer):
    """The file that the text was read from."""

    url: str
    format: str
    version: str | None = None
    licence: str | None = None
    sha256: str
    size_bytes: int
    retrieved_at: str
    service: str = Field(default="", exclude_if=lambda value: not value)


class TextInCorpus(Answer):
    """The paper that the text became; `is_new` is false where the corpus had it before."""

    paper_id: str
    is_new: bool
    notes: list[str] = Field(default_factory=list, exclude_if=lambda value: not value)
    job_id: str | None = Field(default=None, exclude_if=lambda value: value is None)
    next_step: str = Field(default="", exclude_if=lambda value: not value)


class FullText(Answer):
    """The open text of a work, or why there is none here.

    `no_open_text`: every service answered, and no place with the text is known. `not_had`: places
    are known, and none gave it. `not_known`: services failed, so there may be more places. `places`
    are in the order in which they are tried.
    """

    identifier: str
    title: str
    message: str
    outcome: Literal["found", "no_open_text", "not_had", "not_known"]
    text_markdown: str = Field(default="", exclude_if=lambda value: not value)
    total_chars: int = Field(default=0, exclude_if=lambda value: not value)
    next_offset: int | None = Field(default=None, exclude_if=lambda value: value is None)
    source: TextSource | None = Field(default=None, exclude_if=lambda value: value is None)
    in_corpus: TextInCorpus | None = Field(default=None, exclude_if=lambda value: value is None)
    remarks: list[str] = Field(default_factory=list, exclude_if=lambda value: not value)
    places: list[TriedPlace]
    coverage: list[ServiceCoverage]
