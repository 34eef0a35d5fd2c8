"""What add_works is asked and what it answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from carrel.core.operation import Answer, Question
from carrel.rooms.literature.models import MAX_IDENTIFIER_CHARACTERS

MAX_WORKS = 100
Target = Literal["papers", "library", "both"]


def _left_out(value: object) -> bool:
    return value is None or value in ("", [], {})


def _read_names(value: object) -> object:
    """Names of works; a work of a search answer is named by its `id`."""
    given = [value] if isinstance(value, str | dict) else value
    if not isinstance(given, list):
        return given
    return [_name_of(each) for each in given]


def _name_of(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    name = value.get("id")
    if isinstance(name, str):
        return name
    ids = value.get("ids")
    known = ids if isinstance(ids, dict) else value
    return next((f"{kind}:{name}" for kind, name in known.items() if isinstance(name, str)), value)


class AddWorks(Question):
    """Works to keep, and where."""

    identifiers: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=MAX_IDENTIFIER_CHARACTERS)]],
        BeforeValidator(_read_names),
        Field(
            min_length=1,
            max_length=MAX_WORKS,
            validation_alias=AliasChoices("identifiers", "works", "ids", "identifier"),
            description="DOIs, PMIDs, arXiv ids … or the id of found works",
        ),
    ]
    into: Target = Field(
        default="library", description="papers needs papers:write, library references:write"
    )
    with_fulltext: bool = Field(default=False, description="Fetch open texts into the corpus")


class AddedWork(Answer):
    """What became of one work; `known` where the desk had it in every place asked for."""

    identifier: str
    outcome: Literal["added", "known", "failed", "waiting"]
    title: str = Field(default="", exclude_if=_left_out)
    paper_id: str | None = Field(default=None, exclude_if=_left_out)
    reference_id: str | None = Field(default=None, exclude_if=_left_out)
    text: str = Field(default="", exclude_if=_left_out, description="What became of the full text")
    code: str = Field(default="", exclude_if=_left_out)
    reason: str = Field(default="", exclude_if=_left_out)
    notes: list[str] = Field(default_factory=list, exclude_if=_left_out)


class ServiceTally(Answer):
    """How often a service was asked for these works, and what left for it."""

    service: str
    answered: int = 0
    failed: int = 0
    reason: str = Field(default="", exclude_if=_left_out, description="Of the last failure")
    sent: list[str] = Field(default_factory=list, description="The first few of what left")


class WorksAdded(Answer):
    """The outcome of every work; while `job_id` is at work, some are `waiting`."""

    message: str
    works: list[AddedWork]
    coverage: list[ServiceTally] = Field(default_factory=list, exclude_if=_left_out)
    job_id: str | None = Field(default=None, exclude_if=_left_out)
    next_step: str = Field(default="", exclude_if=_left_out)
