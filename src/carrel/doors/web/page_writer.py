"""Writes a page around what a room gave: navigation, notices, the person, and errors."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from markupsafe import Markup

from carrel.core.caller import Caller
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.core.operation import Operation
from carrel.core.pages import FieldValues, NavigationEntry, PageView, RoomPages
from carrel.doors.errors import error_mapping, find_retry_after
from carrel.doors.http.messages import Header, HttpRequest, Response
from carrel.doors.web.messages import LANGUAGES
from carrel.doors.web.rendering import PageRenderer
from carrel.doors.web.responses import html_response
from carrel.doors.web.sessions import BrowserSessions

_NOTICE_COOKIE = "carrel-notice"
_LONGEST_NOTICE = 400
_NOTICE_SECONDS = 60
# A note of the most characters with its other fields.
_LONGEST_KEPT_FORM = 500_000
_SECRET_FIELDS = ("csrf", "password", "secret", "token")


@dataclass(frozen=True, slots=True)
class Preferences:
    """The language and the theme of a person; an empty theme follows the system."""

    language: str
    theme: str


@dataclass(frozen=True, slots=True)
class NavigationLine:
    """An entry of the navigation, with the room it belongs to."""

    room: str
    entry: NavigationEntry


class PageWriter:
    """Draws whole pages."""

    def __init__(
        self,
        renderer: PageRenderer,
        sessions: BrowserSessions,
        clock: Clock,
        *,
        name: str,
        version: str,
        parts: Sequence[RoomPages],
        operations: Mapping[str, Operation[Any]],
    ) -> None:
        self._renderer = renderer
        self._sessions = sessions
        self._clock = clock
        self._name = name
        self._version = version
        self._operations = operations
        self._navigation = [
            NavigationLine(part.name, entry) for part in parts for entry in part.navigation
        ]

    def write(
        self,
        request: HttpRequest,
        preferences: Preferences,
        room: str,
        view: PageView,
        headers: tuple[Header, ...] = (),
    ) -> Response:
        caller = request.caller
        browser = self._sessions.browser(request)
        token = browser.csrf_token(caller)
        offers = self._offers(caller)
        notice = _read_notice(self._sessions.read(request, _NOTICE_COOKIE))
        path = str(request.scope["path"])
        marked = [
            (line, _is_current(line, path, view.room or room, self._navigation))
            for line in self._navigation
            if caller is not None and offers(line.entry.operation)
        ]
        facts: dict[str, object] = {
            "title": view.title,
            "server_name": self._name,
            "version": self._version,
            "theme": preferences.theme,
            "languages": LANGUAGES,
            "navigation": marked,
            "room": view.room or room,
            "path": path,
            "query_string": request.scope.get("query_string", b"").decode("latin-1"),
            "modules": view.modules,
            "styles": view.styles,
            "notice": notice,
            "caller": caller,
            "is_local": self._sessions.is_local,
            "offers": offers,
            "csrf_token": token,
            "csrf_field": lambda: Markup('<input type="hidden" name="csrf" value="{}">').format(
                token
            ),
            "now": self._clock.now(),
            **view.facts,
        }
        body = self._renderer.render(preferences.language, view.template, facts)
        cookies = self._sessions.browser_headers(browser)
        gone = (self._sessions.cookie(_NOTICE_COOKIE, "", 0),) if notice else ()
        # Where people log in, the next one at this browser must not go back to it.
        is_secret = view.is_secret or not self._sessions.is_local
        return html_response(view.status, body, (*cookies, *gone, *headers), is_secret=is_secret)

    def write_error(
        self,
        request: HttpRequest,
        preferences: Preferences,
        error: CarrelError,
        *,
        back: str = "",
        form: FieldValues | None = None,
        path: str = "",
        token: str = "",
    ) -> Response:
        """The error with what to do next; a form that failed is kept, to be sent again.

        `token` is the form's own, where it is to be sent by a session that is not there yet.
        """
        status = error_mapping(error).http_status
        kept = [] if form is None else _kept_fields(form)
        if sum(len(value) for _, value in kept) > _LONGEST_KEPT_FORM:
            kept = []
        place = self._nearest_entry(request)
        view = PageView(
            "desk/error.html",
            HTTPStatus(status).phrase,
            {
                "heading": f"desk.errors.{_heading(status, is_kept=bool(kept))}",
                "place": None if place is None else place.entry,
                "error": error,
                "error_id": str(error.details.get("error_id") or ""),
                "http_status": status,
                "back": back,
                "kept_form": kept,
                "form_path": path,
                "form_token": token,
            },
            status=status,
        )
        retry_after = find_retry_after(error)
        headers: tuple[Header, ...] = ()
        if retry_after is not None:
            headers = ((b"retry-after", str(retry_after).encode()),)
        return self.write(request, preferences, place.room if place else "", view, headers)

    def _nearest_entry(self, request: HttpRequest) -> NavigationLine | None:
        """The entry of the navigation that an address belongs to, where the caller may use it."""
        path = str(request.scope["path"])
        fitting = [line for line in self._navigation if path.startswith(line.entry.path + "/")]
        nearest = max(fitting, key=lambda line: len(line.entry.path), default=None)
        may_use = nearest is not None and self._offers(request.caller)(nearest.entry.operation)
        return nearest if may_use else None

    def notice_headers(self, notice: str) -> tuple[Header, ...]:
        """A cookie with a sentence for the next page; shown once, as text."""
        if not notice:
            return ()
        value = base64.urlsafe_b64encode(notice[:_LONGEST_NOTICE].encode()).decode().rstrip("=")
        return (self._sessions.cookie(_NOTICE_COOKIE, value, _NOTICE_SECONDS),)

    def _offers(self, caller: Caller | None) -> Callable[[str], bool]:
        scopes = frozenset[str]() if caller is None else caller.scopes

        def offers(operation: str) -> bool:
            found = self._operations.get(operation)
            return found is not None and found.scopes <= scopes

        return offers


def _heading(status: int, *, is_kept: bool) -> str:
    """The name of the message over an error."""
    if status == HTTPStatus.UNAUTHORIZED and is_kept:
        return "ended"
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return "refused"
    if status == HTTPStatus.NOT_FOUND:
        return "missing"
    return "failed" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "wrong"


def _kept_fields(form: FieldValues) -> list[tuple[str, str]]:
    """What was typed, without secrets."""
    return [
        (name, value.replace("\r\n", "\n"))
        for name, value in form.items()
        if not any(secret in name for secret in _SECRET_FIELDS)
    ]


def _is_current(
    line: NavigationLine, path: str, room: str, lines: Sequence[NavigationLine]
) -> bool:
    """Whether this entry is where the reader is: the longest path of the room that fits."""
    if line.room != room:
        return False
    fitting = [
        other.entry.path
        for other in lines
        if other.room == room
        and (path == other.entry.path or path.startswith(other.entry.path.rstrip("/") + "/"))
    ]
    return line.entry.path == max(fitting, key=len, default=line.entry.path)


def _read_notice(kept: str) -> str:
    try:
        text = base64.urlsafe_b64decode(kept + "=" * (-len(kept) % 4)).decode()
    except ValueError:
        return ""
    return text[:_LONGEST_NOTICE]
