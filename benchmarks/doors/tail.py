"""How long an answer takes while 1,024 connections ask without a pause, in CPU time.

Each connection asks again when it is answered. Without a kernel and in CPU time it is what a server
with a core of its own would take for its part, whatever else the machine does.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.doors.factories import raw
from benchmarks.doors.subjects import call, carrel_app
from benchmarks.doors.wire import WrittenBytes, as_bytes, guarded_protocols, plain_protocols
from carrel.doors.http.server import spare_collections

_CONNECTIONS = 1024
_REQUESTS = 40
_ROUNDS = 3


class _AskingAgain(WrittenBytes):
    """A connection whose client asks again as soon as it is answered."""

    def __init__(self, protocol: Any, request: bytes, waits: list[float]) -> None:
        super().__init__()
        self._protocol = protocol
        self._request = request
        self._waits = waits
        self._loop = asyncio.get_running_loop()
        self._asked_at = 0.0
        self._left = _REQUESTS
        self.done = self._loop.create_future()
        self.ask()

    def ask(self) -> None:
        self._asked_at = time.process_time()
        self._loop.call_soon(self._protocol.data_received, self._request)

    def write(self, data: Any) -> None:
        # An answer's head ends otherwise, where it is written alone.
        if not data.endswith(b"}"):
            return
        self._waits.append(time.process_time() - self._asked_at)
        self._left -= 1
        if self._left:
            self.ask()
        else:
            self.done.set_result(None)


async def _waits(connect: Any, request: bytes) -> list[float]:
    waits: list[float] = []
    wires = []
    for _ in range(_CONNECTIONS):
        protocol = connect()
        wire = _AskingAgain(protocol, request, waits)
        protocol.connection_made(wire)
        wires.append(wire)
    await asyncio.gather(*(wire.done for wire in wires))
    return sorted(waits)


async def _measure(home: Path) -> None:
    request = as_bytes(*call(is_modern=False))
    subjects = {"raw ASGI": plain_protocols(raw()), "Carrel": guarded_protocols(carrel_app(home))}
    spare_collections()
    for _ in range(_ROUNDS):
        of_raw = 0.0
        for name, connect in subjects.items():
            waits = await _waits(connect, request)
            tail = waits[int(len(waits) * 0.99)]
            of_raw = of_raw or tail
            print(
                f"{name:10} p50 {waits[len(waits) // 2] * 1000:6.1f} ms  p99 {tail * 1000:6.1f} ms"
                f"  longest {waits[-1] * 1000:6.1f} ms  p99 {tail / of_raw:.2f} of raw ASGI"
            )


def run(home: Path) -> None:
    print(f"\ntools/call among {_CONNECTIONS} connections, CPU time from bytes to bytes")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_measure(home))
