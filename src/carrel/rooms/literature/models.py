"""What the literature room is asked and what it answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from carrel.core.operation import Answer, Question
from carrel.rooms.literature.errors import FailureKind
from carrel.rooms.literature.ports import SearchOrder

MAX_QUERY_CHARACTERS = 500
MAX_PAGE_SIZE = 100
# Merged works that can be paged through; services are asked no deeper.
MAX_DEPTH = 200
MAX_SERVICES = 12


def _as_list(value: object) -> object:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


class SearchLiterature(Question):
    """One question for several literature services."""

    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARACTERS)
    limit: Annotated[
        int, Field(ge=1, le=MAX_PAGE_SIZE, validation_alias=AliasChoices("limit", "page_size"))
    ] = 10
    page: Annotated[int, Field(ge=1, description=f"From 1; page × limit ≤ {MAX_DEPTH}")] = 1
    services: Annotated[
        list[str],
        BeforeValidator(_as_list),
        Field(max_length=MAX_SERVICES, description="Only these: openalex, crossref, pubmed, …"),
    ] = Field(default_factory=list)
    order: SearchOrder = "relevance"
    include_preprints: bool = True
    origins: bool = Field(default=False, description="Which service gave each field")


class SentOut(Answer):
    """A request as it left this machine, without keys and contact address."""

    method: str = "GET"
    url: str
    answered_by: Literal["service", "cache", "recording"] = "service"
    answered_at: str = Field(default="", exclude_if=lambda value: not value)


class ServiceCoverage(Answer):
    """What became of the question at one service.

    `new` counts works of the answer that no other service found. `total` is what the service says
    it has. What a service could not express was applied here where that can be decided.
    """

    service: str
    state: Literal["answered", "failed", "not_asked"]
    failure: FailureKind | None = Field(default=None, exclude_if=lambda value: value is None)
    reason: str = Field(default="", exclude_if=lambda value: not value)
    query: str = Field(default="", exclude_if=lambda value: not value)
    not_expressed: list[str] = Field(default=[], exclude_if=lambda value: not value)
    total: int | None = Field(default=None, exclude_if=lambda value: value is None)
    returned: int | None = Field(default=None, exclude_if=lambda value: value is None)
    new: int | None = Field(default=None, exclude_if=lambda value: value is None)
    is_complete: bool = Field(default=False, exclude_if=lambda value: not value)
    cost_usd: float | None = Field(default=None, exclude_if=lambda value: value is None)
    budget_left_usd: float | None = Field(default=None, exclude_if=lambda value: value is None)
    requests_left: int | None = Field(default=None, exclude_if=lambda value: value is None)
    resets_in_seconds: float | None = Field(default=None, exclude_if=lambda value: value is None)
    retry_after_seconds: float | None = Field(default=None, exclude_if=lambda value: value is None)
    sent: list[SentOut] = Field(default=[], exclude_if=lambda value: not value)
    remarks: list[str] = Field(default=[], exclude_if=lambda value: not value)


class FoundWork(Answer):
    """One work, merged from the records of the services in `found_by`, each with its rank."""

    title: str
    authors: list[str] = Field(default=[], description="The first few of author_count")
    author_count: int = 0
    year: int | None = None
    venue: str = ""
    kind: str | None = None
    ids: dict[str, str] = Field(default_factory=dict)
    abstract: str = Field(default="", description="Its beginning")
    found_by: dict[str, int | None] = Field(default_factory=dict)


class FoundLiterature(Answer):
    """The works found, best first, and what became of the question at each service."""

    message: str
    total: int
    page: int
    limit: int
    works: list[FoundWork]
    coverage: list[ServiceCoverage]
