"""A change is acknowledged when it is in the ledger: the file follows, and nobody waits for it."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import signal
import sys
import textwrap
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from carrel.rooms.references.ports import Change
from carrel.stores.csl_json import ledger as ledger_module
from carrel.stores.csl_json.chunked_list import ChunkedList
from carrel.stores.csl_json.document import LibraryDocument, UnreadableLibraryError
from carrel.stores.csl_json.edits import Edits, apply_edits, find_edits
from carrel.stores.csl_json.file_follower import FileFollower
from carrel.stores.csl_json.journal_replay import replay_all, replay_exactly
from carrel.stores.csl_json.library import CslJsonLibrary
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.prepared_file import prepare_file
from tests.processes import warm
from tests.stores.small_disk import small_disk

pytestmark = [pytest.mark.promise("L9"), pytest.mark.promise("L10")]
FIRST = '[\n  {"id": "first", "type": "book"},\n  {"id": "second", "type": "book"}\n]\n'


def add(library: LibraryFile, *ids: str) -> None:
    library.record(lambda present: present.with_added([{"id": one, "type": "book"} for one in ids]))


def edit(library: LibraryFile, item_id: str, **values: object) -> None:
    def changed(present: LibraryDocument) -> LibraryDocument:
        entry = present.get(item_id)
        assert entry is not None
        return present.with_entry(item_id, entry.with_changes(values))

    library.record(changed)


def ids(path: Path) -> list[str]:
    """What another process finds."""
    return [str(item["id"]) for item in LibraryFile(path).read().document.items()]


def ids_in(file: Path) -> list[str]:
    return [str(item["id"]) for item in json.loads(file.read_bytes())]


def ledger_of(path: Path) -> Path:
    return path.parent / f".{path.name}.carrel" / "ledger.jsonl"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A library that Carrel has written once, so that it has a ledger and a version."""
    found = tmp_path / "lib.json"
    found.write_text(FIRST, encoding="utf-8")
    LibraryFile(found).change(lambda present: present.with_added([{"id": "a", "type": "book"}]))
    return found


