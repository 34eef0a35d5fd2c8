"""HTTP/1.1 on one connection: uvicorn's protocol with limits on request size and time.

uvicorn does not limit the size of a request's head, the time a request may take to arrive, or the
number of connections. Requests that two servers could parse differently are refused here.
"""

from __future__ import annotations

import asyncio
from enum import IntEnum
from typing import TYPE_CHECKING, Any, cast

import httptools
import orjson
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from carrel.core.caller import address_group
from carrel.doors.http.connections import Activity, ConnectionTable
from carrel.policy.http_limits import ConnectionLimits
from carrel.policy.origin import TrustedProxies

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application
    from uvicorn.config import Config
    from uvicorn.server import ServerState

# Bytes given to the parser at once in a request's head, so how far one may exceed the limit.
_HEAD_SLICE_BYTES = 32 * 1024
# How long and how much is still read from a client whose request was answered before it was whole,
# so that it sees the answer.
_LINGER_SECONDS = 2.0
_LINGER_BYTES = 16 * 1024 * 1024
_FRAMING_HEADERS = frozenset({b"content-length", b"transfer-encoding", b"host", b"expect"})
# What may follow an early answer on a connection that is kept.
_DRAIN_BYTES = 256 * 1024


class Phase(IntEnum):
    """What part of a request the parser waits for."""

    NOTHING = 0
    HEAD = 1
    BODY = 2


class _RequestRefusedError(Exception):
    """Stops the parser: this request is not taken."""

    def __init__(self, status: int, code: str, message: str, next_step: str) -> None:
        super().__init__(message)
        self.status = status
        body = {
            "success": False,
            "error": message,
            "error_type": code,
            "recovery_suggestions": [next_step],
        }
        self.body = orjson.dumps(body)


def _malformed(message: str) -> _RequestRefusedError:
    return _RequestRefusedError(
        400, "malformed_request", message, "Send a request as HTTP/1.1 describes it."
    )


class _PoliteTransport:
    """The connection as uvicorn sees it; closing waits a moment for a client that still sends."""

    def __init__(self, transport: asyncio.Transport, protocol: GuardedProtocol) -> None:
        self.write = transport.write
        self.is_closing = transport.is_closing
        self.get_extra_info = transport.get_extra_info
        self._protocol = protocol

    def close(self) -> None:
        self._protocol.close_politely()


# The key of the event, in the state of a request, that is set when the server begins to stop.
DRAINING = "draining"


