"""MCP over stdio; every request that was read is answered before exit."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import orjson

from carrel.core.caller import LOCAL_USER, Caller, ReportProgress, Visit
from carrel.core.errors import CarrelError, InvalidInputError
from carrel.core.process_name import process_name
from carrel.doors.errors import INVALID_REQUEST, PARSE_ERROR
from carrel.doors.json_input import parse_json, salvage_request_id
from carrel.doors.mcp.dispatcher import Dispatcher
from carrel.doors.mcp.json_rpc import (
    ASSUMED_VERSION,
    HANDSHAKE_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
    VERSIONS_WITHOUT_LINKS,
    Reply,
    check_batch,
    failure,
    is_request_id,
    names_modern_version,
    progress_notification,
    refusal,
)
from carrel.policy.gate import Gate

log = logging.getLogger("carrel.stdio")

LONGEST_LINE_BYTES = 16 * 1024 * 1024
_READ_BYTES = 65536


class ProtocolOutput:
    """Standard output for the protocol alone; what else is printed goes to standard error."""

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


async def serve_stdio(
    dispatcher: Dispatcher, gate: Gate, descriptor: int, write_line: Callable[[bytes], None]
) -> None:
    """Answer messages until the end of input, then finish the pending ones."""
    ready: asyncio.Future[tuple[Dispatcher, Gate]] = asyncio.get_running_loop().create_future()
    ready.set_result((dispatcher, gate))
    await serve_stdio_at_once(dispatcher, ready, descriptor, write_line)


async def serve_stdio_at_once(
    handshake: Dispatcher,
    rooms: asyncio.Future[tuple[Dispatcher, Gate]],
    descriptor: int,
    write_line: Callable[[bytes], None],
) -> None:
    """The same while rooms are being opened: `handshake` greets, all else waits."""
    session = _Session(handshake, rooms, write_line)
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | TooLong | None] = asyncio.Queue()

    def read() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has closed: nobody is listening any more
            for line in read_lines(descriptor):
                loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    try:
        async with asyncio.TaskGroup() as running:
            while (line := await lines.get()) is not None:
                session.take(line, running)
    except* BrokenPipeError:
        log.warning("the client closed its end before every answer was written")


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that was thrown away because it is longer than any message may be."""


def read_lines(
    descriptor: int, longest_bytes: int = LONGEST_LINE_BYTES
) -> Iterator[bytes | TooLong]:
    """The lines of a descriptor, unbuffered, since a buffer could not be closed at exit."""
    waiting = bytearray()
    is_skipping = False
    while True:
        try:
            chunk = os.read(descriptor, _READ_BYTES)
        except OSError as error:
            log.warning("standard input broke off", extra={"reason": str(error)})
            chunk = b""
        for at, piece in enumerate(chunk.split(b"\n")):
            if at > 0:
                if waiting.strip():
                    yield bytes(waiting)
                waiting.clear()
                is_skipping = False
            if not is_skipping:
                waiting += piece
            if len(waiting) > longest_bytes:
                yield TooLong()
                waiting.clear()
                is_skipping = True
        if not chunk:
            if waiting.strip():
                yield bytes(waiting)
            return


_GREETINGS = frozenset({"initialize", "ping", "server/discover"})
_GREETED = Caller(user_id=LOCAL_USER, scopes=frozenset())


_LONGEST_CLIENT_NAME = 60


