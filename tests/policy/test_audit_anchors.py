"""Anchors as they are written and read, and what a ledger makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from carrel.policy.audit import NOTHING_BEFORE
from carrel.policy.audit_anchor import (
    AnchoredChain,
    AnchorEvent,
    AnchorLedger,
    AnchorTip,
    ChainHead,
    ChainOrigin,
    last_tip,
    make_anchor,
    read_anchor,
    read_ledger,
)


class Key:
    """A key that signs with its own name."""

    def __init__(self, fingerprint: str = "key-1") -> None:
        self.fingerprint = fingerprint

    def sign(self, body: bytes) -> bytes:
        return self.fingerprint.encode()

    def is_valid(self, body: bytes, signature: bytes) -> bool:
        return signature == self.fingerprint.encode()


def anchors(*events: tuple[AnchorEvent, Mapping[str, object]]) -> list[bytes]:
    lines, tip = [], None
    for event, facts in events:
        line, tip = make_anchor(tip, event, facts, datetime(2026, 1, 1, tzinfo=UTC), Key())
        lines.append(line)
    return lines


OPENING = (AnchorEvent.OPENING, {"chain": "a"})
HEAD = (AnchorEvent.HEAD, {"chain": "a", "sequence": 2, "digest": "d2"})
CLOSING = (AnchorEvent.CLOSING, {"chain": "a", "sequence": 3, "digest": "d3", "next": "d4"})
ROTATED = (AnchorEvent.ROTATED, {"file": "one", "bytes": 9, "sha256": "s"})
EXPIRED = (AnchorEvent.EXPIRED, {"file": "one", "chains": {"a": [2, "d2"]}})


@pytest.mark.promise("A7-audit")
def test_a_ledger_tells_heads_closings_files_and_what_expired() -> None:
    lines = anchors(OPENING, HEAD, ROTATED, CLOSING)
    ledger = read_ledger([*lines, b"  \n", b'{"number":9'], Key())
    assert (ledger.problems, ledger.torn_lines, ledger.keys) == ([], 1, {"key-1"})
    chain = ledger.chains["a"]
    assert (chain.head, chain.closing) == (ChainHead(3, "d3"), ChainHead(4, "d4"))
    assert ledger.files["one"] == (9, "s")
    tip = last_tip([*lines, b"torn"])
    assert tip is not None
    assert (tip, tip.number, ledger.digests[4]) == (ledger.tip, 4, tip.digest)
    assert last_tip([]) is None
    expired = read_ledger(anchors(OPENING, ROTATED, EXPIRED), Key())
    assert (expired.expired_files, expired.files) == (1, {})
    assert expired.chains["a"].expired == ChainHead(2, "d2")


@pytest.mark.promise("A7-audit")
def test_an_anchor_that_cannot_be_believed_is_a_problem() -> None:
    one, two, three = anchors(OPENING, HEAD, CLOSING)

    def problems(lines: list[bytes], key: Key | None) -> list[str]:
        return read_ledger(lines, key).problems

    assert problems([one], None) == ["anchor 1 cannot be checked: the key is missing"]
    assert problems([one], Key("key-2")) == ["anchor 1 is signed by another key (key-1)"]
    forged = make_anchor(None, *OPENING, datetime(2026, 1, 2, tzinfo=UTC), Key())[0]
    broken = forged.replace(b'"signature":"', b'"signature":"AAAA')
    assert problems([broken], Key()) == ["anchor 1 has a false signature"]
    assert problems([two, three], Key()) == ["anchors before number 2 are missing"]
    assert problems([one, three], Key()) == [
        "anchor 3 comes after anchor 1: some are missing, repeated or out of order"
    ]
    assert problems([forged, two], Key()) == ["anchor 2 does not follow the anchor before it"]
    odd = anchors((AnchorEvent.HEAD, {"chain": "a"}))
    assert problems(odd, Key()) == ["anchor 1 is signed and cannot be understood"]
    for torn in (
        one[:-1],
        b"{}",
        one.replace(b'"facts":{', b'"fact":{'),
        one.replace(b'"opening"', b'"x"'),
    ):
        assert read_anchor(torn) is None


@pytest.mark.promise("A7-audit")
def test_a_checkpoint_keeps_all_but_chains_that_are_over() -> None:
    over = AnchoredChain(ChainHead(3, "d3"), ChainHead(4, "d4"), ChainHead(4, "d4"))
    partly = AnchoredChain(ChainHead(3, "d3"), ChainHead(3, "d3"), ChainHead(4, "d4"))
    running = AnchoredChain(ChainHead(3, "d3"), ChainHead(3, "d3"), origin=ChainOrigin.ADOPTED)
    assert (over.is_over, partly.is_over, running.is_over) == (True, False, False)
    ledger = AnchorLedger({"over": over, "partly": partly, "running": running})
    ledger.expired_files, ledger.restored_at = 2, [str(number) for number in range(21)]
    line, _ = make_anchor(
        AnchorTip(6, "d6"),
        AnchorEvent.CHECKPOINT,
        ledger.to_facts(),
        datetime(2026, 1, 1, tzinfo=UTC),
        Key(),
    )
    found = read_ledger([line], Key())
    assert found.problems == [], "a checkpoint may be the first"
    assert found.chains == {"partly": partly, "running": running}
    assert (found.expired_files, len(found.restored_at)) == (2, 20)


@pytest.mark.promise("A7-audit")
def test_a_restored_log_begins_anew_and_an_adopted_one_keeps_what_was_announced() -> None:
    restored = (AnchorEvent.RESTORED, {"chains": {"a": [1, "d1"], "b": [1, "b1"]}})
    found = read_ledger(anchors(OPENING, HEAD, ROTATED, EXPIRED, restored), Key())
    assert (len(found.restored_at), found.files) == (1, {})
    assert found.chains["a"] == AnchoredChain(
        ChainHead(1, "d1"), ChainHead(1, "d1"), origin=ChainOrigin.RESTORED
    )
    assert found.chains["b"].expired == ChainHead(0, NOTHING_BEFORE)
    adopted = (AnchorEvent.ADOPTED, {"chains": {"a": [9, "x"], "c": [1, "c1"]}})
    chains = read_ledger(anchors(OPENING, HEAD, adopted), Key()).chains
    assert chains["a"].head == ChainHead(2, "d2")
    assert chains["c"] == AnchoredChain(ChainHead(1, "c1"), origin=ChainOrigin.ADOPTED)
