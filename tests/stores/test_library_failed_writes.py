"""Writes of a library that fail half way, or that others get in between of, lose nothing."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.stores.csl_json import journal as journal_module
from carrel.stores.csl_json import ledger as ledger_module
from carrel.stores.csl_json import library_file as file_module
from carrel.stores.csl_json import working_folder as folder_module
from carrel.stores.csl_json.document import LibraryDocument
from carrel.stores.csl_json.file_replacement import write_durably
from carrel.stores.csl_json.library import CslJsonLibrary
from carrel.stores.csl_json.library_file import FileState, LibraryFile
from carrel.stores.csl_json.library_history import LibraryHistory
from tests.processes import warm

pytestmark = [pytest.mark.promise("L9"), pytest.mark.promise("L10")]
MANY = [f"many-{number}" for number in range(6)]


def add(library: LibraryFile, *ids: str) -> None:
    library.record(lambda present: present.with_added([{"id": one, "type": "book"} for one in ids]))


def ids(path: Path) -> list[str]:
    """What another process finds."""
    return [str(item["id"]) for item in LibraryFile(path).read().document.items()]


def save_outside(path: Path, item_id: str) -> None:
    items = [*json.loads(path.read_bytes()), {"id": item_id, "type": "book"}]
    path.write_text(json.dumps(items), encoding="utf-8")


def refuse_names(*names: str) -> Callable[[Path, bytes], None]:
    """A durable write that finds the disk full for files of some names."""

    def write_unless_refused(path: Path, data: bytes) -> None:
        if any(name in path.name for name in names):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_durably(path, data)

    return write_unless_refused


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library in which a change of four elements is a large one."""
    monkeypatch.setattr(file_module, "_MOST_JOURNALLED", 3)
    found = tmp_path / "lib.json"
    LibraryFile(found).change(lambda present: present.with_added([{"id": "a", "type": "book"}]))
    return found


def test_an_outside_save_while_a_large_change_is_decided_is_merged(path: Path) -> None:
    library = LibraryFile(path)

    def edit(present: LibraryDocument) -> LibraryDocument:
        if present.get("outsider") is None:
            save_outside(path, "outsider")
        return present.with_added([{"id": one, "type": "book"} for one in MANY])

    library.record(edit)
    assert sorted(ids(path)) == sorted(["a", "outsider", *MANY])
    assert sorted(json.loads(path.read_bytes()), key=str) == sorted(
        LibraryFile(path).read().document.items(), key=str
    )


def test_a_file_that_goes_while_a_large_change_is_decided_is_put_back(path: Path) -> None:
    library = LibraryFile(path)

    def edit(present: LibraryDocument) -> LibraryDocument:
        path.unlink(missing_ok=True)
        return present.with_added([{"id": one, "type": "book"} for one in MANY])

    library.record(edit)
    assert ids(path) == ["a", *MANY]


def test_a_large_change_that_is_withdrawn_takes_no_earlier_one_with_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = LibraryFile(path)
    add(library, "b")
    monkeypatch.setattr(ledger_module, "_COMPACT_BYTES", 1)
    refused = refuse_names("draft")
    monkeypatch.setattr(journal_module, "write_durably", refused)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        add(library, *MANY)
    assert ids(path) == ["a", "b"] == [item["id"] for item in library.read().document.items()]
    monkeypatch.undo()
    add(library, "c")
    library.materialize()
    assert ids(path) == ["a", "b", "c"] == [item["id"] for item in json.loads(path.read_bytes())]


