"""One corpus, one server, and every way in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fastmcp
import mcp
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from carrel.settings import Settings
from carrel.wiring.demo import with_demo
from carrel.wiring.desk import open_desk
from carrel.wiring.mcp import fastmcp_app
from tests.journeys.doors import (
    CommandLineDoor,
    Door,
    FastMcpDoor,
    RestDoor,
    SdkDoor,
    serving,
    stdio_parameters,
    stdio_transport,
)

MCP_DOORS = (
    "FastMCP in memory",
    "SDK over HTTP, handshake",
    "SDK over HTTP, stateless",
    "FastMCP client over HTTP, handshake",
    "FastMCP client over HTTP, stateless",
    "SDK over stdio, handshake",
    "FastMCP client over stdio, stateless",
)
DOORS = (*MCP_DOORS, "REST", "command line")


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return with_demo(Settings(home=tmp_path_factory.mktemp("home"), rooms=("papers",)))


@pytest.fixture(scope="session")
def port(settings: Settings) -> Iterator[int]:
    with serving(settings) as listening:
        yield listening


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as running:
        yield running


def _options(settings: Settings) -> list[str]:
    return ["--home", str(settings.home), "--snapshot", str(settings.papers.snapshot), "--rooms", "papers"]


def opened(name: str, settings: Settings, port: int, portal: BlockingPortal) -> Iterator[Door]:
    """One door, open while the test is inside."""
    url = f"http://127.0.0.1:{port}/mcp"
    sdk: mcp.Client | None = None
    fast: fastmcp.Client[Any] | None = None
    match name:
        case "FastMCP in memory":
            fast = fastmcp.Client(fastmcp_app(settings))
        case "SDK over HTTP, handshake":
            sdk = mcp.Client(url, mode="legacy")
        case "SDK over HTTP, stateless":
            sdk = mcp.Client(url)
        case "FastMCP client over HTTP, handshake":
            fast = fastmcp.Client(url, mode="legacy")
        case "FastMCP client over HTTP, stateless":
            fast = fastmcp.Client(url)
        case "SDK over stdio, handshake":
            sdk = mcp.Client(stdio_parameters(_options(settings)), mode="legacy")
        case "FastMCP client over stdio, stateless":
            fast = fastmcp.Client(stdio_transport(_options(settings)))
        case "REST":
            yield RestDoor(port)
        case "command line":
            yield CommandLineDoor(open_desk(settings).catalogue, _options(settings))
    if sdk is not None:
        with portal.wrap_async_context_manager(sdk):
            yield SdkDoor(portal, sdk)
    if fast is not None:
        with portal.wrap_async_context_manager(fast):
            yield FastMcpDoor(portal, fast)


@pytest.fixture(scope="session", params=DOORS)
def ask(request: pytest.FixtureRequest, settings: Settings, port: int, portal: BlockingPortal) -> Iterator[Door]:
    """Every way in, one after the other."""
    yield from opened(request.param, settings, port, portal)


@pytest.fixture(scope="session", params=MCP_DOORS)
def assistant(request: pytest.FixtureRequest, settings: Settings, port: int, portal: BlockingPortal) -> Iterator[Door]:
    """The ways in that assistants use, which have resources too."""
    yield from opened(request.param, settings, port, portal)
