"""One thread that sends spans, metrics and logs to an OTLP receiver, in batches."""

from __future__ import annotations

import http.client
import logging
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import orjson

from carrel.libraries.telemetry.spans import BoundedBuffer
from carrel.services.retry import RetryPolicy, parse_retry_after

log = logging.getLogger("carrel.telemetry")

# What OTLP says may be sent again.
_RETRYABLE = frozenset({429, 502, 503, 504})
_LONGEST_ANSWER_BYTES = 64 * 1024
# At the end of the process a collector that does not answer is not waited for any longer.
_CLOSING_SECONDS = 2.0
_RETRY = RetryPolicy(max_attempts=5, initial_backoff_seconds=1.0)
_LOG_EVERY_SECONDS = 60.0


@dataclass(slots=True)
class Counts:
    """What became of the rows of one signal."""

    sent: int = 0
    rejected: int = 0
    failed: int = 0


@dataclass(slots=True)
class Signal:
    """Rows that wait, how a batch is encoded, and where it goes.

    `is_summed_up` signals have no rows: `encode` is asked every `every_seconds` for the whole.
    """

    name: str
    address: str
    encode: Callable[[list[Any]], bytes]
    every_seconds: float
    buffer: BoundedBuffer[Any] | None = None
    batch_size: int = 512
    counts: Counts = field(default_factory=Counts)
    due: float = 0.0


@dataclass(frozen=True, slots=True)
class SendOptions:
    """Headers, time limit and retries of every request."""

    headers: Mapping[str, str]
    timeout_seconds: float = 10.0
    retry: RetryPolicy = _RETRY


class _NotSentError(Exception):
    def __init__(self, reason: str, retry_after: float | None, *, is_retryable: bool) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.is_retryable = is_retryable


class TelemetrySender:
    """Sends until it is closed; what it cannot send in time is dropped and counted."""

    def __init__(self, signals: list[Signal], options: SendOptions) -> None:
        self.signals = signals
        self._options = options
        self._closing = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._give_up_at: float | None = None
        self._logged_at = -_LOG_EVERY_SECONDS

    def start(self) -> None:
        """Begin to send; more than once does nothing."""
        with self._starting:
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)
                self._thread.start()

    def flush(self) -> None:
        """Send what waits soon."""
        self._wake.set()

    def close(self) -> None:
        """Send what waits, as far as the collector takes it within two seconds."""
        self._give_up_at = time.monotonic() + _CLOSING_SECONDS
        self._closing.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=_CLOSING_SECONDS + self._options.timeout_seconds)

    def _run(self) -> None:
        now = time.monotonic()
        for signal in self.signals:
            signal.due = now + signal.every_seconds
        while True:
            is_last = self._closing.is_set()
            for signal in self.signals:
                self._serve(signal, is_last=is_last or self._wake.is_set())
            if is_last:
                return
            self._wake.clear()
            if not self._closing.is_set():
                self._wait()

    def _wait(self) -> None:
        """Until something is due, or a full batch waits."""
        until = min(signal.due for signal in self.signals)
        while not self._wake.is_set():
            left = until - time.monotonic()
            if left <= 0 or any(
                signal.buffer is not None and len(signal.buffer) >= signal.batch_size
                for signal in self.signals
            ):
                return
            self._wake.wait(min(left, 0.2))

    def _serve(self, signal: Signal, *, is_last: bool) -> None:
        now = time.monotonic()
        is_due = is_last or now >= signal.due
        if signal.buffer is None:
            if is_due:
                self._send(signal, [])
        else:
            while len(signal.buffer) >= signal.batch_size or (is_due and len(signal.buffer)):
                self._send(signal, signal.buffer.take(signal.batch_size))
        if is_due:
            signal.due = now + signal.every_seconds

    def _send(self, signal: Signal, rows: list[Any]) -> None:
        size = max(1, len(rows))
        try:
            body = signal.encode(rows)
        except Exception:
            # One row that cannot be encoded must not end the sending of all others.
            signal.counts.failed += size
            log.exception("telemetry not encoded", extra={"signal": signal.name, "rows": size})
            return
        policy = self._options.retry
        for attempt in range(1, policy.max_attempts + 1):
            try:
                rejected = self._post(signal.address, body)
            except _NotSentError as error:
                wait = policy.backoff_seconds(attempt, error.retry_after)
                if not error.is_retryable or attempt == policy.max_attempts or self._pause(wait):
                    signal.counts.failed += size
                    self._note(signal, size, str(error))
                    return
            else:
                signal.counts.rejected += min(rejected, size)
                signal.counts.sent += size - min(rejected, size)
                return

    def _pause(self, seconds: float) -> bool:
        """Wait before the next attempt; true where there is no time for one."""
        if not self._closing.wait(seconds):
            return False
        left = (self._give_up_at or 0.0) - time.monotonic()
        if left <= seconds:
            return True
        time.sleep(seconds)
        return False

    def _post(self, address: str, body: bytes) -> int:
        """Send one body; how many of its rows the receiver rejected. Raises _NotSentError."""
        parts = urlsplit(address)
        timeout = self._options.timeout_seconds
        if self._give_up_at is not None:
            timeout = max(0.1, min(timeout, self._give_up_at - time.monotonic()))
        connection: http.client.HTTPConnection
        if parts.scheme == "https":
            connection = http.client.HTTPSConnection(
                str(parts.hostname), parts.port, timeout=timeout, context=_trust()
            )
        else:
            connection = http.client.HTTPConnection(
                str(parts.hostname), parts.port, timeout=timeout
            )
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        headers = {**self._options.headers, "content-type": "application/json"}
        try:
            connection.request("POST", target, body, headers)
            answer = connection.getresponse()
            text = answer.read(_LONGEST_ANSWER_BYTES)
            status, retry_after = answer.status, answer.getheader("retry-after")
        except (OSError, http.client.HTTPException, UnicodeError, ValueError) as error:
            raise _NotSentError(type(error).__name__, None, is_retryable=True) from None
        finally:
            connection.close()
        if 200 <= status < 300:
            return _count_rejected(text)
        wait = parse_retry_after(retry_after, time.time())
        raise _NotSentError(f"status {status}", wait, is_retryable=status in _RETRYABLE)

    def _note(self, signal: Signal, size: int, reason: str) -> None:
        """One line a minute, however much is lost."""
        now = time.monotonic()
        if now - self._logged_at >= _LOG_EVERY_SECONDS:
            self._logged_at = now
            log.warning(
                "telemetry not sent",
                extra={"signal": signal.name, "rows": size, "reason": reason},
            )


@cache
def _trust() -> ssl.SSLContext:
    """The certificates of the system; to read them takes longer than to send a batch."""
    return ssl.create_default_context()


def _count_rejected(text: bytes) -> int:
    """How many rows a receiver says it rejected (`partialSuccess`)."""
    try:
        partial = orjson.loads(text).get("partialSuccess") or {}
        return sum(
            max(0, int(partial.get(name, 0)))
            for name in ("rejectedSpans", "rejectedDataPoints", "rejectedLogRecords")
        )
    except (orjson.JSONDecodeError, AttributeError, TypeError, ValueError):
        return 0
