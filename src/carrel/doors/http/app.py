"""Routes requests by path, after checking what must hold for all of them."""

from __future__ import annotations

import itertools
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from carrel.core.caller import Visit
from carrel.core.errors import CarrelError, InternalError
from carrel.doors.http.exchange import (
    ClientGoneError,
    Exchange,
    Header,
    Receive,
    Response,
    Scope,
    Send,
    Streamed,
    read_body,
    send_response,
    send_streamed,
)
from carrel.doors.http.refusals import HostNotAllowedError, MethodNotAllowedError, NothingThereError, OriginNotAllowedError
from carrel.policy.gate import Gate
from carrel.policy.origin import OriginPolicy
from carrel.policy.proxies import TrustedProxies

log = logging.getLogger("carrel.http")

Handler = Callable[[Exchange], Awaitable[Response | Streamed]]
Refuse = Callable[[CarrelError, Visit], Response]

_PATH_CHARACTERS = 200
_SAFE_METHODS = frozenset({"GET", "HEAD"})
_CORS_HEADERS = (
    b"content-type, accept, authorization, mcp-protocol-version, mcp-method, mcp-name, last-event-id, x-request-id",
    b"retry-after, www-authenticate, x-request-id, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset",
)


def _allowance_headers(visit: Visit) -> tuple[Header, ...]:
    """What is left after the scarcest charge of a visit."""
    left = min(visit.receipts, key=lambda receipt: receipt.remaining)
    return (
        (b"x-ratelimit-limit", b"%d" % left.limit),
        (b"x-ratelimit-remaining", b"%d" % left.remaining),
        (b"x-ratelimit-reset", b"%d" % left.reset_seconds),
    )


def _with_headers(response: Response | Streamed, more: tuple[Header, ...]) -> Response | Streamed:
    """The response with more headers; a new one, since some are shared by many requests."""
    if isinstance(response, Streamed):
        return Streamed(response.status, response.pieces, (*response.headers, *more))
    return Response(response.status, response.body, (*response.headers, *more))


@dataclass(frozen=True, slots=True)
class Route:
    """What one path does: a handler per method. `is_open` paths skip the Host and Origin checks."""

    handlers: Mapping[str, Handler]
    is_open: bool = False
    has_tail: bool = False
    allow: bytes = field(init=False, default=b"")

    def __post_init__(self) -> None:
        methods = [*self.handlers, *(("HEAD",) if "GET" in self.handlers else ())]
        object.__setattr__(self, "allow", ", ".join(methods).encode())


