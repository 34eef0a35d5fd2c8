"""What a probe asks, whatever the way, and what it makes of the answers of a stranger's server."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HANDSHAKE_VERSION = "2025-11-25"
MODERN_VERSION = "2026-07-28"
MAX_MESSAGE_BYTES = 32 * 1024 * 1024
_MAX_PAGES = 50
_MAX_TEXT = 300
_CLIENT = {"name": "carrel connect --check", "version": "1"}

Message = dict[str, Any]


class ProbeError(Exception):
    """The server cannot be used as it is configured; `kind` says why."""

    def __init__(self, kind: str, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.kind, self.message, self.detail = kind, message, detail


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What a server answered."""

    server: str
    versions: tuple[str, ...]
    tools: tuple[str, ...]
    called: str | None


class Asker:
    """Numbers requests and reads the answers; how they travel is given."""

    def __init__(self, send: Callable[[Message], Message | None]) -> None:
        self._send = send
        self._number = 0

    def ask(self, method: str, params: Message) -> Message:
        """The result of a request, empty where it is no object; raises ProbeError for an error."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        answer = self._send(message)
        if answer is None or "result" not in answer:
            error = _mapping(_mapping(answer).get("error"))
            said = str(error.get("message", "no answer"))[:_MAX_TEXT]
            raise ProbeError("refused", f"{method}: {said}")
        return _mapping(answer["result"])

    def tell(self, method: str) -> None:
        self._send({"jsonrpc": "2.0", "method": method})


def probe(asker: Asker) -> ProbeReport:
    """Greets a server, lists its tools in both eras and calls one that only reads."""
    greeting = asker.ask(
        "initialize",
        {"protocolVersion": HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": _CLIENT},
    )
    asker.tell("notifications/initialized")
    versions = [str(greeting.get("protocolVersion", ""))]
    tools = _list_tools(asker, {})
    with contextlib.suppress(ProbeError):
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
            "io.modelcontextprotocol/clientInfo": _CLIENT,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        _list_tools(asker, {"_meta": meta})
        versions.append(MODERN_VERSION)
    called = _harmless(tools)
    if called is not None:
        result = asker.ask("tools/call", {"name": called, "arguments": {}})
        if result.get("isError"):
            raise ProbeError("refused", f"{called} failed: {_text_of(result)}")
    info = _mapping(greeting.get("serverInfo"))
    name = f"{info.get('title') or info.get('name', '')} {info.get('version', '')}".strip()
    return ProbeReport(
        name[:_MAX_TEXT], tuple(versions), tuple(tool["name"] for tool in tools), called
    )


def _list_tools(asker: Asker, params: Message) -> list[Message]:
    """The tools that have a name, as every tool must."""
    tools: list[Message] = []
    cursor: object = None
    for _ in range(_MAX_PAGES):
        page = asker.ask("tools/list", {**params, **({"cursor": cursor} if cursor else {})})
        listed = [_mapping(tool) for tool in _sequence(page.get("tools"))]
        tools += [tool for tool in listed if isinstance(tool.get("name"), str)]
        cursor = page.get("nextCursor")
        if not cursor:
            break
    return tools


def _harmless(tools: Sequence[Message]) -> str | None:
    """A tool that only reads and needs no arguments."""
    for tool in tools:
        reads = _mapping(tool.get("annotations")).get("readOnlyHint") is True
        if reads and not _mapping(tool.get("inputSchema")).get("required"):
            return str(tool["name"])
    return None


def _text_of(result: Mapping[str, Any]) -> str:
    parts = [_mapping(part) for part in _sequence(result.get("content"))]
    return " ".join(str(part.get("text", "")) for part in parts)[:_MAX_TEXT]


def _mapping(value: object) -> Message:
    return value if isinstance(value, dict) else {}


def _sequence(value: object) -> list[object]:
    return value if isinstance(value, list) else []
