"""What all pages of the room have in common: the tabs, and how a refusal is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from carrel.core.errors import (
    CarrelError,
    ConflictError,
    InsufficientPermissionsError,
    InvalidInputError,
    NotConfiguredError,
    NotFoundError,
    UnavailableError,
)
from carrel.core.pages import PageRequest, PageView
from carrel.rooms.literature.models import ServiceCoverage
from carrel.rooms.literature.pages.services import count_states, name_service

STYLES = ("literature/literature.css",)
_TABS = (
    ("search", "/literature", "search_literature"),
    ("alerts", "/literature/alerts", "list_alerts"),
    ("retractions", "/literature/retractions", "check_retractions"),
    ("completion", "/literature/completion", "list_completions"),
)
_STATUSES: tuple[tuple[type[CarrelError], int], ...] = (
    (NotFoundError, 404),
    (InvalidInputError, 400),
    (InsufficientPermissionsError, 403),
    (ConflictError, 409),
)
_UNAVAILABLE = 503
_NETWORK_OFF = frozenset({"network_forbidden"})
_OUT_OF_REACH = frozenset({"unreachable", "timed_out", "paused"})
READ = "literature:read"
# What a page says in its own place; refusals of a caller have the page of the console.
SHOWN_ERRORS = (
    ConflictError,
    InvalidInputError,
    NotConfiguredError,
    NotFoundError,
    UnavailableError,
)


@dataclass(frozen=True, slots=True)
class PageRefusal:
    """An error as a page shows it, with what became of the question at each service."""

    code: str
    message: str
    next_step: str
    coverage: tuple[ServiceCoverage, ...] = ()

    @property
    def is_network_off(self) -> bool:
        kinds = {line.failure for line in self.coverage if line.state == "failed"}
        return self.code in _NETWORK_OFF or kinds == {"network_off"}

    @property
    def unanswered_count(self) -> int:
        """How many services were asked, where none of them answered."""
        asked = [line for line in self.coverage if line.state != "not_asked"]
        return 0 if any(line.state == "answered" for line in asked) else len(asked)

    @property
    def is_out_of_reach(self) -> bool:
        """Whether no service could be reached at all, as on a machine without network."""
        kinds = {line.failure for line in self.coverage if line.state == "failed"}
        return self.unanswered_count > 1 and kinds <= _OUT_OF_REACH


def find_status(error: CarrelError) -> int:
    """The HTTP status of a page that shows this refusal."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), _UNAVAILABLE)


def make_refusal(error: CarrelError) -> PageRefusal:
    found = error.details.get("coverage")
    lines: tuple[ServiceCoverage, ...] = ()
    if isinstance(found, list):
        lines = tuple(
            line if isinstance(line, ServiceCoverage) else ServiceCoverage.model_validate(line)
            for line in found
        )
    return PageRefusal(error.code, error.message, error.next_step, lines)


def make_view(
    request: PageRequest,
    template: str,
    tab: str,
    facts: Mapping[str, Any],
    *,
    title: str = "",
    modules: tuple[str, ...] = (),
    status: int = 200,
) -> PageView:
    """A page of the room below its tabs. Raises InsufficientPermissionsError for a stranger."""
    if READ not in request.caller.scopes:
        raise InsufficientPermissionsError(frozenset({READ}), request.caller.scopes)
    tabs = [
        {
            "label": request.translate(f"literature.tab.{name}"),
            "path": path,
            "is_on": name == tab,
            "count": None,
        }
        for name, path, operation in _TABS
        if request.offers(operation)
    ]
    return PageView(
        f"literature/{template}.html",
        title or request.translate(f"literature.tab.{tab}"),
        {
            "section_tabs": tabs,
            "name_service": name_service,
            "count_states": count_states,
            "refusal": None,
            **facts,
        },
        modules=modules,
        styles=STYLES,
        status=status,
    )
