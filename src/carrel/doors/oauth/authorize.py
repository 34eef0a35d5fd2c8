"""The authorization endpoint: log in, review the requested scopes, allow or deny."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from carrel.core.caller import Caller
from carrel.core.errors import CarrelError, RateLimitExceededError, UnavailableError
from carrel.doors.http import Route
from carrel.doors.http.messages import HttpRequest, Response
from carrel.doors.oauth.endpoints import (
    LARGEST_BODY,
    OAuthEndpoints,
    read_cookie,
    read_form,
    read_query,
    set_cookie,
)
from carrel.doors.oauth.institute import InstitutePages, begin_address
from carrel.doors.oauth.pages import consent_page, login_page, page_response, problem_page
from carrel.policy.authorization.built_in import BuiltInAuthorization
from carrel.policy.authorization.login import DEVICE_SECONDS, SESSION_SECONDS
from carrel.policy.authorization.models import (
    LoginRefusedError,
    OAuthError,
    UntrustedRequestError,
    User,
)
from carrel.policy.authorization.server import (
    AuthorizationRequest,
    RedirectedError,
)
from carrel.policy.gate import Gate

_LOGIN_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class _Visitor:
    """A browser on a page: its query string, the authorization request in it, and its user."""

    http: HttpRequest
    query: str
    request: AuthorizationRequest
    session: str | None
    user: User | None
    # The log-in at an institute that the session came of.
    sign_in: str | None

    @property
    def action(self) -> str:
        return f"?{self.query}"


class AuthorizePages:
    """GET shows log-in or consent, POST takes either form; only the session is stored."""

    def __init__(self, built_in: BuiltInAuthorization, gate: Gate, name: str) -> None:
        self._server = server = built_in.server
        self._people = built_in.logins
        self._institute = built_in.institute
        self._has_passwords = built_in.has_passwords
        self._gate = gate
        self._name = name
        self._is_secure = server.issuer.startswith("https://")
        prefix = "__Host-" if self._is_secure else ""
        self._session_cookie = f"{prefix}carrel-session"
        self._login_cookie = f"{prefix}carrel-login"
        self._device_cookie = f"{prefix}carrel-device"

    async def get(self, request: HttpRequest) -> Response:
        try:
            visitor = await self._visitor(request)
        except (CarrelError, RedirectedError) as error:
            return self._error_page(request, error)
        if visitor.user is not None:
            return self._consent(visitor, visitor.user)
        if self._institute is not None and not self._has_passwords:
            return _see_other(begin_address(f"/authorize?{visitor.query}"))
        return self._login(visitor)

    async def post(self, request: HttpRequest) -> Response:
        try:
            visitor = await self._visitor(request)
            form = read_form(request)
            action = form.get("action", [""])[0]
            csrf = form.get("csrf", [""])[0]
            if action == "login" and self._has_passwords:
                return await self._log_in(visitor, form, csrf)
            if visitor.user is None or not self._is_ours(
                csrf, visitor.session, "consent", visitor.query
            ):
                raise UntrustedRequestError(
                    "This form is too old, or did not come from here",
                    next_step="Start again from the app.",
                )
            return await self._decide(visitor, visitor.user, action, set(form.get("scope", [])))
        except (CarrelError, RedirectedError) as error:
            return self._error_page(request, error)

    async def _visitor(self, http: HttpRequest) -> _Visitor:
        query = http.scope.get("query_string", b"").decode("latin-1")
        request = await self._server.read_request(read_query(http), http.visit.address_group)
        session = read_cookie(http, self._session_cookie)
        found, user = await self._people.find_session(session)
        sign_in = None if found is None else found.sign_in
        return _Visitor(http, query, request, session, user, sign_in)

    def _login(
        self,
        visitor: _Visitor,
        status: int = 200,
        problem: str | None = None,
        user: str = "",
        wait: int = 0,
    ) -> Response:
        cookie = read_cookie(visitor.http, self._login_cookie) or secrets.token_urlsafe(24)
        page = login_page(
            name=self._name,
            action=visitor.action,
            csrf=_csrf(cookie, "login", ""),
            problem=problem,
            user=user,
            institute=None
            if self._institute is None
            else (self._institute.name, begin_address(f"/authorize?{visitor.query}")),
        )
        headers = [
            set_cookie(
                self._login_cookie, cookie, seconds=_LOGIN_SECONDS, is_secure=self._is_secure
            )
        ]
        if wait:
            headers.append((b"retry-after", str(wait).encode()))
        return page_response(status, page, headers=tuple(headers))

    def _consent(self, visitor: _Visitor, user: User) -> Response:
        request = visitor.request
        page = consent_page(
            request,
            name=self._name,
            action=visitor.action,
            csrf=_csrf(visitor.session or "", "consent", visitor.query),
            user=user.name,
            scopes=self._server.grantable(request, user),
        )
        return page_response(200, page, redirect_uri=request.redirect_uri)

    async def _log_in(self, visitor: _Visitor, form: dict[str, list[str]], csrf: str) -> Response:
        if not self._is_ours(csrf, read_cookie(visitor.http, self._login_cookie), "login", ""):
            raise _not_our_form()
        name, password = form.get("username", [""])[0], form.get("password", [""])[0]
        visit = visitor.http.visit
        try:
            device = read_cookie(visitor.http, self._device_cookie)
            entered = await self._people.log_in(
                name, password, visit.address_group, device, visit.user_agent
            )
        except LoginRefusedError as error:
            self._gate.record_refusal(visit, "oauth:login", f"user:{name[:100]}", error)
            return self._login(visitor, 401, error.message, name[:100])
        except RateLimitExceededError as error:
            self._gate.record_refusal(visit, "oauth:login", f"user:{name[:100]}", error)
            wait = error.retry_after_seconds
            return self._login(
                visitor, 429, f"Too many attempts. Try again in {wait} seconds.", name[:100], wait
            )
        self._note(visitor, entered.user, "oauth:login", {})
        session = set_cookie(
            self._session_cookie,
            entered.session,
            seconds=int(SESSION_SECONDS),
            is_secure=self._is_secure,
        )
        known = set_cookie(
            self._device_cookie,
            entered.device,
            seconds=int(DEVICE_SECONDS),
            is_secure=self._is_secure,
        )
        return _see_other(visitor.action, session, known)

    async def _decide(
        self, visitor: _Visitor, user: User, action: str, ticked: set[str]
    ) -> Response:
        request = visitor.request
        facts: dict[str, object] = {
            "client": request.client.client_id,
            "redirect_uri": request.redirect_uri,
        }
        match action:
            case "allow":
                self._note(visitor, user, "oauth:allow", {**facts, "scopes": sorted(ticked)})
                return _see_other(await self._server.allow(request, user, ticked, visitor.sign_in))
            case "deny":
                self._note(visitor, user, "oauth:deny", facts)
                return _see_other(self._server.deny(request))
            case "logout":
                await self._people.log_out(visitor.session or "")
                return _see_other(
                    visitor.action,
                    set_cookie(self._session_cookie, "", seconds=0, is_secure=self._is_secure),
                )
            case _:
                raise UntrustedRequestError(
                    "The form does not say what to do", next_step="Start again from the app."
                )

    def _note(self, visitor: _Visitor, user: User, action: str, facts: dict[str, object]) -> None:
        caller = Caller(user.name, frozenset(), visitor.request.client.client_id)
        self._gate.record_event(visitor.http.visit, action, f"user:{user.name}", caller, facts)

    def _is_ours(self, given: str, secret: str | None, purpose: str, query: str) -> bool:
        return bool(secret) and hmac.compare_digest(
            given.encode(), _csrf(secret or "", purpose, query).encode()
        )

    def _error_page(self, request: HttpRequest, error: CarrelError | RedirectedError) -> Response:
        if isinstance(error, RedirectedError):
            self._gate.record_refusal(
                request.visit, "oauth:authorize", "oauth://authorize", error.error
            )
            return Response(
                302,
                b"",
                ((b"location", error.location.encode("ascii")), (b"cache-control", b"no-store")),
            )
        self._gate.record_refusal(request.visit, "oauth:authorize", "oauth://authorize", error)
        if isinstance(error, RateLimitExceededError):
            page = problem_page("Too many attempts", error.message, error.next_step)
            return page_response(
                429, page, headers=((b"retry-after", str(error.retry_after_seconds).encode()),)
            )
        status = 503 if isinstance(error, UnavailableError) else 400
        next_step = error.next_step or "Go back to the app that sent you here and connect again."
        if isinstance(error, OAuthError):
            return page_response(
                400, problem_page("This request cannot be used", error.message, next_step)
            )
        return page_response(
            status, problem_page("You cannot log in from here", error.message, next_step)
        )


def _not_our_form() -> UntrustedRequestError:
    return UntrustedRequestError(
        "This form is too old, or did not come from here", next_step="Start again from the app."
    )


def _csrf(secret: str, purpose: str, query: str) -> str:
    """A token derived from the browser's own cookie, for one purpose and one request."""
    return hmac.new(secret.encode(), f"{purpose}|{query}".encode(), hashlib.sha256).hexdigest()


def _see_other(location: str, *cookies: tuple[bytes, bytes]) -> Response:
    return Response(
        303,
        b"",
        ((b"location", location.encode("ascii")), (b"cache-control", b"no-store"), *cookies),
    )


def oauth_routes(built_in: BuiltInAuthorization, gate: Gate, name: str) -> dict[str, Route]:
    """The addresses of the built-in authorization server, without its metadata."""
    server = built_in.server
    pages = AuthorizePages(built_in, gate, name)
    endpoints = OAuthEndpoints(server, built_in.verifier, gate)
    routes = {
        "/authorize": Route({"GET": pages.get, "POST": pages.post}, max_body_bytes=LARGEST_BODY),
        "/token": Route({"POST": endpoints.token}, max_body_bytes=LARGEST_BODY),
        "/revoke": Route({"POST": endpoints.revoke}, max_body_bytes=LARGEST_BODY),
    }
    if built_in.institute is not None:
        is_secure = server.issuer.startswith("https://")
        routes |= InstitutePages(built_in.institute, gate, is_secure=is_secure).routes()
    if server.clients.may_register:
        routes["/register"] = Route({"POST": endpoints.register}, max_body_bytes=LARGEST_BODY)
    return routes
