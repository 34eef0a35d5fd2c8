"""The test build: the shipped application with the fixture room, and FastMCP guests behind it.

`python -m tests.interop.fixture_server PORT` serves HTTP, `… stdio` speaks over standard input and
output.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from carrel.doors.http.connections import ConnectionLimits
from carrel.doors.http.exchange import Receive, Scope, Send
from carrel.doors.http.server import listen, run_server
from carrel.doors.logs import configure_logs
from carrel.doors.mcp.behind import FastMcpBehind
from carrel.doors.mcp.fastmcp_server import fastmcp_server
from carrel.doors.mcp.http import McpHttp
from carrel.doors.mcp.lane import Lane
from carrel.doors.mcp.stdio import ProtocolOutput, serve_stdio
from carrel.settings import AuditSettings, Settings
from carrel.wiring.desk import Desk, OpenRoom, open_desk
from carrel.wiring.http import challenge, http_app
from carrel.wiring.mcp import room_endpoint, stdio_lane
from tests.interop.fixture_guests import add_guests
from tests.interop.fixture_room import fixture_room


class FixtureApp:
    """The whole application; FastMCP's own life is inside that of ours."""

    def __init__(self, desk: Desk) -> None:
        endpoint = room_endpoint(desk, desk.catalogue.room("fixtures"))
        server = fastmcp_server(endpoint, desk.gate)
        add_guests(server)
        endpoint.capabilities.update({"completions": {}, "logging": {}})
        self.behind = FastMcpBehind(server, "/fixtures/mcp")
        door = McpHttp(
            Lane(endpoint, desk.gate),
            desk.gate,
            challenge,
            self.behind.answer,
            streams_progress=True,
        )
        self._app = http_app(desk, {"/fixtures/mcp": door.route()})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            async with self.behind.lifespan():
                await self._app(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def fixture_desk(**settings: Any) -> Desk:
    """A desk whose only room is the fixtures."""
    return open_desk(
        Settings(rooms=(), audit=AuditSettings(enabled=False), **settings),
        [OpenRoom(fixture_room())],
    )


async def speak(output: ProtocolOutput) -> None:
    async with fixture_desk().opened() as desk:
        await serve_stdio(stdio_lane(desk), desk.gate, sys.stdin.fileno(), output.write_line)


def main() -> None:
    if sys.argv[1] == "stdio":
        output = ProtocolOutput()
        configure_logs("warning", "text")
        asyncio.run(speak(output))
        return
    configure_logs("warning", "text")
    listener = listen("127.0.0.1", int(sys.argv[1]))
    print(f"listening on {listener.getsockname()[1]}", file=sys.stderr, flush=True)
    run_server(
        FixtureApp(fixture_desk()), listener, workers=1, drain_seconds=2, limits=ConnectionLimits()
    )


if __name__ == "__main__":
    main()
