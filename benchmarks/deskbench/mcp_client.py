"""A small MCP client: tools of a server that is a command (stdio) or an address (HTTP)."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shlex
import subprocess
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

_REVISION = "2025-06-18"
_CLIENT = {"name": "deskbench", "version": "1"}
ANSWER_SECONDS = 180.0


class ServerError(Exception):
    """The server cannot be reached, ended, or answered with a protocol error."""


@dataclass(frozen=True)
class ToolAnswer:
    """What an assistant sees of a tool's answer."""

    text: str
    is_error: bool

    def read_json(self) -> Any:
        """The JSON at the beginning of the text."""
        return json.JSONDecoder().raw_decode(self.text.lstrip())[0]


class Transport(Protocol):
    """Sends messages to a server and receives its replies."""

    def request(self, message: dict[str, Any]) -> dict[str, Any]: ...

    def notify(self, message: dict[str, Any]) -> None: ...

    def close(self) -> None: ...


class StdioTransport:
    """A server that is a process: one JSON message a line."""

    def __init__(self, command: list[str], environment: dict[str, str], log: Path | None) -> None:
        self._log = log.open("ab") if log else None
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log or subprocess.DEVNULL,
            env=environment,
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def request(self, message: dict[str, Any]) -> dict[str, Any]:
        self.notify(message)
        while True:
            try:
                line = self._lines.get(timeout=ANSWER_SECONDS)
            except queue.Empty:
                raise ServerError(f"no answer within {ANSWER_SECONDS:.0f} seconds") from None
            if line is None:
                raise ServerError("the server ended")
            reply = json.loads(line)
            if reply.get("id") == message["id"] and "method" not in reply:
                return dict(reply)
            if "method" in reply and "id" in reply:
                self._answer_server(reply)

    def notify(self, message: dict[str, Any]) -> None:
        try:
            _pipe(self._process.stdin).write(json.dumps(message).encode() + b"\n")
            _pipe(self._process.stdin).flush()
        except OSError as error:
            raise ServerError("the server ended") from error

    def close(self) -> None:
        with contextlib.suppress(OSError):
            _pipe(self._process.stdin).close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(timeout=5)
        if self._log:
            self._log.close()

    def _read(self) -> None:
        for line in _pipe(self._process.stdout):
            if line.strip():
                self._lines.put(line)
        self._lines.put(None)

    def _answer_server(self, request: dict[str, Any]) -> None:
        """Pings are answered; what else a server asks of its client is not supported."""
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        if request["method"] == "ping":
            answer["result"] = {}
        else:
            answer["error"] = {"code": -32601, "message": "not supported by this client"}
        self.notify(answer)


class HttpTransport:
    """A server at an address; replies may come as JSON or as a stream of events."""

    def __init__(self, url: str, token: str | None) -> None:
        self._url = url
        self._headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": _REVISION,
        }
        if token:
            self._headers["authorization"] = f"Bearer {token}"

    def request(self, message: dict[str, Any]) -> dict[str, Any]:
        kind, body = self._send(message)
        if "event-stream" not in kind:
            return dict(json.loads(body))
        for line in body.decode().splitlines():
            if line.startswith("data:"):
                reply = json.loads(line.removeprefix("data:"))
                if reply.get("id") == message["id"]:
                    return dict(reply)
        raise ServerError("the stream had no reply")

    def notify(self, message: dict[str, Any]) -> None:
        self._send(message)

    def close(self) -> None:
        """Nothing is held open."""

    def _send(self, message: dict[str, Any]) -> tuple[str, bytes]:
        request = urllib.request.Request(
            self._url, json.dumps(message).encode(), self._headers, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as response:
                session = response.headers.get("mcp-session-id")
                if session:
                    self._headers["mcp-session-id"] = session
                return response.headers.get("content-type", ""), response.read()
        except urllib.error.HTTPError as error:
            raise ServerError(f"{self._url} answered {error.code}") from error
        except OSError as error:
            raise ServerError(f"{self._url} cannot be reached: {error}") from error


class McpClient:
    """A greeted server: its instructions, its tools, and calls of them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._last_id = 0
        greeting = self._ask(
            "initialize",
            {"protocolVersion": _REVISION, "capabilities": {}, "clientInfo": _CLIENT},
        )
        self.instructions: str = greeting.get("instructions", "")
        self.server: dict[str, Any] = greeting.get("serverInfo", {})
        transport.notify({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def list_tools(self) -> list[dict[str, Any]]:
        """Name, description and input schema of every tool."""
        tools: list[dict[str, Any]] = []
        cursor = None
        while True:
            listed = self._ask("tools/list", {"cursor": cursor} if cursor else {})
            tools += [
                {
                    "name": tool["name"],
                    "description": tool.get("description", ""),
                    "inputSchema": tool["inputSchema"],
                }
                for tool in listed["tools"]
            ]
            cursor = listed.get("nextCursor")
            if not cursor:
                return tools

    def call(self, name: str, arguments: dict[str, Any]) -> ToolAnswer:
        """The text of the tool's answer; a protocol error is an answer too."""
        self._last_id += 1
        reply = self._transport.request(
            {
                "jsonrpc": "2.0",
                "id": self._last_id,
                "method": "tools/call",
                "params": {"name": name, "arguments": arguments},
            }
        )
        if "error" in reply:
            return ToolAnswer(str(reply["error"].get("message", "error")), is_error=True)
        result = reply["result"]
        parts = [_show_content(part) for part in result.get("content", [])]
        return ToolAnswer("\n".join(parts), is_error=bool(result.get("isError")))

    def close(self) -> None:
        self._transport.close()

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._last_id += 1
        reply = self._transport.request(
            {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        )
        if "error" in reply:
            raise ServerError(f"{method}: {reply['error'].get('message', 'error')}")
        return dict(reply["result"])


def connect(server: str, variables: dict[str, str], log: Path | None = None) -> McpClient:
    """A client of an address (http…) or of a command line, with variables of the environment."""
    if server.startswith(("http://", "https://")):
        return McpClient(HttpTransport(server, os.environ.get("DESKBENCH_TOKEN")))
    environment = {name: value for name, value in os.environ.items() if name[:7] != "CARREL_"}
    return McpClient(StdioTransport(shlex.split(server), {**environment, **variables}, log))


def _show_content(part: dict[str, Any]) -> str:
    if part.get("type") == "text":
        return str(part["text"])
    if part.get("type") == "resource" and "text" in part.get("resource", {}):
        return str(part["resource"]["text"])
    return f"[{part.get('type', 'content')}]"


def _pipe(pipe: Any) -> Any:
    if pipe is None:
        raise ServerError("the server has no pipe")
    return pipe
