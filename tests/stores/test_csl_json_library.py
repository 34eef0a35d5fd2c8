"""The library file: bytes that are not ours stay as they are, and nobody's write is lost."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from carrel.core.caller import LOCAL_USER, Caller
from carrel.rooms.references.ports import Change
from carrel.stores.csl_json.document import LibraryDocument, UnreadableLibraryError
from carrel.stores.csl_json.document_changes import changed_entries, is_same
from carrel.stores.csl_json.element_history import ElementHistory
from carrel.stores.csl_json.element_keys import (
    ElementKey,
    content_digest,
    digest_without_id,
    element_label,
    entries_by_key,
    field_digests,
    name_of,
    uuid_of,
)
from carrel.stores.csl_json.ledger import Revision
from carrel.stores.csl_json.library import CslJsonLibrary
from carrel.stores.csl_json.library_entry import LibraryEntry, object_fields
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.library_health import LibraryHealth
from carrel.stores.csl_json.library_places import attachments_folder
from carrel.stores.csl_json.merge import MergeResult, describe_merge, merge_save
from carrel.stores.csl_json.user_libraries import UserLibraries
from tests.processes import warm

ODD = (
    '[\n\t{"id": "a", "type":"book",   "unknown": 1.10, "deep": {"x":[1,2 ,3]}, "n": 1e2},\n  '
    '{"t": "x"}, 7,\n{"id":"b","title":"é\\u00e9"} ]\n\n'
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
ITEMS = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from("abcdef"), "type": st.just("book")},
        optional={"title": VALUES, "note": VALUES},
    ),
    max_size=5,
    unique_by=lambda item: str(item["id"]),
)


def merge(base: LibraryDocument, ours: LibraryDocument, theirs: LibraryDocument) -> LibraryDocument:
    """Merges a save whose writer is known to have loaded `base`."""
    return merge_result(base, ours, theirs).document


def merge_result(
    base: LibraryDocument, ours: LibraryDocument, theirs: LibraryDocument
) -> MergeResult:
    gone, come = changed_entries(base, ours)
    removed = [key for key in gone if key not in come]
    made = Revision(
        1,
        "",
        "carrel",
        "",
        dict.fromkeys(come, 1),
        removed,
        {key: entry.raw for key, entry in gone.items()},
    )
    return merge_save(ElementHistory([made], entries_by_key(ours.entries)), ours, theirs, loaded=0)


def document(items: list[dict[str, object]]) -> LibraryDocument:
    return LibraryDocument().with_added(items)


@pytest.mark.parametrize("text", ["", "{}", "[1,", '[{"id": }]', "[] x", '{"id": 1}', "[1 2]"])
def test_what_is_not_a_library_is_said(text: str) -> None:
    if text:
        with pytest.raises(UnreadableLibraryError):
            LibraryDocument.parse(text.encode())
    else:
        assert LibraryDocument.parse(b"").entries == ()


def test_a_file_that_is_not_utf8_is_said() -> None:
    with pytest.raises(UnreadableLibraryError, match="not UTF-8 at byte 2"):
        LibraryDocument.parse(b'["\xff"]')


def test_reading_and_writing_changes_no_byte() -> None:
    assert LibraryDocument.parse(ODD.encode()).text == ODD


def test_changing_one_item_changes_no_byte_of_the_others_nor_of_its_other_fields() -> None:
    before = LibraryDocument.parse(ODD.encode())
    entry = before.get("a")
    assert entry is not None
    after = before.with_entry("a", entry.with_changes({"title": "New"})).with_added(
        [{"id": "c", "type": "book"}]
    )
    assert '"unknown": 1.10' in after.text
    assert '{"x":[1,2 ,3]}' in after.text
    assert '"n": 1e2' in after.text
    assert '{"id":"b","title":"é\\u00e9"}' in after.text
    assert [entry.item_id for entry in LibraryDocument.parse(after.data).entries] == [
        "a",
        None,
        None,
        "b",
        "c",
    ]


@given(ITEMS)
def test_what_is_written_is_read_back(items: list[dict[str, object]]) -> None:
    assert LibraryDocument.parse(document(items).data).items() == items


@given(ITEMS, ITEMS, ITEMS)
@example([], [{"id": "a", "type": "book"}], [{"id": "b", "type": "book"}])
def test_a_merge_loses_no_ones_item(
    base: list[dict[str, object]], ours: list[dict[str, object]], theirs: list[dict[str, object]]
) -> None:
    merged = merge(document(base), document(ours), document(theirs))
    ids = [item["id"] for item in merged.items()]
    before = {str(item["id"]): item for item in base}
    for side in (ours, theirs):
        for item in side:
            if before.get(str(item["id"])) != item:
                assert item["id"] in ids
    assert len(ids) == len(set(ids))


@given(ITEMS, ITEMS)
def test_a_merge_with_one_side_unchanged_is_the_other_side(
    base: list[dict[str, object]], changed: list[dict[str, object]]
) -> None:
    def by_id(found: LibraryDocument) -> dict[str, object]:
        return {item["id"]: item for item in found.items()}

    assert by_id(merge(document(base), document(changed), document(base))) == by_id(
        document(changed)
    )
    assert by_id(merge(document(base), document(base), document(changed))) == by_id(
        document(changed)
    )


def test_two_edits_of_one_item_are_merged_field_by_field() -> None:
    base = document([{"id": "a", "title": "T", "note": "N"}])
    ours = document([{"id": "a", "title": "Ours", "note": "N"}])
    theirs = document([{"id": "a", "title": "T", "note": "Theirs", "extra": 1}])
    assert merge(base, ours, theirs).items() == [
        {"id": "a", "title": "Ours", "note": "Theirs", "extra": 1}
    ]


def test_a_missing_file_is_made(tmp_path: Path) -> None:
    library = LibraryFile(tmp_path / "lib.json")
    assert library.read().document.items() == []
    library.change(lambda present: present.with_added([{"id": "a", "type": "book"}]))
    assert json.loads((tmp_path / "lib.json").read_text(encoding="utf-8")) == [
        {"id": "a", "type": "book"}
    ]


def test_an_outsiders_edit_is_seen_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "lib.json"
    library = LibraryFile(path)
    library.change(lambda present: present.with_added([{"id": "a"}]))
    path.write_text('[{"id": "a"}, {"id": "z"}]', encoding="utf-8")
    library.change(lambda present: present.with_added([{"id": "b"}]))
    assert [item["id"] for item in library.read().document.items()] == ["a", "z", "b"]


def test_what_an_outsider_overwrote_with_a_stale_copy_is_brought_back(tmp_path: Path) -> None:
    path = tmp_path / "lib.json"
    library = LibraryFile(path)
    library.change(lambda present: present.with_added([{"id": "a"}]))
    stale = json.loads(path.read_text(encoding="utf-8"))
    library.change(lambda present: present.with_added([{"id": "b"}]))
    path.write_text(json.dumps([*stale, {"id": "z"}]), encoding="utf-8")
    assert {item["id"] for item in LibraryFile(path).read().document.items()} == {"a", "b", "z"}


def test_an_outsiders_deletion_is_respected(tmp_path: Path) -> None:
    path = tmp_path / "lib.json"
    library = LibraryFile(path)
    library.change(lambda present: present.with_added([{"id": "a"}, {"id": "b"}]))
    versions = tmp_path / ".lib.json.carrel" / "versions"
    for version in versions.iterdir():
        os.utime(version, (time.time() - 60, time.time() - 60))
    path.write_text('[{"id": "a"}]', encoding="utf-8")
    assert [item["id"] for item in library.read().document.items()] == ["a"]


def test_while_the_file_is_unreadable_the_last_good_library_stays_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.stores.csl_json.library_file._PAUSE_SECONDS", 0.0)
    path = tmp_path / "lib.json"
    library = LibraryFile(path)
    library.change(lambda present: present.with_added([{"id": "a"}]))
    path.write_text('[{"id": "a"', encoding="utf-8")
    assert [item["id"] for item in library.read().document.items()] == ["a"]
    with pytest.raises(UnreadableLibraryError):
        library.change(lambda present: present.with_added([{"id": "b"}]))
    assert path.read_text(encoding="utf-8") == '[{"id": "a"'


_WRITER = textwrap.dedent("""
    import os, sys
    from pathlib import Path
    from carrel.stores.csl_json.library_file import LibraryFile
    path, name, acknowledged, count = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    log = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    library = LibraryFile(path)
    for number in range(count):
        item = {"id": f"{name}-{os.getpid()}-{number}", "type": "book"}
        library.change(lambda present: present.with_added([item]))
        os.write(log, (item["id"] + "\\n").encode())
