"""Routes requests by path, after the checks common to all of them."""

from __future__ import annotations

import itertools
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Set
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

from carrel.core.caller import Visit
from carrel.core.errors import CarrelError, InternalError
from carrel.doors.http.exchange import EXCHANGE, Exchange
from carrel.doors.http.messages import (
    BodyTooLargeError,
    ClientGoneError,
    Header,
    HttpRequest,
    MethodNotAllowedError,
    PathNotFoundError,
    Receive,
    Response,
    Scope,
    Send,
    ServerBusyError,
    StreamedResponse,
    send_response,
    send_streamed,
)
from carrel.doors.http.request_checks import (
    SAFE_METHODS,
    SMALL_BODY_BYTES,
    BodyBudget,
    HeaderChecks,
    HeldBody,
    check_declared_size,
    may_be_large,
    printable,
    read_body,
)
from carrel.doors.http.stop_notice import StopNotice
from carrel.policy.gate import STRANGER, Gate
from carrel.policy.http_limits import RequestLimits
from carrel.policy.origin import OriginPolicy, TrustedProxies

if TYPE_CHECKING:
    from carrel.core.call_observer import CallObserver
    from carrel.doors.http.known_heads import KnownHead

log = logging.getLogger("carrel.http")

Handler = Callable[[HttpRequest], Awaitable[Response | StreamedResponse]]
Refuse = Callable[[CarrelError, Visit], Response]
# Sets the caller of a request before its body is read, or gives the response that refuses it.
Admit = Callable[[HttpRequest], Awaitable[Response | None]]

# What follows an answer to a request that was not read to its end is not worth waiting for.
_CLOSE: tuple[Header, ...] = ((b"connection", b"close"),)
_LONGEST_USER_AGENT = 200
_LONGEST_PATH = 200
_READ_AS = {"HEAD": "GET"}
_CORS_HEADERS = (
    b"content-type, accept, authorization, mcp-protocol-version, mcp-method, mcp-name, "
    b"last-event-id, x-request-id, upload-offset",
    b"retry-after, www-authenticate, x-request-id, x-ratelimit-limit, x-ratelimit-remaining, "
    b"x-ratelimit-reset, location, upload-offset, upload-length, upload-expires",
)


def _allowance_headers(visit: Visit) -> tuple[Header, ...]:
    """Rate limit headers for the scarcest charge of a visit."""
    left = min(visit.receipts, key=lambda receipt: receipt.remaining)
    return (
        (b"x-ratelimit-limit", b"%d" % left.limit),
        (b"x-ratelimit-remaining", b"%d" % left.remaining),
        (b"x-ratelimit-reset", b"%d" % left.reset_seconds),
    )


def _with_headers(
    response: Response | StreamedResponse, more: tuple[Header, ...]
) -> Response | StreamedResponse:
    """The response with more headers; a new one, since some are shared by many requests."""
    if isinstance(response, StreamedResponse):
        return StreamedResponse(response.status, response.pieces, (*response.headers, *more))
    return Response(response.status, response.body, (*response.headers, *more))


def _read_headers(
    scope: Scope,
) -> tuple[dict[bytes, bytes], Set[bytes], KnownHead | None]:
    """Each header with its last value, which were given more than once, and the head if known."""
    exchange: Exchange | None = scope.get(EXCHANGE)
    if exchange is not None:
        return exchange.headers, exchange.repeated, exchange.known
    headers: dict[bytes, bytes] = {}
    repeated: set[bytes] = set()
    for name, value in scope["headers"]:
        if name in headers:
            repeated.add(name)
        headers[name] = value
    return headers, repeated, None


@dataclass(frozen=True, slots=True)
class Route:
    """The handlers of one path by method; `is_open` paths skip the Host and Origin checks.

    With `refuse_stranger` the caller is identified from the headers before the body is read, and
    this function answers those who are not; `admit` does both in its own way. `max_body_bytes`
    overrides the common limit. What is not `is_shared_with_pages` no other site's scripts may read.
    """

    handlers: Mapping[str, Handler]
    is_open: bool = False
    has_tail: bool = False
    refuse_stranger: Refuse | None = None
    max_body_bytes: int | None = None
    admit: Admit | None = None
    is_shared_with_pages: bool = True
    allow: bytes = field(init=False, default=b"")

    def __post_init__(self) -> None:
        methods = [*self.handlers, *(("HEAD",) if "GET" in self.handlers else ())]
        object.__setattr__(self, "allow", ", ".join(methods).encode())


