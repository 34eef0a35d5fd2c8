"""Anchors of the audit log: signed, numbered records of its chain heads, kept outside the log.

The hash chain alone reveals a changed or missing line. Comparing the log with its anchors also
reveals a deleted file, a truncated tail, a rehashed history and a forged chain.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

import orjson

from carrel.policy.audit import NOTHING_BEFORE

_SIGNATURE = b',"signature":"'


class AnchorEvent(StrEnum):
    """What an anchor states; openings and closings are anchored before they are written."""

    ADOPTED = "adopted"
    OPENING = "opening"
    HEAD = "head"
    CLOSING = "closing"
    ROTATED = "rotated"
    EXPIRED = "expired"
    RESTORED = "restored"
    CHECKPOINT = "checkpoint"


class ChainHead(NamedTuple):
    """The end of a chain: its last sequence number, and the hash of that line."""

    sequence: int
    digest: str


NO_LINES = ChainHead(0, NOTHING_BEFORE)


class AnchorTip(NamedTuple):
    """The newest anchor: its number, which only ever grows, and its hash."""

    number: int
    digest: str


class Signer(Protocol):
    """Signs anchors. `fingerprint` names the key."""

    @property
    def fingerprint(self) -> str: ...

    def sign(self, body: bytes) -> bytes: ...


class SignatureCheck(Protocol):
    """Checks signatures of one key."""

    @property
    def fingerprint(self) -> str: ...

    def is_valid(self, body: bytes, signature: bytes) -> bool: ...


class Anchors(Protocol):
    """Storage of anchors; raises OSError when one cannot be stored."""

    def fingerprint(self) -> str:
        """Names the key that signs."""

    def is_empty(self) -> bool: ...

    def add(self, event: AnchorEvent, facts: Mapping[str, object]) -> AnchorTip:
        """Returns when the anchor is on the disk."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """One parsed anchor; its signature is not yet verified, which the ledger does."""

    tip: AnchorTip
    previous: str
    at: str
    event: AnchorEvent
    facts: dict[str, Any]
    key: str
    body: bytes
    signature: bytes


def make_anchor(
    tip: AnchorTip | None,
    event: AnchorEvent,
    facts: Mapping[str, object],
    at: datetime,
    signer: Signer,
) -> tuple[bytes, AnchorTip]:
    """The line of the next anchor without its line end, and the resulting tip."""
    number, previous = (1, NOTHING_BEFORE) if tip is None else (tip.number + 1, tip.digest)
    body = orjson.dumps(
        {
            "number": number,
            "previous": previous,
            "at": at,
            "event": event.value,
            "key": signer.fingerprint,
            "facts": facts,
        }
    )
    signature = base64.b64encode(signer.sign(body))
    line = body[:-1] + _SIGNATURE + signature + b'"}'
    return line, AnchorTip(number, hashlib.sha256(body).hexdigest())


def read_anchor(line: bytes) -> Anchor | None:
    """Parse an anchor; None for a malformed or truncated line."""
    line = line.strip()
    at = line.rfind(_SIGNATURE)
    if at < 0 or not line.endswith(b'"}'):
        return None
    body = line[:at] + b"}"
    try:
        said = orjson.loads(body)
        tip = AnchorTip(int(said["number"]), hashlib.sha256(body).hexdigest())
        signature = base64.b64decode(line[at + len(_SIGNATURE) : -2], validate=True)
        facts = said["facts"]
        if not isinstance(facts, dict):
            return None
        return Anchor(
            tip,
            str(said["previous"]),
            str(said["at"]),
            AnchorEvent(said["event"]),
            facts,
            str(said["key"]),
            body,
            signature,
        )
    except (orjson.JSONDecodeError, binascii.Error, KeyError, TypeError, ValueError):
        return None


def last_tip(lines: Iterable[bytes]) -> AnchorTip | None:
    """The tip of the last complete anchor."""
    found = None
    for line in lines:
        anchor = read_anchor(line)
        found = found if anchor is None else anchor.tip
    return found


class ChainOrigin(StrEnum):
    """How a chain became known: announced, found when anchors began, or restored."""

    ANNOUNCED = "announced"
    ADOPTED = "adopted"
    RESTORED = "restored"


@dataclass(slots=True)
class AnchoredChain:
    """One chain according to the anchors; lines up to `expired` were removed by retention."""

    head: ChainHead = NO_LINES
    expired: ChainHead = NO_LINES
    closing: ChainHead | None = None
    origin: ChainOrigin = ChainOrigin.ANNOUNCED

    @property
    def is_over(self) -> bool:
        """Whether all of it has expired and no line will follow."""
        return self.closing is not None and self.expired.sequence >= self.closing.sequence


class AnchoredFile(NamedTuple):
    """A full file of the log: at least so many bytes, with this hash."""

    size_bytes: int
    digest: str


@dataclass(slots=True)
class AnchorLedger:
    """All anchors combined, with the problems found in them."""

    chains: dict[str, AnchoredChain] = field(default_factory=dict)
    files: dict[str, AnchoredFile] = field(default_factory=dict)
    expired_files: int = 0
    tip: AnchorTip | None = None
    digests: dict[int, str] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    restored_at: list[str] = field(default_factory=list)
    torn_lines: int = 0
    problems: list[str] = field(default_factory=list)

    def take(self, anchor: Anchor) -> None:
        """Adds one anchor, which must follow the one before it."""
        number = anchor.tip.number
        if self.tip is None:
            if number != 1 and anchor.event is not AnchorEvent.CHECKPOINT:
                self.problems.append(f"anchors before number {number} are missing")
        elif number != self.tip.number + 1:
            self.problems.append(
                f"anchor {number} comes after anchor {self.tip.number}: some are missing, "
                f"repeated or out of order"
            )
        elif anchor.previous != self.tip.digest:
            self.problems.append(f"anchor {number} does not follow the anchor before it")
        self.tip = anchor.tip
        self.digests[number] = anchor.tip.digest
        self.keys.add(anchor.key)
        self._apply(anchor)

    def _apply(self, anchor: Anchor) -> None:
        facts = anchor.facts
        match anchor.event:
            case AnchorEvent.ADOPTED:
                for name, (sequence, digest) in facts["chains"].items():
                    self.chains.setdefault(
                        name, AnchoredChain(ChainHead(sequence, digest), origin=ChainOrigin.ADOPTED)
                    )
            case AnchorEvent.OPENING:
                self.chains[facts["chain"]] = AnchoredChain()
            case AnchorEvent.HEAD:
                self._chain(facts["chain"]).head = ChainHead(facts["sequence"], facts["digest"])
            case AnchorEvent.CLOSING:
                chain = self._chain(facts["chain"])
                chain.head = ChainHead(facts["sequence"], facts["digest"])
                chain.closing = ChainHead(facts["sequence"] + 1, facts["next"])
            case AnchorEvent.ROTATED:
                self.files[facts["file"]] = AnchoredFile(facts["bytes"], facts["sha256"])
            case AnchorEvent.EXPIRED:
                self.files.pop(facts["file"], None)
                self.expired_files += 1
                for name, (sequence, digest) in facts["chains"].items():
                    chain = self._chain(name)
                    chain.expired = max(chain.expired, ChainHead(sequence, digest))
            case AnchorEvent.RESTORED:
                self.restored_at.append(anchor.at)
                self.files.clear()
                expired = {name: chain.expired for name, chain in self.chains.items()}
                self.chains = {}
                for name, (sequence, digest) in facts["chains"].items():
                    head = ChainHead(sequence, digest)
                    gone = min(expired.get(name, NO_LINES), head)
                    self.chains[name] = AnchoredChain(head, gone, origin=ChainOrigin.RESTORED)
            case AnchorEvent.CHECKPOINT:
                self._load(facts)

    def _chain(self, name: str) -> AnchoredChain:
        return self.chains.setdefault(name, AnchoredChain())

    def to_facts(self) -> dict[str, object]:
        """The ledger as the facts of a checkpoint, without chains that have expired."""
        return {
            "chains": {
                name: [chain.origin.value, *chain.head, *chain.expired, *(chain.closing or ())]
                for name, chain in self.chains.items()
                if not chain.is_over
            },
            "files": {name: list(file) for name, file in self.files.items()},
            "expired_files": self.expired_files,
            "restored_at": self.restored_at[-20:],
        }

    def _load(self, facts: dict[str, Any]) -> None:
        self.chains = {}
        for name, row in facts["chains"].items():
            origin, *values = row
            closing = ChainHead(*values[4:6]) if len(values) == 6 else None
            self.chains[name] = AnchoredChain(
                ChainHead(*values[:2]), ChainHead(*values[2:4]), closing, ChainOrigin(origin)
            )
        self.files = {name: AnchoredFile(*row) for name, row in facts["files"].items()}
        self.expired_files = facts["expired_files"]
        self.restored_at = list(facts["restored_at"])


def read_ledger(lines: Iterable[bytes], check: SignatureCheck | None) -> AnchorLedger:
    """Reads all anchors in order; one without a valid signature is a problem."""
    ledger = AnchorLedger()
    for line in lines:
        if not line.strip():
            continue
        anchor = read_anchor(line)
        if anchor is None:
            ledger.torn_lines += 1
        elif check is None:
            ledger.problems.append(
                f"anchor {anchor.tip.number} cannot be checked: the key is missing"
            )
        elif anchor.key != check.fingerprint:
            ledger.problems.append(
                f"anchor {anchor.tip.number} is signed by another key ({anchor.key})"
            )
        elif not check.is_valid(anchor.body, anchor.signature):
            ledger.problems.append(f"anchor {anchor.tip.number} has a false signature")
        else:
            try:
                ledger.take(anchor)
            except (KeyError, TypeError, ValueError, IndexError):
                ledger.problems.append(
                    f"anchor {anchor.tip.number} is signed and cannot be understood"
                )
    return ledger