class HttpApp:
    """The ASGI application."""

    def __init__(
        self,
        routes: Mapping[str, Route],
        *,
        gate: Gate,
        origin_policy: OriginPolicy,
        max_body_bytes: int,
        body_timeout_seconds: float,
        lifespan: Callable[[], AbstractAsyncContextManager[None]],
        refuse: Refuse,
        trusted_proxies: TrustedProxies | None = None,
    ) -> None:
        self._routes = {path: route for path, route in routes.items() if not route.has_tail}
        self._prefixes = {path: route for path, route in routes.items() if route.has_tail}
        self._gate = gate
        self._origin_policy = origin_policy
        self._max_body_bytes = max_body_bytes
        self._body_timeout_seconds = body_timeout_seconds
        self._lifespan = lifespan
        self._refuse = refuse
        self._trusted_proxies = trusted_proxies or TrustedProxies()
        self._request_ids = itertools.count(1)
        self._request_prefix = secrets.token_hex(6)
        self._known_hosts: dict[bytes, bool] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: dict[bytes, bytes] = {}
        repeated: set[bytes] = set()
        for name, value in scope["headers"]:
            if name in headers:
                repeated.add(name)
            headers[name] = value
        path: str = scope["path"]
        method: str = scope["method"]
        route, tail = self._find(path)
        visit = self._visit(scope, headers)
        cors: tuple[Header, ...] = ()
        response: Response | Streamed
        if route is None or not route.is_open:
            refused = self._refused_by_origin(headers, visit, path)
            if refused is not None:
                await send_response(send, refused)
                return
            if b"origin" in headers:
                cors = ((b"access-control-allow-origin", headers[b"origin"]), (b"vary", b"origin"))
                cors = (*cors, (b"access-control-expose-headers", _CORS_HEADERS[1]))
        if route is None:
            response = self._refuse(NothingThereError(path), visit)
        elif method == "OPTIONS" and cors:
            preflight = ((b"access-control-allow-methods", route.allow), (b"access-control-allow-headers", _CORS_HEADERS[0]))
            response = Response(204, b"", (*preflight, (b"access-control-max-age", b"600")))
        else:
            handler = route.handlers.get("GET" if method == "HEAD" else method)
            if handler is None:
                refusal = self._refuse(MethodNotAllowedError(method, path, route.allow.decode()), visit)
                response = Response(refusal.status, refusal.body, (*refusal.headers, (b"allow", route.allow)))
            else:
                try:
                    body = b"" if method in _SAFE_METHODS else await self._body(receive, headers)
                except ClientGoneError:
                    return
                except CarrelError as error:
                    self._gate.refused(visit, "http", path[:200], error)
                    response = self._refuse(error, visit)
                else:
                    exchange = Exchange(scope, headers, frozenset(repeated), body, visit, tail)
                    response = await self._handled(handler, exchange)
                    if visit.receipts:
                        response = _with_headers(response, _allowance_headers(visit))
        if cors:
            response = _with_headers(response, cors)
        if isinstance(response, Streamed):
            await send_streamed(receive, send, response)
        elif method == "HEAD":
            await send({"type": "http.response.start", "status": response.status, "headers": [*response.headers]})
            await send({"type": "http.response.body", "body": b""})
        else:
            await send_response(send, response)

    async def _body(self, receive: Receive, headers: dict[bytes, bytes]) -> bytes:
        return await read_body(receive, headers, self._max_body_bytes, self._body_timeout_seconds)

    async def _handled(self, handler: Handler, exchange: Exchange) -> Response | Streamed:
        try:
            return await handler(exchange)
        except Exception:
            error_id = secrets.token_hex(8)
            visit = exchange.visit
            log.exception("request failed", extra={"error_id": error_id, "request_id": visit.request_id, "path": visit.path})
            return self._refuse(InternalError(error_id), exchange.visit)

    def _find(self, path: str) -> tuple[Route | None, str]:
        route = self._routes.get(path)
        if route is not None:
            return route, ""
        for prefix, candidate in self._prefixes.items():
            if path.startswith(prefix) and len(path) > len(prefix):
                return candidate, path[len(prefix) :]
        return None, ""

    def _visit(self, scope: Scope, headers: dict[bytes, bytes]) -> Visit:
        client = scope.get("client")
        address = client[0] if client else "unknown"
        forwarded = headers.get(b"x-forwarded-for")
        if forwarded is not None:
            address = self._trusted_proxies.address(address, forwarded.decode("latin-1"))
        authorization = headers.get(b"authorization")
        platform = headers.get(b"x-serverless-authorization")
        return Visit(
            "http",
            f"{self._request_prefix}-{next(self._request_ids):x}",
            address,
            headers.get(b"user-agent", b"unknown").decode("latin-1"),
            None if authorization is None else authorization.decode("latin-1"),
            None if platform is None else platform.decode("latin-1"),
            str(scope.get("path", ""))[:_PATH_CHARACTERS],
        )

    def _refused_by_origin(self, headers: dict[bytes, bytes], visit: Visit, path: str) -> Response | None:
        host = headers.get(b"host", b"")
        known = self._known_hosts.get(host)
        if known is None:
            known = self._origin_policy.accepts_host(host.decode("latin-1"))
            if len(self._known_hosts) < 1024:
                self._known_hosts[host] = known
        origin = headers.get(b"origin")
        error: CarrelError
        if not known:
            error = HostNotAllowedError()
        elif origin is not None and not self._origin_policy.accepts_origin(origin.decode("latin-1")):
            error = OriginNotAllowedError()
        else:
            return None
        self._gate.refused(visit, "http", path[:200], error)
        return self._refuse(error, visit)

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            async with self._lifespan():
                await send({"type": "lifespan.startup.complete"})
                await receive()
        except Exception as error:
            log.exception("start-up or shutdown failed")
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.shutdown.complete"})
