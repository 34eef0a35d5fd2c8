"""The audit log as a file of JSON lines: append-only, one hash chain per process."""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
from pathlib import Path

import orjson

from carrel.policy.audit import AuditRecord


class JsonLinesAudit:
    """Appends records. Required ones are in the file when `write` returns; others within the same turn of the event loop."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._chain = f"{os.getpid()}-{secrets.token_hex(4)}".encode()
        self._sequence = 0
        self._previous = b"0" * 64
        self._waiting: list[bytes] = []
        self._is_scheduled = False

    def write(self, record: AuditRecord, *, is_required: bool) -> None:
        self._sequence += 1
        facts = orjson.dumps(_facts(record), default=str)
        line = b'{"chain":"%s","sequence":%d,"previous":"%s",' % (self._chain, self._sequence, self._previous) + facts[1:]
        self._previous = hashlib.sha256(line).hexdigest().encode()
        self._waiting.append(line[:-1] + b',"hash":"' + self._previous + b'"}\n')
        if is_required:
            self.flush()
        elif not self._is_scheduled:
            try:
                asyncio.get_running_loop().call_soon(self._flush_later)
                self._is_scheduled = True
            except RuntimeError:
                self.flush()

    def flush(self) -> None:
        """Hands everything waiting to the operating system in one write."""
        if not self._waiting:
            return
        lines = b"".join(self._waiting)
        written = os.write(self._descriptor, lines)
        while written < len(lines):
            written += os.write(self._descriptor, lines[written:])
        self._waiting.clear()

    def close(self) -> None:
        self.flush()
        os.close(self._descriptor)

    def _flush_later(self) -> None:
        self._is_scheduled = False
        try:
            self.flush()
        except OSError:
            # Kept in memory and tried again with the next record; a record that must be kept will raise there.
            if len(self._waiting) > 100_000:
                del self._waiting[:50_000]


def _facts(record: AuditRecord) -> dict[str, object]:
    """The record as it is written. A plain dictionary is encoded three times as fast as the record itself."""
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
    for name in _OPTIONAL:
        value = getattr(record, name)
        if value is not None:
            facts[name] = value
    return facts


_OPTIONAL = ("parameters", "client_id", "error_code", "duration_ms")
