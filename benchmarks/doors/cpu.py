"""CPU per request, in memory: the application alone, no sockets."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.doors.subjects import call, carrel_app, fastmcp_app, listing, starlette_app

Asgi = Callable[[dict[str, Any], Any, Any], Awaitable[None]]
ROUNDS = 7
REQUESTS = 2000


async def _one(app: Asgi, body: bytes, headers: list[tuple[bytes, bytes]]) -> bytes:
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    if sent[0]["status"] != 200:
        raise RuntimeError(f"answered {sent[0]['status']}: {sent[1]['body'][:300]!r}")
    return bytes(sent[1]["body"])


async def _microseconds(
    app: Asgi, request: tuple[bytes, list[tuple[bytes, bytes]]], count: int
) -> float:
    body, headers = request
    for _ in range(20):
        await _one(app, body, headers)
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(count):
            await _one(app, body, headers)
        best = min(best, (time.process_time() - began) / count * 1e6)
    return best


async def _measure(home: Path) -> dict[str, float]:
    carrel = carrel_app(home)
    peer = fastmcp_app()
    bare = starlette_app()
    found: dict[str, float] = {}
    async with peer.router.lifespan_context(peer):
        for era in (False, True):
            name = "2026-07-28" if era else "2025-11-25"
            found[f"carrel call {name}"] = await _microseconds(
                carrel, call(is_modern=era), REQUESTS
            )
            found[f"carrel list {name}"] = await _microseconds(
                carrel, listing(is_modern=era), REQUESTS
            )
            found[f"fastmcp call {name}"] = await _microseconds(
                peer, call(is_modern=era), REQUESTS // 10 + 1
            )
            found[f"fastmcp list {name}"] = await _microseconds(
                peer, listing(is_modern=era), REQUESTS // 10 + 1
            )
        found["starlette"] = await _microseconds(bare, call(is_modern=False), REQUESTS)
    return found


def run(home: Path) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        found = runner.run(_measure(home))
    bare = found["starlette"]
    print(
        f"\nCPU per request in memory (best of {ROUNDS} rounds); a bare Starlette route takes "
        f"{bare:.0f} µs"
    )
    print(f"{'':24}{'Carrel':>10}{'FastMCP':>10}{'of FastMCP':>12}{'of Starlette':>14}")
    for kind in ("call", "list"):
        for era in ("2025-11-25", "2026-07-28"):
            ours, theirs = found[f"carrel {kind} {era}"], found[f"fastmcp {kind} {era}"]
            shares = f"{'1/' + format(theirs / ours, '.0f'):>12}{ours / bare:>13.2f}×"
            print(f"tools/{kind} {era:13}{ours:>8.1f}µs{theirs:>8.0f}µs{shares}")