class _Session:
    """The messages of one client."""

    def __init__(
        self,
        handshake: Dispatcher,
        rooms: asyncio.Future[tuple[Dispatcher, Gate]],
        write_line: Callable[[bytes], None],
    ) -> None:
        self._handshake = handshake
        self._rooms = rooms
        self._write_line = write_line
        self._numbers = itertools.count(1)
        self._running: dict[object, asyncio.Task[None]] = {}
        self._version = ASSUMED_VERSION
        self._client = "stdio"

    def take(self, line: bytes | TooLong, group: asyncio.TaskGroup) -> None:
        if isinstance(line, TooLong):
            problem = f"Invalid request: a message is at most {LONGEST_LINE_BYTES} bytes"
            self._write_line(failure(None, INVALID_REQUEST, problem).body)
            return
        try:
            message = parse_json(line)
        except orjson.JSONDecodeError as error:
            group.create_task(self._note_malformed())
            self._write_line(
                failure(salvage_request_id(line), PARSE_ERROR, f"Parse error: {error}").body
            )
            return
        method = message.get("method") if isinstance(message, dict) else None
        if method == "notifications/cancelled" and "id" not in message:
            self._cancel(message)
            return
        if method == "initialize":
            self._remember_version(message)
        task = group.create_task(self._answer(message))
        request_id = message.get("id") if isinstance(message, dict) else None
        if is_request_id(request_id):
            self._running[request_id] = task
            task.add_done_callback(lambda done: self._forget(request_id, done))

    def _forget(self, request_id: object, done: asyncio.Task[None]) -> None:
        if self._running.get(request_id) is done:
            del self._running[request_id]

    def _cancel(self, message: dict[str, object]) -> None:
        params = message.get("params")
        request_id = params.get("requestId") if isinstance(params, dict) else None
        task = self._running.get(request_id) if is_request_id(request_id) else None
        if task is not None:
            task.cancel()

    def _remember_version(self, message: dict[str, object]) -> None:
        params = message.get("params")
        asked = params.get("protocolVersion") if isinstance(params, dict) else None
        self._version = asked if asked in HANDSHAKE_VERSIONS else LATEST_HANDSHAKE_VERSION
        info = params.get("clientInfo") if isinstance(params, dict) else None
        name = info.get("name") if isinstance(info, dict) else None
        if isinstance(name, str) and name:
            self._client = name.replace("/", " ")[:_LONGEST_CLIENT_NAME]

    def _visit(self) -> Visit:
        visit = Visit("stdio", f"stdio-{process_name()}-{next(self._numbers):x}", "stdio", "stdio")
        visit.session = f"{self._client}/{process_name()}"
        return visit

    async def _note_malformed(self) -> None:
        visit = self._visit()
        _, gate = await asyncio.shield(self._rooms)
        gate.record_refusal(visit, "mcp", "stdio", InvalidInputError("malformed message"))

    async def _answer(self, message: object) -> None:
        visit = self._visit()
        if (
            not self._rooms.done()
            and isinstance(message, dict)
            and message.get("method") in _GREETINGS
        ):
            self._send(
                await self._handshake.answer(
                    message, _GREETED, visit, is_modern=_is_modern(message)
                )
            )
            return
        if self._version in VERSIONS_WITHOUT_LINKS and not _is_modern(message):
            visit.takes_links = False
        dispatcher, gate = await asyncio.shield(self._rooms)
        try:
            caller = await gate.identify(visit)
        except CarrelError as error:
            request_id = message.get("id") if isinstance(message, dict) else None
            self._send(refusal(request_id, error))
            return
        if isinstance(message, list):
            refused = check_batch(message, self._version)
            if refused is not None:
                self._send(refused)
                return
            replies = [
                await dispatcher.answer(
                    item, caller, visit, is_modern=False, progress_for=self._progress_for
                )
                for item in message
            ]
            answered = [reply.body for reply in replies if reply is not None]
            if answered:
                self._write_line(b"[" + b",".join(answered) + b"]")
            return
        self._send(
            await dispatcher.answer(
                message,
                caller,
                visit,
                is_modern=_is_modern(message),
                progress_for=self._progress_for,
            )
        )

    def _send(self, reply: Reply | None) -> None:
        if reply is not None:
            self._write_line(reply.body)

    def _progress_for(self, token: object) -> ReportProgress:
        async def report(done: float, total: float | None, message: str | None) -> None:
            self._write_line(progress_notification(token, done, total, message))

        return report


def _is_modern(message: object) -> bool:
    """Whether a message is of the stateless era: it names its version in `_meta`."""
    if not isinstance(message, dict):
        return False
    return message.get("method") == "server/discover" or names_modern_version(message)
