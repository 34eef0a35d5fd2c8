"""The test build: the shipped application with the fixture room that the conformance suite needs.

`python -m tests.interop.fixture_server PORT` serves HTTP, `fastmcp PORT` the same room by FastMCP.
"""

from __future__ import annotations

import sys
from typing import Any

from carrel.doors.http import HttpApp
from carrel.doors.http.server import listen, run_server
from carrel.doors.logs import configure_logs
from carrel.doors.mcp.dispatcher import Dispatcher
from carrel.doors.mcp.fastmcp_server import fastmcp_server
from carrel.doors.mcp.http import McpHttp
from carrel.doors.oauth.metadata import challenge_for
from carrel.policy.http_limits import ConnectionLimits
from carrel.settings import AuditSettings, Settings
from carrel.wiring.desk import Desk, OpenRoom, open_desk
from carrel.wiring.http import http_app
from carrel.wiring.mcp import desk_endpoints
from tests.interop.fixture_room import fixture_room


def fixture_app(desk: Desk) -> HttpApp:
    """The shipped application with the fixture room at /fixtures/mcp."""
    endpoint = desk_endpoints(desk).room(desk.catalogue.room("fixtures"))
    door = McpHttp(
        Dispatcher(endpoint, desk.gate), desk.gate, challenge_for(None), streams_progress=True
    )
    return http_app(desk, {"/fixtures/mcp": door.route()})


def fastmcp_fixtures(desk: Desk, port: int) -> None:
    """The same room served by FastMCP (the extra `fastmcp`) at the same address, until it ends."""
    server = fastmcp_server(desk_endpoints(desk).room(desk.catalogue.room("fixtures")), desk.gate)
    server.run(
        "http", host="127.0.0.1", port=port, path="/fixtures/mcp", stateless_http=True,
        host_origin_protection="auto", show_banner=False, log_level="warning",
    )  # fmt: skip


def fixture_desk(**settings: Any) -> Desk:
    """A desk whose only room is the fixtures."""
    return open_desk(
        Settings(rooms=(), audit=AuditSettings(enabled=False), **settings),
        [OpenRoom(fixture_room())],
    )


def main() -> None:
    configure_logs("warning", "text")
    if sys.argv[1] == "fastmcp":
        fastmcp_fixtures(fixture_desk(), int(sys.argv[2]))
        return
    listener = listen("127.0.0.1", int(sys.argv[1]))
    print(f"listening on {listener.getsockname()[1]}", file=sys.stderr, flush=True)
    run_server(
        fixture_app(fixture_desk()), listener, workers=1, drain_seconds=2, limits=ConnectionLimits()
    )


if __name__ == "__main__":
    main()
