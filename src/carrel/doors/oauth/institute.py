"""The addresses of an institute's log-in: begin, come back, and be told that somebody left."""

from __future__ import annotations

from carrel.core.caller import ANONYMOUS_USER, Caller
from carrel.core.errors import CarrelError, RateLimitExceededError, UnavailableError
from carrel.core.pages import local_address
from carrel.doors.http import Route
from carrel.doors.http.messages import Header, HttpRequest, Response
from carrel.doors.oauth.endpoints import (
    LARGEST_BODY,
    read_cookie,
    read_form,
    read_query,
    set_cookie,
)
from carrel.doors.oauth.pages import page_response, problem_page
from carrel.doors.web.responses import local_path
from carrel.policy.authorization.login import SESSION_SECONDS
from carrel.policy.authorization.models import OAuthError
from carrel.policy.authorization.openid.attempts import ATTEMPT_SECONDS
from carrel.policy.authorization.openid.login import InstituteLogin
from carrel.policy.authorization.openid.models import NoGroupError, SignInRefusedError
from carrel.policy.gate import Gate

BEGIN_PATH, CALLBACK_PATH, LOGOUT_PATH = "/login/institute", "/login/callback", "/backchannel"
_NO_STORE: Header = (b"cache-control", b"no-store")
_RETRY_SECONDS = 30


def begin_address(target: str) -> str:
    """Where a browser begins the log-in, to come back to `target`."""
    return local_address(BEGIN_PATH, next=target)


class InstitutePages:
    """What a browser and the provider call; everything else is the policy's."""

    def __init__(self, login: InstituteLogin, gate: Gate, *, is_secure: bool) -> None:
        self._login = login
        self._gate = gate
        self._is_secure = is_secure
        prefix = "__Host-" if is_secure else ""
        self._attempt_cookie = f"{prefix}carrel-institute"
        self._session_cookie = f"{prefix}carrel-session"

    def routes(self) -> dict[str, Route]:
        return {
            BEGIN_PATH: Route({"GET": self.begin}, is_shared_with_pages=False),
            CALLBACK_PATH: Route({"GET": self.come_back}, is_shared_with_pages=False),
            # The provider's own server calls it, without a browser.
            LOGOUT_PATH: Route({"POST": self.log_out}, max_body_bytes=LARGEST_BODY),
        }

    async def begin(self, request: HttpRequest) -> Response:
        try:
            target = local_path(read_query(request).get("next", ["/"])[0])
            location, attempt = await self._login.begin(target, request.visit.address_group)
        except CarrelError as error:
            return self._refuse(request, error, "/")
        kept = self._cookie(self._attempt_cookie, attempt.cookie, ATTEMPT_SECONDS)
        return _see_other(location, kept)

    async def come_back(self, request: HttpRequest) -> Response:
        cookie = read_cookie(request, self._attempt_cookie) or ""
        forgotten = self._cookie(self._attempt_cookie, "", 0)
        visit = request.visit
        try:
            found = await self._login.finish(
                read_query(request), cookie, visit.address_group, visit.user_agent
            )
        except CarrelError as error:
            return self._refuse(request, error, "/", forgotten)
        caller = Caller(found.user.name, frozenset(), "web")
        facts: dict[str, object] = {"groups": list(found.groups)}
        self._gate.record_event(visit, "oidc:login", f"user:{found.user.name}", caller, facts)
        session = self._cookie(self._session_cookie, found.session, int(SESSION_SECONDS))
        # The target was checked when the log-in began, and is checked again before it is used.
        return _see_other(local_path(found.target), session, forgotten)

    async def log_out(self, request: HttpRequest) -> Response:
        """Back-channel log-out: a signed token says whose sessions and grants end."""
        visit = request.visit
        try:
            form = read_form(request)
            tokens = form.get("logout_token", [])
            if len(tokens) != 1:
                raise OAuthError("invalid_request", "logout_token must be given once")
            ended = await self._login.log_out(tokens[0], visit.address_group)
        except CarrelError as error:
            self._gate.record_refusal(visit, "oidc:logout", "oidc://logout", error)
            return _logout_problem(error)
        for name in ended.user_names or (ANONYMOUS_USER,):
            facts: dict[str, object] = {"sessions": ended.sessions, "grants": ended.grants}
            caller = Caller(name, frozenset(), "institute")
            self._gate.record_event(visit, "oidc:logout", f"user:{name}", caller, facts)
        return Response(200, b"", (_NO_STORE,))

    def _cookie(self, name: str, value: str, seconds: int) -> Header:
        return set_cookie(name, value, seconds=seconds, is_secure=self._is_secure)

    def _refuse(
        self, request: HttpRequest, error: CarrelError, target: str, *headers: Header
    ) -> Response:
        self._gate.record_refusal(request.visit, "oidc:login", "oidc://login", error)
        status, title = 400, "You are not logged in"
        if isinstance(error, NoGroupError):
            status, title = 403, "You may not use this desk yet"
        elif isinstance(error, RateLimitExceededError):
            status, title = 429, "Too many log-ins from here"
            headers = (*headers, (b"retry-after", str(error.retry_after_seconds).encode()))
        elif isinstance(error, UnavailableError):
            status, title = 503, "The log-in cannot be reached"
            headers = (*headers, (b"retry-after", str(_RETRY_SECONDS).encode()))
        page = problem_page(
            title,
            error.message,
            error.next_step or "Start again from the log-in page.",
            ("Log in again", local_address("/login", next=target)),
        )
        return page_response(status, page, headers=headers)


def _logout_problem(error: CarrelError) -> Response:
    """What the provider is told, as the specification says."""
    if isinstance(error, RateLimitExceededError):
        status, name = 429, "slow_down"
    elif isinstance(error, UnavailableError):
        status, name = 503, "temporarily_unavailable"
    else:
        status, name = 400, "invalid_request"
    shown = error.message if isinstance(error, SignInRefusedError | OAuthError) else name
    return Response.json(status, {"error": name, "error_description": shown}, (_NO_STORE,))


def _see_other(location: str, *cookies: Header) -> Response:
    return Response(303, b"", ((b"location", location.encode("ascii")), _NO_STORE, *cookies))
