"""What was done: the record every call leaves, and the port it is written through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Protocol

_SECRET_WORDS = ("token", "secret", "password", "authorization", "api_key", "apikey", "credential", "cookie")
_LONGEST_VALUE = 500
_MOST_ITEMS = 20
_DEEPEST = 4


@dataclass(slots=True)
class AuditRecord:
    """One line of the audit log: a call that started, ended or was refused."""

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
    """Keeps records in order, append-only. `is_required` records must be kept before the call may change anything."""

    def write(self, record: AuditRecord, *, is_required: bool) -> None: ...


class NoAudit:
    """Keeps nothing: for tests of other things, and for operators who turn the log off."""

    def write(self, record: AuditRecord, *, is_required: bool) -> None:
        return None


def masked(parameters: Mapping[str, object] | None) -> object:
    """The parameters as they may be written down: secrets hidden, long values cut."""
    if not parameters:
        return {}
    if len(parameters) <= _MOST_ITEMS:
        shown: dict[str, object] = {}
        for key, value in parameters.items():
            if _is_secret(key):
                shown[key] = "***"
            elif isinstance(value, (int, float)) or (isinstance(value, str) and len(value) <= _LONGEST_VALUE):
                shown[key] = value
            else:
                shown[key[:100]] = _masked(value, _DEEPEST)
        return shown
    return _masked(parameters, _DEEPEST)


def _masked(value: object, depth: int) -> object:
    match value:
        case str() if len(value) > _LONGEST_VALUE:
            return f"{value[:_LONGEST_VALUE]}… ({len(value)} characters)"
        case Mapping() if depth:
            items = list(value.items())[:_MOST_ITEMS]
            shown = {str(key)[:100]: "***" if _is_secret(str(key)) else _masked(item, depth - 1) for key, item in items}
            return shown if len(value) <= _MOST_ITEMS else {**shown, "…": f"{len(value) - _MOST_ITEMS} more"}
        case list() if depth:
            rows = [_masked(item, depth - 1) for item in value[:_MOST_ITEMS]]
            return rows if len(value) <= _MOST_ITEMS else [*rows, f"… {len(value) - _MOST_ITEMS} more"]
        case Mapping() | list():
            return "…"
        case _:
            return value


@lru_cache(maxsize=1024)
def _is_secret(key: str) -> bool:
    folded = key.lower()
    return any(word in folded for word in _SECRET_WORDS)
