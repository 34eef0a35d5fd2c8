"""What was done: the record every call leaves, and the port it is written through."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple, Protocol

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


class AuditRecord(NamedTuple):
    """One line of the audit log: a call that started, ended or was refused, or something noted at
    log-in.
    """

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
    """Keeps records in order, append-only."""

    def write(self, record: AuditRecord) -> None:
        """Takes a record and returns at once. Refusals are never dropped."""

    async def keep(self, record: AuditRecord) -> None:
        """Returns when the record is kept; raises AuditUnavailableError when it cannot be."""


class NoAudit:
    """Keeps nothing: for tests of other things, and for operators who turn the log off."""

    def write(self, record: AuditRecord) -> None:
        return None

    async def keep(self, record: AuditRecord) -> None:
        return None

    def keep_blocking(self, record: AuditRecord) -> None:
        return None


def masked(parameters: Mapping[str, object] | None) -> object:
    """The parameters as they may be written down: secrets hidden, long values cut."""
    if not parameters:
        return {}
    if len(parameters) > _MOST_ITEMS:
        return _masked(parameters, _DEEPEST)
    shown: dict[str, object] = {}
    for key, value in parameters.items():
        if _is_secret(key):
            shown[key[:100]] = "***"
        elif isinstance(value, (int, float)) or (
            isinstance(value, str) and len(value) <= _LONGEST_VALUE
        ):
            shown[key[:100]] = value
        else:
            shown[key[:100]] = _masked(value, _DEEPEST - 1)
    return shown


def _masked(value: object, depth: int) -> object:
    kind = type(value)
    if kind is str:
        text = str(value)
        return (
            text
            if len(text) <= _LONGEST_VALUE
            else f"{text[:_LONGEST_VALUE]}… ({len(text)} characters)"
        )
    if kind is int or kind is float or kind is bool or value is None:
        return value
    if isinstance(value, Mapping):
        if not depth:
            return "…"
        items = list(value.items())[:_MOST_ITEMS]
        shown = {
            str(key)[:100]: "***" if _is_secret(str(key)) else _masked(item, depth - 1)
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
        rows = [_masked(item, depth - 1) for item in value[:_MOST_ITEMS]]
        return rows if len(value) <= _MOST_ITEMS else [*rows, f"… {len(value) - _MOST_ITEMS} more"]
    return value


@lru_cache(maxsize=1024)
def _is_secret(key: str) -> bool:
    folded = key.lower()
    return any(word in folded for word in _SECRET_WORDS)
