"""FastMCP behind the lane: gets the messages that the lane does not answer, and its answers go out
through our door.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastmcp import FastMCP

from carrel.core.errors import TimedOutError
from carrel.doors.http.exchange import Exchange, Message, Response

_ACCEPT_JSON = (b"accept", b"application/json")


class FastMcpBehind:
    """One FastMCP server, spoken to in memory."""

    def __init__(self, server: FastMCP[Any], path: str, *, timeout_seconds: float = 60.0) -> None:
        self._app = server.http_app(path=path, json_response=True, stateless_http=True)
        self._timeout_seconds = timeout_seconds

    def lifespan(self) -> AbstractAsyncContextManager[Any]:
        return self._app.router.lifespan_context(self._app)

    async def answer(self, exchange: Exchange) -> Response:
        """Replays the request to FastMCP and collects its answer."""
        is_sent = False
        status = 0
        headers: tuple[tuple[bytes, bytes], ...] = ()
        chunks: list[bytes] = []

        async def receive() -> Message:
            nonlocal is_sent
            if is_sent:
                # The client is still there; FastMCP stops asking when it has answered.
                await asyncio.Event().wait()
            is_sent = True
            return {"type": "http.request", "body": exchange.body, "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = tuple(
                    (name, value)
                    for name, value in message["headers"]
                    if name.lower() != b"content-length"
                )
            elif message["type"] == "http.response.body":
                chunks.append(message.get("body", b""))

        # Ours is a JSON door: whatever else the client would take, FastMCP is asked for JSON.
        asked = [
            *((name, value) for name, value in exchange.scope["headers"] if name != b"accept"),
            _ACCEPT_JSON,
        ]
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await self._app({**exchange.scope, "headers": asked}, receive, send)
        except TimeoutError:
            raise TimedOutError(
                f"No answer within {self._timeout_seconds:g} seconds",
                next_step="Ask for less at once, or try again later.",
            ) from None
        return Response(status, b"".join(chunks), headers)