@dataclass(frozen=True, slots=True)
class _HeadFindings:
    """What the head of a request and the address of its sender say, whatever follows.

    `is_checked` says that no check of the headers refuses it.
    """

    peer: str
    route: Route | None
    path_tail: str
    user_agent: str
    authorization: str | None
    platform_authorization: str | None
    shown_path: str
    session: str
    is_checked: bool = False


class HttpApp:
    """The ASGI application."""

    def __init__(
        self,
        routes: Mapping[str, Route],
        *,
        gate: Gate,
        origin_policy: OriginPolicy,
        limits: RequestLimits,
        lifespan: Callable[[], AbstractAsyncContextManager[object]],
        refuse: Refuse,
        trusted_proxies: TrustedProxies | None = None,
        fallback: Route | None = None,
        stop_notice: StopNotice | None = None,
        observer: CallObserver | None = None,
    ) -> None:
        self._observer = observer
        self._fallback = fallback
        self._stop_notice = stop_notice or StopNotice()
        self._routes = {path: route for path, route in routes.items() if not route.has_tail}
        self._prefixes = {path: route for path, route in routes.items() if route.has_tail}
        self._gate = gate
        self._limits = limits
        self._budget = BodyBudget(limits.max_buffered_bytes, limits.max_buffered_bytes_per_address)
        self._lifespan = lifespan
        self._refuse = refuse
        self._trusted_proxies = trusted_proxies or TrustedProxies()
        self._header_checks = HeaderChecks(origin_policy, self._trusted_proxies)
        self._request_ids = itertools.count(1)
        self._request_prefix = secrets.token_hex(6)
        self._proxied: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, repeated, known = _read_headers(scope)
        client = scope.get("client")
        peer = client[0] if client else "unknown"
        found: _HeadFindings | None = None if known is None else known.findings.get(peer)
        if found is None:
            found = self._read_head(scope["path"], headers, peer)
        visit = self._visit(scope, headers, repeated, found)
        request = HttpRequest(scope, headers, frozenset(repeated), b"", visit)
        observer = self._observer
        if observer is not None:
            visit.began = perf_counter()
            observer.under_way += 1
            if observer.reads_context and b"traceparent" in headers:
                observer.read_context(visit, headers, repeated)
        status = 0
        # Behind a proxy one connection carries many callers, so that theirs are counted by request.
        is_proxied = visit.address != peer
        is_counted = False
        try:
            route, request.path_tail = found.route, found.path_tail
            try:
                cors = self._check_headers(request, found, known)
                if is_proxied:
                    self._enter(visit.address_group)
                    is_counted = True
            except CarrelError as error:
                response: Response | StreamedResponse = self._turn_away(error, visit)
            else:
                response = await self._answer(request, receive, route, cors)
                if self._stop_notice.is_given:
                    response = _with_headers(response, _CLOSE)
            status = response.status
            await self._send(scope, receive, send, response)
        except ClientGoneError:
            return
        finally:
            if is_counted:
                self._leave(visit.address_group)
            if observer is not None:
                observer.under_way -= 1
                path = scope["path"]
                if visit.mcp_request is not None and status:
                    observer.mcp_answered(visit, visit.mcp_request, path, status)
                else:
                    observer.request_ended(visit, scope["method"], path, status, self._route_name)

    def _check_headers(
        self, request: HttpRequest, found: _HeadFindings, known: KnownHead | None
    ) -> tuple[Header, ...]:
        """The headers for scripts of a listed page; raises the refusal."""
        route = found.route
        if found.is_checked or (route is not None and route.is_open):
            return ()
        headers = request.headers
        is_listed = self._header_checks.check(
            request.scope["method"], headers, request.repeated, found.peer
        )
        if known is not None and b"origin" not in headers:
            # What passed goes on to pass: nothing but the head and its sender was asked.
            known.note(found.peer, replace(found, is_checked=True))
        if not is_listed or (route is not None and not route.is_shared_with_pages):
            return ()
        cors = ((b"access-control-allow-origin", headers[b"origin"]), (b"vary", b"origin"))
        return (*cors, (b"access-control-expose-headers", _CORS_HEADERS[1]))

    def _route_name(self, path: str) -> str:
        """The route of an address, without what of it is a caller's."""
        if path in self._routes:
            return path
        for prefix in self._prefixes:
            if path.startswith(prefix):
                return f"{prefix}{{name}}"
        return "_OTHER" if self._fallback is None else "/{page}"

    def _turn_away(self, error: CarrelError, visit: Visit) -> Response:
        self._gate.record_refusal(visit, "http", visit.path, error)
        return self._refuse(error, visit)

    async def _answer(
        self,
        request: HttpRequest,
        receive: Receive,
        route: Route | None,
        cors: tuple[Header, ...],
    ) -> Response | StreamedResponse:
        """The response. Raises ClientGoneError."""
        method, visit = request.method, request.visit
        handler = None if route is None else route.handlers.get(_READ_AS.get(method, method))
        response: Response | StreamedResponse
        if route is None:
            response = self._refuse(PathNotFoundError(visit.path), visit)
        elif method == "OPTIONS" and cors:
            preflight = (
                (b"access-control-allow-methods", route.allow),
                (b"access-control-allow-headers", _CORS_HEADERS[0]),
            )
            response = Response(204, b"", (*preflight, (b"access-control-max-age", b"600")))
        elif handler is None:
            wrong = MethodNotAllowedError(method, visit.path, route.allow.decode())
            response = _with_headers(self._refuse(wrong, visit), ((b"allow", route.allow),))
        else:
            response = await self._handle(handler, route, request, receive)
        return _with_headers(response, cors) if cors else response

    async def _handle(
        self, handler: Handler, route: Route, request: HttpRequest, receive: Receive
    ) -> Response | StreamedResponse:
        """Identify the caller, read the body, then answer."""
        visit = request.visit
        if route.refuse_stranger is not None:
            try:
                request.caller = await self._gate.identify(visit)
            except CarrelError as error:
                refused = route.refuse_stranger(error, visit)
                return _with_headers(refused, _CLOSE) if may_be_large(request.headers) else refused
        if route.admit is not None:
            refusal = await route.admit(request)
            if refusal is not None:
                return _with_headers(refusal, _CLOSE) if may_be_large(request.headers) else refusal
        if request.scope["method"] in SAFE_METHODS:
            return await self._run(handler, request)
        limit_bytes = route.max_body_bytes or self._limits.max_body_bytes
        if may_be_large(request.headers) or limit_bytes < SMALL_BODY_BYTES:
            return await self._handle_large(handler, request, receive, limit_bytes)
        exchange: Exchange | None = request.scope.get(EXCHANGE)
        body = None if exchange is None else exchange.take_body()
        try:
            if body is None:
                body = await read_body(receive, limit_bytes, self._limits.body_timeout_seconds)
            elif len(body) > limit_bytes:
                raise BodyTooLargeError(limit_bytes)
        except CarrelError as error:
            return self._refuse_body(error, request)
        request.body = body
        return await self._run(handler, request)

    async def _handle_large(
        self, handler: Handler, request: HttpRequest, receive: Receive, limit_bytes: int
    ) -> Response | StreamedResponse:
        """The same for a large body: counted while it is held, unread without allowance."""
        visit = request.visit
        held = HeldBody(self._budget, visit.address_group)
        try:
            try:
                check_declared_size(request.headers, limit_bytes)
                if request.caller is not None:
                    await self._gate.check_allowance(request.caller, visit)
                request.body = await read_body(
                    receive, limit_bytes, self._limits.body_timeout_seconds, held
                )
            except CarrelError as error:
                return self._refuse_body(error, request)
            return await self._run(handler, request)
        finally:
            held.release()

    def _refuse_body(self, error: CarrelError, request: HttpRequest) -> Response | StreamedResponse:
        visit = request.visit
        self._gate.record_refusal(visit, "http", visit.path, error, request.caller or STRANGER)
        return _with_headers(self._refuse(error, visit), _CLOSE)

    async def _run(self, handler: Handler, request: HttpRequest) -> Response | StreamedResponse:
        visit = request.visit
        try:
            response = await handler(request)
        except Exception:
            error_id = secrets.token_hex(8)
            log.exception(
                "request failed",
                extra={"error_id": error_id, "request_id": visit.request_id, "path": visit.path},
            )
            response = self._refuse(InternalError(error_id), visit)
        return _with_headers(response, _allowance_headers(visit)) if visit.receipts else response

    async def _send(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        response: Response | StreamedResponse,
    ) -> None:
        if isinstance(response, StreamedResponse):
            await send_streamed(receive, send, response)
            return
        exchange: Exchange | None = scope.get(EXCHANGE)
        if exchange is not None and exchange.answer(
            response.status, response.headers, response.body
        ):
            return
        if scope["method"] == "HEAD":
            await send(
                {
                    "type": "http.response.start",
                    "status": response.status,
                    "headers": [*response.headers],
                }
            )
            await send({"type": "http.response.body", "body": b""})
        else:
            await send_response(send, response)

    def _find(self, path: str) -> tuple[Route | None, str]:
        route = self._routes.get(path)
        if route is not None:
            return route, ""
        for prefix, candidate in self._prefixes.items():
            if path.startswith(prefix) and len(path) > len(prefix):
                return candidate, path[len(prefix) :]
        return self._fallback, ""

    def _read_head(self, path: str, headers: dict[bytes, bytes], peer: str) -> _HeadFindings:
        agent = headers.get(b"user-agent", b"unknown").decode("latin-1")
        authorization = headers.get(b"authorization")
        platform = headers.get(b"x-serverless-authorization")
        session = headers.get(b"mcp-session-id", b"").decode("latin-1")
        return _HeadFindings(
            peer,
            *self._find(path),
            printable(agent, _LONGEST_USER_AGENT),
            None if authorization is None else authorization.decode("latin-1"),
            None if platform is None else platform.decode("latin-1"),
            printable(path, _LONGEST_PATH),
            printable(session, _LONGEST_USER_AGENT),
        )

    def _visit(
        self,
        scope: Scope,
        headers: dict[bytes, bytes],
        repeated: Set[bytes],
        found: _HeadFindings,
    ) -> Visit:
        peer = address = found.peer
        name = self._trusted_proxies.header
        forwarded = headers.get(name)
        if forwarded is not None and self._trusted_proxies.trusts(peer):
            if name in repeated:
                forwarded = b",".join(value for given, value in scope["headers"] if given == name)
            address = self._trusted_proxies.address(peer, forwarded.decode("latin-1"))
        return Visit(
            "http",
            f"{self._request_prefix}-{next(self._request_ids):x}",
            address,
            found.user_agent,
            found.authorization,
            found.platform_authorization,
            found.shown_path,
            "",
            True,
            found.session,
        )

    def _enter(self, group: str) -> None:
        """Count a request of a proxied caller; raises ServerBusyError where there are too many."""
        under_way = self._proxied.get(group, 0)
        if under_way >= self._limits.max_requests_per_proxied_client:
            raise ServerBusyError("Too many requests from this address are under way at once")
        self._proxied[group] = under_way + 1

    def _leave(self, group: str) -> None:
        left = self._proxied[group] - 1
        if left:
            self._proxied[group] = left
        else:
            del self._proxied[group]

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            # Whoever stops this process has taken the signals by now.
            async with self._lifespan():
                with self._stop_notice.watch_signals():
                    await send({"type": "lifespan.startup.complete"})
                    await receive()
        except Exception as error:
            log.exception("start-up or shutdown failed")
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.shutdown.complete"})
