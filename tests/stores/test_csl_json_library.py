"""The library file: bytes that are not ours stay as they are, and nobody's write is lost."""

from __future__ import annotations

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

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from carrel.stores.csl_json.document import (
    LibraryDocument,
    UnreadableLibraryError,
    changed_entries,
    entries_by_key,
)
from carrel.stores.csl_json.element_history import ElementHistory
from carrel.stores.csl_json.ledger import Revision
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.merge import merge_save

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
    return merge_save(
        ElementHistory([made], entries_by_key(ours.entries)), ours, theirs, loaded=0
    ).document


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
        return subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path), name, str(log), "20"], text=True
        )

    outsider = subprocess.Popen(
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
    editor = subprocess.Popen(
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
            subprocess.Popen(
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
