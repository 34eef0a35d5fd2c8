"""The compared servers as factories that uvicorn can import."""

from __future__ import annotations

from typing import Any

from benchmarks.doors.subjects import fastmcp_app, starlette_app


def fastmcp() -> Any:
    return fastmcp_app()


def starlette() -> Any:
    return starlette_app()


def raw() -> Any:
    """An ASGI function that reads the body and answers a few bytes."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        while (await receive()).get("more_body"):
            pass
        headers = [(b"content-type", b"application/json"), (b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"{}"})

    return answer
