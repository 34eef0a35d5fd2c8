"""The audit record that every call leaves, and the port that stores it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple, Protocol

import orjson

from carrel.core.caller import ANONYMOUS_USER, address_group

_SECRET_WORDS = (
    "token",
    "secret",
    "password",
    "authorization",
    "api_key",
    "apikey",
    "credential",
    "cookie",
)
_LONGEST_VALUE = 500
_MOST_ITEMS = 20
_DEEPEST = 4

REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """Queue size, timeouts, and intervals of anchors and refusal summaries."""

    most_waiting: int = 100_000
    keep_timeout_seconds: float = 2.0
    anchor_every_lines: int = 10_000
    anchor_every_seconds: float = 60.0
    refusal_period_seconds: float = 300.0
    refusals_in_full: int = 5


@dataclass(frozen=True, slots=True)
class Retention:
    """How large a file gets, how much is kept for how long, and the free space left alone."""

    max_file_bytes: int = 64 * 1024 * 1024
    max_total_bytes: int | None = None
    max_age: timedelta | None = None
    min_free_bytes: int = 0


class AuditRecord(NamedTuple):
    """One line of the audit log: a call that started, ended or was refused, or an event."""

    timestamp: datetime
    request_id: str
    phase: str
    user_id: str
    client_id: str | None
    door: str
    action: str
    resource: str
    parameters: object
    result: str
    error_code: str | None
    duration_ms: float | None
    ip_address: str
    user_agent: str


class Audit(Protocol):
    """Stores records in order, append-only."""

    def write(self, record: AuditRecord) -> None:
        """Queue a record and return at once; refusals are never dropped."""

    async def write_durably(self, record: AuditRecord) -> None:
        """Returns when the record is stored; raises AuditUnavailableError if it cannot be."""


class NoAudit:
    """Discards every record: for tests, and where the operator turned the log off."""

    def write(self, record: AuditRecord) -> None:
        return None

    async def write_durably(self, record: AuditRecord) -> None:
        return None

    def write_durably_blocking(self, record: AuditRecord) -> None:
        return None

    def flush(self) -> bool:
        return True

    def close(self) -> None:
        return None


def mask_parameters(parameters: Mapping[str, object] | None) -> object:
    """The parameters as they may be written down: secrets hidden, long values cut."""
    if not parameters:
        return {}
    if len(parameters) > _MOST_ITEMS:
        return _mask_value(parameters, _DEEPEST)
    # Written out for plain values, because every call passes here: 2 microseconds instead of 6.
    shown: dict[str, object] = {}
    for key, value in parameters.items():
        if _is_secret(key):
            shown[key[:100]] = "***"
        elif isinstance(value, (int, float)) or (
            isinstance(value, str) and len(value) <= _LONGEST_VALUE
        ):
            shown[key[:100]] = value
        else:
            shown[key[:100]] = _mask_value(value, _DEEPEST - 1)
    return shown


def _mask_value(value: object, depth: int) -> object:
    if isinstance(value, str):
        return (
            value
            if len(value) <= _LONGEST_VALUE
            else f"{value[:_LONGEST_VALUE]}… ({len(value)} characters)"
        )
    if isinstance(value, Mapping):
        if not depth:
            return "…"
        items = list(value.items())[:_MOST_ITEMS]
        shown = {
            str(key)[:100]: "***" if _is_secret(str(key)) else _mask_value(item, depth - 1)
            for key, item in items
        }
        return (
            shown
            if len(value) <= _MOST_ITEMS
            else {**shown, "…": f"{len(value) - _MOST_ITEMS} more"}
        )
    if isinstance(value, list | tuple):
        if not depth:
            return "…"
        rows = [_mask_value(item, depth - 1) for item in value[:_MOST_ITEMS]]
        return rows if len(value) <= _MOST_ITEMS else [*rows, f"… {len(value) - _MOST_ITEMS} more"]
    return value


@lru_cache(maxsize=1024)
def _is_secret(key: str) -> bool:
    folded = key.lower()
    return any(word in folded for word in _SECRET_WORDS)


NOTHING_BEFORE = "0" * 64
# A line longer than this keeps the size and the hash of its parameters instead of the parameters.
_LARGEST_LINE_BYTES = 32 * 1024


class Chain:
    """One process's chain of lines; `after` is the hash of the last line before it."""

    def __init__(self, name: str, after: str | None = None) -> None:
        self.name = name
        self.sequence = 0
        self.previous = NOTHING_BEFORE
        self._after = after

    def line(self, record: AuditRecord) -> bytes:
        """The next line, with its hash at the end."""
        self.sequence += 1
        facts: dict[str, object] = {
            "timestamp": record.timestamp,
            "request_id": record.request_id,
            "phase": record.phase,
            "user_id": record.user_id,
            "door": record.door,
            "action": record.action,
            "resource": record.resource,
            "result": record.result,
            "ip_address": record.ip_address,
            "user_agent": record.user_agent,
        }
        if record.client_id is not None:
            facts["client_id"] = record.client_id
        if record.parameters is not None:
            facts["parameters"] = record.parameters
        if record.error_code is not None:
            facts["error_code"] = record.error_code
        if record.duration_ms is not None:
            facts["duration_ms"] = record.duration_ms
        if self._after is not None:
            facts["after"] = self._after
            self._after = None
        try:
            body = orjson.dumps(facts, default=str)
        except TypeError:
            # Integers beyond 64 bits and lone surrogates have no JSON form; keep their text.
            safe = {
                name: value if isinstance(value, datetime) else ascii(value)[:1000]
                for name, value in facts.items()
            }
            body = orjson.dumps(safe)
        if len(body) > _LARGEST_LINE_BYTES:
            body = _shorten(facts, body)
        start = f'{{"chain":"{self.name}","sequence":{self.sequence},"previous":"{self.previous}",'.encode()  # noqa: E501
        line = start + body[1:]
        self.previous = hashlib.sha256(line).hexdigest()
        return b'%s,"hash":"%s"}' % (line[:-1], self.previous.encode())


