"""What gate and audit add to a cheap read, against a bare Starlette request.

`python -m benchmarks.bench_gate` prints the ratio; at most 0.6 is the promise. The token is one
that has been verified
before, the limit is counted, and both audit records are chained and written to a real file, and
anchored, by the audit
thread, whose CPU time is counted too. A bare Starlette request is one that arrives at a server
(uvicorn, uvloop, httptools) over a socket and
is answered with a little JSON; the time of the application alone, without the server around it, is
printed beside it.
"""

from __future__ import annotations

import asyncio
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvloop
from pydantic import Field
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from carrel.core.caller import Call, Caller, Visit
from carrel.core.clock import SystemClock
from carrel.core.operation import Answer, Operation, Question
from carrel.policy.gate import Gate
from carrel.policy.identity import BearerIdentity, VerifiedToken
from carrel.policy.limits import BucketLimits, InProcessBuckets, Rate
from carrel.settings import Settings
from carrel.stores.audit_queue import QueuedAudit
from carrel.wiring.audit import open_audit

ROUNDS = 5
CALLS = 2000
TOKEN = "eyJ" + "x" * 700


class FacetQuestion(Question):
    category: str
    limit: int = Field(default=10, ge=1, le=100)


class Facet(Answer):
    value: str
    count: int


FACETS = [Facet(value=f"value {number}", count=number) for number in range(10)]


async def list_top_facets(question: FacetQuestion, call: Call) -> list[Facet]:
    return FACETS


OPERATION: Operation[Any] = Operation(
    "list_top_facets",
    "papers",
    "Facets",
    "A cheap read.",
    FacetQuestion,
    list[Facet],
    list_top_facets,
    frozenset({"papers:read"}),
)
ARGUMENTS = {"category": "venue", "limit": 10}
CALLER = Caller("ada", frozenset({"papers:read"}), "client")


class Verified:
    """Stands for a verifier whose answer is remembered from the first call on."""

    recheck_seconds: float | None = None

    async def verify(self, token: str) -> VerifiedToken | None:
        return VerifiedToken(CALLER, time.time() + 3600)


async def measured(once: Callable[[], Awaitable[object]]) -> float:
    """CPU microseconds of one call: the median of the rounds, all threads counted."""
    rounds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(CALLS):
            await once()
        # The audit thread gets its turn before the clock is read, so that its work is counted.
        await asyncio.sleep(0.02)
        rounds.append((time.process_time() - began) / CALLS * 1e6)
    return statistics.median(rounds)


async def page(request: Request) -> JSONResponse:
    return JSONResponse({"value": "value 1", "count": 1})


app = Starlette(routes=[Route("/", page)])


async def served() -> float:
    """CPU microseconds a served Starlette spends on one request, the best of the rounds: user and
    system time of its process.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "benchmarks.bench_gate:app", "--port", str(port)]
    command += [
        "--loop",
        "uvloop",
        "--http",
        "httptools",
        "--no-access-log",
        "--log-level",
        "warning",
    ]
    process = subprocess.Popen(command)
    try:
        await _until_it_listens(port)
        await _requests(port, 200)
        rounds = []
        for _ in range(3):
            before = _cpu_seconds(process.pid)
            await _requests(port, 2000)
            rounds.append((_cpu_seconds(process.pid) - before) / 2000 * 1e6)
        return min(rounds)
    finally:
        process.terminate()
        process.wait()


async def _until_it_listens(port: int) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.1)
            else:
                writer.close()
                return


async def _requests(port: int, count: int) -> None:
    """Asks over one connection, again and again."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(count):
        writer.write(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
    writer.close()
    await writer.wait_closed()


def _cpu_seconds(process_id: int) -> float:
    fields = Path(f"/proc/{process_id}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def main() -> None:
    headers = [(b"host", b"127.0.0.1"), (b"authorization", b"Bearer " + TOKEN.encode())]
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "headers": headers,
    }

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        return None

    async def bare_starlette() -> None:
        await app(
            {**scope, "http_version": "1.1", "scheme": "http", "server": ("127.0.0.1", 80)},
            receive,
            send,
        )

    clock = SystemClock()
    with tempfile.TemporaryDirectory() as folder:
        audit = open_audit(Settings(home=Path(folder)), clock)
        limits = BucketLimits(InProcessBuckets(clock), clock, Rate(per_minute=1e9, burst=1e9))
        gate = Gate(BearerIdentity([Verified()], clock), limits, audit, clock)

        def visit() -> Visit:
            return Visit("http", "abc-1", "127.0.0.1", "a client", "Bearer " + TOKEN)

        async def guarded() -> None:
            knock = visit()
            await gate.call(OPERATION, ARGUMENTS, await gate.identify(knock), knock)

        async def unguarded() -> None:
            question = FacetQuestion.__pydantic_validator__.validate_python(ARGUMENTS)
            await list_top_facets(question, Call(CALLER, visit()))

        await measured(guarded)
        starlette, with_gate, without = (
            await measured(bare_starlette),
            await measured(guarded),
            await measured(unguarded),
        )
        if isinstance(audit, QueuedAudit):
            audit.close()
    added = with_gate - without
    bare = await served()
    print(f"bare Starlette, served      {bare:7.1f} µs CPU")
    print(f"bare Starlette, in process  {starlette:7.1f} µs CPU")
    print(f"the read itself             {without:7.1f} µs CPU")
    print(f"the read, gate and audit    {with_gate:7.1f} µs CPU")
    print(
        f"gate and audit add          {added:7.1f} µs CPU, {added / starlette:.2f} x the "
        f"application alone"
    )
    print(f"ratio to a bare request     {added / bare:7.2f} (promised: at most 0.60)")


if __name__ == "__main__":
    uvloop.run(main())
