"""The hash chain of the audit log: every line holds the hash of the one before, so that a removed line shows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

import orjson

from carrel.policy.audit import AuditRecord

NOTHING_BEFORE = "0" * 64


class Chain:
    """One process's chain of lines. `after` is the last line that was in the log before it, whoever wrote that."""

    def __init__(self, name: str, after: str | None = None) -> None:
        self.name = name
        self.sequence = 0
        self.previous = NOTHING_BEFORE
        self._after = after

    def line(self, record: AuditRecord) -> bytes:
        """The next line, with its hash at the end. A plain dictionary is encoded three times as fast as the record itself."""
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
            # Numbers beyond 64 bits and broken characters have no JSON of ours; what they looked like is kept.
            safe = {name: value if isinstance(value, datetime) else ascii(value)[:1000] for name, value in facts.items()}
            body = orjson.dumps(safe)
        start = f'{{"chain":"{self.name}","sequence":{self.sequence},"previous":"{self.previous}",'.encode()
        line = start + body[1:]
        self.previous = hashlib.sha256(line).hexdigest()
        return b'%s,"hash":"%s"}' % (line[:-1], self.previous.encode())


def hash_in(line: bytes) -> str | None:
    """The hash a line claims, or None where it has none."""
    tail = line.rstrip()[-75:]
    start = tail.find(b',"hash":"')
    return tail[start + 9 : -2].decode("ascii", "replace") if start >= 0 and tail.endswith(b'"}') else None


@dataclass(slots=True)
class Verification:
    """What checking the whole log found. `open_ends` are chains without a closing line: running, or stopped hard."""

    lines: int = 0
    chains: int = 0
    problems: list[str] = field(default_factory=list)
    torn_lines: int = 0
    open_ends: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Link:
    sequence: int
    previous: str
    digest: str
    phase: str
    after: str | None


def verify(lines: Iterable[bytes]) -> Verification:
    """Checks every line's hash, every chain's order, and that what each chain says came before it is there."""
    found = Verification()
    chains: dict[str, list[_Link]] = {}
    hashes: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        link = _read(line.strip())
        if link is None:
            found.torn_lines += 1
            continue
        name, step, is_true = link
        found.lines += 1
        if not is_true:
            found.problems.append(f"line {number}: the content does not fit its hash (chain {name}, sequence {step.sequence})")
        chains.setdefault(name, []).append(step)
        hashes.add(step.digest)
    found.chains = len(chains)
    for name, links in chains.items():
        _verify_chain(name, sorted(links, key=lambda step: step.sequence), hashes, found)
    return found


def _verify_chain(name: str, links: list[_Link], hashes: set[str], found: Verification) -> None:
    before = _Link(0, "", NOTHING_BEFORE, "", None)
    for step in links:
        if step.sequence == before.sequence:
            found.problems.append(f"chain {name}: sequence {step.sequence} is there twice")
        elif step.sequence != before.sequence + 1:
            missing = f"{before.sequence + 1}" + (f" to {step.sequence - 1}" if step.sequence > before.sequence + 2 else "")
            found.problems.append(f"chain {name}: sequence {missing} is missing")
        elif step.previous != before.digest:
            found.problems.append(f"chain {name}: sequence {step.sequence} does not follow the line before it")
        if step.after is not None and step.after not in hashes:
            found.problems.append(f"chain {name}: the line that was last when it began is missing")
        before = step
    if links and links[-1].phase != "closed":
        found.open_ends.append(name)


def _read(line: bytes) -> tuple[str, _Link, bool] | None:
    try:
        facts = orjson.loads(line)
        claimed = hash_in(line)
        at = line.rfind(b',"hash":"')
        step = _Link(int(facts["sequence"]), facts["previous"], str(claimed), str(facts.get("phase")), facts.get("after"))
        return str(facts["chain"]), step, at > 0 and hashlib.sha256(line[:at] + b"}").hexdigest() == claimed
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return None
