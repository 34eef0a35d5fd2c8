"""The ways in, each as one object that asks and tells: MCP by two clients in both eras, REST, and
the command line.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import fastmcp
import mcp
import orjson
import uvicorn
from anyio.from_thread import BlockingPortal
from fastmcp.client.transports.stdio import StdioTransport
from mcp.client.stdio import StdioServerParameters

from carrel.cli import main
from carrel.core.answer import Text
from carrel.core.catalogue import Catalogue
from carrel.doors.errors import TABLE
from carrel.doors.http.server import listen
from carrel.doors.schemas import input_schema
from carrel.settings import Settings
from carrel.wiring.desk import open_desk
from carrel.wiring.http import http_app
from carrel.wiring.mcp import fastmcp_app
from tests.processes import warm

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-c", "import sys; from carrel.cli import main; sys.exit(main())"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}


@dataclass(frozen=True, slots=True)
class Said:
    """An answer: the value, which is text, a list or an object."""

    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """A failure, by its code; the command line has only the exit code of it."""

    code: str | None
    exit_code: int

    def means(self, code: str) -> bool:
        return self.code in {code, None} and self.exit_code == TABLE[code].exit_code


class Door(Protocol):
    """What every way in can do."""

    def ask(self, tool: str, **arguments: Any) -> Said | Failed: ...

    def tools(self) -> set[str]: ...


def _failed(facts: Mapping[str, Any]) -> Failed:
    code = str(facts["error"]["code"])
    return Failed(code, TABLE[code].exit_code)


def _said(text: str, structured: Mapping[str, Any] | None) -> Said:
    if structured is None:
        return Said(text)
    # What names the sources of quoted text and what explains stand beside the answer.
    beside = {"quoted_from", "explanation"}
    told = {name: value for name, value in structured.items() if name not in beside}
    return Said(told["result"] if set(told) == {"result"} else told)


class SdkDoor:
    """The official Python client, of either era, over HTTP or stdio."""

    def __init__(
        self, portal: BlockingPortal, client: mcp.Client, names: Mapping[str, str] | None = None
    ) -> None:
        self._portal = portal
        self._client = client
        self._names = names or {}

    def ask(self, tool: str, **arguments: Any) -> Said | Failed:
        try:
            result = self._portal.call(
                self._client.call_tool, self._names.get(tool, tool), arguments
            )
        except mcp.MCPError as error:
            return _failed(error.error.data)
        assert isinstance(result, mcp.types.CallToolResult)
        if result.is_error:
            return _failed(result.structured_content or {})
        block = result.content[0]
        return _said(
            block.text if isinstance(block, mcp.types.TextContent) else "",
            result.structured_content,
        )

    def tools(self) -> set[str]:
        return {tool.name for tool in self._portal.call(self._client.list_tools).tools}

    def read(self, uri: str) -> str:
        content, *_ = self._portal.call(self._client.read_resource, uri).contents
        assert isinstance(content, mcp.types.TextResourceContents)
        return content.text

    def templates(self) -> set[str]:
        return {
            template.uri_template
            for template in self._portal.call(
                self._client.list_resource_templates
            ).resource_templates
        }

    @property
    def revision(self) -> str | None:
        return self._client.protocol_version


class FastMcpDoor:
    """FastMCP's client, in memory on the FastMCP twin, over HTTP or stdio."""

    def __init__(self, portal: BlockingPortal, client: fastmcp.Client[Any]) -> None:
        self._portal = portal
        self._client = client

    def ask(self, tool: str, **arguments: Any) -> Said | Failed:
        result = self._portal.call(lambda: self._client.call_tool_mcp(tool, arguments))
        if result.is_error:
            return _failed(result.structured_content or {})
        block = result.content[0]
        return _said(
            block.text if isinstance(block, mcp.types.TextContent) else "",
            result.structured_content,
        )

    def tools(self) -> set[str]:
        return {tool.name for tool in self._portal.call(self._client.list_tools)}

    def read(self, uri: str) -> str:
        content, *_ = self._portal.call(self._client.read_resource, uri)
        assert isinstance(content, mcp.types.TextResourceContents)
        return content.text

    def templates(self) -> set[str]:
        return {
            template.uri_template
            for template in self._portal.call(self._client.list_resource_templates)
        }


class RestDoor:
    """Plain HTTP."""

    def __init__(self, port: int) -> None:
        self._port = port

    def ask(self, tool: str, **arguments: Any) -> Said | Failed:
        body = self._request(
            "POST", "/mcp/invoke", orjson.dumps({"tool_name": tool, "params": arguments})
        )
        if body["success"]:
            return Said(body["result"])
        return Failed(body["error_type"], TABLE[body["error_type"]].exit_code)

    def tools(self) -> set[str]:
        return {tool["name"] for tool in self._request("GET", "/mcp/tools", None)["tools"]}

    def _request(self, method: str, path: str, body: bytes | None) -> Any:
        with contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        ) as connection:
            connection.request(method, path, body, {"content-type": "application/json"})
            return orjson.loads(connection.getresponse().read())


