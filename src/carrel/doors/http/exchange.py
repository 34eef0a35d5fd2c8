"""One HTTP exchange: the request as read, the response as sent, nothing of a framework in
between.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any

import orjson

from carrel.core.caller import Caller, Visit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]

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
class Streamed:
    """A response whose body comes piece by piece. When the client hangs up, `pieces` is closed
    where it stands.
    """

    status: int
    pieces: AsyncGenerator[bytes, None]
    headers: tuple[Header, ...]


@dataclass(slots=True)
class Exchange:
    """A request whose body has been read. `caller` is set where the path asks who is calling before
    it reads a body.
    """

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


async def send_streamed(receive: Receive, send: Send, response: Streamed) -> None:
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
