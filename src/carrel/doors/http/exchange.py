"""One request on a connection and its answer: ASGI's two functions, and a shorter way for ours."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, MutableMapping, Set
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

if TYPE_CHECKING:
    from uvicorn.protocols.http.flow_control import FlowControl

    from carrel.doors.http.known_heads import KnownHead
    from carrel.doors.http.messages import Header

log = logging.getLogger("carrel.http")

# The key of the exchange in the scope of its request.
EXCHANGE = "carrel.exchange"
# A longer body is written apart from its head, so that it need not be copied.
_JOINED_BYTES = 64 * 1024
_BAD_NAME = re.compile(rb'[\x00-\x1f\x7f()<>@,;:\[\]={} \t\\"]')
_BAD_VALUE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_WITHOUT_BODY = frozenset({204, 304})
_FAILED = b"Internal Server Error"


class Exchange:
    """A request as it arrives, and the state of its answer.

    Any ASGI application is served through `receive` and `send`. Our own takes a body that is there
    already by `take_body` and answers by `answer`; both say when only the long way is left.
    """

    __slots__ = (
        "_chunked",
        "_default_headers",
        "_event",
        "_expected_bytes",
        "_is_set",
        "_on_response",
        "body",
        "disconnected",
        "flow",
        "headers",
        "keep_alive",
        "known",
        "more_body",
        "repeated",
        "response_complete",
        "response_started",
        "scope",
        "transport",
        "waiting_for_100_continue",
    )

    def __init__(
        self,
        scope: MutableMapping[str, Any],
        headers: dict[bytes, bytes],
        repeated: Set[bytes],
        transport: asyncio.Transport,
        flow: FlowControl,
        default_headers: list[tuple[bytes, bytes]],
        on_response: Callable[[], None],
        *,
        keep_alive: bool,
        expects_continue: bool,
        known: KnownHead | None = None,
    ) -> None:
        self.scope = scope
        # Each header once, with its last value, and which were given more than once.
        self.headers = headers
        self.repeated = repeated
        # The head as it was parsed before, where it was.
        self.known = known
        self.transport = transport
        self.flow = flow
        self.keep_alive = keep_alive
        self.waiting_for_100_continue = expects_continue
        self.body = bytearray()
        self.more_body = True
        self.disconnected = False
        self.response_started = False
        self.response_complete = False
        self._default_headers = default_headers
        self._on_response = on_response
        self._is_set = False
        self._event: asyncio.Event | None = None
        self._chunked: bool | None = None
        self._expected_bytes = 0

    @property
    def message_event(self) -> Exchange:
        """What is `set` when something came; for the protocol that this is the cycle of."""
        return self

    def set(self) -> None:
        """Wake whoever waits in `receive`: a part of the body came, or nothing more will."""
        self._is_set = True
        if self._event is not None:
            self._event.set()

    async def run(self, app: Callable[..., Any]) -> None:
        """Have an ASGI application answer; what it leaves undone is answered with 500."""
        try:
            await app(self.scope, self.receive, self.send)
        except BaseException as error:
            log.error("exception in the application", exc_info=error)
            self._fail()
            if not isinstance(error, Exception):
                raise
        else:
            if not self.response_complete and not self.disconnected:
                log.error("the application left a request without a whole answer")
                self._fail()
        finally:
            self._on_response = _do_nothing
            self._forget_request()

    def _forget_request(self) -> None:
        """Let go of what was sent: the connection keeps this object until its next request.

        The scope also holds the exchange, and only the garbage collector would find the two.
        """
        self.scope.pop(EXCHANGE, None)
        self.scope, self.headers, self.body = {}, {}, bytearray()
        self.known = None

    def _fail(self) -> None:
        if self.response_started:
            if not self.response_complete:
                self.transport.close()
        elif not self.disconnected:
            closing = ((b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close"))
            self._write_answer(500, closing, _FAILED)

    # The short way
    def take_body(self) -> bytes | None:
        """The whole body if it has come; None where it has to be waited for with `receive`."""
        if self.more_body or self.disconnected or self.response_complete:
            return None
        body, self.body = bytes(self.body), bytearray()
        self._is_set = False
        return body

    def answer(self, status: int, headers: tuple[Header, ...], body: bytes) -> bool:
        """Write a whole answer; False where the client reads so slowly that one has to wait."""
        if self.response_started or self.flow.write_paused or self.scope["method"] == "HEAD":
            return False
        if not self.disconnected:
            self._write_answer(status, headers, body)
        return True

    def _write_answer(self, status: int, headers: tuple[Header, ...], body: bytes) -> None:
        self.response_started = True
        shown, closes = render_headers(headers)
        if closes:
            self.keep_alive = False
        parts = [STATUS_LINE[status]]
        for name, value in self._default_headers:
            parts += (name, b": ", value, b"\r\n")
        parts.append(shown)
        parts.append(b"content-length: %d\r\n" % len(body))
        parts.append(b"\r\n" if self.keep_alive or closes else b"connection: close\r\n\r\n")
        if len(body) <= _JOINED_BYTES:
            parts.append(body)
            self.transport.write(b"".join(parts))
        else:
            self.transport.write(b"".join(parts))
            self.transport.write(body)
        self._complete()

    def _complete(self) -> None:
        self.response_complete = True
        self.set()
        if not self.keep_alive:
            self.transport.close()
        self._on_response()

    # ASGI
    async def receive(self) -> dict[str, Any]:
        if self.waiting_for_100_continue and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.waiting_for_100_continue = False
        if not self.disconnected and not self.response_complete:
            self.flow.resume_reading()
            if not self._is_set:
                if self._event is None:
                    self._event = asyncio.Event()
                self._event.clear()
                await self._event.wait()
            self._is_set = False
        if self.disconnected or self.response_complete:
            return {"type": "http.disconnect"}
        body, self.body = bytes(self.body), bytearray()
        return {"type": "http.request", "body": body, "more_body": self.more_body}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        kind = message["type"]
        if not self.response_started:
            if kind != "http.response.start":
                raise RuntimeError(f"expected http.response.start, not {kind}")
            self._start(message["status"], tuple(message.get("headers", ())))
        elif self.response_complete or kind != "http.response.body":
            raise RuntimeError(f"unexpected {kind} of an answer")
        else:
            self._send_piece(message.get("body", b""), is_last=not message.get("more_body", False))

    def _start(self, status: int, headers: tuple[Header, ...]) -> None:
        self.response_started = True
        self.waiting_for_100_continue = False
        shown, closes = render_headers(headers)
        for name, value in headers:
            lowered = name.lower()
            if lowered == b"content-length" and self._chunked is None:
                self._expected_bytes, self._chunked = int(value), False
            elif lowered == b"transfer-encoding" and value.lower() == b"chunked":
                self._expected_bytes, self._chunked = 0, True
        if closes:
            self.keep_alive = False
        parts = [STATUS_LINE[status]]
        for name, value in self._default_headers:
            parts += (name, b": ", value, b"\r\n")
        parts.append(shown)
        if not self.keep_alive and not closes:
            parts.append(b"connection: close\r\n")
        has_body = self.scope["method"] != "HEAD" and status not in _WITHOUT_BODY
        if self._chunked is None and has_body:
            self._chunked = True
            parts.append(b"transfer-encoding: chunked\r\n")
        parts.append(b"\r\n")
        self.transport.write(b"".join(parts))

    def _send_piece(self, body: bytes, *, is_last: bool) -> None:
        if self.scope["method"] == "HEAD":
            self._expected_bytes = 0
        elif self._chunked:
            piece = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            self.transport.write(piece + b"0\r\n\r\n" if is_last else piece)
        else:
            self._expected_bytes -= len(body)
            if self._expected_bytes < 0:
                raise RuntimeError("the answer is longer than its content-length")
            self.transport.write(body)
        if is_last:
            if self._expected_bytes:
                raise RuntimeError("the answer is shorter than its content-length")
            self._complete()


def _do_nothing() -> None:
    return None


@lru_cache(maxsize=512)
def render_headers(headers: tuple[Header, ...]) -> tuple[bytes, bool]:
    """The lines of headers, and whether they end the connection; raises RuntimeError for a bad one.

    Most answers have the same few, so that the lines are kept.
    """
    lines: list[bytes] = []
    closes = False
    for name, value in headers:
        if _BAD_NAME.search(name) or _BAD_VALUE.search(value):
            raise RuntimeError("a header of the answer has a sign that none may have")
        lowered = name.lower()
        if lowered == b"connection":
            closes = closes or b"close" in [each.strip() for each in value.lower().split(b",")]
        lines += (lowered, b": ", value, b"\r\n")
    return b"".join(lines), closes
