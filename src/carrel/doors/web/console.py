"""The console's one handler: finds the page, recognises the person, and answers in HTML."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from carrel.core.answer import split_explanation
from carrel.core.answer_encoding import encode_answer, encode_explanation
from carrel.core.caller import Caller
from carrel.core.clock import Clock
from carrel.core.errors import (
    CarrelError,
    InternalError,
    InvalidInputError,
    UnauthenticatedError,
    UnknownOperationError,
)
from carrel.core.operation import Effect, Operation
from carrel.core.pages import (
    ConsolePage,
    FieldValues,
    PageAnswer,
    PageFile,
    PageRedirect,
    PageStream,
    PageView,
    RoomPages,
    local_address,
)
from carrel.doors.http import Route
from carrel.doors.http.messages import (
    Header,
    HttpRequest,
    MethodNotAllowedError,
    PathNotFoundError,
    Response,
    StreamedResponse,
)
from carrel.doors.http.protocol import DRAINING
from carrel.doors.json_input import parse_json
from carrel.doors.rest import RestDoor
from carrel.doors.uploads import UploadDoor
from carrel.doors.web.assets import StaticFiles
from carrel.doors.web.forms import form_arguments, read_form_fields, read_query_fields
from carrel.doors.web.live import EVENT_HEADERS, LiveViews
from carrel.doors.web.login_pages import LoginPages
from carrel.doors.web.messages import Messages, choose_language
from carrel.doors.web.page_request import ConsoleRequest
from carrel.doors.web.page_writer import PageWriter, Preferences
from carrel.doors.web.responses import (
    CONTENT_SECURITY_POLICY,
    NOTHING_POLICY,
    SECURITY_HEADERS,
    compress_page,
    file_response,
    local_path,
    redirect_response,
    stream_response,
)
from carrel.doors.web.router import PathRouter
from carrel.doors.web.sessions import (
    BrowserSessions,
    ForeignPageError,
    NotLoggedInError,
    StaleFormError,
    check_navigation,
    check_own_page,
    header_token,
)
from carrel.policy.gate import STRANGER, Gate

log = logging.getLogger("carrel.web")

_ASSETS, _DO, _CALL, _LIVE = "/assets/", "/do/", "/call", "/live/"
_UPLOADS = "/console/uploads"
_KEEP_ASSETS: Header = (b"cache-control", b"public, max-age=31536000, immutable")
_SAFE = frozenset({"GET", "HEAD"})
_SHORT_FORM_BYTES = 64_000
# A page asks some five operations where an assistant asks one, so that a page costs about a call.
_SHARE_OF_PAGE = 0.2


@dataclass(frozen=True, slots=True)
class _PageOf:
    """A page and the part of the console that it belongs to."""

    room: str
    page: ConsolePage


class Console:
    """Every address that no other door has."""

    def __init__(
        self,
        parts: Sequence[RoomPages],
        operations: Mapping[str, Operation[Any]],
        *,
        gate: Gate,
        clock: Clock,
        sessions: BrowserSessions,
        rest: RestDoor,
        assets: StaticFiles,
        messages: Mapping[str, Messages],
        writer: PageWriter,
        uploads: UploadDoor | None = None,
    ) -> None:
        self._operations = operations
        self._asked_by_pages = {name: _price_for_page(each) for name, each in operations.items()}
        self._gate = gate
        self._clock = clock
        self._sessions = sessions
        self._rest = rest
        self._assets = assets
        self._messages = messages
        self._writer = writer
        self._uploads = uploads
        self._logins = LoginPages(sessions, gate, writer)
        self._router = PathRouter(
            (page.path, _PageOf(part.name, page)) for part in parts for page in part.pages
        )
        views = {view.name: view for part in parts for view in part.live}
        self._live = LiveViews(views, operations, gate, clock)

    def route(self) -> Route:
        """The route of every path that has none of its own."""
        methods = ("GET", "POST", "PATCH", "DELETE")
        return Route(
            dict.fromkeys(methods, self.answer),
            admit=self.admit,
            is_shared_with_pages=False,
        )

    async def admit(self, request: HttpRequest) -> Response | None:
        """Before the body is read: the caller, or the response that sends them to the log-in."""
        path = self._path(request)
        try:
            if request.method in _SAFE:
                check_navigation(request)
            if path.startswith(_ASSETS) or self._logins.has(path):
                return None
            if not self._knows(path):
                return self._missing(request)
            request.caller = await self._sessions.identify(request)
            if request.method not in _SAFE and path.startswith((_CALL, _UPLOADS)):
                self._sessions.check_write(request, request.caller, header_token(request))
        except UnauthenticatedError as error:
            # A form of a browser that was here before is read, to show what was typed again.
            return None if self._keeps_form(request) else self._send_to_login(request, error)
        except CarrelError as error:
            self._gate.record_refusal(request.visit, "web", request.visit.path, error)
            return self._fail(request, error)
        return None

    async def answer(self, request: HttpRequest) -> Response | StreamedResponse:
        response = await self._answer(request)
        return compress_page(request, response) if isinstance(response, Response) else response

    async def _answer(self, request: HttpRequest) -> Response | StreamedResponse:
        path = self._path(request)
        try:
            if path.startswith(_ASSETS):
                return self._send_asset(request, path)
            if self._logins.has(path):
                return await self._logins.answer(request, self._preferences(request))
            if path.startswith(_UPLOADS):
                return await self._take_upload(request, path)
            if path == _CALL:
                return await self._call(request)
            if path.startswith(_LIVE):
                return await self._open_live(request, path)
            if request.caller is None:
                return await self._ask_to_log_in(request)
            if path.startswith(_DO):
                return await self._do(request, path)
            return await self._draw(request, path)
        except StaleFormError as error:
            self._record_forgery(request, error)
            return await self._fail_with_form(request, error)
        except ForeignPageError as error:
            self._record_forgery(request, error)
            return self._fail(request, error)
        except CarrelError as error:
            return self._fail(request, error)
        except Exception:
            error_id = secrets.token_hex(8)
            facts = {"error_id": error_id, "request_id": request.visit.request_id, "path": path}
            log.exception("a page failed", extra=facts)
            return self._fail(request, InternalError(error_id))

    async def _draw(self, request: HttpRequest, path: str) -> Response | StreamedResponse:
        found = self._router.find(path)
        if found is None:
            return self._missing(request)
        page, is_read = found.target.page, request.method in _SAFE
        run = page.draw if is_read else page.act if request.method == "POST" else None
        if run is None:
            allowed = "GET" if page.act is None else "GET, POST" if page.draw else "POST"
            raise MethodNotAllowedError(request.method, path, allowed)
        form = FieldValues({}) if is_read else await self._checked_form(request)
        answer = await run(self._page_request(request, path, found.variables, form))
        return await self._respond(request, found.target.room, answer)

    async def _respond(
        self, request: HttpRequest, room: str, answer: PageAnswer
    ) -> Response | StreamedResponse:
        match answer:
            case PageView():
                # In a thread: to draw a long text takes seconds.
                return await asyncio.to_thread(
                    self._writer.write, request, self._preferences(request), room, answer
                )
            case PageRedirect():
                return self._redirect(answer.to, answer.notice)
            case PageFile():
                return file_response(answer)
            case PageStream():
                return stream_response(answer)

    def _redirect(self, to: str, notice: str) -> Response:
        return redirect_response(to, self._writer.notice_headers(notice))

    async def _do(self, request: HttpRequest, path: str) -> Response:
        """Run the operation that a form names, then go where the form says."""
        if request.method != "POST":
            raise MethodNotAllowedError(request.method, path, "POST")
        form = await self._checked_form(request)
        name = path.removeprefix(_DO)
        operation = self._operations.get(name)
        if operation is None:
            raise UnknownOperationError(name[:100], next_step="Load the page again.")
        caller = self._caller(request)
        try:
            arguments = form_arguments(operation, form)
            await self._gate.call(operation, arguments, caller, request.visit)
        except UnauthenticatedError:
            raise
        except CarrelError as error:
            back = local_path(form.text("_back") or form.text("_next") or "/")
            return self._writer.write_error(
                request, self._preferences(request), error, back=back, form=form, path=path
            )
        notice = form.text("_notice")
        messages = self._messages[self._preferences(request).language]
        known = messages.text(notice) if notice and messages.has(notice) else ""
        return self._redirect(form.text("_next") or "/", known)

    async def _call(self, request: HttpRequest) -> Response:
        """An operation for a module of ours: JSON in, JSON out, as at the REST gateway."""
        if request.method != "POST":
            raise MethodNotAllowedError(request.method, _CALL, "POST")
        visit = request.visit
        try:
            name, arguments = _read_call(request)
            operation = self._operations.get(name)
            if operation is None:
                raise UnknownOperationError(name[:100], next_step="Load the page again.")
            given = await self._gate.call(operation, arguments, self._caller(request), visit)
        except CarrelError as error:
            return _with_security(self._rest.failed(error, visit))
        answer, explanation = split_explanation(given)
        body = b'{"success":true,"result":' + encode_answer(operation.answer, answer)
        if explanation is not None:
            body += b',"explanation":' + encode_explanation(explanation)
        return _with_security(Response(200, body + b"}"))

    async def _take_upload(self, request: HttpRequest, path: str) -> Response:
        door = self._uploads
        tail = path.removeprefix(_UPLOADS).strip("/")
        if door is None:
            raise PathNotFoundError(path)
        request.path_tail = tail
        methods = {"POST": door.begin} if not tail else {
            "GET": door.show, "HEAD": door.show, "PATCH": door.append, "DELETE": door.remove,
        }  # fmt: skip
        handler = methods.get(request.method)
        if handler is None:
            raise MethodNotAllowedError(request.method, path, ", ".join(methods))
        return _with_security(await handler(request))

    async def _open_live(self, request: HttpRequest, path: str) -> Response | StreamedResponse:
        if request.method not in _SAFE:
            raise MethodNotAllowedError(request.method, path, "GET")
        identifier = read_query_fields(request).text("id")
        caller = self._caller(request)
        try:
            pieces = await self._live.open(
                path.removeprefix(_LIVE),
                identifier,
                caller,
                request.visit,
                lambda: self._sessions.identify(request),
                request.scope.get("state", {}).get(DRAINING),
            )
        except CarrelError as error:
            return _with_security(self._rest.failed(error, request.visit))
        return StreamedResponse(200, pieces, EVENT_HEADERS)

    def _send_asset(self, request: HttpRequest, path: str) -> Response:
        version, _, name = path.removeprefix(_ASSETS).partition("/")
        asset = self._assets.find(version, name)
        if asset is None:
            return self._missing(request)
        headers: tuple[Header, ...] = (
            (b"content-type", asset.media_type.encode()),
            # A page from before an upgrade gets today's file, which must not stay under that name.
            _KEEP_ASSETS if version == self._assets.version else (b"cache-control", b"no-cache"),
            (b"vary", b"accept-encoding"),
            # A worker has the policy of its own file, not that of the page.
            (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
            *SECURITY_HEADERS,
        )
        if asset.compressed is not None and b"gzip" in request.headers.get(b"accept-encoding", b""):
            return Response(200, asset.compressed, (*headers, (b"content-encoding", b"gzip")))
        return Response(200, asset.body, headers)

    async def _checked_form(self, request: HttpRequest) -> FieldValues:
        form = await _read_form(request)
        self._sessions.check_write(request, request.caller, form.text("csrf"))
        return form

    def _page_request(
        self, request: HttpRequest, path: str, variables: Mapping[str, str], form: FieldValues
    ) -> ConsoleRequest:
        return ConsoleRequest(
            path,
            variables,
            read_query_fields(request),
            form,
            self._caller(request),
            self._sessions.is_local,
            request.visit,
            self._gate,
            self._asked_by_pages,
            self._messages[self._preferences(request).language],
        )

    def _caller(self, request: HttpRequest) -> Caller:
        if request.caller is None:
            raise NotLoggedInError
        return request.caller

    def _preferences(self, request: HttpRequest) -> Preferences:
        accepted = request.headers.get(b"accept-language", b"").decode("latin-1")
        language = choose_language(accepted, self._sessions.read(request, "carrel-language"))
        theme = self._sessions.read(request, "carrel-theme")
        return Preferences(language, theme if theme in {"light", "dark"} else "")

    def _path(self, request: HttpRequest) -> str:
        return str(request.scope["path"])

    def _knows(self, path: str) -> bool:
        return (
            path.startswith((_DO, _LIVE, _UPLOADS))
            or path == _CALL
            or (self._router.find(path) is not None)
        )

    def _missing(self, request: HttpRequest) -> Response:
        return self._fail(request, PathNotFoundError(request.visit.path))

    def _send_to_login(self, request: HttpRequest, error: CarrelError) -> Response:
        path = self._path(request)
        if request.method in _SAFE and not path.startswith((_LIVE, _UPLOADS)):
            query = request.scope.get("query_string", b"").decode("latin-1")
            return redirect_response(
                local_address("/login", next=f"{path}?{query}" if query else path)
            )
        return self._fail(request, error)

    def _keeps_form(self, request: HttpRequest) -> bool:
        """Whether this is a form of a page in a browser that we know."""
        is_form = request.method == "POST" and not self._path(request).startswith(
            (_CALL, _LIVE, _UPLOADS)
        )
        return is_form and not self._sessions.browser(request).is_new

    async def _ask_to_log_in(self, request: HttpRequest) -> Response:
        """A form whose session has ended: to be sent again, with its token, after a log-in."""
        check_own_page(request)
        token = (await _read_form(request)).text("csrf")
        return await self._fail_with_form(request, NotLoggedInError(), token)

    async def _fail_with_form(
        self, request: HttpRequest, error: CarrelError, token: str = ""
    ) -> Response:
        """In a thread: strangers may send forms of thousands of fields."""
        form = await _read_form(request)
        return await asyncio.to_thread(self._fail, request, error, form=form, token=token)

    def _record_forgery(self, request: HttpRequest, error: CarrelError) -> None:
        caller = request.caller or STRANGER
        self._gate.record_refusal(request.visit, "web", request.visit.path, error, caller)

    def _fail(
        self,
        request: HttpRequest,
        error: CarrelError,
        *,
        form: FieldValues | None = None,
        token: str = "",
    ) -> Response:
        """The error as a page where a person looks, as JSON where a program asked."""
        path = self._path(request)
        is_for_program = path.startswith((_CALL, _LIVE, _UPLOADS, _ASSETS)) or (
            b"text/html" not in request.headers.get(b"accept", b"")
        )
        if is_for_program:
            return _with_security(self._rest.failed(error, request.visit))
        return self._writer.write_error(
            request, self._preferences(request), error, form=form, path=path, token=token
        )


def _price_for_page(operation: Operation[Any]) -> Operation[Any]:
    """The operation at a page's share of its price, where it only reads."""
    if operation.effect is not Effect.READS:
        return operation
    return replace(operation, cost=operation.cost * _SHARE_OF_PAGE)


async def _read_form(request: HttpRequest) -> FieldValues:
    """In a thread where it is long: to decode four megabytes takes a second."""
    if len(request.body) <= _SHORT_FORM_BYTES:
        return read_form_fields(request)
    return await asyncio.to_thread(read_form_fields, request)


def _read_call(request: HttpRequest) -> tuple[str, dict[str, Any]]:
    content_type = request.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    try:
        given = parse_json(request.body) if content_type == b"application/json" else None
    except orjson.JSONDecodeError:
        given = None
    if not isinstance(given, dict):
        raise InvalidInputError("The body must be a JSON object", next_step="Load the page again.")
    name, arguments = given.get("operation"), given.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise InvalidInputError(
            "operation must be a name and arguments an object", next_step="Load the page again."
        )
    return name, arguments


def _with_security(response: Response) -> Response:
    kept: Header = (b"cache-control", b"no-store")
    headers = (*response.headers, kept, NOTHING_POLICY, *SECURITY_HEADERS)
    return Response(response.status, response.body, headers)
