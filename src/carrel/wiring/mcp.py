"""The MCP servers of a desk: its endpoints, standard input and output, and FastMCP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from carrel.doors.mcp.desk_endpoints import DeskEndpoints
from carrel.doors.mcp.dispatcher import Dispatcher
from carrel.doors.mcp.endpoint import Endpoint
from carrel.settings import Settings, SettingsError
from carrel.stores.kept_answers import KeptAnswerFiles
from carrel.wiring.desk import Desk, open_desk

if TYPE_CHECKING:
    from fastmcp import FastMCP


def desk_endpoints(desk: Desk) -> DeskEndpoints:
    """What each MCP address serves."""
    settings = desk.settings
    kept = KeptAnswerFiles(settings.home / "cache" / "answers", desk.clock)
    return DeskEndpoints(desk.catalogue, desk.gate, settings.server, kept)


def stdio_dispatcher(desk: Desk) -> Dispatcher:
    """What `carrel mcp` serves once the rooms are open."""
    return open_dispatcher(desk, desk_endpoints(desk).stdio())


def open_dispatcher(desk: Desk, endpoint: Endpoint) -> Dispatcher:
    """The dispatcher of an endpoint."""
    return Dispatcher(endpoint, desk.gate, desk.observer)


def fastmcp_app(settings: Settings) -> FastMCP[Any]:
    """All rooms as a FastMCP server, for `fastmcp run` and for mounting into others."""
    try:
        from carrel.doors.mcp.fastmcp_server import fastmcp_server
    except ModuleNotFoundError:
        raise SettingsError(
            "FastMCP is not installed; pip install 'carrel[fastmcp]' brings it"
        ) from None

    desk = open_desk(settings)

    @asynccontextmanager
    async def lifespan(server: FastMCP[Any]) -> AsyncIterator[dict[str, object]]:
        async with desk.session(resumes_jobs=True):
            yield {}

    return fastmcp_server(desk_endpoints(desk).common(has_everything=True), desk.gate, lifespan)
