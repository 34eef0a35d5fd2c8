"""The working folder of a library: ledger, versions, notices, and writes that were cut short."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from carrel.stores.csl_json.file_replacement import (
    UnfinishedWrite,
    exchange,
    is_torn,
    overwrite,
    read_note,
    write_note,
)
from carrel.stores.csl_json.journal import LibraryJournal
from carrel.stores.csl_json.ledger import LibraryLedger, OldContent, Revision, without_old_texts
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.working_folder import (
    CURRENT,
    REPLACED,
    LibraryVersions,
    Notices,
    digest,
    locate_library,
)


def test_a_note_of_an_unfinished_write_is_read_back_and_a_cut_one_is_none(tmp_path: Path) -> None:
    note = tmp_path / "in-place.json"
    assert read_note(note) is None
    write_note(note, UnfinishedWrite("e", "w"))
    assert read_note(note) == UnfinishedWrite("e", "w")
    for cut in ('{"expected": "e"', '{"expected": "e"}', "[]", ""):
        note.write_text(cut)
        assert read_note(note) is None, cut


@pytest.mark.parametrize(
    ("found", "expected", "wanted", "is_it"),
    [
        (b"newold", b"oldold", b"newnew", True),
        (b"oldold", b"oldold", b"newnew", True),
        (b"newnew", b"oldold", b"newnew", True),
        (b"nexold", b"oldold", b"newnew", False),
        (b"newoldx", b"oldold", b"newnew", False),
        (b"new\0\0\0", b"old", b"newnew", True),
        (b"new\0x\0", b"old", b"newnew", False),
        (b"shodlong", b"oldlong"[:0] + b"longlong", b"sho", False),
        (b"sholong", b"lonlong", b"sho", True),
        (b"", b"old", b"new", True),
    ],
)
def test_a_torn_file_is_the_new_text_over_the_old_one_up_to_some_byte(
    found: bytes, expected: bytes, wanted: bytes, is_it: bool
) -> None:
    assert is_torn(found, expected, wanted) is is_it


@pytest.mark.parametrize("data", [b"", b"short", b"as long!", b"longer than before"])
def test_a_file_written_in_place_has_just_the_new_bytes(tmp_path: Path, data: bytes) -> None:
    target = tmp_path / "x"
    target.write_bytes(b"as long?")
    before = target.stat().st_ino
    overwrite(target, data)
    assert target.read_bytes() == data and target.stat().st_ino == before


def test_an_exchange_says_where_the_replaced_file_is(tmp_path: Path) -> None:
    draft, target = tmp_path / "draft", tmp_path / "target"
    draft.write_text("new")
    assert exchange(draft, target) is None and target.read_text() == "new"
    draft.write_text("newer")
    replaced = exchange(draft, target)
    assert replaced is not None and replaced.read_text() == "new"
    assert target.read_text() == "newer"


def a_journal(tmp_path: Path) -> LibraryJournal:
    target = tmp_path / "lib.json"
    target.write_bytes(b"[1]")
    LibraryFile(target).read()
    return LibraryJournal(locate_library(target), lambda: datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("found", "after"),
    [
        (b"[1, ", b"[1, 2]"),
        (b"", b"[1, 2]"),
        (b"[1, 2]", b"[1, 2]"),
        (b"[1]", b"[1]"),
        (b"[1]2]", b"[1, 2]"),
        (b"[7, 8]", b"[7, 8]"),
    ],
)
def test_a_write_that_was_cut_is_finished_and_what_others_wrote_since_is_left(
    tmp_path: Path, found: bytes, after: bytes
) -> None:
    journal = a_journal(tmp_path)
    journal.versions.keep(b"[1, 2]")
    location = journal.location
    write_note(location.note, UnfinishedWrite(digest(b"[1]"), digest(b"[1, 2]")))
    assert journal.list_interrupted() == [location.note]
    location.target.write_bytes(found)
    journal.finish_interrupted_write()
    assert location.target.read_bytes() == after
    assert not location.note.exists() and journal.list_interrupted() == []


def test_a_write_whose_text_is_not_kept_is_not_finished(tmp_path: Path) -> None:
    journal = a_journal(tmp_path)
    write_note(journal.location.note, UnfinishedWrite(digest(b"[1]"), digest(b"unknown")))
    journal.location.target.write_bytes(b"[1, ")
    journal.finish_interrupted_write()
    assert journal.location.target.read_bytes() == b"[1, "


def test_versions_are_found_by_what_they_hold_and_the_oldest_go_first(tmp_path: Path) -> None:
    versions = LibraryVersions(tmp_path / "versions")
    assert versions.current_digest() is None is versions.current()
    assert versions.list_files() == [] and not versions.has(b"[]")
    versions.keep(b"[1]")
    other = tmp_path / "other"
    other.write_bytes(b"[2]")
    versions.keep_replaced(other, b"[2]")
    assert [(number, kind) for number, kind, _ in versions.list_files()] == [
        (1, CURRENT),
        (2, REPLACED),
    ]
    assert versions.current_digest() == digest(b"[1]"), "what others wrote is not what we accepted"
    current = versions.current()
    assert current is not None and current.data == b"[1]"
    assert versions.has(b"[1]") and versions.has(b"[2]") and not versions.has(b"[3]")
    assert versions.find(digest(b"[2]")) == b"[2]" and versions.find(digest(b"[3]")) is None
    versions.list_files()[1][2].write_bytes(b"damaged")
    assert versions.find(digest(b"[2]")) is None
    versions.keep(b"not a library")
    older = versions.current()
    assert older is not None and older.data == b"[1]", "one that cannot be read is passed over"
    assert [mark for mark, _ in versions.iterate_accepted()] == [digest(b"[1]")]
    for number in range(30):
        versions.keep(b"[%d]" % number)
    numbers = [number for number, _, _ in versions.list_files()]
    assert numbers == list(range(14, 34)), "the newest twenty stay"


def test_large_versions_are_few_and_never_fewer_than_four(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.stores.csl_json.working_folder._MOST_BYTES", 10)
    versions = LibraryVersions(tmp_path / "versions")
    for number in range(6):
        versions.keep(b"[%d]" % number + b" " * 10)
    assert [number for number, _, _ in versions.list_files()] == [3, 4, 5, 6]
    small = LibraryVersions(tmp_path / "small")
    for number in range(6):
        small.keep(b"%d " % number)
    assert [number for number, _, _ in small.list_files()] == [2, 3, 4, 5, 6]


def test_a_notice_is_said_once_and_a_damaged_line_hides_no_other(tmp_path: Path) -> None:
    notices = Notices(tmp_path / "notices.jsonl")
    assert notices.take() == []
    for text in ("one", "two", "one"):
        notices.add(text, "now")
    with notices.path.open("ab") as file:
        file.write(b'{"at": "cut\n[]\n{}\n')
    notices.add("three", "now")
    assert notices.take() == ["one", "two", "three"] and notices.take() == []


def test_a_ledger_is_read_back_and_what_it_missed_is_uncertain(tmp_path: Path) -> None:
    ledger = LibraryLedger(tmp_path / "deep" / "ledger.jsonl")
    assert ledger.last() is None and ledger.read() == []
    key = ("id:a", 0)
    first = Revision(0, "t", "outside", "s0", {}, [], is_floor=True)
    second = Revision(1, "t", "carrel", "s1", {key: 1, ("id:b", 0): 0}, [("id:c", 0)], {key: "{}"})
    third = Revision(
        2, "t", "outside", "s2", {}, [], before={key: OldContent("d", {"n": "f"})}, kept=["k"]
    )
    for revision in (first, second, third):
        ledger.append(revision)
        assert ledger.last() == revision == LibraryLedger(ledger.path).last()
    assert ledger.read() == [first, second, third]
    with ledger.path.open("ab") as file:
        file.write(b'{"cut')
    (*_, floor) = ledger.read()
    assert (floor.number, floor.is_floor, floor.state) == (3, True, "s2")
    assert LibraryLedger(ledger.path).last() == floor
    ledger.append(Revision(3, "t", "carrel", "s3"))
    assert [(one.number, one.is_floor) for one in ledger.read()] == [
        (0, True),
        (1, False),
        (2, False),
        (3, True),
    ]
    ledger.append(Revision(3, "t", "carrel", "again"))
    assert [(one.number, one.is_floor) for one in ledger.read()][-1] == (4, True)
    ledger.rewrite([first])
    assert ledger.read() == [first] and ledger.last() == first
    ledger.path.write_bytes(b"")
    ledger.append(first)
    assert ledger.path.read_bytes() == first.line()


def test_old_texts_are_let_go_only_when_the_ledger_is_large_and_has_doubled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = ("id:a", 0)
    revisions = [
        Revision(number, "t", "carrel", "s", {key: number}, [], {key: f'{{"n": {number}}}'})
        for number in range(1, 13)
    ]
    ledger = LibraryLedger(tmp_path / "ledger.jsonl")
    ledger.rewrite(revisions)
    size = ledger.path.stat().st_size
    monkeypatch.setattr("carrel.stores.csl_json.ledger._COMPACT_BYTES", size + 1)
    ledger.compact_if_large(0)
    assert ledger.read() == revisions
    monkeypatch.setattr("carrel.stores.csl_json.ledger._COMPACT_BYTES", size)
    ledger.compact_if_large(0)
    olds = [revision.before[key] for revision in ledger.read()]
    assert [isinstance(old, str) for old in olds] == [False] * 2 + [True] * 10
    ledger.rewrite(revisions)
    ledger.compact_if_large(0)
    assert ledger.read() == revisions, "it has not doubled since"
    assert without_old_texts(without_old_texts(revisions)) == without_old_texts(revisions)
