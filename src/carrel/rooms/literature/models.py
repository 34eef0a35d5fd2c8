"""What the literature room is asked and what it answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from carrel.core.operation import Answer, Question
from carrel.core.work_notices import WorkNotice
from carrel.rooms.literature.errors import FailureKind
from carrel.rooms.literature.ports import SearchOrder

MAX_QUERY_CHARACTERS = 500
MAX_PAGE_SIZE = 100
# Merged works that can be paged through; services are asked no deeper.
MAX_DEPTH = 200
MAX_SERVICES = 12
MAX_IDENTIFIER_CHARACTERS = 2_000


def _says_nothing(value: object) -> bool:
    return value is None or value is False or value in ("", [], {})


def _optional(default: Any = None, description: str | None = None) -> Any:
    """A field of an answer that is left out where it says nothing."""
    if isinstance(default, list | dict):
        make: Any = type(default)
        return Field(default_factory=make, exclude_if=_says_nothing, description=description)
    return Field(default=default, exclude_if=_says_nothing, description=description)


def _as_list(value: object) -> object:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


class SearchLiterature(Question):
    """One question for several literature services."""

    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARACTERS)
    limit: Annotated[
        int, Field(ge=1, le=MAX_PAGE_SIZE, validation_alias=AliasChoices("limit", "page_size"))
    ] = 10
    page: Annotated[int, Field(ge=1, description=f"page × limit ≤ {MAX_DEPTH}")] = 1
    services: Annotated[
        list[str],
        BeforeValidator(_as_list),
        Field(max_length=MAX_SERVICES, description="Only these: openalex, dblp …"),
    ] = Field(default_factory=list)
    order: SearchOrder = "relevance"
    include_preprints: bool = True
    # Which service gave each field; get_work tells it of one work.
    origins: bool = False


class SentOut(Answer):
    """A request as it left this machine, without keys and contact address.

    From the cache or a recording nothing left; `answered_at` is then the time of the first answer.
    """

    method: str
    url: str
    answered_by: Literal["service", "cache", "recording"] = "service"
    answered_at: str = _optional("")


class ServiceCoverage(Answer):
    """What became of the question at one service.

    `total` is what the service says it has, `new` counts works that no other service found. What it
    could not express (`not_expressed`) was checked here, as far as its records say enough.
    """

    service: str
    state: Literal["answered", "failed", "not_asked"]
    failure: FailureKind | None = _optional()
    reason: str = _optional("")
    query: str = _optional("", "In the service's own language")
    not_expressed: list[str] = _optional([])
    total: int | None = _optional()
    returned: int | None = _optional()
    new: int | None = _optional()
    is_complete: bool = _optional(False, "Whether no match was left out")
    cost_usd: float | None = _optional()
    budget_left_usd: float | None = _optional()
    requests_left: int | None = _optional()
    resets_in_seconds: float | None = _optional()
    retry_after_seconds: float | None = _optional()
    sent: list[SentOut] = _optional([])
    remarks: list[str] = _optional([])


class WorkVersion(Answer):
    """Another version of a work, which stays a work of its own; `origin` says who links them."""

    relation: Literal["preprint", "published_version", "other_version"] = Field(
        description="What the other one is to this work"
    )
    id: str
    title: str = _optional("")
    origin: str
    in_corpus: str | None = _optional()
    in_library: str | None = _optional()


class FoundWork(Answer):
    """One work, merged from the records of the services in `found_by`, each with its rank there.

    `in_corpus` is its paper_id, `in_library` its reference id, where the desk has it. `unchecked`
    are parts of the query that neither a service nor the record decides.
    """

    id: str = Field(description="For get_work, add_works and find_fulltext")
    title: str
    authors: list[str] = _optional([], "The first few of author_count")
    author_count: int = 0
    year: int | None = None
    venue: str = _optional("")
    kind: str | None = _optional()
    ids: dict[str, str]
    snippet_markdown: str = _optional("", "Of the abstract")
    is_retracted: bool = _optional(False)
    notices: list[WorkNotice] = _optional([])
    in_corpus: str | None = _optional()
    in_library: str | None = _optional()
    open_access: str | None = _optional()
    licence: str | None = _optional()
    citations: dict[str, int] = _optional({}, "As each service counts them")
    versions: list[WorkVersion] = _optional([])
    found_by: dict[str, int | None]
    copy_of: str | None = _optional(None, "It looks like a false copy of this work")
    unchecked: list[str] = _optional([])
    conflicts: list[str] = _optional([])
    origins: dict[str, str] = _optional({})


class FoundLiterature(Answer):
    """The works found, best first, and what became of the question at each service.

    `nothing_found` only where every service that was asked answered; with some that failed and no
    work it is `not_known`. `total` counts the merged works that can be paged through.
    """

    message: str
    outcome: Literal["found", "nothing_found", "not_known"]
    total: int
    page: int
    limit: int
    works: list[FoundWork]
    coverage: list[ServiceCoverage]
    notices: list[str] = _optional([])


Identifier = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_IDENTIFIER_CHARACTERS,
        description="DOI, PMID, PMCID, arXiv id, ISBN, OpenAlex or Semantic Scholar id, or the "
        "id of a found work",
    ),
]


class GetWork(Question):
    """One work by any identifier."""

    identifier: Annotated[
        Identifier, Field(validation_alias=AliasChoices("identifier", "id", "doi"))
    ]


class WorkAuthor(Answer):
    """A person, or a group with `name` alone."""

    name: str
    orcid: str | None = _optional()


class WorkLocation(Answer):
    """A place where the text may be had, as `service` says."""

    url: str
    format: str
    version: str | None = _optional()
    licence: str | None = _optional()
    host: str | None = _optional()
    service: str


class RecordOfService(Answer):
    """A record that the work was merged from."""

    service: str
    id: str
    title: str


class WholeWork(Answer):
    """One work, field by field, with the service that each field came from in `origins`."""

    id: str
    ids: dict[str, str]
    title: str
    abstract: str = _optional("")
    authors: list[WorkAuthor] = _optional([])
    is_authors_cut: bool = _optional(False)
    issued: str | None = _optional()
    year: int | None = None
    kind: str | None = _optional()
    venue: str = _optional("")
    venue_abbreviation: str = _optional("")
    issn: list[str] = _optional([])
    publisher: str = _optional("")
    volume: str = _optional("")
    issue: str = _optional("")
    pages: str = _optional("")
    language: str | None = _optional()
    keywords: list[str] = _optional([])
    subjects: list[str] = _optional([])
    institutions: list[str] = _optional([])
    open_access: str | None = _optional()
    licence: str | None = _optional()
    locations: list[WorkLocation] = _optional([])
    is_retracted: bool = False
    notices: list[WorkNotice] = _optional([])
    versions: list[WorkVersion] = _optional([])
    citations: dict[str, int] = _optional({}, "As each service counts them")
    reference_count: int | None = _optional()
    in_corpus: str | None = _optional()
    in_library: str | None = _optional()
    copy_of: str | None = _optional(None, "It looks like a false copy of this work")
    conflicts: list[str] = _optional([])
    origins: dict[str, str] = _optional({})
    records: list[RecordOfService]
    message: str
    coverage: list[ServiceCoverage]