class GuardedProtocol(HttpToolsProtocol):
    """One connection. See ConnectionLimits for its bounds."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        loop: asyncio.AbstractEventLoop,
        limits: ConnectionLimits,
        table: ConnectionTable,
        proxies: TrustedProxies,
    ) -> None:
        super().__init__(config, server_state, app_state, loop)
        self.group = "unknown"
        self.is_from_proxy = True
        self.number = 0
        self._limits = limits
        self._table = table
        self._proxies = proxies
        self._wire: asyncio.Transport = cast(asyncio.Transport, None)
        self._phase = Phase.NOTHING
        self._deadline = 0.0
        # Bytes since the request began, and since its answer was complete.
        self._request_bytes = 0
        self._late_bytes = 0
        self._header_bytes = 0
        self._framing: list[tuple[bytes, bytes]] = []
        self._is_deaf = False
        self._running: RequestResponseCycle | None = None
        self._has_cycle = False
        self._unsent_bytes = 0
        self._unsent_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wire = transport
        self.transport = cast(asyncio.Transport, _PoliteTransport(transport, self))
        if self.client is not None:
            self.group = address_group(self.client[0])
            self.is_from_proxy = self._proxies.trusts(self.client[0])
        self._deadline = self.loop.time() + self._limits.header_timeout_seconds
        if not self._table.add(self):
            busy = _RequestRefusedError(
                503,
                "server_busy",
                "Too many connections are open",
                "Close some, or try again later.",
            )
            self._is_deaf = True
            transport.write(_response(busy))
            transport.close()

    def shutdown(self) -> None:
        self.app_state[DRAINING].set()
        super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        self._table.remove(self)
        self._is_deaf = True
        if self._running is not None and self._running is not self.cycle:
            self._cut_off(self._running)
        super().connection_lost(exc)

    def activity(self) -> Activity:
        if self._is_answering() and not self._is_deaf:
            return (
                Activity.RECEIVING
                if self._phase is Phase.BODY and not self.pipeline
                else Activity.WORKING
            )
        return (
            Activity.IDLE
            if self.cycle is not None and self._phase is Phase.NOTHING
            else Activity.STARTING
        )

    def is_overdue(self, now: float) -> str | None:
        unsent = self._wire.get_write_buffer_size()
        if unsent and unsent >= self._unsent_bytes:
            if not self._unsent_bytes:
                self._unsent_since = now
            elif now - self._unsent_since > self._limits.send_timeout_seconds:
                return "answer not read in time"
        else:
            self._unsent_since = now
        self._unsent_bytes = unsent
        if unsent or self._is_answering() or now < self._deadline:
            return None
        return (
            "idle"
            if self.cycle is not None and self._phase is Phase.NOTHING
            else "request not sent in time"
        )

    def discard(self) -> None:
        is_half_sent = self._phase is Phase.HEAD and not self._is_deaf and not self._is_answering()
        self._is_deaf = True
        if is_half_sent and not self._wire.is_closing():
            late = _RequestRefusedError(
                408, "request_too_slow", "The request did not arrive in time", "Send it again."
            )
            self._wire.write(_response(late))
        self._wire.close()
        if self._wire.get_write_buffer_size():
            self._wire.abort()

    def close_politely(self) -> None:
        """Close; a client that is still sending first gets a moment to read the answer."""
        if self._is_deaf or self._wire.is_closing() or self._phase is not Phase.BODY:
            self._is_deaf = True
            self._wire.close()
            return
        self._is_deaf = True
        self._late_bytes = 0
        self.flow.resume_reading()
        self._wire.write_eof()
        self.loop.call_later(_LINGER_SECONDS, self._wire.abort)

    def data_received(self, data: bytes) -> None:
        if self._is_deaf:
            self._late_bytes += len(data)
            if self._late_bytes > _LINGER_BYTES:
                self._wire.abort()
        elif len(data) <= _HEAD_SLICE_BYTES or self._phase is Phase.BODY:
            self._feed(data)
        else:
            for start in range(0, len(data), _HEAD_SLICE_BYTES):
                if self._is_deaf:
                    return
                self._feed(data[start : start + _HEAD_SLICE_BYTES])

    def _feed(self, data: bytes) -> None:
        self._request_bytes += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # Nothing else is spoken here; the request was taken as the plain one that it is, too.
            self.cycle.keep_alive = False
        except httptools.HttpParserError as error:
            cause = error.__context__
            self._refuse(
                cause
                if isinstance(cause, _RequestRefusedError)
                else _malformed("The request is not well-formed HTTP")
            )
            return
        if self._phase is Phase.HEAD:
            if self._request_bytes > self._limits.max_header_bytes + self._limits.max_target_bytes:
                self._refuse(self._head_too_large())
        elif self._phase is Phase.BODY:
            self._check_body_bytes(len(data))

    def _check_body_bytes(self, size: int) -> None:
        """Limit chunk framing, trailers, and unread bodies."""
        if self.cycle.response_complete:
            self._late_bytes += size
            if self._late_bytes > _DRAIN_BYTES:
                self.close_politely()
        elif self._request_bytes > 2 * (
            self._limits.max_body_bytes + self._limits.max_header_bytes
        ):
            self._refuse(_malformed("The body takes far more than it says"))

    # What the parser tells
    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._phase = Phase.HEAD
        self._has_cycle = False
        self._framing = []
        self._request_bytes = 0
        self._header_bytes = 0
        if self.cycle is not None:
            self._deadline = self.loop.time() + self._limits.header_timeout_seconds

    def on_url(self, url: bytes) -> None:
        self.url += url
        if len(self.url) > self._limits.max_target_bytes:
            limit = self._limits.max_target_bytes
            raise _RequestRefusedError(
                414,
                "malformed_request",
                f"The address is longer than {limit} bytes",
                "Send a shorter one.",
            )

    def on_header(self, name: bytes, value: bytes) -> None:
        self._header_bytes += len(name) + len(value) + 4
        if self._phase is Phase.BODY:
            # A trailer comes after all decisions on the headers, and must not become one of them.
            if self._header_bytes > self._limits.max_header_bytes:
                raise self._head_too_large()
            return
        name = name.lower()
        if name in _FRAMING_HEADERS:
            self._framing.append((name, value))
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._phase = Phase.BODY
        if (
            self._header_bytes > self._limits.max_header_bytes
            or len(self.headers) > self._limits.max_headers
        ):
            raise self._head_too_large()
        self._check_framing()
        if self._is_answering() and len(self.pipeline) >= self._limits.max_pipelined_requests:
            raise _malformed("Too many requests were sent without waiting for answers")
        super().on_headers_complete()
        self._has_cycle = True
        if self.expect_100_continue:
            # Without 100 Continue the client may or may not send the body: the rest is ambiguous.
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        self._phase = Phase.NOTHING
        super().on_message_complete()
        if self.cycle.response_complete:
            self._deadline = self.loop.time() + self._limits.keep_alive_seconds

    def on_response_complete(self) -> None:
        """Replaces uvicorn's: the connection table checks deadlines, no timer per request."""
        self.server_state.total_requests += 1
        self._late_bytes = 0
        if self._wire.is_closing() or self._is_deaf:
            return
        self.flow.resume_reading()
        if self.pipeline:
            cycle, app = self.pipeline.pop()
            self._start_asgi_task(cycle, app)
            return
        match self._phase:
            case Phase.NOTHING:
                seconds = self._limits.keep_alive_seconds
            case Phase.HEAD:
                seconds = self._limits.header_timeout_seconds
            case Phase.BODY:
                seconds = _LINGER_SECONDS
        self._deadline = self.loop.time() + seconds

    def _check_framing(self) -> None:
        """Refuses what servers in a chain could cut into requests differently."""
        version = self.parser.get_http_version()
        if version not in {"1.1", "1.0"}:
            raise _RequestRefusedError(
                505, "malformed_request", "Only HTTP/1.1 is spoken here", "Send HTTP/1.1."
            )
        lengths = encodings = 0
        host = b""
        for name, value in self._framing:
            if name == b"content-length":
                lengths += 1
            elif name == b"host":
                host = value
            elif name == b"expect":
                self.expect_100_continue = value.strip().lower() == b"100-continue"
            else:
                encodings += 1
                if value.strip().lower() != b"chunked":
                    raise _malformed("Transfer-Encoding may only be chunked")
        if (
            lengths > 1
            or encodings > 1
            or (lengths and encodings)
            or (encodings and version == "1.0")
        ):
            raise _malformed("It is not clear how long the body is")
        if not self.url.startswith(b"/") and _authority_of(self.url) != host.strip().lower():
            raise _malformed("The address names another host than the Host header")

    def _is_answering(self) -> bool:
        return self.cycle is not None and (not self.cycle.response_complete or bool(self.pipeline))

    def _head_too_large(self) -> _RequestRefusedError:
        limits = self._limits
        return _RequestRefusedError(
            431,
            "headers_too_large",
            f"The headers take more than {limits.max_header_bytes} bytes, or are more than "
            f"{limits.max_headers}",
            "Send fewer and shorter headers.",
        )

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _refuse(self, refusal: _RequestRefusedError) -> None:
        """Answers and closes; an earlier request that is being answered is finished first."""
        self._table.note(f"refused with {refusal.status}")
        running = self._running
        is_of_running = self._has_cycle and self.cycle is running
        if running is not None and not running.response_complete and not is_of_running:
            self._is_deaf = True
            self.pipeline.clear()
            self.cycle = running
            running.keep_alive = False
            return
        if running is not None and is_of_running and not running.response_complete:
            if running.response_started:
                self._wire.abort()
                return
            self._cut_off(running)
        if not self._wire.is_closing() and not (
            is_of_running and running is not None and running.response_started
        ):
            self._wire.write(_response(refusal))
        self._phase = Phase.BODY
        self.close_politely()

    def _cut_off(self, cycle: RequestResponseCycle) -> None:
        """Tell the handler that the client has disconnected."""
        cycle.disconnected = True
        cycle.message_event.set()


