"""The queue in front of every audit store: one thread chains and writes records."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import secrets
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import NamedTuple, Protocol

from carrel.core.clock import Clock, SystemClock
from carrel.core.errors import DISK_FULL, AuditUnavailableError
from carrel.core.health import Health
from carrel.policy.audit import (
    REFUSED,
    AuditRecord,
    Chain,
    QueueOptions,
    RefusalSummaries,
    chain_heads,
)
from carrel.policy.audit_anchor import AnchorEvent, Anchors, AnchorTip
from carrel.policy.audit_verification import ANCHORED, CLOSED, OPENED, OWN_DOOR
from carrel.stores.disk_space import NOT_WRITABLE

log = logging.getLogger("carrel.audit")

Waiter = Callable[[OSError | None], None]
_ACTION = "Make space or mend the rights there; until then, calls that change something answer 503."
_GATHER_SECONDS = 0.005
_RETRY_SECONDS = 1.0
_MAINTAIN_SECONDS = 3600.0


class PartlyWrittenError(OSError):
    """Only the first lines were written."""

    def __init__(self, lines_written: int) -> None:
        super().__init__(errno.ENOSPC, "the lines could only be written in part")
        self.lines_written = lines_written


class AuditNotice(NamedTuple):
    """An event of the log itself, which is written into it."""

    phase: str
    resource: str
    parameters: Mapping[str, object]


class AuditSink(Protocol):
    """Where lines go. Raises OSError when none was written, PartlyWrittenError when some were."""

    def append(self, lines: Sequence[bytes]) -> None: ...

    def last_hash(self) -> str | None: ...

    def lines(self) -> Iterable[bytes]:
        """Every line there is, oldest first."""

    def sync(self) -> None:
        """Returns when what was appended is on the disk."""

    def maintain(self, anchors: Anchors | None, *, is_thorough: bool) -> list[AuditNotice]:
        """Anchors full files and removes expired ones; answers what was done."""

    def space_problem(self) -> str | None:
        """Why nothing more should be written, or None; cheap, asked before every write."""

    def close(self) -> None: ...


class QueuedAudit:
    """Writes audit records in the order of the calls, from a bounded queue.

    Records dropped when it is full are counted, and the count is written. A chain begins and ends
    with an anchor, so that verify knows every chain.
    """

    def __init__(
        self,
        sink: AuditSink,
        *,
        open_anchors: Callable[[], Anchors] | None = None,
        options: QueueOptions | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._sink = sink
        self._open_anchors = open_anchors
        self._anchors: Anchors | None = None
        self._options = options or QueueOptions()
        self._clock = clock or SystemClock()
        self._refusals = RefusalSummaries(
            period_seconds=self._options.refusal_period_seconds,
            recorded_in_full=self._options.refusals_in_full,
        )
        self._waiting: deque[tuple[AuditRecord, Waiter | None]] = deque()
        self._unwritten: list[bytes] = []
        self._flushed: deque[threading.Event] = deque()
        self._dropped = 0
        self._dropped_refusals = 0
        self._chain: Chain | None = None
        self._unanchored = 0
        self._anchor_at = 0.0
        self._maintain_at = 0.0
        self._failure: str | None = None
        self._anchor_failure: str | None = None
        self._wake = threading.Event()
        self._urgent = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._listener: Callable[[AuditRecord], None] | None = None
        # Lines that this process has written.
        self.written = 0

    @property
    def waiting(self) -> int:
        """Records that were handed over and are not written yet."""
        return len(self._waiting) + len(self._unwritten)

    def listen(self, listener: Callable[[AuditRecord], None]) -> None:
        """Tell each record that gets its place in the chain, on the writing thread."""
        self._listener = listener

    def write(self, record: AuditRecord) -> None:
        is_refusal = record.phase == REFUSED
        if len(self._waiting) >= self._options.most_waiting * (2 if is_refusal else 1):
            self._dropped += not is_refusal
            self._dropped_refusals += is_refusal
            return
        self._waiting.append((record, None))
        if is_refusal:
            self._urgent.set()
        if not self._wake.is_set():
            self._start()

    async def write_durably(self, record: AuditRecord) -> None:
        loop = asyncio.get_running_loop()
        kept: asyncio.Future[None] = loop.create_future()
        self._hand_over(record, partial(_settle_on_loop, loop, kept))
        try:
            async with asyncio.timeout(self._options.keep_timeout_seconds):
                await kept
        except (OSError, TimeoutError) as error:
            raise _unavailable(error, record) from None

    def write_durably_blocking(self, record: AuditRecord) -> None:
        """`write_durably` for callers without an event loop, such as a command."""
        kept: Future[None] = Future()
        self._hand_over(record, partial(_settle, kept))
        try:
            kept.result(self._options.keep_timeout_seconds)
        except (OSError, TimeoutError) as error:
            raise _unavailable(error, record) from None

    def problem(self) -> str | None:
        """Why calls that write are refused now, or None; cheap enough for a probe."""
        return self._failure or self._sink.space_problem() or self._anchor_failure

    async def health(self, place: str, note: str = "") -> Health:
        """Whether calls that change something can be recorded; without that they are refused."""
        problem = await asyncio.to_thread(self.problem)
        if problem is None:
            return Health(True, f"written to {place}", note=note)
        return Health(False, problem, _ACTION, NOT_WRITABLE, note)

    @property
    def is_failing(self) -> bool:
        """Whether calls that change something are refused now."""
        return self.problem() is not None

    def flush(self, timeout_seconds: float = 5.0) -> bool:
        """Waits until what was handed over is written; False when that takes too long."""
        done = threading.Event()
        self._flushed.append(done)
        self._urgent.set()
        self._start()
        return done.wait(timeout_seconds)

    def close(self) -> None:
        """Writes what is waiting, closes and anchors the chain, and ends the thread."""
        if self._thread is not None:
            self._closing = True
            self._urgent.set()
            self._wake.set()
            self._thread.join(timeout=10.0)
            self._thread = None
        self._sink.close()

    def _hand_over(self, record: AuditRecord, waiter: Waiter) -> None:
        self._waiting.append((record, waiter))
        self._urgent.set()
        self._start()

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
            self._thread.start()
        self._wake.set()

    def _run(self) -> None:
        while True:
            self._wake.wait(self._seconds_to_wait())
            self._urgent.wait(_GATHER_SECONDS)
            self._wake.clear()
            self._urgent.clear()
            is_last = self._closing
            asked = len(self._flushed)
            is_written = self._drain(is_last)
            for _ in range(asked if is_written else 0):
                self._flushed.popleft().set()
            if is_written and self._chain is not None:
                self._anchor_and_maintain(self._chain, is_last)
            if is_last:
                return

    def _seconds_to_wait(self) -> float | None:
        """Seconds until a retry or periodic work is due; None when none is."""
        if self._unwritten or self._failure is not None or self._anchor_failure is not None:
            # Without calls, too: a balancer that asks /ready sends none until this has succeeded.
            return _RETRY_SECONDS
        now = self._clock.monotonic()
        due = [self._maintain_at - now] if self._chain is not None else []
        if self._unanchored and self._anchors is not None:
            due.append(self._anchor_at - now)
        left = self._refusals.seconds_left(now)
        if left is not None:
            due.append(left)
        return max(0.0, min(due)) if due else None

    def _drain(self, is_last: bool) -> bool:
        try:
            chain = self._chain or self._begin()
        except OSError as error:
            self._refuse_waiters(error)
            return False
        shortage = self._sink.space_problem()
        now = self._clock.monotonic()
        waiters: list[Waiter] = []
        # Lines of a chain cannot be left out once they are made, so no more are made than may wait.
        room = max(0, 2 * self._options.most_waiting - len(self._unwritten))
        for _ in range(min(len(self._waiting), room)):
            record, waiter = self._waiting.popleft()
            if waiter is not None:
                if shortage is not None:
                    waiter(OSError(errno.ENOSPC, shortage))
                    continue
                waiters.append(waiter)
            elif record.phase == REFUSED and not self._refusals.is_recorded_in_full(
                record, now, is_short_of_space=shortage is not None
            ):
                continue
            self._unwritten.append(chain.line(record))
            if self._listener is not None:
                self._listener(record)
        left = self._refusals.seconds_left(now)
        if is_last or (left is not None and left <= 0 and shortage is None):
            for summary in self._refusals.summaries(self._clock.now()):
                self._unwritten.append(chain.line(summary))
                if self._listener is not None:
                    self._listener(summary)
        self._note_gaps(chain)
        lines, self._unwritten = self._unwritten, []
        return self._write_lines(lines, waiters)

    def _note_gaps(self, chain: Chain) -> None:
        if self._dropped:
            self._unwritten.append(
                chain.line(self._own_record(f"gap of {self._dropped} records of reads"))
            )
            self._dropped = 0
        if self._dropped_refusals:
            self._unwritten.append(
                chain.line(self._own_record(f"gap of {self._dropped_refusals} records of refusals"))
            )
            self._dropped_refusals = 0

    def _begin(self) -> Chain:
        """Announces a chain and makes its first line; adopts a log without anchors."""
        name, after = f"{os.getpid()}-{secrets.token_hex(4)}", self._sink.last_hash()
        reference: Mapping[str, object] | None = None
        if self._open_anchors is not None:
            self._anchors = self._anchors or self._open_anchors()
            if after is not None and self._anchors.is_empty():
                self._anchors.add(AnchorEvent.ADOPTED, {"chains": chain_heads(self._sink.lines())})
            reference = self._reference(self._anchors.add(AnchorEvent.OPENING, {"chain": name}))
        self._anchor_at = self._clock.monotonic() + self._options.anchor_every_seconds
        chain = self._chain = Chain(name, after)
        self._unwritten.append(chain.line(self._own_record(OPENED, reference)))
        return chain

    def _refuse_waiters(self, error: OSError) -> None:
        """Fails those who wait and drops their records, so that none is written later."""
        self._failure = str(error)
        kept: list[tuple[AuditRecord, Waiter | None]] = []
        # Others go on handing over meanwhile, so only what is there now is taken out, and put back
        # in its place.
        for _ in range(len(self._waiting)):
            record, waiter = self._waiting.popleft()
            if waiter is None:
                kept.append((record, None))
            else:
                waiter(error)
        self._waiting.extendleft(reversed(kept))

    def _write_lines(self, lines: list[bytes], waiters: list[Waiter]) -> bool:
        if not lines:
            return True
        failure: OSError | None = None
        try:
            self._sink.append(lines)
        except OSError as error:
            failure = error
            written = error.lines_written if isinstance(error, PartlyWrittenError) else 0
            self._unanchored += written
            self.written += written
            self._unwritten = lines[written:]
            log.error(
                "audit log cannot be written", extra={"reason": str(error), "waiting": len(lines)}
            )
        else:
            self._unanchored += len(lines)
            self.written += len(lines)
            if self._waiting:
                self._wake.set()
        self._failure = None if failure is None else str(failure)
        for waiter in waiters:
            waiter(failure)
        return failure is None

    def _anchor_and_maintain(self, chain: Chain, is_last: bool) -> None:
        """Called when all lines are written: the chain's head is the last line of the log."""
        now = self._clock.monotonic()
        is_thorough = now >= self._maintain_at
        try:
            for notice in self._sink.maintain(self._anchors, is_thorough=is_thorough):
                self._write_own(chain, notice.phase, notice.parameters, notice.resource)
            if self._unwritten:
                return
            if is_last:
                self._end(chain)
                return
            due = self._unanchored >= self._options.anchor_every_lines or (
                self._unanchored and (now >= self._anchor_at or self._anchor_failure is not None)
            )
            if due and self._anchors is not None:
                self._write_own(chain, ANCHORED, self._reference(self._anchor_head(chain)))
                self._unanchored = 0
            self._anchor_failure = None
        except OSError as error:
            if self._anchor_failure is None:
                log.error("audit log cannot be anchored", extra={"reason": str(error)})
            self._anchor_failure = f"the heads of the audit log cannot be anchored: {error}"
            return
        if is_thorough:
            self._maintain_at = now + _MAINTAIN_SECONDS

    def _anchor_head(self, chain: Chain) -> AnchorTip:
        assert self._anchors is not None
        self._sink.sync()
        self._anchor_at = self._clock.monotonic() + self._options.anchor_every_seconds
        facts = {"chain": chain.name, "sequence": chain.sequence, "digest": chain.previous}
        return self._anchors.add(AnchorEvent.HEAD, facts)

    def _end(self, chain: Chain) -> None:
        """Anchor the closing line before and after writing it, so that its removal shows."""
        if self._anchors is None:
            self._write_own(chain, CLOSED)
            return
        self._sink.sync()
        facts: dict[str, object] = {
            "chain": chain.name,
            "sequence": chain.sequence,
            "digest": chain.previous,
        }
        line = chain.line(self._own_record(CLOSED))
        self._anchors.add(AnchorEvent.CLOSING, {**facts, "next": chain.previous})
        self._sink.append([line])
        self._anchor_head(chain)

    def _write_own(
        self,
        chain: Chain,
        phase: str,
        parameters: Mapping[str, object] | None = None,
        resource: str = "audit://",
    ) -> None:
        self._write_lines([chain.line(self._own_record(phase, parameters, resource))], [])

    def _reference(self, tip: AnchorTip) -> Mapping[str, object]:
        assert self._anchors is not None
        return {"anchor": tip.number, "digest": tip.digest, "key": self._anchors.fingerprint()}

    def _own_record(
        self, phase: str, parameters: Mapping[str, object] | None = None, resource: str = "audit://"
    ) -> AuditRecord:
        return AuditRecord(
            self._clock.now(), "audit", phase, "system", None, OWN_DOOR, "audit", resource,
            parameters, "success", None, None, "", ""
        )  # fmt: skip


def _unavailable(error: OSError, record: AuditRecord) -> AuditUnavailableError:
    reason = str(error) or "time-out"
    log.error(
        "audit log cannot be written", extra={"reason": reason, "request_id": record.request_id}
    )
    is_full = error.errno in DISK_FULL
    return AuditUnavailableError(
        "The audit log cannot be written, so nothing was changed."
        + (" The disk is full." if is_full else ""),
        next_step="Tell the operator; reading still works.",
        details={"reason": "disk_full" if is_full else "not_writable"},
    )


def _settle(kept: Future[None] | asyncio.Future[None], failure: OSError | None) -> None:
    if kept.done():
        return
    if failure is None:
        kept.set_result(None)
    else:
        kept.set_exception(failure)


def _settle_on_loop(
    loop: asyncio.AbstractEventLoop, kept: asyncio.Future[None], failure: OSError | None
) -> None:
    try:
        loop.call_soon_threadsafe(_settle, kept, failure)
    except RuntimeError:
        log.debug("the caller of an audit record is gone")
