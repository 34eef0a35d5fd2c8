"""The governor: requests to a host take turns, over all processes that share a home.

It keeps a small SQLite file. A slot that is not given back, because its process was killed, is
free again when its lease ends. Losing the file loses nothing but the memory of the last minute.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from carrel.services.literature.service_limits import BreakerPolicy, ServiceLimits

log = logging.getLogger("carrel.literature")
PauseKind = Literal["paused", "rate_limited"]
# How long limits that an answer announced are followed without hearing them again.
_ANNOUNCED_SECONDS = 86_400.0
_LONGEST_PAUSE_SECONDS = 3600.0
# A turn further ahead than anybody waits comes from a clock that was set back.
_FURTHEST_TURN_SECONDS = 900.0
_LOCK_SECONDS = 5.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS lane (
  name TEXT PRIMARY KEY, next_at REAL NOT NULL DEFAULT 0, last_at REAL NOT NULL DEFAULT 0,
  hold_until REAL NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0,
  open_until REAL NOT NULL DEFAULT 0, pause_kind TEXT NOT NULL DEFAULT 'paused',
  probe_until REAL NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '',
  max_concurrent INTEGER, interval_seconds REAL, announced_at REAL NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS slot (
  token TEXT PRIMARY KEY, lane TEXT NOT NULL, until REAL NOT NULL);
"""
_LANE = """SELECT next_at, last_at, hold_until, failures, open_until, pause_kind, probe_until,
  reason, max_concurrent, interval_seconds, announced_at FROM lane WHERE name = ?"""


@dataclass(frozen=True, slots=True)
class GovernorTurn:
    """Leave to ask after a wait. Give it back in any case."""

    token: str
    wait_seconds: float
    limits: ServiceLimits


@dataclass(frozen=True, slots=True)
class Busy:
    """As many requests are under way as may be."""

    limits: ServiceLimits


