"""What verification says of a log, line by line and against its anchors: the very words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from carrel.core.errors import InvalidInputError
from carrel.policy.audit import Chain, chain_heads, hash_in
from carrel.policy.audit_anchor import (
    AnchoredChain,
    AnchorLedger,
    AnchorTip,
    ChainHead,
    ChainOrigin,
)
from carrel.policy.audit_verification import (
    Verification,
    newest_head,
    parse_head,
    verify,
    verify_against_head,
    verify_count,
    verify_log,
)
from tests.policy.test_audit import record

TIP = AnchorTip(3, "d3")
KEY = "key-1"


def log(count: int, *, name: str = "a", is_closed: bool = False, **options: Any) -> list[bytes]:
    """A chain of so many lines, the last of them closing it where asked."""
    chain = Chain(name, options.get("after"))
    lines = [chain.line(record(request_id=str(number))) for number in range(count - is_closed)]
    return [*lines, chain.line(record(door="audit", phase="closed"))] if is_closed else lines


def head(line: bytes) -> ChainHead:
    ((sequence, digest),) = chain_heads([line]).values()
    return ChainHead(sequence, digest)


def ledger(**chains: AnchoredChain) -> AnchorLedger:
    return AnchorLedger(chains=chains, tip=TIP, digests={3: "d3"}, keys={KEY})


def naming(reference: object, phase: str = "opened", door: str = "audit") -> list[bytes]:
    """A log of one line that names an anchor."""
    return [Chain("a").line(record(door=door, phase=phase, parameters=reference))]


@pytest.mark.promise("A7-audit")
def test_an_honest_log_is_counted_and_its_open_chains_are_named() -> None:
    found = verify([*log(3, is_closed=True), b"  \n", b"\x00\x00\n", *log(2, name="b"), b'{"to'])
    assert found == Verification(lines=5, chains=2, torn_lines=1, open_ends=["b"])


@pytest.mark.promise("A7-audit")
def test_each_way_of_breaking_a_chain_has_its_own_words() -> None:
    one, two, three, four, five = lines = log(5)
    other = log(5, after="0" * 63 + "1")
    changed = two.replace(b'"ada"', b'"eve"')
    broken: list[tuple[list[bytes], list[str]]] = [
        (lines, []),
        (
            [one, changed, three, four, five],
            ["line 2: the content does not fit its hash (chain a, sequence 2)"],
        ),
        ([one, three, four, five], ["chain a: sequence 2 is missing"]),
        ([one, four, five], ["chain a: sequence 2 to 3 is missing"]),
        ([one, five], ["chain a: sequence 2 to 4 is missing"]),
        ([two, three], ["chain a: sequence 1 is missing"]),
        ([one, two, two, three], ["chain a: sequence 2 is there twice or out of order"]),
        ([one, two, three, two, four], ["chain a: sequence 2 is there twice or out of order"]),
        ([one, other[1]], ["chain a: sequence 2 does not follow the line before it"]),
    ]
    for content, problems in broken:
        assert verify(content).problems == problems


@pytest.mark.promise("A7-audit")
def test_only_the_log_itself_closes_a_chain_and_nothing_may_follow() -> None:
    chain = Chain("a")
    pretended = chain.line(record(door="http", phase="closed"))
    closing = chain.line(record(door="audit", phase="closed"))
    after = chain.line(record())
    assert verify([pretended]).open_ends == ["a"]
    assert verify([pretended, closing]).open_ends == []
    assert verify([pretended, closing, after]).problems == [
        "chain a: sequence 3 comes after the closing line"
    ]


@pytest.mark.promise("A7-audit")
def test_a_chain_names_the_line_that_was_last_when_it_began() -> None:
    first = log(2, name="first")
    known = log(1, after=head(first[-1]).digest)
    unknown = log(1, after="f" * 64)
    missing = ["chain a: the line that was last when it began is missing"]
    assert verify([*first, *known]).problems == []
    assert verify([*known, *first]).problems == [], "another process may have been quicker"
    assert verify([*first, *unknown]).problems == missing

    def with_expired(files: int, before: int) -> list[str]:
        lines = [*log(before, name="first"), *unknown]
        kept = ledger(first=AnchoredChain(), a=AnchoredChain())
        kept.expired_files = files
        return verify(lines, kept).problems

    assert with_expired(0, 2) == missing
    assert with_expired(1, 2) == []
    assert with_expired(1, 999) == []
    assert with_expired(1, 1000) == missing, "so far in, no expired file explains it"


@pytest.mark.promise("A7-audit")
def test_what_a_chain_goes_on_from_after_a_file_has_expired() -> None:
    _, two, three, four = lines = log(4)
    forked = log(4, after="0" * 63 + "1")

    def problems(content: Iterable[bytes]) -> list[str]:
        expired = AnchoredChain(head=head(four), expired=head(two))
        return verify(content, ledger(a=expired)).problems

    assert problems(lines) == []
    assert problems([two, three, four]) == [], "the expired file is still there in part"
    assert problems([three, four]) == []
    assert problems([four]) == ["chain a: sequence 3 is missing"]
    assert problems([forked[2], forked[3]]) == [
        "chain a: sequence 3 does not follow the line before it",
        "chain a: sequence 4 is not the line that was anchored: it was written anew",
    ]


@pytest.mark.promise("A7-audit")
def test_the_end_of_every_anchored_chain_must_be_there() -> None:
    lines = log(4)

    def problems(content: Iterable[bytes], **chains: AnchoredChain) -> list[str]:
        return verify(content, ledger(**chains)).problems

    reaches_four = AnchoredChain(head=head(lines[3]))
    assert problems(lines, a=reaches_four) == []
    assert problems(lines, a=AnchoredChain(head=head(lines[2]))) == [], "it has grown since"
    assert problems(lines[:2], a=reaches_four) == [
        "chain a: its end is missing, from sequence 3 to 4 at least"
    ]
    assert problems([], a=reaches_four) == [
        "chain a: all of its lines are missing, and 4 were anchored"
    ]
    assert problems([], a=AnchoredChain(head=head(lines[3]), expired=head(lines[1]))) == [
        "chain a: its end is missing, from sequence 3 to 4 at least"
    ]
    assert problems([], a=AnchoredChain(head=head(lines[3]), expired=head(lines[3]))) == []
    assert problems(lines[:1], a=AnchoredChain(head=head(lines[3]), expired=head(lines[3]))) == []
    assert problems(log(4, after=None, name="a")[:3] + log(4)[3:], a=reaches_four) == []


@pytest.mark.promise("A7-audit")
def test_chains_and_closing_lines_must_have_been_announced() -> None:
    lines = log(2, is_closed=True)
    put_in = [
        "chain a: its closing line was not anchored: an anchor was removed, or the line put in"
    ]

    def problems(**facts: Any) -> list[str]:
        return verify(lines, ledger(a=AnchoredChain(**facts))).problems

    assert verify(lines, ledger()).problems == [
        "chain a: no anchor announces it; these lines were put in"
    ]
    assert problems() == put_in
    assert problems(closing=head(lines[0])) == put_in
    assert problems(closing=head(lines[1])) == []
    assert problems(origin=ChainOrigin.ADOPTED) == []
    assert verify(lines[:1], ledger(a=AnchoredChain())).problems == [], "it is still open"


@pytest.mark.promise("A7-audit")
@pytest.mark.parametrize("phase", ["opened", "anchored"])
def test_the_anchors_a_log_names_must_exist_and_be_the_same(phase: str) -> None:
    def problems(reference: object, *chains: AnchoredChain, door: str = "audit") -> list[str]:
        anchored = chains[0] if chains else AnchoredChain()
        return verify(naming(reference, phase, door), ledger(a=anchored)).problems

    good = {"anchor": 3, "digest": "d3", "key": KEY}
    restored = AnchoredChain(head=head(naming({}, phase)[0]), origin=ChainOrigin.RESTORED)
    assert problems(good) == []
    assert problems({**good, "anchor": 2, "digest": "d2"}) == [], "compacted since"
    assert problems({**good, "anchor": 4}) == ["chain a: anchor 4, which it names, is missing"]
    assert problems({**good, "anchor": "3"}) == ["chain a: anchor 3, which it names, is missing"]
    assert problems({**good, "digest": "other"}) == [
        "chain a: anchor 3 is not the one it names: it was replaced"
    ]
    assert problems({**good, "key": "key-2"}) == [
        "chain a: anchor 3 was signed by the key key-2, which was replaced"
    ]
    assert problems({**good, "anchor": 4}, door="http") == [], "a caller cannot name anchors"
    assert problems(["anchor", 4]) == []
    replaced = ["chain a: anchor 4, which it names, is missing"]
    restored_before = AnchoredChain(origin=ChainOrigin.RESTORED)
    adopted = AnchoredChain(head=restored.head, origin=ChainOrigin.ADOPTED)
    reference = {**good, "anchor": 4}

    def only_reference(chain: AnchoredChain) -> list[str]:
        return [problem for problem in problems(reference, chain) if "names" in problem]

    same = AnchoredChain(head=head(naming(reference, phase)[0]), origin=ChainOrigin.RESTORED)
    assert only_reference(same) == [], "a backup names anchors from before it"
    assert only_reference(restored_before) == replaced, "lines since the backup are no excuse"
    assert only_reference(adopted) == replaced


@pytest.mark.promise("A7-audit")
def test_anchors_that_are_gone_are_missed_where_the_log_names_some() -> None:
    names_one = naming({"anchor": 1, "digest": "d1", "key": KEY})
    gone = AnchorLedger(problems=["the key is missing"])
    found = verify(names_one, gone)
    assert found.problems == ["the key is missing", "the anchors that the log names are missing"]
    assert not found.is_anchored
    assert verify(log(1), AnchorLedger()).problems == []
    assert verify(names_one).problems == [], "without anchors to compare with, none is missed"
    assert verify(names_one, ledger(a=AnchoredChain())).is_anchored


@pytest.mark.promise("A7-audit")
def test_anchors_made_while_the_log_was_read_count() -> None:
    lines = log(1)
    before, since = ledger(), ledger(a=AnchoredChain())
    since.restored_at, since.expired_files, since.torn_lines = ["noon"], 2, 1
    found = verify(lines, before, lambda: since)
    assert found.problems == []
    assert found.notices == [
        "the log was replaced by a backup at noon; what was written since that backup is not in it",
        "2 files have expired and were removed by the log itself",
        "1 anchors were cut off while being written",
    ]
    assert verify(lines, since).notices == found.notices
    quiet = verify(lines, ledger(a=AnchoredChain()))
    assert (quiet.notices, quiet.problems) == ([], [])


class GrowingReader:
    """A log whose anchors move between two looks, `moves` times; it is true after that."""

    def __init__(self, moves: int) -> None:
        self._moves = moves
        self._tips = 0
        self.reads = 0

    def lines(self) -> list[bytes]:
        self.reads += 1
        return log(1)

    def newest_lines(self, before: str | None = None) -> Iterator[tuple[str, bytes]]:
        raise NotImplementedError

    def ledger(self) -> AnchorLedger:
        self._tips += 1
        found = ledger(a=AnchoredChain())
        if self.reads <= self._moves:
            found.tip = AnchorTip(3 + self._tips, "moving")
        return found

    def storage_problems(self, ledger: AnchorLedger) -> list[str]:
        return ["a file is missing"] if self.reads <= self._moves else []


@pytest.mark.promise("A7-audit")
@pytest.mark.parametrize(
    ("moves", "reads", "problems"),
    [(0, 1, []), (1, 2, []), (2, 3, []), (3, 3, ["a file is missing"])],
)
def test_a_log_that_moves_while_it_is_read_is_read_again(
    moves: int, reads: int, problems: list[str]
) -> None:
    reader = GrowingReader(moves)
    assert verify_log(reader).problems == problems
    assert reader.reads == reads


@pytest.mark.promise("A7-audit")
def test_the_count_beside_the_log_may_be_one_behind_and_no_more() -> None:
    def problems(counted: AnchorTip | None, tip: AnchorTip | None = TIP) -> list[str]:
        digests = {} if tip is None else {2: "d2", 3: "d3"}
        return verify_count(AnchorLedger(tip=tip, digests=digests), counted)

    assert problems(AnchorTip(3, "d3")) == problems(AnchorTip(2, "d2")) == []
    assert problems(None, None) == problems(None, AnchorTip(1, "d1")) == []
    assert problems(None, AnchorTip(2, "d2")) == [
        "the count of anchors, kept beside the log, is missing"
    ]
    assert problems(AnchorTip(4, "d4")) == ["4 anchors were made, and they end at number 3"]
    assert problems(AnchorTip(4, "d4"), None) == ["4 anchors were made, and they end at number 0"]
    assert problems(AnchorTip(1, "d1")) == [
        "the count of anchors is 1, and there are 3: it was turned back"
    ]
    assert problems(AnchorTip(3, "other")) == [
        "anchor 3 is not the one that was counted: it was replaced"
    ]


@pytest.mark.promise("A7-audit")
def test_a_head_kept_elsewhere_shows_what_the_anchors_cannot() -> None:
    here = ledger()
    text = newest_head(here)
    assert text == "carrel-audit-head:3:d3:key-1"
    assert parse_head(f" {text}\n") == (TIP, KEY)
    assert newest_head(AnchorLedger()) is None
    assert verify_against_head(here, TIP, KEY) == []
    assert verify_against_head(here, AnchorTip(2, "d2"), KEY) == [], "compacted since"
    assert verify_against_head(AnchorLedger(), TIP, KEY) == [
        "there are no anchors, and 3 were made"
    ]
    assert verify_against_head(here, AnchorTip(4, "d4"), KEY) == [
        "the anchors end at number 3, and number 4 was made: log and anchors were turned back"
    ]
    assert verify_against_head(here, TIP, "key-2") == [
        "the anchors are signed by another key than key-2"
    ]
    assert verify_against_head(here, AnchorTip(3, "other"), KEY) == [
        "anchor 3 is not the one that was kept: log and anchors were made anew"
    ]
    for wrong in (
        "",
        "carrel-audit-head:3:d3",
        f"{text}:x",
        "other:3:d3:key-1",
        "carrel-audit-head:x:d:k",
    ):
        with pytest.raises(InvalidInputError, match="not a head"):
            parse_head(wrong)


def test_heads_are_read_from_whole_lines_only() -> None:
    one, two = log(2)
    assert set(chain_heads([one, two])) == {"a"}
    assert chain_heads([one, two])["a"][0] == 2
    digest = hash_in(two)
    assert digest is not None
    assert hash_in(two + b"\n") == digest
    torn: Mapping[str, bytes] = {
        "without its end": one[:-1],
        "without a hash": b'{"chain":"a","sequence":1,"previous":"x"}',
        "without a chain": one.replace(b'{"chain":', b'{"train":'),
        "without a sequence": one.replace(b'"sequence":1', b'"sequel":1'),
        "with an odd sequence": one.replace(b'"sequence":1', b'"sequence":x'),
        "with two parts": b'{"chain":"a","hash":"' + digest.encode() + b'"}',
    }
    for what, line in torn.items():
        assert chain_heads([line]) == {}, what
