"""HTTP requests, responses and errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any

import orjson

from carrel.core.caller import Caller, Visit
from carrel.core.errors import CarrelError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]
# Makes the WWW-Authenticate headers of a refusal.
Challenge = Callable[[CarrelError], tuple[Header, ...]]

JSON_TYPE: Header = (b"content-type", b"application/json")


class ClientGoneError(Exception):
    """The client hung up before its body was complete."""


@dataclass(slots=True)
class Response:
    """A status, headers and a body."""

    status: int
    body: bytes = b""
    headers: tuple[Header, ...] = (JSON_TYPE,)

    @classmethod
    def json(cls, status: int, value: object, headers: tuple[Header, ...] = ()) -> Response:
        return cls(status, orjson.dumps(value, default=str), (JSON_TYPE, *headers))

    @classmethod
    def text(cls, status: int, text: str, headers: tuple[Header, ...] = ()) -> Response:
        return cls(
            status, text.encode(), ((b"content-type", b"text/plain; charset=utf-8"), *headers)
        )


@dataclass(slots=True)
class StreamedResponse:
    """A response with a streamed body; `pieces` is closed when the client disconnects."""

    status: int
    pieces: AsyncGenerator[bytes, None]
    headers: tuple[Header, ...]


@dataclass(slots=True)
class HttpRequest:
    """A request with its body read; `caller` is set at protected paths."""

    scope: Scope
    headers: dict[bytes, bytes]
    repeated: frozenset[bytes]
    body: bytes
    visit: Visit
    path_tail: str = ""
    caller: Caller | None = None

    @property
    def method(self) -> str:
        return str(self.scope["method"])


async def send_response(send: Send, response: Response) -> None:
    headers = [*response.headers, (b"content-length", str(len(response.body)).encode())]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})


async def send_streamed(receive: Receive, send: Send, response: StreamedResponse) -> None:
    """Sends the pieces as they come, until they end or the client is gone."""
    await send(
        {"type": "http.response.start", "status": response.status, "headers": [*response.headers]}
    )

    async def deliver() -> None:
        async with aclosing(response.pieces) as pieces:
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    delivery = asyncio.create_task(deliver())
    hanging_up = asyncio.create_task(_hung_up(receive))
    try:
        await asyncio.wait({delivery, hanging_up}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        hanging_up.cancel()
        delivery.cancel()
        with suppress(asyncio.CancelledError):
            await delivery


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class PathNotFoundError(CarrelError):
    code = "not_found"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"There is nothing at {path[:200]}", next_step="GET /docs lists what there is."
        )


class MethodNotAllowedError(CarrelError):
    code = "method_not_allowed"

    def __init__(self, method: str, path: str, allowed: str) -> None:
        super().__init__(
            f"{method[:20]} is not supported at {path[:200]}", next_step=f"Use {allowed}."
        )


class BodyTooLargeError(CarrelError):
    code = "body_too_large"

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(
            f"The body is larger than {limit_bytes} bytes", next_step="Send less at once."
        )


class BodyTooSlowError(CarrelError):
    code = "body_too_slow"

    def __init__(self, limit_seconds: float) -> None:
        super().__init__(
            f"The body did not arrive within {limit_seconds:g} seconds", next_step="Send it again."
        )


class HostNotAllowedError(CarrelError):
    code = "host_not_allowed"

    def __init__(self) -> None:
        super().__init__(
            "This server does not answer under that Host",
            next_step="Add it to server.allowed_hosts if it should.",
        )


class OriginNotAllowedError(CarrelError):
    """A web page that is neither ours nor listed; `origin` is None where it cannot be listed."""

    code = "origin_not_allowed"

    def __init__(self, origin: str | None) -> None:
        if origin is None:
            super().__init__(
                "A web page without an origin of its own may not use this server",
                next_step="Call from a page whose origin is named in server.allowed_origins, or "
                "from a program.",
            )
        else:
            super().__init__(
                f"Web pages of {origin} may not use this server",
                next_step=f'If they should, add "{origin}" to server.allowed_origins and start '
                f"the server again.",
            )


class RepeatedHeaderError(CarrelError):
    code = "malformed_request"

    def __init__(self, name: str) -> None:
        super().__init__(f"The header {name} appears more than once", next_step="Send it once.")


class ServerBusyError(CarrelError):
    """Too much is under way at once, over all callers or for this one."""

    code = "server_busy"
    is_retryable = True

    def __init__(self, what: str, retry_after_seconds: int = 5) -> None:
        super().__init__(
            what,
            next_step=f"Wait {retry_after_seconds} seconds, then call again.",
            details={"retry_after": retry_after_seconds},
        )
