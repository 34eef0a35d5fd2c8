"""The hash chain of the audit log: every line holds the hash of the one before, so that a removed
line shows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime

import orjson

from carrel.policy.audit import AuditRecord

NOTHING_BEFORE = "0" * 64
# A line longer than this keeps the size and the hash of its parameters instead of the parameters.
_LARGEST_LINE_BYTES = 32 * 1024


class Chain:
    """One process's chain of lines. `after` is the last line that was in the log before it, whoever
    wrote that.
    """

    def __init__(self, name: str, after: str | None = None) -> None:
        self.name = name
        self.sequence = 0
        self.previous = NOTHING_BEFORE
        self._after = after

    def line(self, record: AuditRecord) -> bytes:
        """The next line, with its hash at the end. A plain dictionary is encoded three times as
        fast as the record itself.
        """
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
            # Numbers beyond 64 bits and broken characters have no JSON of ours; what they looked
            # like is kept.
            safe = {
                name: value if isinstance(value, datetime) else ascii(value)[:1000]
                for name, value in facts.items()
            }
            body = orjson.dumps(safe)
        if len(body) > _LARGEST_LINE_BYTES:
            body = _shortened(facts, body)
        start = f'{{"chain":"{self.name}","sequence":{self.sequence},"previous":"{self.previous}",'.encode()  # noqa: E501
        line = start + body[1:]
        self.previous = hashlib.sha256(line).hexdigest()
        return b'%s,"hash":"%s"}' % (line[:-1], self.previous.encode())


def _shortened(facts: dict[str, object], body: bytes) -> bytes:
    """The facts without their parameters, of which size and hash stay, and with everything else cut
    to a length.
    """
    kept = {name: value[:300] if isinstance(value, str) else value for name, value in facts.items()}
    kept["parameters"] = {"left_out_bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    return orjson.dumps(kept, default=lambda value: str(value)[:300])


def hash_in(line: bytes) -> str | None:
    """The hash a line claims, or None where it has none."""
    tail = line.rstrip()[-75:]
    start = tail.find(b',"hash":"')
    return (
        tail[start + 9 : -2].decode("ascii", "replace")
        if start >= 0 and tail.endswith(b'"}')
        else None
    )


def chain_heads(lines: Iterable[bytes]) -> dict[str, tuple[int, str]]:
    """The last sequence number and hash of every chain, read fast: without parsing what is
    between.
    """
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