@dataclass(frozen=True, slots=True)
class Refusal:
    """Nothing may be asked for some seconds: after failures, or because the service said so."""

    seconds: float
    kind: PauseKind
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a turn; without `is_answered` and `failure` it was given up."""

    is_answered: bool = False
    failure: str = ""
    is_connected: bool = True
    announced: ServiceLimits | None = None
    # Nobody asks before that; a longer wait is a pause, in which asking is refused at once.
    hold_seconds: float = 0.0
    pause_seconds: float = 0.0


@dataclass(slots=True)
class _Lane:
    next_at: float = 0.0
    last_at: float = 0.0
    hold_until: float = 0.0
    failures: int = 0
    open_until: float = 0.0
    pause_kind: PauseKind = "paused"
    probe_until: float = 0.0
    reason: str = ""
    max_concurrent: int | None = None
    interval_seconds: float | None = None
    announced_at: float = 0.0

    def limits(self, known: ServiceLimits, now: float) -> ServiceLimits:
        """What was announced lately, else what is known."""
        if self.max_concurrent is None or self.interval_seconds is None:
            return known
        if not 0 <= now - self.announced_at <= _ANNOUNCED_SECONDS:
            return known
        return replace(
            known, max_concurrent=self.max_concurrent, interval_seconds=self.interval_seconds
        )

    def forget_the_future(self, now: float) -> None:
        """Times that no running process can have meant: the clock was set back."""
        latest = now + _FURTHEST_TURN_SECONDS
        self.next_at = self.next_at if self.next_at <= latest else now
        self.last_at = self.last_at if self.last_at <= latest else now
        self.hold_until = self.hold_until if self.hold_until <= latest else now
        self.probe_until = self.probe_until if self.probe_until <= latest else 0.0
        if self.open_until > now + 2 * _LONGEST_PAUSE_SECONDS:
            self.open_until = now

    def refusal(self, policy: BreakerPolicy, now: float) -> Refusal | None:
        """Why nothing may be asked; None if the caller may ask, perhaps as the one probe."""
        if not self.open_until:
            return None
        if self.open_until > now:
            return Refusal(self.open_until - now, self.pause_kind, self.reason)
        if self.pause_kind == "rate_limited":
            self.open_until = 0.0
            return None
        if self.probe_until > now:
            return Refusal(policy.open_seconds, self.pause_kind, self.reason)
        return None

    def begin_after(self, limits: ServiceLimits, now: float) -> float:
        """Seconds until the next request may begin."""
        saved = (limits.burst - 1) * limits.interval_seconds
        begins_at = max(
            now, self.hold_until, self.next_at - saved, self.last_at + limits.gap_seconds
        )
        return begins_at - now

    def take_turn(self, limits: ServiceLimits, begins_at: float, lease_seconds: float) -> None:
        self.next_at = max(self.next_at, begins_at) + limits.interval_seconds
        self.last_at = begins_at
        if self.open_until:
            self.probe_until = begins_at + lease_seconds

    def settle(self, outcome: Outcome, policy: BreakerPolicy, now: float) -> None:
        if outcome.announced is not None:
            self.max_concurrent = outcome.announced.max_concurrent
            self.interval_seconds = outcome.announced.interval_seconds
            self.announced_at = now
        self.hold_until = max(self.hold_until, now + outcome.hold_seconds)
        was_probe, self.probe_until = self.probe_until > now, 0.0
        if outcome.is_answered:
            self.failures, self.open_until, self.reason = 0, 0.0, ""
        elif outcome.failure:
            self.reason = outcome.failure
            self.failures += 1 if outcome.is_connected else policy.no_connection_counts_as
            if was_probe or self.failures >= policy.failures_to_open:
                self.open_until, self.pause_kind = now + policy.open_seconds, "paused"
        if outcome.pause_seconds:
            seconds = min(outcome.pause_seconds, _LONGEST_PAUSE_SECONDS)
            self.open_until, self.pause_kind = now + seconds, "rate_limited"


@dataclass
class Governor:
    """Hands out turns. Its methods block for a moment: call them in a thread.

    Without a path it holds for this process alone, as where the folder cannot be written.
    """

    path: Path | None = None
    clock: Callable[[], float] = time.time
    policy: BreakerPolicy = field(default_factory=BreakerPolicy)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def take(
        self,
        lane_name: str,
        known: ServiceLimits,
        *,
        patience_seconds: float,
        lease_seconds: float,
    ) -> GovernorTurn | Busy | Refusal:
        """A turn within the caller's patience, or why there is none; a refusal changes nothing."""
        with self._lane(lane_name) as (connection, lane, now):
            refusal = lane.refusal(self.policy, now)
            if refusal is not None:
                return refusal
            limits = lane.limits(known, now)
            connection.execute(
                "DELETE FROM slot WHERE lane = ? AND (until <= ? OR until > ?)",
                (lane_name, now, now + _FURTHEST_TURN_SECONDS + lease_seconds),
            )
            (taken,) = connection.execute(
                "SELECT count(*) FROM slot WHERE lane = ?", (lane_name,)
            ).fetchone()
            if taken >= limits.max_concurrent:
                return Busy(limits)
            wait = lane.begin_after(limits, now)
            if wait > patience_seconds:
                return Refusal(wait, "rate_limited", lane.reason or "its limits are used up")
            lane.take_turn(limits, now + wait, lease_seconds)
            token = uuid.uuid4().hex
            connection.execute(
                "INSERT INTO slot (token, lane, until) VALUES (?, ?, ?)",
                (token, lane_name, now + wait + lease_seconds),
            )
            return GovernorTurn(token, wait, limits)

    def give_back(self, lane_name: str, turn: GovernorTurn, outcome: Outcome) -> None:
        """Free the slot and keep what was learned."""
        with self._lane(lane_name) as (connection, lane, now):
            connection.execute("DELETE FROM slot WHERE token = ?", (turn.token,))
            lane.settle(outcome, self.policy, now)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _lane(self, name: str) -> Iterator[tuple[sqlite3.Connection, _Lane, float]]:
        """One lane, for this process and thread alone until it is written."""
        with self._lock:
            connection = self._begin()
            try:
                now = self.clock()
                row = connection.execute(_LANE, (name,)).fetchone()
                lane = _Lane(*row) if row else _Lane()
                lane.forget_the_future(now)
                yield connection, lane, now
                connection.execute(
                    "INSERT OR REPLACE INTO lane VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (name, *_row(lane)),
                )
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _begin(self) -> sqlite3.Connection:
        """A connection in a transaction; a damaged file is made anew, an unwritable one left."""
        for _ in range(2):
            try:
                if self._connection is None:
                    self._connection = self._open()
                self._connection.execute("BEGIN IMMEDIATE")
                return self._connection
            except sqlite3.OperationalError as error:
                self._leave_file("unwritable", error)
            except sqlite3.DatabaseError as error:
                self._leave_file("damaged", error)
        self._connection = self._open()
        self._connection.execute("BEGIN IMMEDIATE")
        return self._connection

    def _leave_file(self, why: str, error: sqlite3.Error) -> None:
        log.warning("governor_file", extra={"outcome": why, "error": type(error).__name__})
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if why == "damaged" and self.path is not None:
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        else:
            self.path = None

    def _open(self) -> sqlite3.Connection:
        place = ":memory:"
        if self.path is not None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                place = str(self.path)
            except OSError:
                self.path = None
        connection = sqlite3.connect(
            place, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL")
        # What is lost with the machine is a minute's memory.
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(_SCHEMA)
        return connection


def _row(lane: _Lane) -> tuple[object, ...]:
    return (
        lane.next_at,
        lane.last_at,
        lane.hold_until,
        lane.failures,
        lane.open_until,
        lane.pause_kind,
        lane.probe_until,
        lane.reason,
        lane.max_concurrent,
        lane.interval_seconds,
        lane.announced_at,
    )
