"""The ASGI application: which addresses there are and what answers at each."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from carrel.doors.docs_page import docs_page
from carrel.doors.http import HttpApp, HttpRequest, RequestLimits, Response, Route
from carrel.doors.http.connections import ConnectionLimits
from carrel.doors.logs import configure_logs
from carrel.doors.mcp.dispatcher import Dispatcher
from carrel.doors.mcp.endpoint import Endpoint
from carrel.doors.mcp.http import McpHttp
from carrel.doors.oauth.metadata import challenge_for
from carrel.doors.readiness import Readiness
from carrel.doors.rest import RestDoor
from carrel.doors.schemas import describe
from carrel.policy.origin import ANY, MalformedAuthorityError, OriginPolicy, TrustedProxies
from carrel.settings import Settings, SettingsError
from carrel.wiring.desk import Desk, open_desk
from carrel.wiring.health import desk_probes
from carrel.wiring.mcp import common_endpoint, room_endpoint
from carrel.wiring.oauth import access_routes, challenge_at

DESK_PATH = "/desk/mcp"
RESOLVED_SETTINGS = "CARREL_RESOLVED_SETTINGS"
# For addresses of others' own that no metadata describes.
challenge = challenge_for(None)


def http_app(desk: Desk, extra_routes: dict[str, Route] | None = None) -> HttpApp:
    """The ASGI application with every door on it."""
    settings = desk.settings
    rest = RestDoor(desk.catalogue, desk.gate, desk.clock, challenge_at(desk, ""))
    server = settings.server
    needs_token = desk.access.mode != "local"
    document = describe(
        desk.catalogue,
        name=server.name,
        version=server.version,
        public_url=server.public_url,
        needs_token=needs_token,
    )
    page = docs_page(desk.catalogue, name=server.name, version=server.version)

    async def openapi(request: HttpRequest) -> Response:
        return Response.json(200, document)

    async def docs(request: HttpRequest) -> Response:
        return Response(200, page.body, page.headers)

    def mcp_route(path: str, endpoint: Endpoint, *, streams_progress: bool = False) -> Route:
        dispatcher = Dispatcher(endpoint, desk.gate)
        return McpHttp(
            dispatcher, desk.gate, challenge_at(desk, path), streams_progress=streams_progress
        ).route()

    routes: dict[str, Route] = {
        **Readiness(desk_probes(desk), desk.clock).routes(),
        "/mcp": mcp_route("/mcp", common_endpoint(desk, has_everything=False)),
        DESK_PATH: mcp_route(
            DESK_PATH, common_endpoint(desk, has_everything=True), streams_progress=True
        ),
        "/mcp/tools": Route({"GET": rest.list_tools}),
        "/mcp/tools/": Route({"GET": rest.show_tool}, has_tail=True),
        "/mcp/invoke": Route({"POST": rest.invoke}, refuse_stranger=rest.refuse_stranger),
        "/mcp/health": Route({"GET": rest.health}),
        "/openapi.json": Route({"GET": openapi}),
        "/docs": Route({"GET": docs}),
    }
    for room in desk.catalogue.rooms:
        # Rooms whose work takes a while may tell how far it is; the common address is bound to one
        # JSON answer.
        path, lasts = f"/{room.name}/mcp", room.jobs is not None
        routes[path] = mcp_route(path, room_endpoint(desk, room), streams_progress=lasts)
    # A trailing slash is a slip of whoever typed the address, not another address.
    routes.update({f"{path}/": route for path, route in routes.items() if path.endswith("/mcp")})
    routes.update(access_routes(desk))
    routes.update(extra_routes or {})

    return HttpApp(
        routes,
        gate=desk.gate,
        origin_policy=_origin_policy(settings),
        limits=RequestLimits(
            max_body_bytes=server.max_body_bytes,
            body_timeout_seconds=server.body_timeout_seconds,
            max_buffered_bytes=max(server.max_buffered_body_bytes, server.max_body_bytes),
            max_buffered_bytes_per_address=max(
                server.max_buffered_body_bytes // 4, server.max_body_bytes
            ),
            max_requests_per_proxied_client=server.max_connections_per_address,
        ),
        lifespan=lambda: _closing(desk),
        refuse=rest.failed,
        trusted_proxies=_trusted_proxies(settings),
    )


def connection_limits(settings: Settings) -> ConnectionLimits:
    """What connections may take up, by the settings."""
    server = settings.server
    return ConnectionLimits(
        max_header_bytes=server.max_header_bytes,
        max_headers=server.max_headers,
        max_target_bytes=server.max_target_bytes,
        max_body_bytes=server.max_body_bytes,
        header_timeout_seconds=server.header_timeout_seconds,
        keep_alive_seconds=server.keep_alive_seconds,
        send_timeout_seconds=server.send_timeout_seconds,
        max_connections=server.max_connections,
        max_connections_per_address=server.max_connections_per_address,
        max_pipelined_requests=server.max_pipelined_requests,
        trusted_proxies=_proxy_names(settings),
    )


@asynccontextmanager
async def _closing(desk: Desk) -> AsyncIterator[None]:
    async with desk.opened(takes_up_work=True):
        yield


def _proxy_names(settings: Settings) -> tuple[str, ...]:
    # On Cloud Run only the platform's own front end can connect, and it appends the caller's
    # address.
    return settings.server.trusted_proxies or (("*",) if settings.auth.mode == "cloudrun" else ())


def _trusted_proxies(settings: Settings) -> TrustedProxies:
    try:
        return TrustedProxies(_proxy_names(settings), header=settings.server.forwarded_header)
    except ValueError as error:
        raise SettingsError(
            f"server.trusted_proxies: {error}",
            next_step="Name addresses or networks, such as 10.0.0.0/8.",
        ) from None


def _origin_policy(settings: Settings) -> OriginPolicy:
    server = settings.server
    is_local = settings.auth.mode in {None, "local"}
    if is_local and ANY in server.allowed_origins:
        raise SettingsError(
            "server.allowed_origins = * would let every web page act as the local user",
            next_step="Name the pages, such as http://localhost:6274, or set auth.mode.",
            details={"setting": "server.allowed_origins"},
        )
    hosts = [*server.allowed_hosts, _as_host(server.host)]
    if settings.auth.mode == "cloudrun" and not server.allowed_hosts:
        # Only the platform can connect, and it sends on requests for the names of this service
        # alone: one under run.app that
        # nobody knows before it is deployed, and those that the operator maps to it.
        hosts.append(ANY)
    listed = list(server.allowed_origins)
    if server.public_url:
        scheme, _, rest = server.public_url.partition("://")
        authority = rest.partition("/")[0]
        hosts.append(authority)
        listed.append(f"{scheme}://{authority}")
    try:
        return OriginPolicy.of(hosts, listed, loopback_pages_may_read=is_local)
    except MalformedAuthorityError as error:
        raise SettingsError(
            f"server.allowed_hosts, server.allowed_origins or server.public_url: cannot read "
            f"{str(error)!r}",
            next_step="Write a host as desk.example or [::1]:8080, and an origin as "
            "https://desk.example.",
        ) from None


def _as_host(address: str) -> str:
    """The address to listen on as a Host header has it."""
    return f"[{address}]" if ":" in address else address or "localhost"


def app_from_environment() -> HttpApp:
    """What each worker process runs: the settings were read once, by the process that started
    it.
    """
    settings = Settings.model_validate_json(os.environ[RESOLVED_SETTINGS])
    configure_logs(settings.log.level, settings.log.format)
    os.umask(0o077)
    return http_app(open_desk(settings, audit_stream="stdout"))
