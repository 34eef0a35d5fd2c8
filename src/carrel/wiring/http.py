"""The ASGI application: which addresses there are and what answers at each."""

from __future__ import annotations

import os

from carrel.doors.docs_page import description_routes
from carrel.doors.http import HttpApp, Route
from carrel.doors.http.messages import Challenge
from carrel.doors.http.server import spare_collections
from carrel.doors.http.stop_notice import StopNotice
from carrel.doors.logs import configure_logs
from carrel.doors.mcp.endpoint import Endpoint
from carrel.doors.mcp.http import McpHttp
from carrel.doors.oauth.metadata import (
    authorization_server_routes,
    challenge_for,
    protected_resource_routes,
)
from carrel.doors.readiness import Readiness
from carrel.doors.rest import RestDoor
from carrel.doors.uploads import DESCRIPTION as UPLOADS_DESCRIPTION
from carrel.doors.uploads import UploadDoor
from carrel.settings import Settings, network_rules
from carrel.wiring.desk import Desk, open_desk
from carrel.wiring.mcp import desk_endpoints, open_dispatcher

DESK_PATH = "/desk/mcp"
RESOLVED_SETTINGS = "CARREL_RESOLVED_SETTINGS"
# The folder in which workers see one another's metrics.
METRICS_FOLDER = "CARREL_METRICS_FOLDER"


def http_app(desk: Desk, extra_routes: dict[str, Route] | None = None) -> HttpApp:
    """The ASGI application with every door on it."""
    settings = desk.settings
    rest = RestDoor(desk.catalogue, desk.gate, desk.clock, challenge_at(desk, ""))
    server, endpoints = settings.server, desk_endpoints(desk)
    stop_notice = StopNotice(network_rules.stop_delay_seconds(settings))
    takes_uploads = any(room.uploads is not None for room in desk.rooms)

    def mcp_route(path: str, endpoint: Endpoint, *, streams_progress: bool = False) -> Route:
        dispatcher = open_dispatcher(desk, endpoint)
        return McpHttp(
            dispatcher, desk.gate, challenge_at(desk, path), streams_progress=streams_progress
        ).route()

    readiness = Readiness(desk.probes(), desk.clock, stop_notice)
    routes: dict[str, Route] = {
        **readiness.routes(),
        "/mcp": mcp_route("/mcp", endpoints.common(has_everything=False)),
        DESK_PATH: mcp_route(
            DESK_PATH, endpoints.common(has_everything=True), streams_progress=True
        ),
        **rest.routes(),
        **description_routes(
            desk.catalogue,
            name=server.name,
            version=server.version,
            public_url=server.public_url,
            needs_token=desk.access.mode != "local",
            more_paths=UPLOADS_DESCRIPTION if takes_uploads else None,
        ),
    }
    uploads: UploadDoor | None = None
    for open_room in desk.rooms:
        if open_room.uploads is not None:
            uploads = UploadDoor(open_room.uploads, desk.gate, rest, open_room.refuse_uploads)
            routes.update(uploads.routes())
    for room in desk.catalogue.rooms:
        # Rooms with long jobs may stream progress; the common address is bound to one JSON answer.
        path, lasts = f"/{room.name}/mcp", room.jobs is not None
        routes[path] = mcp_route(path, endpoints.room(room), streams_progress=lasts)
    # A trailing slash is a slip of whoever typed the address, not another address.
    routes.update({f"{path}/": route for path, route in routes.items() if path.endswith("/mcp")})
    routes.update(access_routes(desk))
    if settings.observability.has_page:
        from carrel.wiring.metrics_page import metrics_routes

        routes.update(metrics_routes(desk, readiness, rest.failed))
    routes.update(extra_routes or {})

    return HttpApp(
        routes,
        gate=desk.gate,
        origin_policy=network_rules.origin_policy(settings),
        limits=network_rules.request_limits(settings),
        lifespan=lambda: desk.session(resumes_jobs=True),
        refuse=rest.failed,
        trusted_proxies=network_rules.trusted_proxies(settings),
        fallback=_console_route(desk, rest, uploads),
        stop_notice=stop_notice,
        observer=desk.observer,
    )


def _console_route(desk: Desk, rest: RestDoor, uploads: UploadDoor | None) -> Route | None:
    """The web console, at every address that nothing else has; None where it is switched off."""
    if not desk.settings.server.console or not desk.settings.rooms:
        return None
    # Only then: templates and their language are loaded for people alone.
    from carrel.wiring.console import open_console

    return open_console(desk, rest, uploads).route()


def challenge_at(desk: Desk, path: str) -> Challenge:
    """What a refusal at one address says about getting a token for it."""
    return challenge_for(None if desk.access.mode == "local" else f"{desk.settings.base_url}{path}")


def access_routes(desk: Desk) -> dict[str, Route]:
    """The metadata of resources, and the built-in authorization server; none in local mode."""
    access = desk.access
    if access.mode == "local":
        return {}
    name = desk.settings.server.name
    paths = network_rules.resource_paths(desk.catalogue)
    routes = protected_resource_routes(
        desk.settings.base_url, paths, desk.catalogue.scopes, access.authorization_servers, name
    )
    built_in = access.built_in
    if built_in is not None:
        from carrel.doors.oauth.authorize import oauth_routes

        routes.update(authorization_server_routes(built_in.server))
        routes.update(oauth_routes(built_in, desk.gate, name))
    return routes


def app_from_environment() -> HttpApp:
    """What each worker process runs, on the settings that its parent has read."""
    settings = Settings.model_validate_json(os.environ[RESOLVED_SETTINGS])
    configure_logs(settings.log.level, settings.log.format)
    os.umask(0o077)
    app = http_app(open_desk(settings, audit_stream="stdout"))
    spare_collections()
    return app
