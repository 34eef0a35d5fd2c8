"""MCP over stdio: protocol only on standard output, and every request that was read is answered before exit."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO

import orjson

from carrel.core.caller import ReportProgress, Visit
from carrel.core.errors import CarrelError, InvalidInputError
from carrel.doors.errors import PARSE_ERROR
from carrel.doors.mcp.lane import Lane, refusal
from carrel.doors.mcp.wire import META_VERSION, Reply, failure, is_request_id
from carrel.policy.gate import Gate

log = logging.getLogger("carrel.stdio")


class ProtocolOutput:
    """Standard output, kept for the protocol: whatever else writes to it lands on standard error."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._descriptor = os.dup(1)
        os.dup2(2, 1)

    def write_line(self, line: bytes) -> None:
        rest = memoryview(line + b"\n")
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def close(self) -> None:
        os.dup2(self._descriptor, 1)
        os.close(self._descriptor)


async def serve_stdio(lane: Lane, gate: Gate, source: BinaryIO, write_line: Callable[[bytes], None]) -> None:
    """Answers the messages of `source` until it ends, then finishes what it has read."""
    session = _Session(lane, gate, write_line)
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()

    def read() -> None:
        try:
            for line in source:
                loop.call_soon_threadsafe(lines.put_nowait, line)
        except (OSError, ValueError) as error:
            log.warning("standard input broke off", extra={"reason": str(error)})
        loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    async with asyncio.TaskGroup() as running:
        while (line := await lines.get()) is not None:
            if line.strip():
                session.take(line, running)


class _Session:
    """The messages of one client."""

    def __init__(self, lane: Lane, gate: Gate, write_line: Callable[[bytes], None]) -> None:
        self._lane = lane
        self._gate = gate
        self._write_line = write_line
        self._numbers = itertools.count(1)
        self._running: dict[object, asyncio.Task[None]] = {}

    def take(self, line: bytes, group: asyncio.TaskGroup) -> None:
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            malformed = Visit("stdio", f"stdio-{os.getpid()}-{next(self._numbers):x}", "stdio", "stdio")
            self._gate.refused(malformed, "mcp", "stdio", InvalidInputError("malformed message"))
            self._write_line(failure(None, PARSE_ERROR, f"Parse error: {error}").body)
            return
        if isinstance(message, dict) and message.get("method") == "notifications/cancelled":
            self._cancel(message)
            return
        task = group.create_task(self._answer(message))
        request_id = message.get("id") if isinstance(message, dict) else None
        if is_request_id(request_id):
            self._running[request_id] = task
            task.add_done_callback(lambda _: self._running.pop(request_id, None))

    def _cancel(self, message: dict[str, object]) -> None:
        params = message.get("params")
        request_id = params.get("requestId") if isinstance(params, dict) else None
        task = self._running.get(request_id) if is_request_id(request_id) else None
        if task is not None:
            task.cancel()

    async def _answer(self, message: object) -> None:
        visit = Visit("stdio", f"stdio-{os.getpid()}-{next(self._numbers):x}", "stdio", "stdio")
        try:
            caller = await self._gate.identify(visit)
        except CarrelError as error:
            request_id = message.get("id") if isinstance(message, dict) else None
            self._send(refusal(request_id, error))
            return
        if isinstance(message, list) and message:
            replies = [
                await self._lane.answer(item, caller, visit, is_modern=False, progress_for=self._progress_for) for item in message
            ]
            answered = [reply.body for reply in replies if reply is not None]
            if answered:
                self._write_line(b"[" + b",".join(answered) + b"]")
            return
        self._send(
            await self._lane.answer(message, caller, visit, is_modern=_is_modern(message), progress_for=self._progress_for)
        )

    def _send(self, reply: Reply | None) -> None:
        if reply is not None:
            self._write_line(reply.body)

    def _progress_for(self, token: object) -> ReportProgress:
        async def report(done: float, total: float | None, message: str | None) -> None:
            params: dict[str, object] = {"progressToken": token, "progress": done}
            if total is not None:
                params["total"] = total
            if message is not None:
                params["message"] = message
            self._write_line(orjson.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))

        return report


def _is_modern(message: object) -> bool:
    """On stdio each message says its era itself: the modern one names its version in `_meta`."""
    if not isinstance(message, dict):
        return False
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return message.get("method") == "server/discover" or (isinstance(meta, dict) and META_VERSION in meta)
