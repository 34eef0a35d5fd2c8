"""Refusals, gathered: the first few of one caller are recorded in full, the rest as one summary for
each period.

Strangers choose how often they are refused, so without this they choose how much is written. What
is gathered is bounded in
memory and in lines, whatever the number of addresses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from carrel.core.addresses import address_group
from carrel.core.caller import ANONYMOUS_USER
from carrel.policy.audit import REFUSED, AuditRecord

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
class _Gathered:
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
        self._gathered: dict[_Key, _Gathered] = {}
        self._ends_at: float | None = None
        self._from_strangers = 0

    def is_recorded_in_full(
        self, record: AuditRecord, now: float, *, is_short_of_space: bool = False
    ) -> bool:
        """Whether a refusal is to be written as it is; otherwise it has been counted."""
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
            gathered = self._gathered.setdefault(key, _Gathered(record.timestamp))
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
        """One record for each caller that was refused more often than was recorded, and a new
        period begins.
        """
        rows = [
            _summary(key, gathered, at)
            for key, gathered in self._gathered.items()
            if gathered.count
        ]
        self._gathered.clear()
        self._ends_at = None
        self._from_strangers = 0
        return rows


def _summary(key: _Key, gathered: _Gathered, at: datetime) -> AuditRecord:
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
