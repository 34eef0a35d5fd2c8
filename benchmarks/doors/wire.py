"""Requests from bytes to bytes through the protocol of the shipped server, without a kernel."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from carrel.doors.http.protocol import GuardedProtocolFactory
from carrel.doors.http.server import server_config
from carrel.policy.http_limits import ConnectionLimits

_MANY = 10_000


class WrittenBytes(asyncio.Transport):
    """A connection that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[Any] = []

    def write(self, data: Any) -> None:
        self.written.append(data)

    def is_closing(self) -> bool:
        return False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        known = {"peername": ("127.0.0.1", 50000), "sockname": ("127.0.0.1", 8080)}
        return known.get(name, default)

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...


class WireClient:
    """One connection to an application, kept for all requests."""

    def __init__(self, protocol: Any) -> None:
        self._protocol = protocol
        self._wire = WrittenBytes()
        protocol.connection_made(self._wire)

    async def ask(self, request: bytes) -> None:
        """One request, until it is answered; raises RuntimeError for anything but 200."""
        # As the loop does it: not inside a task.
        asyncio.get_running_loop().call_soon(self._protocol.data_received, request)
        while not self._wire.written:
            await asyncio.sleep(0)
        answer = b"".join(self._wire.written)
        self._wire.written.clear()
        if not answer.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(answer[:500].decode())

    async def cpu_microseconds(self, request: bytes, count: int) -> float:
        """CPU time of each of so many requests; all threads of the process are counted."""
        began = time.process_time()
        for _ in range(count):
            await self.ask(request)
        # The threads of the audit log and of telemetry get their turn before the clock is read.
        await asyncio.sleep(0.02)
        return (time.process_time() - began) / count * 1e6


def guarded_protocols(app: Any) -> Callable[[], Any]:
    """Makes protocols of connections to our application, as `carrel serve` uses them."""
    limits = ConnectionLimits(max_connections=_MANY, max_connections_per_address=_MANY)
    config = server_config(app, limits)
    config.load()
    factory = GuardedProtocolFactory(limits)
    loop = asyncio.get_running_loop()
    return lambda: factory(config, ServerState(), {}, loop)


def plain_protocols(app: Any) -> Callable[[], Any]:
    """Makes protocols of connections to any application, as uvicorn itself has them."""
    config = Config(app, http="httptools", access_log=False, log_config=None)
    config.load()
    loop = asyncio.get_running_loop()
    return lambda: HttpToolsProtocol(config, ServerState(), {}, loop)


def guarded_client(app: Any) -> WireClient:
    return WireClient(guarded_protocols(app)())


def plain_client(app: Any) -> WireClient:
    return WireClient(plain_protocols(app)())


def as_bytes(body: bytes, headers: list[tuple[bytes, bytes]]) -> bytes:
    """A POST to /mcp as it comes over the wire."""
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    return b"POST /mcp HTTP/1.1\r\n%bcontent-length: %d\r\n\r\n%b" % (lines, len(body), body)
