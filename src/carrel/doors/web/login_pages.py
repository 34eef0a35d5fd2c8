"""Log-in, log-out and preferences of a browser."""

from __future__ import annotations

from carrel.core.caller import Caller
from carrel.core.errors import CarrelError, RateLimitExceededError, UnauthenticatedError
from carrel.core.pages import FieldValues, PageView, local_address
from carrel.doors.http.messages import (
    BodyTooLargeError,
    Header,
    HttpRequest,
    MethodNotAllowedError,
    Response,
)
from carrel.doors.oauth.institute import begin_address
from carrel.doors.web.forms import read_form_fields, read_query_fields
from carrel.doors.web.messages import LANGUAGES
from carrel.doors.web.page_writer import PageWriter, Preferences
from carrel.doors.web.responses import local_path, redirect_response
from carrel.doors.web.sessions import BrowserSessions
from carrel.policy.gate import Gate

_LOGIN, _LOGOUT, _PREFERENCES = "/login", "/logout", "/preferences"
_PREFERENCE_SECONDS = 365 * 24 * 3600
_LONGEST_TOKEN = 8_000
_LARGEST_FORM_BYTES = 64_000


class LoginPages:
    """The pages that a stranger may open."""

    def __init__(self, sessions: BrowserSessions, gate: Gate, writer: PageWriter) -> None:
        self._sessions = sessions
        self._gate = gate
        self._writer = writer

    def has(self, path: str) -> bool:
        return path in {_LOGIN, _LOGOUT, _PREFERENCES}

    async def answer(self, request: HttpRequest, preferences: Preferences) -> Response:
        path = str(request.scope["path"])
        if request.method in {"GET", "HEAD"}:
            if path != _LOGIN:
                raise MethodNotAllowedError(request.method, path, "POST")
            return await self._show(request, preferences)
        if request.method != "POST":
            raise MethodNotAllowedError(request.method, path, "POST")
        if len(request.body) > _LARGEST_FORM_BYTES:
            raise BodyTooLargeError(_LARGEST_FORM_BYTES)
        form = read_form_fields(request)
        request.caller = await self._find_caller(request)
        # The log-in form is drawn for nobody, so that it works after a session has ended.
        self._sessions.check_write(
            request, None if path == _LOGIN else request.caller, form.text("csrf")
        )
        if path == _LOGIN:
            return await self._log_in(request, preferences, form)
        if path == _LOGOUT:
            return await self._log_out(request)
        return self._keep_preferences(form)

    async def _find_caller(self, request: HttpRequest) -> Caller | None:
        try:
            return await self._sessions.identify(request)
        except UnauthenticatedError:
            return None

    async def _show(self, request: HttpRequest, preferences: Preferences) -> Response:
        target = local_path(read_query_fields(request).text("next") or "/")
        if await self._find_caller(request) is not None:
            return redirect_response(target)
        return self._form(request, preferences, target)

    def _form(
        self,
        request: HttpRequest,
        preferences: Preferences,
        target: str,
        *,
        status: int = 200,
        problem: str = "",
        user: str = "",
        headers: tuple[Header, ...] = (),
    ) -> Response:
        request.caller = None
        facts = {
            "next": target,
            "problem": problem,
            "user": user,
            "has_passwords": self._sessions.has_passwords,
            "takes_tokens": not self._sessions.has_passwords and not self._sessions.institute,
            "institute": self._sessions.institute,
            "institute_address": begin_address(target),
        }
        view = PageView("desk/login.html", "", facts, status=status, is_secret=True)
        return self._writer.write(request, preferences, "", view, headers)

    async def _log_in(
        self, request: HttpRequest, preferences: Preferences, form: FieldValues
    ) -> Response:
        target = local_path(form.text("next") or "/")
        name = form.text("username")[:100]
        visit, subject = request.visit, f"user:{name}"
        try:
            if self._sessions.has_passwords or self._sessions.institute:
                cookies = await self._sessions.log_in(request, name, form.whole_text("password"))
            else:
                token = form.text("token")[:_LONGEST_TOKEN]
                cookies = await self._sessions.keep_token(request, token)
        except RateLimitExceededError as error:
            self._gate.record_refusal(visit, "web:login", subject, error)
            wait = error.retry_after_seconds
            headers: tuple[Header, ...] = ((b"retry-after", str(wait).encode()),)
            return self._form(
                request, preferences, target, status=429, problem=error.message, user=name,
                headers=headers,
            )  # fmt: skip
        except CarrelError as error:
            self._gate.record_refusal(visit, "web:login", subject, error)
            return self._form(
                request, preferences, target, status=401, problem=error.message, user=name
            )
        if name:
            caller = Caller(name, frozenset(), "web")
            self._gate.record_event(visit, "web:login", subject, caller, {})
        return redirect_response(target, cookies)

    async def _log_out(self, request: HttpRequest) -> Response:
        caller = request.caller
        if caller is not None:
            subject = f"user:{caller.user_id}"
            self._gate.record_event(request.visit, "web:logout", subject, caller, {})
        return redirect_response(local_address("/login"), await self._sessions.log_out(request))

    def _keep_preferences(self, form: FieldValues) -> Response:
        cookies: list[Header] = []
        if form.text("language") in LANGUAGES:
            cookies.append(self._preference("carrel-language", form.text("language")))
        if form.text("theme") in {"light", "dark", "system"}:
            cookies.append(self._preference("carrel-theme", form.text("theme")))
        return redirect_response(form.text("next") or "/", tuple(cookies))

    def _preference(self, name: str, value: str) -> Header:
        return self._sessions.cookie(name, value, _PREFERENCE_SECONDS)