""")

_OUTSIDER = textwrap.dedent("""
    import json, os, sys
    path, count, way = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    for number in range(count):
        try:
            items = json.load(open(path, encoding="utf-8"))
        except ValueError:
            continue
        items.append({"id": f"outsider-{number}", "type": "book"})
        text = json.dumps(items)
        if way == "rename":
            with open(path + ".outsider", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(path + ".outsider", path)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        print(f"outsider-{number}", flush=True)
""")


@pytest.mark.promise("L4")
@pytest.mark.parametrize("way", ["rename", "in place"])
def test_two_writers_and_an_outsider_under_kill_lose_nothing(tmp_path: Path, way: str) -> None:
    path, log = tmp_path / "lib.json", tmp_path / "acknowledged"
    path.write_text(ODD, encoding="utf-8")
    chance = random.Random(7)

    def writer(name: str) -> subprocess.Popen[str]:
        return warm.start(
            [sys.executable, "-c", _WRITER, str(path), name, str(log), "20"], text=True
        )

    outsider = warm.start(
        [sys.executable, "-c", _OUTSIDER, str(path), "40", way], stdout=subprocess.PIPE, text=True
    )
    for turn in range(3):
        writers = [writer(f"one-{turn}"), writer(f"two-{turn}")]
        try:
            writers[chance.randrange(2)].wait(timeout=chance.uniform(0.15, 0.6))
        except subprocess.TimeoutExpired:
            writers[chance.randrange(2)].send_signal(signal.SIGKILL)
        for each in writers:
            each.wait(timeout=60)
    outside = outsider.communicate(timeout=60)[0].split()
    final = LibraryFile(path).read().document
    ids = {entry.item_id for entry in final.entries}
    promised = log.read_text(encoding="ascii").split()
    assert promised
    assert set(promised) <= ids
    backups = "".join(
        version.read_text(encoding="utf-8")
        for version in (tmp_path / ".lib.json.carrel" / "versions").iterdir()
    )
    assert [name for name in outside if name not in ids and f'"{name}"' not in backups] == []
    assert json.loads(path.read_bytes())


@pytest.mark.promise("L9")
def test_a_file_that_another_program_has_just_emptied_to_write_it_is_waited_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / "lib.json"
    path.write_text('[{"id": "old", "type": "book"}]', encoding="utf-8")
    with path.open("w", encoding="utf-8") as outsider:
        adding = threading.Thread(
            target=lambda: LibraryFile(path).change(
                lambda present: present.with_added([{"id": "ours", "type": "book"}])
            )
        )
        adding.start()
        adding.join(timeout=0.5)
        outsider.write('[{"id": "old", "type": "book"}, {"id": "theirs", "type": "book"}]')
    adding.join(timeout=60)
    assert {entry.item_id for entry in LibraryFile(path).read().document.entries} == {
        "old",
        "theirs",
        "ours",
    }


_STALE_EDITOR = textwrap.dedent("""
    import json, os, sys, time
    path, way = sys.argv[1], sys.argv[2]
    items = json.load(open(path, encoding="utf-8"))
    print("loaded", flush=True)
    for number, _ in enumerate(sys.stdin):
        items.append({"id": f"editor-{number}", "type": "book"})
        text = json.dumps(items)
        if way == "rename":
            with open(path + ".editor", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(path + ".editor", path)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        print(f"editor-{number}", flush=True)
""")


@pytest.mark.promise("L9")
@pytest.mark.parametrize("way", ["rename", "in place"])
def test_writers_that_are_killed_lose_nothing_to_an_editor_that_never_reloads(
    tmp_path: Path, way: str
) -> None:
    path, log = tmp_path / "lib.json", tmp_path / "acknowledged"
    path.write_text(ODD, encoding="utf-8")
    chance = random.Random(11)
    editor = warm.start(
        [sys.executable, "-c", _STALE_EDITOR, str(path), way],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert editor.stdin is not None
    assert editor.stdout is not None
    assert editor.stdout.readline() == "loaded\n"
    saved = []
    for turn in range(4):
        writers = [
            warm.start(
                [sys.executable, "-c", _WRITER, str(path), f"{name}-{turn}", str(log), "80"],
                text=True,
            )
            for name in ("one", "two")
        ]
        for _ in range(3):
            with contextlib.suppress(subprocess.TimeoutExpired):
                writers[0].wait(timeout=chance.uniform(0.1, 0.3))
            editor.stdin.write("save\n")
            editor.stdin.flush()
            saved.append(editor.stdout.readline().strip())
        writers[chance.randrange(2)].send_signal(signal.SIGKILL)
        for each in writers:
            each.wait(timeout=60)
    editor.communicate(timeout=60)
    ids = {entry.item_id for entry in LibraryFile(path).read().document.entries}
    promised = log.read_text(encoding="ascii").split()
    assert promised
    assert saved
    assert set(promised) <= ids
    assert {"a", "b", *saved} <= ids


@pytest.mark.parametrize(
    ("raw", "item_id"),
    [
        ('{"id": "a"}', "a"),
        ('{"id": 7}', "7"),
        ('{"id": true}', None),
        ('{"id": null}', None),
        ("{}", None),
        ("7", None),
    ],
)
def test_the_id_of_an_element_is_a_text_or_a_whole_number(raw: str, item_id: str | None) -> None:
    assert LibraryEntry("", raw).item_id == item_id


def test_an_item_without_an_id_is_not_given_a_key_that_leads_to_another() -> None:
    parsed = LibraryDocument.parse(
        b'[{"id": "fish", "custom": {"former_ids": ["Swanson-1986", 7]}}, ["former_ids"], '
        b'{"author": [{"family": "Swanson"}], "issued": {"date-parts": [[1986]]}}]'
    )
    assert [item["id"] for item in parsed.items()] == ["fish", "swanson-1986a"]


def test_only_what_is_an_item_is_listed_and_each_is_found_by_its_id() -> None:
    parsed = LibraryDocument.parse(
        b'[{"id": "a", "n": 1}, 7, {}, {"title": "No id", "issued": {"date-parts": [[2020]]}}, '
        b'{"id": "a", "n": 2}, {"id": ""}]'
    )
    items = parsed.items()
    assert [item.get("n") for item in items if item["id"] == "a"] == [1, 2]
    assert len(items) == 4, "an item of no id has one that follows from it; others are none"
    derived = [str(item["id"]) for item in items if item["id"] != "a"]
    assert len(set(derived)) == 2 and all(derived)
    for item_id in ("a", *derived):
        found = parsed.find(item_id)
        assert found is not None and found["id"] == item_id and parsed.get(item_id) is not None
    assert parsed.find("x") is None is parsed.get("x")
    assert parsed.find("a") == {"id": "a", "n": 1}, "the first of one id is found"
    plain = LibraryDocument.parse(b'[{"id": "a"}, 7, {"id": "b"}]')
    assert [item["id"] for item in plain.items()] == ["a", "b"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[]", '[\n  {\n    "id": "n"\n  }\n]'),
        ("[ ]\n", '[\n  {\n    "id": "n"\n  }\n]\n'),
        ('[{"id":"a"}]', '[{"id":"a"},\n  {\n    "id": "n"\n  }\n]'),
        ('[\n{"id":"a"}\n  ]', '[\n{"id":"a"},\n  {\n    "id": "n"\n  }\n  ]'),
        ("", '[\n  {\n    "id": "n"\n  }\n]\n'),
        ("\ufeff[]", '\ufeff[\n  {\n    "id": "n"\n  }\n]'),
    ],
)
def test_an_item_is_added_in_the_shape_of_the_file(before: str, after: str) -> None:
    parsed = LibraryDocument.parse(before.encode())
    assert parsed.with_added([{"id": "n"}]).text == after
    assert parsed.with_added([]).text == (before.replace("[ ]", "[]") or "[]\n")


def test_an_item_taken_out_leaves_its_neighbours_and_the_last_an_empty_array() -> None:
    parsed = LibraryDocument.parse(b'[ {"id":"a"}, {"id":"b"}\n]\n')
    assert parsed.without("a").text == '[ {"id":"b"}\n]\n'
    assert parsed.without("b").text == '[ {"id":"a"}\n]\n'
    assert parsed.without("a").without("b").text == "[]\n"
    entry = LibraryEntry(" ", '{"id":"c"}')
    assert parsed.with_entry("b", entry).text == '[ {"id":"a"}, {"id":"c"}\n]\n'


def test_fields_are_read_with_their_own_text_and_changed_alone() -> None:
    raw = '{ "a" : 1.10 ,"b":[1, 2],"a":{"x": "}"} , "\\u00e9" : null }'
    assert object_fields(raw) == {"a": '{"x": "}"}', "b": "[1, 2]", "é": "null"}
    assert object_fields("{}") == {} == object_fields("{ }")
    entry = LibraryEntry("", '{"id": "a", "n": 1.10, "x": 1}')
    changed = entry.with_changes({"y": [1]}, removed=("x", "absent"))
    assert changed.value == {"id": "a", "n": 1.1, "y": [1]} and "1.10" in changed.raw
    assert entry.with_changes({}, removed=("id", "n", "x")).raw == "{}"


def test_elements_are_the_same_when_they_say_the_same() -> None:
    one, other = LibraryEntry("", '{"id":"a","n":1}'), LibraryEntry(" ", '{"n": 1, "id": "a"}')
    third = LibraryEntry("", '{"id":"a","n":2}')
    assert is_same(one, other) and not is_same(one, third)
    assert content_digest(one.value) == content_digest(other.value) != content_digest(third.value)
    assert set(field_digests(one.value)) == {"id", "n"} and field_digests(7) == {}
    assert digest_without_id({"id": "a", "n": 1}) == digest_without_id({"id": "b", "n": 1})
    assert digest_without_id({"id": "a", "type": "book"}) is None is digest_without_id(7)
    assert digest_without_id({"id": "a"}) is None
    assert uuid_of({"custom": {"uuid": "u"}}) == "u"
    for odd in ({"custom": {"uuid": 7}}, {"custom": {"uuid": ""}}, {"custom": 7}, {}, 7):
        assert uuid_of(odd) is None
    assert name_of(one) == "id:a" and name_of(LibraryEntry("", "7")).startswith("raw:")
    assert element_label(("id:a:b", 0)) == "a:b"


def test_what_changed_between_two_documents_is_told_by_element() -> None:
    def parse(text: str) -> LibraryDocument:
        return LibraryDocument.parse(text.encode())

    def changed(
        one: LibraryDocument, other: LibraryDocument
    ) -> tuple[list[tuple[ElementKey, Any]], list[tuple[ElementKey, Any]]]:
        former, present = changed_entries(one, other)
        return (
            [(key, entry.value) for key, entry in former.items()],
            [(key, entry.value) for key, entry in present.items()],
        )

    before = parse('[{"id":"a"},{"id":"b"},7]')
    assert changed(before, before) == ([], [])
    assert changed(before, parse('[{"id": "a"}, {"id":"b"}, 7]')) == ([], [])
    after = parse('[{"id":"a","n":1},7,8]')
    former, present = changed(before, after)
    assert former == [(("id:a", 0), {"id": "a"}), (("id:b", 0), {"id": "b"})]
    assert [value for _, value in present] == [{"id": "a", "n": 1}, 8]
    twice = parse('[{"id":"a"},{"id":"b"},7,{"id":"a","n":2}]').reuse_entries(before)
    assert changed(before, twice) == ([], [(("id:a", 1), {"id": "a", "n": 2})])
    assert twice.entries[0] is before.entries[0], "an entry of the same text is the same object"


def test_the_health_of_a_library_is_told_by_reading_it_and_by_its_ends(tmp_path: Path) -> None:
    path = tmp_path / "lib.json"

    def health(text: str | None = None) -> tuple[bool, bool, str]:
        if text is not None:
            path.write_text(text, encoding="utf-8")

        async def run() -> tuple[bool, bool, str]:
            checked = await LibraryHealth(path).check()
            probed = await LibraryHealth(path).probe()
            return checked.is_well, probed.is_well, checked.says

        return asyncio.run(run())

    assert health() == (True, True, f"{path} (made by the first reference)")
    assert health('[{"id": "a"}]') == (True, True, f"{path} (1 reference)")
    assert health("\ufeff [" + " " * 10_000 + "]\n")[:2] == (True, True)
    assert health("")[1] is True and health("  \n")[1] is True
    for broken in ("{}", "[1", "1]", "[1] x"):
        assert health(broken)[:2] == (False, False), broken
    path.unlink()
    path.mkdir()
    assert health() == (False, False, f"{path} is a folder")


def test_attachments_are_beside_the_library_or_beside_what_it_links_to(tmp_path: Path) -> None:
    target = tmp_path / "far" / "real.json"
    target.parent.mkdir()
    target.write_text("[]")
    link = tmp_path / "lib.json"
    assert attachments_folder(link) == tmp_path / "lib-attachments"
    link.symlink_to(target)
    assert attachments_folder(link) == tmp_path / "far" / "real-attachments"
    (tmp_path / "lib-attachments").mkdir()
    assert attachments_folder(link) == tmp_path / "lib-attachments"


def test_a_library_answers_what_it_did_and_nothing_for_what_it_has_not(tmp_path: Path) -> None:
    async def work() -> None:
        library = CslJsonLibrary(tmp_path / "lib.json")
        try:
            first = await library.snapshot()
            assert first.items == [] and await library.snapshot() is first
            added = await library.add((), lambda present: [{"id": "a", "n": 1}, {"title": "x"}])
            assert len(added) == 2 and await library.add((), lambda present: []) == []
            second = await library.snapshot()
            assert second.generation > first.generation and len(second.items) == 2
            assert await library.find("a") == {"id": "a", "n": 1}
            assert await library.find("b") is None
            assert await library.change("b", lambda item: Change({"n": 2})) is None
            changed = await library.change("a", lambda item: Change({"n": item["n"] + 1}))
            assert changed == {"id": "a", "n": 2}
            assert await library.remove("b") is None
            assert await library.remove("a") == {"id": "a", "n": 2}
            assert await library.find("a") is None
            (unnamed,) = (await library.snapshot()).items
            named = await library.change(str(unnamed["id"]), lambda item: Change({"n": 3}))
            assert named == {"id": unnamed["id"], "title": "x", "n": 3}
            assert await library.take_notices() == ()
        finally:
            await library.close()
        written = json.loads((tmp_path / "lib.json").read_text())
        assert written == [{"title": "x", "id": unnamed["id"], "n": 3}]

    asyncio.run(work())


def test_every_user_has_one_library_that_is_opened_once(tmp_path: Path) -> None:
    async def work() -> None:
        own = tmp_path / "own.json"
        libraries = UserLibraries(own, tmp_path / "users", tmp_path / "texts")
        ada, local = Caller("ada", frozenset()), Caller(LOCAL_USER, frozenset())
        assert libraries.of(ada) is libraries.of(ada) is not libraries.of(local)
        assert libraries.of(local).folder == tmp_path / "texts" != libraries.of(ada).folder
        await libraries.of(local).add((), lambda present: [{"id": "mine"}])
        await libraries.of(ada).add((), lambda present: [{"id": "hers"}])
        assert [item["id"] for item in json.loads(own.read_text())] == ["mine"]
        assert [item["id"] for item in (await libraries.of(ada).snapshot()).items] == ["hers"]
        await libraries.close()

    asyncio.run(work())


X: dict[str, object] = {"id": "x", "type": "book", "title": "Of Cells", "n": 1}


@pytest.mark.parametrize(
    ("ours", "theirs", "is_one_work"),
    [
        ({"title": "Of Cells"}, {"title": "of  cells"}, True),
        ({"title": "Of Cells"}, {"title": "Of Stars"}, False),
        ({"title": "A", "DOI": "10.1/A"}, {"title": "B", "DOI": "10.1/a"}, True),
        ({"title": "A", "DOI": "10.1/a"}, {"title": "A", "DOI": "10.1/b"}, False),
        ({"title": "A", "PMID": 1}, {"title": "B", "PMID": "1"}, True),
        ({"title": "A", "ISBN": "1"}, {"title": "A", "ISBN": "2"}, False),
        ({"title": "A", "DOI": "10.1/a"}, {"title": "A", "PMID": "1"}, True),
        ({"title": "A"}, {"note": "no title"}, True),
        ({"title": "A", "custom": {"uuid": "u"}}, {"title": "B", "custom": {"uuid": "u"}}, True),
        ({"title": "A", "custom": {"uuid": "u"}}, {"title": "B", "custom": {"uuid": "v"}}, False),
        ({"title": "A", "custom": {}}, {"title": "B", "custom": {}}, False),
    ],
)
def test_two_items_given_one_id_apart_are_one_work_or_both_stay(
    ours: dict[str, object], theirs: dict[str, object], is_one_work: bool
) -> None:
    seen, other = document([]), document([{"id": "x", "m": 1, **theirs}])
    result = merge_result(seen, document([{"id": "x", "n": 1, **ours}]), other)
    found = [str(item["id"]) for item in result.document.items()]
    assert found == (["x"] if is_one_work else ["x", "x-2"])
    assert result.renamed == ([] if is_one_work else [("x", "x-2")])
    if is_one_work:
        (item,) = result.document.items()
        assert (item["n"], item["m"]) == (1, 1), "of one work both sides' fields stay"
    else:
        assert result.document.items()[1] == {"id": "x-2", "m": 1, **theirs}


def test_a_second_work_gets_the_first_free_number() -> None:
    ours = document([{"id": "x", "title": "A"}, {"id": "x-2"}])
    theirs = document([{"id": "x", "title": "B"}, {"id": "x-3"}])
    result = merge_result(document([]), ours, theirs)
    assert result.renamed == [("x", "x-4")]


@pytest.mark.parametrize(
    ("ours", "theirs", "merged", "conflicts"),
    [
        ({"n": 2}, {}, {"n": 2}, []),
        ({}, {"n": 3}, {"n": 3}, []),
        ({"n": 2}, {"n": 2}, {"n": 2}, []),
        ({"n": 2}, {"n": 3}, {"n": 2}, [("x", "n")]),
        ({"n": 2}, {"m": 1}, {"n": 2, "m": 1}, []),
        ({"n": None}, {}, {"n": None}, []),
        ({"new": 1}, {"new": 2}, {"new": 1}, [("x", "new")]),
        ({"n": 2, "new": 1}, {"n": 3, "new": 1}, {"n": 2, "new": 1}, [("x", "n")]),
    ],
)
def test_fields_are_merged_and_where_both_changed_one_ours_stays_and_it_is_said(
    ours: dict[str, object],
    theirs: dict[str, object],
    merged: dict[str, object],
    conflicts: list[tuple[str, str]],
) -> None:
    base = document([X])
    result = merge_result(base, document([X | ours]), document([X | theirs]))
    assert result.document.items() == [X | merged]
    assert result.conflicts == conflicts
    assert (describe_merge(result) is None) is not bool(conflicts)


def test_a_field_removed_on_one_side_is_gone_and_one_changed_on_the_other_is_not() -> None:
    base, without = document([X]), document([{k: v for k, v in X.items() if k != "n"}])
    assert "n" not in merge(base, without, document([X | {"m": 1}])).items()[0]
    assert "n" not in merge(base, document([X | {"m": 1}]), without).items()[0]
    kept = merge_result(base, document([X | {"n": 2}]), without)
    assert kept.document.items()[0]["n"] == 2 and kept.conflicts == [("x", "n")]
    gone = merge_result(base, without, document([X | {"n": 2}]))
    assert "n" not in gone.document.items()[0] and gone.conflicts == [("x", "n")]


def test_what_one_side_removed_is_gone_unless_the_other_edited_it() -> None:
    base, empty, edited = document([X]), document([]), document([X | {"n": 2}])
    stays = merge_result(base, empty, base)
    assert stays.document.items() == [] and stays.still_removed == ["x"]
    back = merge_result(base, empty, edited)
    assert back.document.items() == [X | {"n": 2}] and back.brought_back == ["x"]
    kept = merge_result(base, edited, empty)
    assert kept.document.items() == [X | {"n": 2}] and kept.kept == ["x"]
    gone = merge_result(base, base, empty)
    assert gone.document.items() == [] and gone.deleted == ["x"]
    assert describe_merge(gone) is None, "what its writer had seen and deleted is no news"
    new = merge_result(empty, empty, base)
    assert new.document.items() == [X] and new.brought_back == []


def test_a_merge_says_all_that_it_decided_against_the_saved_file() -> None:
    def said(**facts: object) -> str:
        result = MergeResult(document([]), 0, **facts)  # type: ignore[arg-type]
        return describe_merge(result) or ""

    names = [str(number) for number in range(11)]
    assert said() == ""
    assert "1 reference was kept (a)" in said(kept=["a"])
    assert "10 references were kept (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)" in said(kept=names[:10])
    assert "11 references were kept (0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 1 more)" in said(kept=names)
    assert "1 reference was not brought back (a)" in said(still_removed=["a"])
    assert "2 references were brought back (a, b)" in said(brought_back=["a", "b"])
    assert "Both sides changed a (title)" in said(conflicts=[("a", "title")])
    assert "under the id a, which was given here meanwhile: it is now b" in said(
        renamed=[("a", "b")]
    )
    assert said(kept=["a"]).startswith("Another program saved the library. ")


def test_a_changed_id_is_followed_by_uuid_or_by_the_rest_of_the_item() -> None:
    marked: dict[str, object] = {"id": "a", "title": "T", "custom": {"uuid": "u"}}
    for old, new in (
        (X, X | {"id": "y"}),
        (marked, marked | {"id": "y", "title": "Other"}),
    ):
        base = document([old])
        result = merge_result(base, document([old | {"m": 1}]), document([new]))
        assert result.document.items() == [new | {"m": 1}], "our edit follows the new id"
        assert result.kept == []
    bare: dict[str, object] = {"id": "a", "type": "book"}
    apart = merge_result(
        document([bare]), document([bare | {"m": 1}]), document([{"id": "b", "type": "book"}])
    )
    assert [item["id"] for item in apart.document.items()] == ["b", "a"]


def test_a_merge_into_an_empty_file_has_the_shape_of_a_library() -> None:
    ours = document([X])
    result = merge_result(document([]), ours, LibraryDocument.parse(b"[]\n"))
    assert result.document.text == ours.text
    same = document([X])
    assert merge_result(ours, ours, same).document is same, "an unchanged save is taken as it is"
