"""FastMCP behind the lane: gets the messages that the lane does not answer, and its answers go out through our door."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from fastmcp import FastMCP

from carrel.doors.http.exchange import Exchange, Message, Response


class FastMcpBehind:
    """One FastMCP server, spoken to in memory."""

    def __init__(self, server: FastMCP[Any], path: str) -> None:
        self._app = server.http_app(path=path, json_response=True, stateless_http=True)

    def lifespan(self) -> AbstractAsyncContextManager[Any]:
        return self._app.router.lifespan_context(self._app)

    async def answer(self, exchange: Exchange) -> Response:
        """Replays the request to FastMCP and collects its answer."""
        is_sent = False
        status = 500
        headers: tuple[tuple[bytes, bytes], ...] = ()
        chunks: list[bytes] = []

        async def receive() -> Message:
            nonlocal is_sent
            if is_sent:
                return {"type": "http.disconnect"}
            is_sent = True
            return {"type": "http.request", "body": exchange.body, "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = tuple((name, value) for name, value in message["headers"] if name.lower() != b"content-length")
            elif message["type"] == "http.response.body":
                chunks.append(message.get("body", b""))

        await self._app(exchange.scope, receive, send)
        return Response(status, b"".join(chunks), headers)