def test_a_large_change_whose_version_finds_no_room_is_not_in_the_history(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = LibraryFile(path)
    add(library, *MANY)
    known = library.revisions()
    refused = refuse_names("-current-")
    monkeypatch.setattr(folder_module, "write_durably", refused)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        library.record(lambda present: present.without_all(MANY))
    monkeypatch.undo()
    assert library.revisions() == known
    assert sorted(LibraryHistory(path).undo_change().written) == MANY
    assert ids(path) == ["a"]


def test_a_ledger_that_cannot_be_shortened_refuses_no_change(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "_COMPACT_BYTES", 1)
    refused = refuse_names("ledger.draft")
    monkeypatch.setattr(ledger_module, "write_durably", refused)
    library = LibraryFile(path)
    add(library, *MANY)
    add(library, "b")
    library.materialize()
    assert ids(path) == ["a", *MANY, "b"]
    assert not list(path.parent.glob(".lib.json.carrel/*.draft"))


_KILLED_WRITER = textwrap.dedent("""
    import os, signal, sys
    from pathlib import Path
    from carrel.stores.csl_json import file_replacement, journal, ledger, library_file
    path, last, way = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    library_file._MOST_JOURNALLED = 3
    ledger._COMPACT_BYTES = 1
    if way == "in place":
        file_replacement.swap_names = lambda one, other: 16
    library = library_file.LibraryFile(path)
    def add(*names):
        items = [{"id": name, "type": "book"} for name in names]
        library.record(lambda present: present.with_added(items))
        print(*names, flush=True)
    add("acknowledged")
    count = 0
    def kill_at_last(function):
        def call(*arguments, **words):
            global count
            count += 1
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **words)
        return call
    for name in ("fsync", "replace", "rename", "unlink", "write", "ftruncate"):
        setattr(os, name, kill_at_last(getattr(os, name)))
    file_replacement.swap_names = kill_at_last(file_replacement.swap_names)
    def write_half(file, data, write=file_replacement.write_durably):
        write(file, data[: len(data) // 2])
        os.unlink(file)
        write(file, data)
    journal.write_durably = write_half
    add("many-0", "many-1", "many-2", "many-3")
    add("more")
    print("done", flush=True)
""")


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("way", ["exchange", "in place"])
def test_a_kill_at_any_step_of_a_large_change_loses_nothing(tmp_path: Path, way: str) -> None:
    last, is_done = 0, False
    while not is_done:
        last += 1
        assert last < 150
        path = tmp_path / f"{last}" / "lib.json"
        path.parent.mkdir()
        LibraryFile(path).change(lambda present: present.with_added([{"id": "a", "type": "book"}]))
        ran = warm.run(
            [sys.executable, "-c", _KILLED_WRITER, str(path), str(last), way],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        promised = ran.stdout.split()
        is_done = promised[-1:] == ["done"]
        assert is_done or ran.returncode == -signal.SIGKILL, ran.stderr
        kept = {"a", *promised} - {"done"}
        library = LibraryFile(path)
        found = [str(item["id"]) for item in library.read().document.items()]
        assert kept <= set(found) <= {"a", "acknowledged", "more", *MANY[:4]}, (last, found)
        assert len(found) == len(set(found))
        assert len(set(MANY) & set(found)) in {0, 4}, "a change is there whole or not at all"
        assert library.take_notices() == [], "nobody else has saved the library"
        add(library, "later")
        assert library.is_behind, "what a kill left behind does not make later changes slow"
        library.materialize()
        assert [*found, "later"] == [item["id"] for item in json.loads(path.read_bytes())]
        assert [*found, "later"] == ids(path), last


def test_a_half_saved_file_that_was_put_aside_is_looked_at_once(path: Path) -> None:
    aside = path.parent / ".lib.json.carrel" / "unmerged-1"
    aside.write_bytes(b'[{"id": "half')
    library = LibraryFile(path)
    add(library, "b")
    add(library, "c")
    assert library.is_behind and aside.exists()
    aside.write_text('[{"id": "a", "type": "book"}, {"id": "whole", "type": "book"}]')
    assert sorted(item["id"] for item in library.read().document.items()) == ["a", "b", "c"]
    add(library, "d")
    assert sorted(ids(path)) == ["a", "b", "c", "d", "whole"]


def test_a_library_is_watched_on_after_a_full_disk(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused, read = threading.Event(), threading.Event()
    read_file: Callable[[LibraryFile], FileState] = LibraryFile.read

    def fail_once(file: LibraryFile) -> FileState:
        if not refused.is_set():
            refused.set()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        found = read_file(file)
        read.set()
        return found

    async def work() -> bool:
        library = CslJsonLibrary(path)
        await library.snapshot()
        monkeypatch.setattr(LibraryFile, "read", fail_once)
        library.watch()
        save_outside(path, "outsider")
        is_read: Any = await asyncio.to_thread(read.wait, 20)
        await library.close()
        return bool(is_read)

    assert asyncio.run(work())
    assert refused.is_set()


def test_notices_that_wait_for_a_reader_do_not_bring_an_older_state_back(path: Path) -> None:
    library, other = LibraryFile(path), LibraryFile(path)
    library.read()
    folder_module.Notices(path.parent / ".lib.json.carrel" / "notices.jsonl").add("a notice", "now")
    add(library, "b")
    entered, go_on = threading.Event(), threading.Event()
    answers: list[list[str]] = []

    def wait_in_edit(present: LibraryDocument) -> LibraryDocument:
        entered.set()
        go_on.wait(20)
        return present.with_added([{"id": "c", "type": "book"}])

    changing = threading.Thread(target=library.record, args=(wait_in_edit,))
    taking = threading.Thread(target=lambda: answers.append(library.take_notices()))
    changing.start()
    entered.wait(20)
    taking.start()
    taking.join(0.2)
    go_on.set()
    changing.join()
    taking.join()
    state = library.fresh_state()
    assert answers == [["a notice"]]
    assert state is not None and state.document.find("c") is not None
    assert other.read().document.find("c") is not None
