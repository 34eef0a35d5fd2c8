"""Probes an address: asked over HTTP, with the headers that a client sends."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpx2

from carrel.services.mcp_probe.protocol import (
    HANDSHAKE_VERSION,
    MAX_MESSAGE_BYTES,
    MODERN_VERSION,
    Asker,
    Message,
    ProbeError,
    ProbeReport,
    probe,
)

_SHOWN_TEXT = 200
_LONGEST_METADATA = 100_000
_METADATA = re.compile(r'resource_metadata="([^"]{1,2000})"')


def probe_address(url: str, headers: Mapping[str, str], seconds: float) -> ProbeReport:
    """What a server answers, each time within so many seconds. Raises ProbeError."""
    session: dict[str, str] = {}
    with httpx2.Client(timeout=seconds, follow_redirects=False) as client:

        def send(message: Message) -> Message | None:
            end = monotonic() + seconds
            try:
                with client.stream(
                    "POST",
                    url,
                    content=json.dumps(message).encode(),
                    headers={
                        "Accept": "application/json, text/event-stream",
                        "Content-Type": "application/json",
                        **session,
                        **_routing_headers(message),
                        **headers,
                    },
                ) as answer:
                    body = _Body(answer, end)
                    if body.status == 401:
                        raise _refusal(client, url, body)
                    return _read_answer(body, message.get("id"), session)
            except (httpx2.TimeoutException, _LateError):
                raise ProbeError(
                    "timeout", f"{url} did not answer in {seconds:g} seconds"
                ) from None
            except httpx2.InvalidURL as error:
                raise ProbeError("address", f"{url} is not an address: {error}") from None
            except UnicodeEncodeError:
                raise ProbeError("address", "a header holds letters that no header may") from None
            except httpx2.RequestError as error:
                raise ProbeError("unreachable", f"{url} cannot be reached", str(error)) from None

        return probe(Asker(send))


class _LateError(Exception):
    """An answer that comes in pieces has taken too long as a whole."""


class _Body:
    """An answer that is read up to a moment and a size, and no further."""

    def __init__(self, answer: httpx2.Response, end: float) -> None:
        self.status = answer.status_code
        self.headers = answer.headers
        self._answer = answer
        self._end = end

    def pieces(self) -> Iterator[bytes]:
        size = 0
        for piece in self._answer.iter_bytes():
            size += len(piece)
            if size > MAX_MESSAGE_BYTES:
                raise ProbeError("address", "the address answered without an end")
            if monotonic() > self._end:
                raise _LateError
            yield piece

    def lines(self) -> Iterator[str]:
        rest = b""
        for piece in self.pieces():
            *whole, rest = (rest + piece).split(b"\n")
            yield from (line.decode("utf-8", "replace").rstrip("\r") for line in whole)

    def text(self) -> str:
        return b"".join(self.pieces()).decode("utf-8", "replace")


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


def _read_answer(body: _Body, number: object, session: dict[str, str]) -> Message | None:
    if found := body.headers.get("mcp-session-id"):
        session["Mcp-Session-Id"] = found
    if body.status == 403:
        raise ProbeError("forbidden", "the server refused with 403", _error_text(body.text()))
    if number is None:
        return None
    is_stream = body.headers.get("content-type", "").startswith("text/event-stream")
    if is_stream and body.status == 200:
        return _read_events(body, number)
    text = body.text()
    message = _parse(text)
    if not isinstance(message, dict) or "jsonrpc" not in message:
        raise _not_mcp(body.status, text)
    return message


def _refusal(client: httpx2.Client, url: str, body: _Body) -> ProbeError:
    """Why there was a 401: `token_refused`, `login`, `token_missing`, or plain `credentials`."""
    challenge = body.headers.get("www-authenticate", "")
    message, said = "the server refused with 401", _error_text(body.text())
    metadata = _METADATA.search(challenge)
    if metadata is None:
        return ProbeError("credentials", message, said)
    if 'error="invalid_token"' in challenge:
        return ProbeError("token_refused", message, said)
    if _offers_login(client, url, metadata[1]):
        return ProbeError("login", "the server answers, and asks people to log in")
    return ProbeError("token_missing", message, said)


def _offers_login(client: httpx2.Client, url: str, metadata: str) -> bool:
    """Whether a resource's metadata (RFC 9728) names where to log in; asked of its own host."""
    if urlsplit(metadata)[:2] != urlsplit(url)[:2]:
        return True
    try:
        with client.stream("GET", metadata) as answer:
            found = b"".join(_first_pieces(answer.iter_bytes()))
    except httpx2.HTTPError:
        return True
    facts = _parse(found.decode("utf-8", "replace"))
    return not isinstance(facts, dict) or bool(facts.get("authorization_servers"))


def _first_pieces(pieces: Iterator[bytes]) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > _LONGEST_METADATA:
            return
        yield piece


def _read_events(body: _Body, number: object) -> Message | None:
    data: list[str] = []
    for line in body.lines():
        if line.startswith("data:"):
            data.append(line[5:].lstrip())
        elif not line and data:
            text = "\n".join(data)
            message, data = _parse(text), []
            # The first event of a stream may be empty, to say its id.
            if message is None and text:
                raise _not_mcp(body.status, text)
            if isinstance(message, dict) and message.get("id") == number:
                return message
    return None


def _parse(text: str) -> object:
    """The value of a JSON text, None where it is none."""
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def _not_mcp(status: int, text: str) -> ProbeError:
    return ProbeError(
        "address", f"the address answered {status} and not MCP", text[:_SHOWN_TEXT].strip()
    )


def _error_text(text: str) -> str:
    body = _parse(text)
    if not isinstance(body, dict):
        return text[:_SHOWN_TEXT]
    error = body.get("error")
    if isinstance(error, dict):
        return str(error.get("message", ""))[:_SHOWN_TEXT]
    said = body.get("error_description") or body.get("message") or error or ""
    return str(said)[:_SHOWN_TEXT]
