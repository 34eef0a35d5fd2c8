"""The servers that are compared: Carrel, plain FastMCP, and a bare Starlette route, all answering
the same facets.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import orjson
from fastmcp import FastMCP
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from carrel.doors.http import HttpApp
from carrel.settings import read_settings
from carrel.wiring.desk import open_desk
from carrel.wiring.http import http_app
from carrel.wiring.papers_build import with_demo

ARGUMENTS = {"category": "keyword", "limit": 10}
FACETS = [{"value": f"keyword {number}", "paper_count": 20 - number} for number in range(10)]


def carrel_app(home: Path) -> HttpApp:
    """The shipped server on the demonstration corpus, gate and audit on."""
    settings = with_demo(
        read_settings({("home",): home, ("log", "level"): "warning"}, environment={})
    )
    return http_app(open_desk(settings))


def fastmcp_server() -> FastMCP[Any]:
    """The smallest FastMCP server with one cheap tool."""
    server: FastMCP[Any] = FastMCP("peer")

    @server.tool
    async def list_top_facets(category: str, limit: int = 20) -> dict[str, Any]:
        """List the most frequent values of a category."""
        return {"result": FACETS[:limit]}

    return server


def fastmcp_app() -> Any:
    return fastmcp_server().http_app(path="/mcp", json_response=True, stateless_http=True)


def starlette_app() -> Starlette:
    """One route that parses JSON and answers JSON."""

    async def answer(request: Request) -> JSONResponse:
        body = await request.json()
        return JSONResponse({"jsonrpc": "2.0", "id": body["id"], "result": {"result": FACETS}})

    return Starlette(routes=[Route("/mcp", answer, methods=["POST"])])


def message(
    method: str, params: dict[str, Any], *, is_modern: bool
) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """A request body and its headers in either era."""
    headers = [
        (b"host", b"127.0.0.1"),
        (b"content-type", b"application/json"),
        (b"accept", b"application/json, text/event-stream"),
        (b"user-agent", b"bench"),
    ]
    if is_modern:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        }
        params = {**params, "_meta": meta}
        headers += [(b"mcp-protocol-version", b"2026-07-28"), (b"mcp-method", method.encode())]
        if "name" in params:
            headers.append((b"mcp-name", params["name"].encode()))
    else:
        headers.append((b"mcp-protocol-version", b"2025-11-25"))
    return orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}), headers


def call(*, is_modern: bool) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    return message(
        "tools/call", {"name": "list_top_facets", "arguments": ARGUMENTS}, is_modern=is_modern
    )


def listing(*, is_modern: bool) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    return message("tools/list", {}, is_modern=is_modern)


if __name__ == "__main__":
    if sys.argv[1:] == ["stdio"]:
        fastmcp_server().run("stdio", show_banner=False)
