"""HTTP/1.1 on one connection: uvicorn's protocol with limits on request size and time.

uvicorn does not limit the size of a request's head, the time a request may take to arrive, or the
number of connections. Requests that two servers could parse differently are refused here.
"""

from __future__ import annotations

import asyncio
import urllib.parse
from collections import deque
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import httptools
import orjson
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from carrel.core.caller import address_group
from carrel.doors.http.connections import Activity, ConnectionTable
from carrel.doors.http.exchange import EXCHANGE, Exchange
from carrel.doors.http.known_heads import FoundHead, KnownHeads
from carrel.doors.http.spare_task import SpareTask
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
# Addresses up to this length are taken apart once and kept.
_SHORT_TARGET_BYTES = 128
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
        shared: SharedByConnections,
    ) -> None:
        super().__init__(config, server_state, app_state, loop)
        self.group = "unknown"
        self.is_from_proxy = True
        self.number = 0
        self._limits = limits
        self._table = shared.table
        self._proxies = shared.proxies
        self._heads = shared.heads
        self._spare = shared.spare
        self._wire: asyncio.Transport = cast(asyncio.Transport, None)
        self._phase = Phase.NOTHING
        self._deadline = 0.0
        # Bytes since the request began, and since its answer was complete.
        self._request_bytes = 0
        self._late_bytes = 0
        self._header_bytes = 0
        self._is_deaf = False
        self.cycle: Exchange | None = None  # type: ignore[assignment]
        self.pipeline: deque[tuple[Exchange, ASGI3Application]] = deque()  # type: ignore[assignment]
        self._running: Exchange | None = None
        self._has_cycle = False
        self._parsed_requests = 0
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
        elif len(data) <= _HEAD_SLICE_BYTES:
            if self._phase is not Phase.NOTHING or self._is_answering():
                self._feed(data)
            elif (found := self._heads.find(data)) is not None:
                self._take_known(found, data)
            else:
                self._feed_and_learn(data)
        elif self._phase is Phase.BODY:
            self._feed(data)
        else:
            for start in range(0, len(data), _HEAD_SLICE_BYTES):
                if self._is_deaf:
                    return
                self._feed(data[start : start + _HEAD_SLICE_BYTES])

    def _take_known(self, found: FoundHead, data: bytes) -> None:
        """Start a whole request whose head was parsed before, and the parser is between two."""
        head, digits, body_at = found
        scope = head.scope(digits)
        scope["scheme"] = self.scheme
        scope["server"] = self.server
        scope["client"] = self.client
        scope["state"] = self.app_state.copy()
        cycle = scope[EXCHANGE] = Exchange(
            scope,
            head.headers(digits),
            head.repeated,
            self.transport,
            self.flow,
            self.server_state.default_headers,
            self.on_response_complete,
            keep_alive=True,
            expects_continue=False,
            known=head,
        )
        cycle.body += data[body_at:]
        cycle.more_body = False
        cycle.set()
        self.cycle = self._running = cycle
        self._has_cycle = True
        task = self._spare.start(cycle.run(self.app))
        if task is not None:
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    def _feed_and_learn(self, data: bytes) -> None:
        """Parse what begins between two requests; the head of a single whole one may be kept."""
        before = self._parsed_requests
        self._feed(data)
        cycle = self.cycle
        if (
            cycle is not None
            and cycle.keep_alive
            and self._phase is Phase.NOTHING
            and self._parsed_requests == before + 1
            and not self._is_deaf
        ):
            self._heads.learn(data, cycle)

    def _feed(self, data: bytes) -> None:
        self._request_bytes += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # Nothing else is spoken here; the request was taken as the plain one that it is, too.
            if self.cycle is not None:
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
        if self.cycle is not None and self.cycle.response_complete:
            self._late_bytes += size
            if self._late_bytes > _DRAIN_BYTES:
                self.close_politely()
        elif self._request_bytes > 2 * (
            self._limits.max_body_bytes + self._limits.max_header_bytes
        ):
            self._refuse(_malformed("The body takes far more than it says"))

    # What the parser tells
    def on_message_begin(self) -> None:
        """Replaces uvicorn's: the scope is made when the head is whole."""
        self.url = b""
        self.headers = []
        self.expect_100_continue = False
        self._phase = Phase.HEAD
        self._has_cycle = False
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
        if self._phase is Phase.BODY:
            # A trailer comes after all decisions on the headers, and must not become one of them.
            self._header_bytes += len(name) + len(value) + 4
            if self._header_bytes > self._limits.max_header_bytes:
                raise self._head_too_large()
            return
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Replaces uvicorn's: checks the head, then starts the request or has it wait."""
        self._phase = Phase.BODY
        headers: dict[bytes, bytes] = {}
        repeated: set[bytes] = set()
        size = 0
        for name, value in self.headers:
            size += len(name) + len(value) + 4
            if name in headers:
                repeated.add(name)
            headers[name] = value
        self._header_bytes = size
        if size > self._limits.max_header_bytes or len(self.headers) > self._limits.max_headers:
            raise self._head_too_large()
        version = self.parser.get_http_version()
        self._check_framing(version, headers, repeated)
        is_busy = self._is_answering()
        if is_busy and len(self.pipeline) >= self._limits.max_pipelined_requests:
            raise _malformed("Too many requests were sent without waiting for answers")
        target = self.url
        split = _split_short_target if len(target) <= _SHORT_TARGET_BYTES else _split_target
        path, raw_path, query = split(target)
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": version,
            "method": self.parser.get_method().decode("ascii"),
            "path": path,
            "raw_path": raw_path,
            "query_string": query,
            "root_path": self.root_path,
            "scheme": self.scheme,
            "headers": self.headers,
            "server": self.server,
            "client": self.client,
            "state": self.app_state.copy(),
        }
        self._begin(scope, headers, repeated, is_busy=is_busy)

    def _begin(
        self,
        scope: dict[str, Any],
        headers: dict[bytes, bytes],
        repeated: set[bytes],
        *,
        is_busy: bool,
    ) -> None:
        cycle = scope[EXCHANGE] = Exchange(
            scope,
            headers,
            repeated,
            self.transport,
            self.flow,
            self.server_state.default_headers,
            self.on_response_complete,
            # Without 100 Continue the client may or may not send the body: the rest is ambiguous.
            keep_alive=scope["http_version"] != "1.0"
            and not self.expect_100_continue
            and self.parser.should_keep_alive(),
            expects_continue=self.expect_100_continue,
        )
        self.cycle = cycle
        self._has_cycle = True
        self._parsed_requests += 1
        if is_busy:
            self.flow.pause_reading()
            self.pipeline.appendleft((cycle, self.app))
        else:
            self._start(cycle, self.app)

    def on_body(self, body: bytes) -> None:
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            return
        cycle.body += body
        if len(cycle.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        cycle.set()

    def on_message_complete(self) -> None:
        self._phase = Phase.NOTHING
        cycle = self.cycle
        if cycle is None:
            return
        if cycle.response_complete:
            self._deadline = self.loop.time() + self._limits.keep_alive_seconds
            return
        cycle.more_body = False
        cycle.set()

    def on_response_complete(self) -> None:
        """Replaces uvicorn's: the connection table checks deadlines, no timer per request."""
        self.server_state.total_requests += 1
        self._late_bytes = 0
        if self._wire.is_closing() or self._is_deaf:
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start(*self.pipeline.pop())
            return
        match self._phase:
            case Phase.NOTHING:
                seconds = self._limits.keep_alive_seconds
            case Phase.HEAD:
                seconds = self._limits.header_timeout_seconds
            case Phase.BODY:
                seconds = _LINGER_SECONDS
        self._deadline = self.loop.time() + seconds

    def _check_framing(
        self, version: str, headers: dict[bytes, bytes], repeated: set[bytes]
    ) -> None:
        """Refuses what servers in a chain could cut into requests differently."""
        if version not in {"1.1", "1.0"}:
            raise _RequestRefusedError(
                505, "malformed_request", "Only HTTP/1.1 is spoken here", "Send HTTP/1.1."
            )
        encoding = headers.get(b"transfer-encoding")
        if encoding is not None and encoding.strip().lower() != b"chunked":
            raise _malformed("Transfer-Encoding may only be chunked")
        if (
            b"content-length" in repeated
            or b"transfer-encoding" in repeated
            or (encoding is not None and (version == "1.0" or b"content-length" in headers))
        ):
            raise _malformed("It is not clear how long the body is")
        expected = headers.get(b"expect")
        if expected is not None:
            self.expect_100_continue = expected.strip().lower() == b"100-continue"
        if not self.url.startswith(b"/") and _authority_of(self.url) != (
            headers.get(b"host", b"").strip().lower()
        ):
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

    def _start(self, cycle: Exchange, app: ASGI3Application) -> None:
        self._running = cycle
        task = self.loop.create_task(cycle.run(app))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

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

    def _cut_off(self, cycle: Exchange) -> None:
        """Tell the handler that the client has disconnected."""
        cycle.disconnected = True
        cycle.set()


def _split_target(target: bytes) -> tuple[str, bytes, bytes]:
    """The path, as text and as sent, and the query of a request target."""
    parsed = httptools.parse_url(target)
    raw_path: bytes = parsed.path
    path = raw_path.decode("ascii")
    return urllib.parse.unquote(path) if "%" in path else path, raw_path, parsed.query or b""


_split_short_target = lru_cache(maxsize=1024)(_split_target)


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


class SharedByConnections(NamedTuple):
    """What the connections of one process have in common."""

    table: ConnectionTable
    proxies: TrustedProxies
    heads: KnownHeads
    spare: SpareTask


class GuardedProtocolFactory:
    """Makes the protocols of one process, which share one connection table."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._shared: SharedByConnections | None = None

    def __call__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> GuardedProtocol:
        loop = _loop or asyncio.get_running_loop()
        if self._shared is None:
            self._shared = SharedByConnections(
                ConnectionTable(self.limits, loop),
                TrustedProxies(self.limits.trusted_proxies),
                KnownHeads(),
                SpareTask(loop),
            )
        # Streams that have no end of their own end when it is set.
        app_state.setdefault(DRAINING, asyncio.Event())
        return GuardedProtocol(config, server_state, app_state, loop, self.limits, self._shared)

    def __reduce__(self) -> tuple[type[GuardedProtocolFactory], tuple[ConnectionLimits]]:
        return GuardedProtocolFactory, (self.limits,)