def test_a_full_disk_refuses_the_change_and_nothing_has_changed(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk:
        path = disk.folder / "lib.json"
        library = LibraryFile(path)
        library.change(lambda present: present.with_added([{"id": "a", "type": "book"}]))
        add(library, "b")
        before = ledger_of(path).read_bytes()
        disk.fill()
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
            add(library, "x" * 20_000)
        assert not library.is_touched
        assert ledger_of(path).read_bytes() == before
        assert [item["id"] for item in library.read().document.items()] == ["a", "b"] == ids(path)
        disk.empty()
        add(library, "c")
        library.materialize()
        assert ids_in(path) == ["a", "b", "c"] == ids(path)


def test_a_full_disk_at_the_door_says_so_and_a_file_that_cannot_follow_loses_nothing(
    tmp_path: Path,
) -> None:
    async def work(path: Path, fill: Any, empty: Any) -> None:
        library = CslJsonLibrary(path)
        await library.add((), lambda present: [{"id": "a", "type": "book"}])
        fill()
        with pytest.raises(CarrelError, match="No space"):
            await library.add((), lambda present: [{"id": "x" * 20_000, "type": "book"}])
        assert await library.find("a") is not None
        empty()
        await library.add((), lambda present: [{"id": "b", "type": "book"}])
        await library.close()

    with small_disk(tmp_path / "disk", "2m") as disk:
        asyncio.run(work(disk.folder / "lib.json", disk.fill, disk.empty))
        assert ids_in(disk.folder / "lib.json") == ["a", "b"]


def test_an_edit_that_fails_leaves_the_ledger_as_it_was(path: Path) -> None:
    library = LibraryFile(path)
    before = ledger_of(path).read_bytes()

    def refuse(present: LibraryDocument) -> LibraryDocument:
        raise LookupError("no")

    with pytest.raises(LookupError):
        library.record(refuse)
    library.record(lambda present: present)
    assert ledger_of(path).read_bytes() == before


def test_while_the_file_is_unreadable_nothing_is_acknowledged(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.stores.csl_json.library_file._PAUSE_SECONDS", 0.0)
    library = LibraryFile(path)
    add(library, "b")
    path.write_text('[{"id": "a"', encoding="utf-8")
    before = ledger_of(path).read_bytes()
    with pytest.raises(UnreadableLibraryError):
        add(library, "c")
    with pytest.raises(UnreadableLibraryError):
        library.materialize()
    assert path.read_text(encoding="utf-8") == '[{"id": "a"'
    assert ledger_of(path).read_bytes() == before
    assert library.read().document.find("b") is not None
    path.write_text(FIRST, encoding="utf-8")
    assert {"first", "second", "b"} <= set(ids(path))


def test_an_acknowledged_change_is_in_the_ledger_and_seen_by_everybody_before_the_file_has_it(
    path: Path,
) -> None:
    one, other = LibraryFile(path), LibraryFile(path)
    file, inode = path.read_bytes(), path.stat().st_ino
    other.read()
    add(one, "b")
    edit(other, "b", note="by the other")
    assert one.read().document.find("b") == {"id": "b", "type": "book", "note": "by the other"}
    one.record(lambda present: present.without("second"))
    found = warm.run(
        [sys.executable, "-c", _READER, str(path)], capture_output=True, text=True, check=True
    )
    assert json.loads(found.stdout) == ["first", "a", "b"]
    assert [item["id"] for item in other.read().document.items()] == ["first", "a", "b"]
    assert (path.read_bytes(), path.stat().st_ino) == (file, inode)
    assert one.is_behind and other.is_behind
    one.materialize()
    assert ids_in(path) == ["first", "a", "b"]
    assert not one.is_behind and other.read().is_placed
    before = other.read().generation
    assert other.read().generation == before, "the same library under a new file is no change"


_READER = textwrap.dedent("""
    import json, sys
    from pathlib import Path
    from carrel.stores.csl_json.library_file import LibraryFile
    items = LibraryFile(Path(sys.argv[1])).read().document.items()
    print(json.dumps([item["id"] for item in items]))
""")


def test_what_changes_while_a_large_file_is_written_follows_with_the_next(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, other = LibraryFile(path), LibraryFile(path)
    add(library, "b")

    def change_meanwhile(*arguments: Any) -> Any:
        prepared = prepare_file(*arguments)
        add(other, "meanwhile")
        return prepared

    monkeypatch.setattr("carrel.stores.csl_json.library_file.prepare_file", change_meanwhile)
    state = library.materialize()
    assert ids_in(path) == ["first", "second", "a", "b"]
    assert state.document.find("meanwhile") is not None and not state.is_placed
    monkeypatch.undo()
    assert library.materialize().is_placed
    assert ids_in(path) == ["first", "second", "a", "b", "meanwhile"] == ids(path)
    assert list(ledger_of(path).parent.glob("prepared-*")) == []


def test_an_outside_save_while_the_file_is_written_is_merged(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = LibraryFile(path)
    stale = json.loads(path.read_bytes())
    add(library, "b")

    def save_meanwhile(*arguments: Any) -> Any:
        prepared = prepare_file(*arguments)
        stale[0]["note"] = "by the editor"
        path.write_text(json.dumps([*stale, {"id": "z", "type": "book"}]), encoding="utf-8")
        return prepared

    monkeypatch.setattr("carrel.stores.csl_json.library_file.prepare_file", save_meanwhile)
    library.materialize()
    found = {str(item["id"]): item for item in json.loads(path.read_bytes())}
    assert set(found) == {"first", "second", "a", "b", "z"}
    assert found["first"]["note"] == "by the editor"


def test_an_outside_save_before_the_file_has_followed_is_merged_with_the_ledger(
    path: Path,
) -> None:
    library = LibraryFile(path)
    stale = json.loads(path.read_bytes())
    add(library, "b")
    edit(library, "first", volume="7")
    library.record(lambda present: present.without("second"))
    stale[0]["note"] = "by the editor"
    path.write_text(json.dumps(stale), encoding="utf-8")
    add(library, "c")
    found = {str(item["id"]): item for item in json.loads(path.read_bytes())}
    assert set(found) == {"first", "a", "b", "c"}
    assert (found["first"]["note"], found["first"]["volume"]) == ("by the editor", "7")


def test_a_missing_file_is_put_back_with_what_the_ledger_has(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.stores.csl_json.library_file._PAUSE_SECONDS", 0.0)
    add(LibraryFile(path), "b")
    path.unlink()
    assert ids(path) == ["first", "second", "a", "b"] == ids_in(path)


@pytest.mark.parametrize("rest", [b'{"revision": 9, "at": "t', b"\0\0\0\0", b'{"revision": 3}'])
def test_a_torn_last_line_hides_nothing_and_is_passed_over(path: Path, rest: bytes) -> None:
    library = LibraryFile(path)
    add(library, "b")
    with ledger_of(path).open("ab") as file:
        file.write(rest)
    assert ids(path) == ["first", "second", "a", "b"]
    add(library, "c")
    add(LibraryFile(path), "d")
    assert ids(path) == ["first", "second", "a", "b", "c", "d"]
    assert [item["id"] for item in library.read().document.items()] == ids(path)
    LibraryFile(path).materialize()
    assert ids_in(path) == ["first", "second", "a", "b", "c", "d"]


def test_a_lost_line_takes_no_later_one_with_it(path: Path) -> None:
    library = LibraryFile(path)
    for name in ("b", "c", "d"):
        add(library, name)
    edit(library, "first", note="n")
    lines = ledger_of(path).read_bytes().splitlines(keepends=True)
    ledger_of(path).write_bytes(b"".join([*lines[:-3], b'{"revision": broken\n', *lines[-2:]]))
    found = LibraryFile(path).read().document
    assert {"first", "second", "a", "b", "d"} <= {str(item["id"]) for item in found.items()}
    assert (found.find("first") or {})["note"] == "n"


def test_a_copy_of_the_folder_carries_what_the_file_lacks(path: Path, tmp_path: Path) -> None:
    add(LibraryFile(path), "b")
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(path, copy / path.name)
    shutil.copytree(ledger_of(path).parent, copy / ledger_of(path).parent.name)
    library = LibraryFile(copy / path.name)
    assert [item["id"] for item in library.read().document.items()][-1] == "b"
    assert library.take_notices() == []
    add(library, "c")
    library.materialize()
    assert ids_in(copy / path.name) == ["first", "second", "a", "b", "c"]


def test_many_changes_are_put_into_the_file_at_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.stores.csl_json.library_file._MOST_JOURNALLED", 3)
    library, other = LibraryFile(path), LibraryFile(path)
    add(library, "b")
    other.read()
    add(library, "c", "d", "e", "f")
    assert ids_in(path) == ["first", "second", "a", "b", "c", "d", "e", "f"]
    assert [str(item["id"]) for item in other.read().document.items()] == ids_in(path)
    add(other, "g")
    assert ids(path)[-1] == "g" and ids_in(path)[-1] == "f"


def test_the_ledger_is_shortened_without_what_the_file_lacks(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "_COMPACT_BYTES", 1)
    library, other = LibraryFile(path), LibraryFile(path)
    add(library, "b")
    other.read()
    library.materialize()
    add(library, "c")
    assert b'"edits"' in ledger_of(path).read_bytes()
    assert [item["id"] for item in other.read().document.items()] == ids(path)
    assert ids(path) == ["first", "second", "a", "b", "c"]
    library.materialize()
    assert b'"edits"' not in ledger_of(path).read_bytes().splitlines()[1]
    assert len(LibraryFile(path).revisions()) == 4


_KILLED = textwrap.dedent("""
    import os, signal, sys
    from pathlib import Path
    from carrel.stores.csl_json import file_replacement, library_file
    path, last, way = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    if way == "in place":
        file_replacement.swap_names = lambda one, other: 16
    library = library_file.LibraryFile(path)
    def add(name):
        library.record(lambda present: present.with_added([{"id": name, "type": "book"}]))
        print(name, flush=True)
    add("acknowledged")
    count = 0
    def counted(function):
        def call(*arguments, **words):
            global count
            count += 1
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **words)
        return call
    for name in ("fsync", "replace", "rename", "unlink", "write"):
        setattr(os, name, counted(getattr(os, name)))
    file_replacement.swap_names = counted(file_replacement.swap_names)
    add("more")
    library.materialize()
    add("last")
    library.materialize()
    print("done", flush=True)
""")


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("way", ["exchange", "in place"])
def test_a_kill_at_any_step_between_ledger_and_file_loses_nothing(tmp_path: Path, way: str) -> None:
    last, is_done = 0, False
    while not is_done:
        last += 1
        assert last < 100
        path = tmp_path / f"{last}" / "lib.json"
        path.parent.mkdir()
        path.write_text(FIRST, encoding="utf-8")
        LibraryFile(path).change(lambda present: present.with_added([{"id": "a", "type": "book"}]))
        ran = warm.run(
            [sys.executable, "-c", _KILLED, str(path), str(last), way],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        *promised, end = ["", *ran.stdout.split()]
        is_done = end == "done"
        if not is_done:
            assert ran.returncode == -signal.SIGKILL, ran.stderr
            promised.append(end)
        kept = {"first", "second", "a", *filter(None, promised)}
        library = LibraryFile(path)
        found = [str(item["id"]) for item in library.read().document.items()]
        assert kept <= set(found) <= {*kept, "more", "last"}, (last, found)
        assert len(found) == len(set(found))
        assert library.take_notices() == [], "nobody else has saved the library"
        add(library, "later")
        library.materialize()
        assert [*found, "later"] == ids_in(path) == ids(path), last


def test_history_undo_and_restore_read_what_the_file_lacks(path: Path) -> None:
    async def work() -> None:
        library = CslJsonLibrary(path)
        try:
            await library.change("a", lambda item: Change({"note": "1"}))
            await library.change("a", lambda item: Change({"note": "2"}))
            past = await library.list_past("a")
            assert [(one.item or {}).get("note") for one in past][:3] == ["2", "1", None]
            undone = await library.undo(None)
            assert undone.written == ["a"]
            assert (await library.find("a") or {})["note"] == "1"
            await library.restore("a", past[0].revision)
            assert (await library.find("a") or {})["note"] == "2"
        finally:
            await library.close()
        assert json.loads(path.read_bytes())[-1]["note"] == "2"

    asyncio.run(work())


def test_a_library_that_was_removed_does_not_come_back(tmp_path: Path) -> None:
    async def work(folder: Path) -> None:
        library = CslJsonLibrary(folder / "lib.json")
        await library.add((), lambda present: [{"id": "a", "type": "book"}])
        await library.add((), lambda present: [{"id": "b", "type": "book"}])
        shutil.rmtree(folder)
        await library.close()

    (tmp_path / "ada").mkdir()
    asyncio.run(work(tmp_path / "ada"))
    assert not (tmp_path / "ada").exists()


def test_a_library_that_is_closed_has_its_whole_file(path: Path) -> None:
    async def work() -> None:
        library = CslJsonLibrary(path)
        await library.add((), lambda present: [{"id": "b", "type": "book"}])
        await library.close()

    asyncio.run(work())
    assert ids_in(path) == ["first", "second", "a", "b"]


def test_a_process_that_ends_without_closing_its_library_leaves_the_whole_file(
    path: Path,
) -> None:
    warm.run([sys.executable, "-c", _ENDS, str(path)], check=True, timeout=60)
    assert ids_in(path) == ["first", "second", "a", "b"]


_ENDS = textwrap.dedent("""
    import asyncio, sys
    from pathlib import Path
    from carrel.stores.csl_json.library import CslJsonLibrary
    library = CslJsonLibrary(Path(sys.argv[1]))
    asyncio.run(library.add((), lambda present: [{"id": "b", "type": "book"}]))
""")


def test_a_follower_is_asked_once_for_the_changes_of_a_moment_and_tries_again_after_a_failure() -> (
    None
):
    noticed, done = threading.Event(), threading.Event()
    calls: list[str] = []

    def materialize() -> None:
        calls.append("file")
        if len(calls) == 1:
            raise OSError(errno.ENOSPC, "full")
        done.set()

    follower = FileFollower(noticed.set, materialize, delay_seconds=3600.0)
    for _ in range(5):
        follower.wake()
    assert noticed.wait(60)
    assert calls == [], "it waits for more changes"
    follower.close()
    assert calls == ["file"]
    with pytest.raises(RuntimeError):
        follower.wake()
    follower = FileFollower(noticed.clear, materialize, delay_seconds=0.0)
    follower.wake()
    assert done.wait(60)
    follower.close()
    assert calls == ["file", "file"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("abc", "abc"),
        ("abc", "abcd"),
        ("abc", "ac"),
        ("abc", "xabc"),
        ("abcdef", "bdXf"),
        ("abc", "cab"),
        ("", "ab"),
        ("ab", ""),
        ("abcd", "dcba"),
        ("abcdef", "aYbcZeW"),
    ],
)
def test_edits_lead_from_one_state_to_the_other(before: str, after: str) -> None:
    known = LibraryDocument().with_added([{"id": one} for one in before])
    fresh = LibraryDocument().with_added([{"id": one} for one in after])
    entries = (known.get(one) or fresh.entries[at] for at, one in enumerate(after))
    wanted = LibraryDocument(ChunkedList(entries), "[", "\n]")
    edits = Edits.parse(json.loads(json.dumps(find_edits(3, known, wanted).record())))
    assert apply_edits(known, [edits]).text == wanted.text
    assert edits.on == 3


def test_a_state_that_is_not_the_one_before_is_not_guessed(path: Path) -> None:
    library = LibraryFile(path)
    add(library, "b")
    (line,) = [one for one in library.revisions() if one.edits is not None]
    assert line.edits is not None
    document = LibraryDocument().with_added([{"id": "z"}])
    later = replace(line, number=99)
    assert replay_exactly(document, line.edits.on + 7, [later]) is None
    found, revision = replay_all(document, line.edits.on + 7, [later])
    assert ([item["id"] for item in found.items()], revision) == (["z", "b"], 99)
    found, revision = replay_all(document, line.number, [line])
    assert ([item["id"] for item in found.items()], revision) == (["z"], line.number)