def _shorten(facts: dict[str, object], body: bytes) -> bytes:
    """The facts with their parameters replaced by size and hash, and the rest cut."""
    kept = {name: value[:300] if isinstance(value, str) else value for name, value in facts.items()}
    kept["parameters"] = {"left_out_bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    return orjson.dumps(kept, default=lambda value: str(value)[:300])


def hash_in(line: bytes) -> str | None:
    """The hash stored in a line, or None."""
    tail = line.rstrip()[-75:]
    start = tail.find(b',"hash":"')
    return (
        tail[start + 9 : -2].decode("ascii", "replace")
        if start >= 0 and tail.endswith(b'"}')
        else None
    )


def chain_heads(lines: Iterable[bytes]) -> dict[str, tuple[int, str]]:
    """The last sequence number and hash of every chain, without parsing whole lines."""
    heads: dict[str, tuple[int, str]] = {}
    for line in lines:
        start = line.split(b",", 2)
        digest = hash_in(line)
        if (
            digest is None
            or len(start) < 3
            or not start[0].startswith(b'{"chain":"')
            or not start[1].startswith(b'"sequence":')
        ):
            continue
        number = start[1][11:]
        if number.isdigit():
            heads[start[0][10:-1].decode("utf-8", "replace")] = (int(number), digest)
    return heads


SUMMARY_ACTION = "refusals"
# Callers that are told apart in one period; further ones are counted together.
_MOST_CALLERS = 200
# Full records of all strangers together in one period.
_MOST_FROM_STRANGERS = 400
_MOST_NAMES = 5


class _Key(NamedTuple):
    user_id: str
    network: str
    error_code: str


_OTHERS = _Key(ANONYMOUS_USER, "others", "several")


@dataclass(slots=True)
class _RefusalCount:
    since: datetime
    recorded: int = 0
    count: int = 0
    door: str = ""
    actions: dict[str, int] = field(default_factory=dict)
    resources: list[str] = field(default_factory=list)

    def add(self, record: AuditRecord) -> None:
        self.count += 1
        self.door = record.door
        action = record.action[:100]
        name = action if action in self.actions or len(self.actions) < _MOST_NAMES else "…"
        self.actions[name] = self.actions.get(name, 0) + 1
        resource = record.resource[:100]
        if len(self.resources) < _MOST_NAMES and resource not in self.resources:
            self.resources.append(resource)


class RefusalSummaries:
    """Decides which refusals are recorded in full, and sums up the others. Used by one thread."""

    def __init__(self, *, period_seconds: float = 300.0, recorded_in_full: int = 5) -> None:
        self._period_seconds = period_seconds
        self._recorded_in_full = recorded_in_full
        self._gathered: dict[_Key, _RefusalCount] = {}
        self._ends_at: float | None = None
        self._from_strangers = 0

    def is_recorded_in_full(
        self, record: AuditRecord, now: float, *, is_short_of_space: bool = False
    ) -> bool:
        """Whether to write a refusal in full; if not, it has been added to a count."""
        if self._ends_at is None:
            self._ends_at = now + self._period_seconds
        is_stranger = record.user_id == ANONYMOUS_USER
        key = _Key(
            record.user_id[:200], address_group(record.ip_address)[:60], record.error_code or ""
        )
        gathered = self._gathered.get(key)
        if gathered is None:
            if len(self._gathered) >= _MOST_CALLERS:
                key = _OTHERS
            gathered = self._gathered.setdefault(key, _RefusalCount(record.timestamp))
        has_room = not is_stranger or (
            self._from_strangers < _MOST_FROM_STRANGERS and not is_short_of_space
        )
        if key is not _OTHERS and gathered.recorded < self._recorded_in_full and has_room:
            gathered.recorded += 1
            self._from_strangers += is_stranger
            return True
        gathered.add(record)
        return False

    def seconds_left(self, now: float) -> float | None:
        """Seconds until the period ends; None while nothing is gathered."""
        return None if self._ends_at is None else max(0.0, self._ends_at - now)

    def summaries(self, at: datetime) -> list[AuditRecord]:
        """One record for each caller with unrecorded refusals; starts a new period."""
        rows = [
            _summary(key, gathered, at)
            for key, gathered in self._gathered.items()
            if gathered.count
        ]
        self._gathered.clear()
        self._ends_at = None
        self._from_strangers = 0
        return rows


def _summary(key: _Key, gathered: _RefusalCount, at: datetime) -> AuditRecord:
    facts = {
        "count": gathered.count,
        "since": gathered.since,
        "actions": gathered.actions,
        "resources": gathered.resources,
    }
    return AuditRecord(
        at, SUMMARY_ACTION, REFUSED, key.user_id, None, gathered.door, SUMMARY_ACTION,
        "audit://refusals", facts, "failure",
        key.error_code, None, key.network, "",
    )  # fmt: skip
