"""CPU of a call from bytes to bytes, in turn with others under uvicorn's protocol; no kernel."""

from __future__ import annotations

import asyncio
from pathlib import Path

import uvloop

from benchmarks.doors.factories import raw
from benchmarks.doors.subjects import call, carrel_app, fastmcp_app, starlette_app
from benchmarks.doors.wire import as_bytes, guarded_client, plain_client

ROUNDS = 15
REQUESTS = 600


async def _measure(home: Path) -> dict[str, float]:
    request = as_bytes(*call(is_modern=False))
    peer = fastmcp_app()
    best: dict[str, float] = {}
    async with peer.router.lifespan_context(peer):
        clients = {
            "raw ASGI": plain_client(raw()),
            "Starlette": plain_client(starlette_app()),
            "Carrel": guarded_client(carrel_app(home)),
            "FastMCP": plain_client(peer),
        }
        for _ in range(ROUNDS):
            for name, client in clients.items():
                count = REQUESTS // 10 if name == "FastMCP" else REQUESTS
                spent = await client.cpu_microseconds(request, count)
                best[name] = min(spent, best.get(name, spent))
    return best


def run(home: Path) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        best = runner.run(_measure(home))
    print(f"\nCPU of a tools/call from bytes to bytes (best of {ROUNDS} rounds in turn)")
    for name, spent in best.items():
        print(f"{name:12}{spent:8.1f} µs  {spent / best['Carrel']:6.2f} of Carrel")
