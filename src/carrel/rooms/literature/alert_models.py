"""Questions and answers about alerts."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from carrel.core.operation import Answer, Question
from carrel.core.work_notices import WorkNotice
from carrel.rooms.literature.models import MAX_QUERY_CHARACTERS, MAX_SERVICES

MAX_NAME_CHARACTERS = 100
MAX_DIGEST_WORKS = 500
SHOWN_NEW_WORKS = 10


def _as_list(value: object) -> object:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


def _check_name(value: str) -> str:
    name = " ".join(value.split())
    if not name:
        raise ValueError("a name has letters")
    return name


def _check_day(value: str | None) -> str | None:
    try:
        return None if value is None else date.fromisoformat(value).isoformat()
    except ValueError as error:
        raise ValueError(f"{value!r} is no day; write it as 2026-01-31") from error


Name = Annotated[str, AfterValidator(_check_name), Field(max_length=MAX_NAME_CHARACTERS)]
NamedAlert = Annotated[
    str,
    AfterValidator(_check_name),
    Field(max_length=MAX_NAME_CHARACTERS, description="Name or id of an alert"),
]


class SaveAlert(Question):
    """A search to run again and again."""

    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARACTERS)
    name: Name | None = Field(default=None, description="The query itself if absent")
    services: Annotated[
        list[str],
        BeforeValidator(_as_list),
        Field(max_length=MAX_SERVICES, description="Only these; else the usual ones"),
    ] = Field(default_factory=list)
    since: Annotated[str | None, AfterValidator(_check_day)] = Field(
        default=None,
        max_length=10,
        description="New from this day on (YYYY-MM-DD); today if absent",
    )


class OneAlert(Question):
    name: NamedAlert


class ListAlerts(Question):
    """Asks for all of the caller's alerts."""


class RunAlerts(Question):
    name: NamedAlert | None = Field(default=None, description="Only this one; all if absent")


class GetAlertDigest(Question):
    """Which works to tell of: those not told yet, or all of the last days."""

    name: NamedAlert | None = Field(default=None, description="Only this one; all if absent")
    days: int | None = Field(
        default=None,
        ge=1,
        le=3660,
        description="Everything found in so many days; if absent what no digest told yet",
    )
    format: Literal["markdown", "atom"] = "markdown"
    limit: int = Field(default=200, ge=1, le=MAX_DIGEST_WORKS)


class ListAlertWorks(Question):
    """Which works of alerts to show; nothing counts as told by it."""

    name: NamedAlert | None = Field(default=None, description="Only this one; all if absent")
    days: int = Field(default=90, ge=1, le=3660, description="Found in so many days")
    limit: int = Field(default=100, ge=1, le=MAX_DIGEST_WORKS)


class ServiceMark(Answer):
    """The day up to which a service has answered completely; `failure` is of the last question."""

    service: str
    complete_until: str
    asked_at: str = Field(default="", exclude_if=lambda value: not value)
    failure: str = Field(default="", exclude_if=lambda value: not value)
    reason: str = Field(default="", exclude_if=lambda value: not value)


class AlertShown(Answer):
    """An alert; `untold` counts works that no digest told of yet."""

    id: str
    name: str
    query: str
    services: list[str] = Field(default=[], exclude_if=lambda value: not value)
    since: str
    created_at: str
    ran_at: str = Field(default="", exclude_if=lambda value: not value)
    untold: int = 0
    marks: list[ServiceMark] = Field(default=[], exclude_if=lambda value: not value)


class AlertsListed(Answer):
    alerts: list[AlertShown]


class AlertRemoved(Answer):
    id: str
    name: str


class AlertWork(Answer):
    """A work as alerts keep it."""

    id: str
    title: str
    authors: list[str] = Field(default_factory=list)
    author_count: int = 0
    issued: str | None = None
    venue: str = ""
    kind: str | None = None
    url: str = ""
    abstract: str = ""
    keys: list[str] = Field(default_factory=list)
    found_by: list[str] = Field(default_factory=list)
    notices: list[WorkNotice] = Field(default_factory=list)


class FollowedWork(Answer):
    """A work that an alert found; `is_new` until a digest told of it.

    `in_corpus` is its paper_id, `in_library` its reference id, where the desk has it.
    """

    alert: str
    found_at: str
    is_new: bool
    in_corpus: str | None = Field(default=None, exclude_if=lambda value: value is None)
    in_library: str | None = Field(default=None, exclude_if=lambda value: value is None)
    work: AlertWork


class AlertWorksListed(Answer):
    """Works that alerts found, the newest first; `left_out` says whether there are more."""

    works: list[FollowedWork]
    left_out: bool = False


class AlertRun(Answer):
    """What one run of an alert found; `state` is skipped where another process runs it."""

    name: str
    state: Literal["complete", "incomplete", "failed", "skipped"]
    new: int = 0
    titles: list[str] = Field(default=[], exclude_if=lambda value: not value)
    reason: str = Field(default="", exclude_if=lambda value: not value)
    marks: list[ServiceMark] = Field(default=[], exclude_if=lambda value: not value)


class AlertsRun(Answer):
    message: str
    new: int
    runs: list[AlertRun]