def _authority_of(target: bytes) -> bytes:
    """The host and port of a target in absolute form; empty for other forms."""
    for prefix in (b"http://", b"https://"):
        if target[: len(prefix)].lower() == prefix:
            rest = target[len(prefix) :]
            return rest.split(b"/", 1)[0].split(b"?", 1)[0].lower() or b"?"
    return b"?"


def _response(refusal: _RequestRefusedError) -> bytes:
    return b"".join(
        (
            STATUS_LINE[refusal.status],
            b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
            % len(refusal.body),
            refusal.body,
        )
    )


class GuardedProtocolFactory:
    """Makes the protocols of one process, which share one connection table."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._proxies = TrustedProxies(limits.trusted_proxies)
        self._table: ConnectionTable | None = None

    def __call__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> GuardedProtocol:
        loop = _loop or asyncio.get_running_loop()
        if self._table is None:
            self._table = ConnectionTable(self.limits, loop)
        # Streams that have no end of their own end when it is set.
        app_state.setdefault(DRAINING, asyncio.Event())
        return GuardedProtocol(
            config, server_state, app_state, loop, self.limits, self._table, self._proxies
        )

    def __reduce__(self) -> tuple[type[GuardedProtocolFactory], tuple[ConnectionLimits]]:
        return GuardedProtocolFactory, (self.limits,)
