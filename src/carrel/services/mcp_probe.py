"""Asks an MCP server what a client would ask: both eras of the protocol, its tools, one call."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

HANDSHAKE_VERSION = "2025-11-25"
MODERN_VERSION = "2026-07-28"
MAX_MESSAGE_BYTES = 32 * 1024 * 1024
_MAX_PAGES = 50
_KEPT_ERROR_LINES = 40
_END = object()
_CLIENT = {"name": "carrel connect --check", "version": "1"}


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


class _Asker:
    """Numbers requests and reads the answers; how they travel is given."""

    def __init__(self, send: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
        self._send = send
        self._number = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        answer = self._send(message)
        if answer is None or "result" not in answer:
            error = (answer or {}).get("error") or {}
            raise ProbeError("refused", f"{method}: {error.get('message', 'no answer')}")
        result = answer["result"]
        return result if isinstance(result, dict) else {}

    def tell(self, method: str) -> None:
        self._send({"jsonrpc": "2.0", "method": method})


def probe_command(
    command: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: str,
    seconds: float,
) -> ProbeReport:
    """Start a command as a client does and ask it over its standard input and output."""
    with _started(command, arguments, environment, folder) as process:
        lines: queue.Queue[object] = queue.Queue()
        said: list[str] = []
        readers = [
            threading.Thread(target=_read_lines, args=(process.stdout, lines.put), daemon=True),
            threading.Thread(target=_keep_errors, args=(process.stderr, said), daemon=True),
        ]
        for reader in readers:
            reader.start()

        def send(message: dict[str, Any]) -> dict[str, Any] | None:
            stdin = process.stdin
            try:
                if stdin is not None:
                    stdin.write(json.dumps(message).encode() + b"\n")
                    stdin.flush()
            except OSError:
                raise _ended(process, said) from None
            return _await_answer(lines, message.get("id"), seconds, process, said)

        return _probe(_Asker(send))


def probe_address(url: str, headers: Mapping[str, str], seconds: float) -> ProbeReport:
    """Ask a server at its address with the headers that a client sends."""
    session: dict[str, str] = {}
    with httpx2.Client(timeout=seconds, follow_redirects=False) as client:

        def send(message: dict[str, Any]) -> dict[str, Any] | None:
            extra = _routing_headers(message)
            try:
                with client.stream(
                    "POST",
                    url,
                    content=json.dumps(message).encode(),
                    headers={
                        "Accept": "application/json, text/event-stream",
                        "Content-Type": "application/json",
                        **session,
                        **extra,
                        **headers,
                    },
                ) as answer:
                    return _read_answer(answer, message.get("id"), session)
            except httpx2.TimeoutException:
                raise ProbeError(
                    "timeout", f"{url} did not answer in {seconds:g} seconds"
                ) from None
            except httpx2.InvalidURL as error:
                raise ProbeError("address", f"{url} is not an address: {error}") from None
            except httpx2.TransportError as error:
                raise ProbeError("unreachable", f"{url} cannot be reached", str(error)) from None

        return _probe(_Asker(send))


def _probe(asker: _Asker) -> ProbeReport:
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
    info = greeting.get("serverInfo") or {}
    name = f"{info.get('title') or info.get('name', '')} {info.get('version', '')}".strip()
    return ProbeReport(name, tuple(versions), tuple(tool["name"] for tool in tools), called)


def _list_tools(asker: _Asker, params: dict[str, Any]) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = asker.ask("tools/list", {**params, **({"cursor": cursor} if cursor else {})})
        tools += [tool for tool in page.get("tools", []) if isinstance(tool, dict)]
        cursor = page.get("nextCursor")
        if not cursor:
            break
    return tools


def _harmless(tools: Sequence[dict[str, Any]]) -> str | None:
    """A tool that only reads and needs no arguments."""
    for tool in tools:
        reads = (tool.get("annotations") or {}).get("readOnlyHint") is True
        if reads and not (tool.get("inputSchema") or {}).get("required"):
            return str(tool["name"])
    return None


def _text_of(result: Mapping[str, Any]) -> str:
    parts = result.get("content") or []
    return " ".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))[:300]


@contextmanager
def _started(
    command: str, arguments: Sequence[str], environment: Mapping[str, str], folder: str
) -> Iterator[subprocess.Popen[bytes]]:
    try:
        process = subprocess.Popen(
            [command, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=folder,
            start_new_session=os.name == "posix",
        )
    except FileNotFoundError:
        raise ProbeError("missing", f"there is no program {command}") from None
    except OSError as error:
        raise ProbeError("missing", f"{command} cannot be started: {error.strerror}") from None
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its input, as clients do, and end it where it does not end by itself."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    for stop in (None, process.terminate, process.kill):
        if stop is not None:
            stop()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
            return


def _read_lines(stream: Any, put: Callable[[object], None]) -> None:
    with contextlib.suppress(OSError, ValueError):
        while line := stream.readline(MAX_MESSAGE_BYTES):
            put(line)
    put(_END)


def _keep_errors(stream: Any, said: list[str]) -> None:
    with contextlib.suppress(OSError, ValueError):
        for line in stream:
            said.append(line.decode("utf-8", "replace").rstrip())
            del said[:-_KEPT_ERROR_LINES]


def _await_answer(
    lines: queue.Queue[object],
    number: object,
    seconds: float,
    process: subprocess.Popen[bytes],
    said: list[str],
) -> dict[str, Any] | None:
    if number is None:
        return None
    while True:
        try:
            line = lines.get(timeout=seconds)
        except queue.Empty:
            raise ProbeError(
                "timeout", f"the program did not answer in {seconds:g} seconds", "\n".join(said)
            ) from None
        if not isinstance(line, bytes):
            raise _ended(process, said)
        try:
            message = json.loads(line)
        except ValueError:
            raise ProbeError(
                "refused", f"the program does not speak MCP: {line[:120].decode(errors='replace')}"
            ) from None
        if isinstance(message, dict) and message.get("id") == number and "method" not in message:
            return message


def _ended(process: subprocess.Popen[bytes], said: list[str]) -> ProbeError:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
    code = process.returncode
    return ProbeError("ended", f"the program ended with code {code}", "\n".join(said))


def _routing_headers(message: Mapping[str, Any]) -> dict[str, str]:
    """Headers that the stateless era asks for, and the version of the other one."""
    params = message.get("params") or {}
    if "_meta" not in params:
        is_first = message.get("method") == "initialize"
        return {} if is_first else {"MCP-Protocol-Version": HANDSHAKE_VERSION}
    headers = {"MCP-Protocol-Version": MODERN_VERSION, "Mcp-Method": str(message["method"])}
    if "name" in params:
        headers["Mcp-Name"] = str(params["name"])
    return headers


def _read_answer(
    answer: httpx2.Response, number: object, session: dict[str, str]
) -> dict[str, Any] | None:
    status = answer.status_code
    if found := answer.headers.get("mcp-session-id"):
        session["Mcp-Session-Id"] = found
    if status in {401, 403}:
        answer.read()
        kind = "credentials" if status == 401 else "forbidden"
        raise ProbeError(kind, f"the server refused with {status}", _error_text(answer))
    if number is None:
        return None
    is_stream = answer.headers.get("content-type", "").startswith("text/event-stream")
    if is_stream and status == 200:
        return _read_events(answer, number)
    answer.read()
    try:
        found_message = answer.json()
    except ValueError:
        raise ProbeError(
            "address", f"the address answered {status} and not MCP", answer.text[:200]
        ) from None
    if not isinstance(found_message, dict) or "jsonrpc" not in found_message:
        raise ProbeError("address", f"the address answered {status} and not MCP", answer.text[:200])
    return found_message


def _read_events(answer: httpx2.Response, number: object) -> dict[str, Any] | None:
    data: list[str] = []
    for line in answer.iter_lines():
        if line.startswith("data:"):
            data.append(line[5:].lstrip())
        elif not line and data:
            message = json.loads("\n".join(data))
            data = []
            if isinstance(message, dict) and message.get("id") == number:
                return message
    return None


def _error_text(answer: httpx2.Response) -> str:
    with contextlib.suppress(ValueError, AttributeError):
        body = answer.json()
        error = body.get("error")
        if isinstance(error, dict):
            return str(error.get("message", ""))
        return str(body.get("error_description") or body.get("message") or error or "")
    return answer.text[:200]
