"""Verifies the audit log: lines against hashes, chains against order, all against anchors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from carrel.core.errors import InvalidInputError
from carrel.policy.audit import hash_in
from carrel.policy.audit_anchor import (
    NO_LINES,
    AnchoredChain,
    AnchorLedger,
    AnchorTip,
    ChainHead,
    ChainOrigin,
)

OWN_DOOR = "audit"
OPENED, ANCHORED, CLOSED = "opened", "anchored", "closed"
# A chain that begins this early in the oldest file may continue one of an expired file.
_NEAR_THE_START = 1000
_HEAD_PREFIX = "carrel-audit-head"
# A log that is being written may rotate or expire while it is read.
_ATTEMPTS = 3


@dataclass(slots=True)
class Verification:
    """Result of checking the log; `open_ends` are unclosed chains: still running, or killed."""

    lines: int = 0
    chains: int = 0
    problems: list[str] = field(default_factory=list)
    torn_lines: int = 0
    open_ends: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    is_anchored: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    chain: str
    head: ChainHead
    previous: str
    phase: str
    after: str | None
    reference: Mapping[str, Any] | None
    is_true: bool


@dataclass(slots=True)
class _Progress:
    """The position reached in one chain."""

    head: ChainHead
    is_closed: bool = False


ReadLedger = Callable[[], AnchorLedger]


def verify(
    lines: Iterable[bytes], ledger: AnchorLedger | None = None, read_again: ReadLedger | None = None
) -> Verification:
    """Verify every line in order, and the anchors where a ledger is given.

    `read_again` rereads the ledger after the last line: a log in use may name newer anchors.
    """
    return _Verifier(ledger, read_again).run(lines)


class _Verifier:
    def __init__(self, ledger: AnchorLedger | None, read_again: ReadLedger | None) -> None:
        self._ledger = ledger if ledger is not None and ledger.tip is not None else None
        self._expects_anchors = ledger is not None
        self._read_again = read_again
        self._found = Verification(is_anchored=self._ledger is not None)
        self._chains: dict[str, _Progress] = {}
        self._references: list[tuple[_Line, Mapping[str, Any]]] = []
        self._hashes: set[str] = set()
        self._awaited: dict[str, tuple[str, bool]] = {}
        if ledger is not None:
            self._found.problems.extend(ledger.problems)

    def run(self, lines: Iterable[bytes]) -> Verification:
        found = self._found
        for number, text in enumerate(lines, start=1):
            if not text.strip(b" \t\r\n\x00"):
                continue
            line = _read(text.strip())
            if line is None:
                found.torn_lines += 1
                continue
            found.lines += 1
            if not line.is_true:
                self._report(
                    f"line {number}: the content does not fit its hash (chain {line.chain}, "
                    f"sequence {line.head.sequence})"
                )
            self._follow(line)
            if line.reference is not None:
                self._references.append((line, line.reference))
            if line.after is not None and line.after not in self._hashes:
                self._awaited[line.chain] = (line.after, found.lines <= _NEAR_THE_START)
            self._hashes.add(line.head.digest)
        found.chains = len(self._chains)
        self._check_awaited()
        if self._ledger is not None:
            self._check_heads(self._ledger)
            latest = self._ledger if self._read_again is None else self._read_again()
            self._check_announced(latest)
            for line, reference in self._references:
                self._check_reference(latest, line, reference)
            self._add_notices(latest)
        elif self._references and self._expects_anchors:
            self._report("the anchors that the log names are missing")
        found.open_ends = [
            name for name, progress in self._chains.items() if not progress.is_closed
        ]
        return found

    def _report(self, problem: str) -> None:
        self._found.problems.append(problem)

    def _follow(self, line: _Line) -> None:
        name, head = line.chain, line.head
        anchored = self._find_anchored(name)
        progress = self._chains.get(name)
        if progress is None:
            progress = self._chains[name] = _Progress(self._start(line, anchored))
        before = progress.head
        if head.sequence <= before.sequence:
            self._report(f"chain {name}: sequence {head.sequence} is there twice or out of order")
            return
        if head.sequence != before.sequence + 1:
            missing = f"{before.sequence + 1}" + (
                f" to {head.sequence - 1}" if head.sequence > before.sequence + 2 else ""
            )
            self._report(f"chain {name}: sequence {missing} is missing")
        elif line.previous != before.digest:
            self._report(
                f"chain {name}: sequence {head.sequence} does not follow the line before it"
            )
        if progress.is_closed:
            self._report(f"chain {name}: sequence {head.sequence} comes after the closing line")
        progress.head = head
        if line.phase == CLOSED:
            progress.is_closed = True
        if (
            anchored is not None
            and head.sequence == anchored.head.sequence
            and head.digest != anchored.head.digest
        ):
            self._report(
                f"chain {name}: sequence {head.sequence} is not the line that was anchored: it "
                f"was written anew"
            )

    def _start(self, line: _Line, anchored: AnchoredChain | None) -> ChainHead:
        """What the first line of a chain must follow: nothing, or the end of an expired file."""
        if anchored is None or line.head.sequence == 1:
            return NO_LINES
        if line.head.sequence <= anchored.expired.sequence:
            return ChainHead(line.head.sequence - 1, line.previous)
        return anchored.expired

    def _check_announced(self, ledger: AnchorLedger) -> None:
        """Every chain and every closing line must have been announced by an anchor."""
        for name, progress in self._chains.items():
            anchored = ledger.chains.get(name)
            if anchored is None:
                self._report(f"chain {name}: no anchor announces it; these lines were put in")
            elif (
                progress.is_closed
                and anchored.origin is ChainOrigin.ANNOUNCED
                and anchored.closing != progress.head
            ):
                self._report(
                    f"chain {name}: its closing line was not anchored: an anchor was removed, or "
                    f"the line put in"
                )

    def _check_reference(
        self, ledger: AnchorLedger, line: _Line, reference: Mapping[str, Any]
    ) -> None:
        """The anchors that the log names must exist and be the same."""
        if ledger.tip is None:
            return
        anchored = ledger.chains.get(line.chain)
        if (
            anchored is not None
            and anchored.origin is ChainOrigin.RESTORED
            and line.head.sequence <= anchored.head.sequence
        ):
            return
        number, digest, key = reference.get("anchor"), reference.get("digest"), reference.get("key")
        if not isinstance(number, int) or number > ledger.tip.number:
            self._report(f"chain {line.chain}: anchor {number}, which it names, is missing")
        elif ledger.digests.get(number, digest) != digest:
            self._report(
                f"chain {line.chain}: anchor {number} is not the one it names: it was replaced"
            )
        elif key not in ledger.keys:
            self._report(
                f"chain {line.chain}: anchor {number} was signed by the key {key}, which was "
                f"replaced"
            )

    def _check_awaited(self) -> None:
        has_expired = self._ledger is not None and self._ledger.expired_files > 0
        for name, (after, is_at_the_start) in self._awaited.items():
            if after not in self._hashes and not (has_expired and is_at_the_start):
                self._report(f"chain {name}: the line that was last when it began is missing")

    def _check_heads(self, ledger: AnchorLedger) -> None:
        for name, anchored in ledger.chains.items():
            progress = self._chains.get(name)
            reached = (
                anchored.expired.sequence
                if progress is None
                else max(progress.head.sequence, anchored.expired.sequence)
            )
            wanted = anchored.head.sequence
            if reached >= wanted:
                continue
            if progress is None and not anchored.expired.sequence:
                self._report(
                    f"chain {name}: all of its lines are missing, and {wanted} were anchored"
                )
            else:
                self._report(
                    f"chain {name}: its end is missing, from sequence {reached + 1} to {wanted} "
                    f"at least"
                )

    def _add_notices(self, ledger: AnchorLedger) -> None:
        notices = self._found.notices
        notices.extend(
            f"the log was replaced by a backup at {at}; what was written since that backup is not "
            f"in it"
            for at in ledger.restored_at
        )
        if ledger.expired_files:
            notices.append(
                f"{ledger.expired_files} files have expired and were removed by the log itself"
            )
        if ledger.torn_lines:
            notices.append(f"{ledger.torn_lines} anchors were cut off while being written")

    def _find_anchored(self, name: str) -> AnchoredChain | None:
        return None if self._ledger is None else self._ledger.chains.get(name)


def verify_count(ledger: AnchorLedger, counted: AnchorTip | None) -> list[str]:
    """Compares the anchors with their count beside the log, which may be one behind."""
    tip = ledger.tip
    if counted is None:
        return (
            []
            if tip is None or tip.number <= 1
            else ["the count of anchors, kept beside the log, is missing"]
        )
    if tip is None or counted.number > tip.number:
        return [
            f"{counted.number} anchors were made, and they end at number "
            f"{0 if tip is None else tip.number}"
        ]
    if counted.number < tip.number - 1:
        return [
            f"the count of anchors is {counted.number}, and there are {tip.number}: it was turned "
            f"back"
        ]
    if ledger.digests.get(counted.number, counted.digest) != counted.digest:
        return [f"anchor {counted.number} is not the one that was counted: it was replaced"]
    return []


class AuditReader(Protocol):
    """A stored audit log with its anchors; methods raise OSError if it is unreadable."""

    def lines(self) -> Iterable[bytes]:
        """Every line of the log, oldest first."""

    def newest_lines(self, before: str | None = None) -> Iterator[tuple[str, bytes]]:
        """Each line with its place, newest first, from before a place on.

        Raises InvalidInputError for a place that is not in the log.
        """

    def ledger(self) -> AnchorLedger:
        """The anchors as they are now."""

    def storage_problems(self, ledger: AnchorLedger) -> list[str]:
        """Problems that the anchors reveal in the storage itself, beyond the lines."""


def verify_log(reader: AuditReader, heads: Iterable[str] = ()) -> Verification:
    """Verify the log, its anchors, and heads that were stored elsewhere."""
    known = [parse_head(head) for head in heads]
    for _ in range(_ATTEMPTS):
        # The anchors are read first: lines written meanwhile only make the log longer.
        ledger = reader.ledger()
        found = verify(reader.lines(), ledger, reader.ledger)
        found.problems.extend(reader.storage_problems(ledger))
        # What is really wrong is still wrong the next time.
        if not found.problems or reader.ledger().tip == ledger.tip:
            break
    for head, key in known:
        found.problems.extend(verify_against_head(reader.ledger(), head, key))
    return found


def newest_head(ledger: AnchorLedger) -> str | None:
    """The newest anchor as one line, to be stored elsewhere; None without anchors."""
    if ledger.tip is None:
        return None
    return ":".join(
        (_HEAD_PREFIX, str(ledger.tip.number), ledger.tip.digest, *sorted(ledger.keys)[:1])
    )


def parse_head(text: str) -> tuple[AnchorTip, str]:
    """The anchor and the key of a head that `newest_head` wrote; raises InvalidInputError."""
    words = text.strip().split(":")
    if len(words) != 4 or words[0] != _HEAD_PREFIX or not words[1].isdigit():
        raise InvalidInputError(
            "That is not a head of an audit log",
            next_step="Give the line that carrel audit head printed.",
        )
    return AnchorTip(int(words[1]), words[2]), words[3]


def verify_against_head(ledger: AnchorLedger, head: AnchorTip, key: str) -> list[str]:
    """The problems that an externally stored head reveals in these anchors."""
    if ledger.tip is None:
        return [f"there are no anchors, and {head.number} were made"]
    if head.number > ledger.tip.number:
        return [
            f"the anchors end at number {ledger.tip.number}, and number {head.number} was made: "
            f"log and anchors were turned back"
        ]
    if key not in ledger.keys:
        return [f"the anchors are signed by another key than {key}"]
    known = ledger.digests.get(head.number)
    if known is not None and known != head.digest:
        return [
            f"anchor {head.number} is not the one that was kept: log and anchors were made anew"
        ]
    return []


def _read(text: bytes) -> _Line | None:
    try:
        facts = orjson.loads(text)
        claimed = hash_in(text)
        at = text.rfind(b',"hash":"')
        phase = str(facts.get("phase"))
        is_own = facts.get("door") == OWN_DOOR
        parameters = facts.get("parameters")
        reference = (
            parameters
            if is_own and phase in {OPENED, ANCHORED} and isinstance(parameters, dict)
            else None
        )
        head = ChainHead(int(facts["sequence"]), str(claimed))
        is_true = at > 0 and hashlib.sha256(text[:at] + b"}").hexdigest() == claimed
        own_phase = phase if is_own else ""
        return _Line(
            str(facts["chain"]),
            head,
            facts["previous"],
            own_phase,
            facts.get("after"),
            reference,
            is_true,
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
        return None