class CommandLineDoor:
    """`carrel papers …`, as typed in a shell."""

    def __init__(self, catalogue: Catalogue, options: list[str]) -> None:
        self._catalogue = catalogue
        self._options = options

    def ask(self, tool: str, **arguments: Any) -> Said | Failed:
        operation = self._catalogue.operations[tool]
        required = input_schema(operation).get("required", [])
        words = [operation.room, str(operation.command), *self._options, "--json"]
        for name, value in arguments.items():
            if name not in required and value is True:
                words += [f"--{name.replace('_', '-')}"]
            elif name not in required:
                words += [f"--{name.replace('_', '-')}", *_typed_words(value)]
        if required:
            words += ["--", *(word for name in required for word in _typed_words(arguments[name]))]
        exit_code, said = self._typed(words)
        if exit_code != 0:
            return Failed(None, exit_code)
        return Said(said.rstrip("\n") if operation.answer is Text else orjson.loads(said))

    def watch_research(self, research_id: str) -> None:
        """Does the work of a project here: a command that only starts one leaves it to a server, or
        to this.
        """
        exit_code, _ = self._typed(["research", "watch", *self._options, research_id])
        assert exit_code == 0

    def _typed(self, words: list[str]) -> tuple[int, str]:
        with (
            contextlib.redirect_stdout(io.StringIO()) as said,
            contextlib.redirect_stderr(io.StringIO()),
        ):
            exit_code = main(words)
        return exit_code, said.getvalue()

    def tools(self) -> set[str]:
        listed = warm.run(
            [*PROGRAM, "papers", "--help"],
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
            check=True,
        ).stdout
        return {
            name
            for name, operation in self._catalogue.operations.items()
            if re.search(rf"^  {re.escape(str(operation.command))}\s", listed, re.MULTILINE)
        }


def _typed_words(value: Any) -> list[str]:
    """A value as it is typed: lists word by word, objects as JSON."""
    if isinstance(value, list):
        return [str(item) for item in value]
    return [orjson.dumps(value).decode() if isinstance(value, dict) else str(value)]


@contextlib.contextmanager
def serving(settings: Settings) -> Iterator[int]:
    """The application under uvicorn on a free port, in a thread of its own."""
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(
        uvicorn.Config(
            http_app(open_desk(settings)), log_config=None, access_log=False, lifespan="on"
        )
    )
    thread = threading.Thread(target=lambda: server.run(sockets=[listener]))
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(30)


def stdio_parameters(options: list[str]) -> StdioServerParameters:
    return StdioServerParameters(
        command=PROGRAM[0], args=[*PROGRAM[1:], "mcp", *options], env=ENVIRONMENT
    )


def stdio_transport(options: list[str]) -> StdioTransport:
    return StdioTransport(
        command=PROGRAM[0], args=[*PROGRAM[1:], "mcp", *options], env=ENVIRONMENT, keep_alive=False
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
# For rooms that change things: every address and era once, and each kind of door.
ROOM_DOORS = (
    "FastMCP in memory",
    "SDK over HTTP, handshake",
    "SDK over HTTP, stateless",
    "FastMCP client at /desk/mcp, handshake",
    "SDK at /desk/mcp, stateless",
    "SDK at the room's own door, handshake",
    "SDK at the room's own door, stateless",
    "SDK over stdio, handshake",
    "REST",
    "command line",
)


def desk_options(settings: Settings) -> list[str]:
    snapshot = (
        [] if settings.papers.snapshot is None else ["--snapshot", str(settings.papers.snapshot)]
    )
    return ["--home", str(settings.home), "--rooms", ",".join(settings.rooms), *snapshot]


def names_alone(settings: Settings, room: str) -> dict[str, str]:
    """What a room's tools are called where it is served alone."""
    operations = open_desk(settings).catalogue.room(room).operations
    return {operation.name: operation.name_alone or operation.name for operation in operations}


def opened(
    name: str, settings: Settings, port: int, portal: BlockingPortal, room: str = "papers"
) -> Iterator[Door]:
    """One door, open while the test is inside; `room` is the one whose own door is meant."""
    if name == "REST":
        yield RestDoor(port)
        return
    if name == "command line":
        yield CommandLineDoor(open_desk(settings).catalogue, desk_options(settings))
        return
    client = _client(name, settings, f"http://127.0.0.1:{port}", room)
    with portal.wrap_async_context_manager(client):
        if isinstance(client, mcp.Client):
            is_alone = "room's own door" in name or ("stdio" in name and len(settings.rooms) == 1)
            yield SdkDoor(portal, client, names_alone(settings, room) if is_alone else {})
        else:
            yield FastMcpDoor(portal, client)


def _client(
    name: str, settings: Settings, server: str, room: str
) -> mcp.Client | fastmcp.Client[Any]:
    era: Any = "legacy" if name.endswith("handshake") else "auto"
    match name.split(", ", maxsplit=1)[0]:
        case "FastMCP in memory":
            return fastmcp.Client(fastmcp_app(settings))
        case "SDK over HTTP":
            return mcp.Client(f"{server}/mcp", mode=era)
        case "FastMCP client over HTTP":
            return fastmcp.Client(f"{server}/mcp", mode=era)
        case "FastMCP client at /desk/mcp":
            return fastmcp.Client(f"{server}/desk/mcp", mode=era)
        case "SDK at /desk/mcp":
            return mcp.Client(f"{server}/desk/mcp", mode=era)
        case "SDK at the room's own door":
            return mcp.Client(f"{server}/{room}/mcp", mode=era)
        case "SDK over stdio":
            return mcp.Client(stdio_parameters(desk_options(settings)), mode=era)
        case "FastMCP client over stdio":
            return fastmcp.Client(stdio_transport(desk_options(settings)))
    raise ValueError(f"there is no door {name}")
