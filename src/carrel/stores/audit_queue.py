"""The queue in front of every audit store: calls hand records over and go on, one thread chains and writes them."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import partial
from typing import Protocol

from carrel.core.errors import AuditUnavailableError
from carrel.policy.audit import REFUSED, AuditRecord
from carrel.policy.audit_chain import Chain

log = logging.getLogger("carrel.audit")

Waiter = Callable[[OSError | None], None]
_GATHER_SECONDS = 0.005
_RETRY_SECONDS = 1.0


class Sink(Protocol):
    """Where finished lines go. Raises OSError when they cannot be written, and then none of them counts as written."""

    def append(self, lines: Sequence[bytes]) -> None: ...

    def last_hash(self) -> str | None: ...

    def close(self) -> None: ...


class QueuedAudit:
    """Keeps the order of the calls. The queue is bounded: when it is full, reads leave a gap that is counted and said.

    Refusals are never dropped: past the bound they go to the server's log, with the same fields.
    """

    def __init__(self, sink: Sink, *, most_waiting: int = 100_000, keep_timeout_seconds: float = 2.0) -> None:
        self._sink = sink
        self._most_waiting = most_waiting
        self._keep_timeout_seconds = keep_timeout_seconds
        self._waiting: deque[tuple[AuditRecord, Waiter | None]] = deque()
        self._unwritten: list[bytes] = []
        self._flushed: deque[threading.Event] = deque()
        self._dropped = 0
        self._chain: Chain | None = None
        self._wake = threading.Event()
        self._urgent = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None

    def write(self, record: AuditRecord) -> None:
        is_refusal = record.phase == REFUSED
        if len(self._waiting) >= self._most_waiting and not self._has_room_for(record, is_refusal):
            return
        self._waiting.append((record, None))
        if is_refusal:
            self._urgent.set()
        if not self._wake.is_set():
            self._start()

    async def keep(self, record: AuditRecord) -> None:
        loop = asyncio.get_running_loop()
        kept: asyncio.Future[None] = loop.create_future()
        self._hand_over(record, partial(_settle_on_loop, loop, kept))
        try:
            async with asyncio.timeout(self._keep_timeout_seconds):
                await kept
        except (OSError, TimeoutError) as error:
            raise _unavailable(error, record) from None

    def keep_blocking(self, record: AuditRecord) -> None:
        """Does what `keep` does for whoever has no event loop, such as a command."""
        kept: Future[None] = Future()
        self._hand_over(record, partial(_settle, kept))
        try:
            kept.result(self._keep_timeout_seconds)
        except (OSError, TimeoutError) as error:
            raise _unavailable(error, record) from None

    def _hand_over(self, record: AuditRecord, waiter: Waiter) -> None:
        self._waiting.append((record, waiter))
        self._urgent.set()
        self._start()

    def flush(self, timeout_seconds: float = 5.0) -> bool:
        """Waits until what has been handed over so far is written; False when that takes too long."""
        done = threading.Event()
        self._flushed.append(done)
        self._urgent.set()
        self._start()
        return done.wait(timeout_seconds)

    def close(self) -> None:
        """Writes what is waiting and ends the thread."""
        if self._thread is not None:
            self._closing = True
            self._urgent.set()
            self._wake.set()
            self._thread.join(timeout=10.0)
            self._thread = None
        self._sink.close()

    def _has_room_for(self, record: AuditRecord, is_refusal: bool) -> bool:
        if not is_refusal:
            self._dropped += 1
            return False
        if len(self._waiting) < 2 * self._most_waiting:
            return True
        log.error("refused, and the audit log cannot take it", extra=record._asdict())
        return False

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
            self._thread.start()
        self._wake.set()

    def _run(self) -> None:
        while True:
            self._wake.wait(_RETRY_SECONDS if self._unwritten else None)
            self._urgent.wait(_GATHER_SECONDS)
            self._wake.clear()
            self._urgent.clear()
            is_last = self._closing
            asked = len(self._flushed)
            is_written = self._drain()
            for _ in range(asked if is_written else 0):
                self._flushed.popleft().set()
            if is_last:
                if is_written and self._chain is not None:
                    self._write_lines([self._chain.line(self._own_record("closed"))], [])
                return

    def _drain(self) -> bool:
        if self._chain is None:
            try:
                self._chain = Chain(f"{os.getpid()}-{secrets.token_hex(4)}", self._sink.last_hash())
            except OSError as error:
                self._tell_waiters(error)
                return False
            self._unwritten.append(self._chain.line(self._own_record("opened")))
        waiters: list[Waiter] = []
        for _ in range(len(self._waiting)):
            record, waiter = self._waiting.popleft()
            self._unwritten.append(self._chain.line(record))
            if waiter is not None:
                waiters.append(waiter)
        if self._dropped:
            self._unwritten.append(self._chain.line(self._own_record(f"gap of {self._dropped} records of reads")))
            self._dropped = 0
        lines, self._unwritten = self._unwritten, []
        return self._write_lines(lines, waiters)

    def _tell_waiters(self, error: OSError) -> None:
        for _, waiter in self._waiting:
            if waiter is not None:
                waiter(error)

    def _write_lines(self, lines: list[bytes], waiters: list[Waiter]) -> bool:
        failure: OSError | None = None
        try:
            self._sink.append(lines)
        except OSError as error:
            failure = error
            self._unwritten = lines[-2 * self._most_waiting :]
            log.error("audit log cannot be written", extra={"reason": str(error), "waiting": len(lines)})
        for waiter in waiters:
            waiter(failure)
        return failure is None

    def _own_record(self, phase: str) -> AuditRecord:
        now = datetime.now(UTC)
        return AuditRecord(now, "audit", phase, "system", None, "audit", "audit", "audit://", None, "success", None, None, "", "")


def _unavailable(error: OSError, record: AuditRecord) -> AuditUnavailableError:
    log.error("audit log cannot be written", extra={"reason": str(error) or "time-out", "request_id": record.request_id})
    return AuditUnavailableError(
        "The audit log cannot be written, so nothing was changed.", next_step="Tell the operator; reading still works."
    )


def _settle(kept: Future[None] | asyncio.Future[None], failure: OSError | None) -> None:
    if kept.done():
        return
    if failure is None:
        kept.set_result(None)
    else:
        kept.set_exception(failure)


def _settle_on_loop(loop: asyncio.AbstractEventLoop, kept: asyncio.Future[None], failure: OSError | None) -> None:
    try:
        loop.call_soon_threadsafe(_settle, kept, failure)
    except RuntimeError:
        log.debug("the caller of an audit record is gone")
