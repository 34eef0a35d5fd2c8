"""What somebody's library is for whoever takes it over: every work of it, once."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.core.caller import Caller
from carrel.rooms.references.leaving import LeavingLibrary
from carrel.services.attached_files import LocalFiles
from carrel.stores.csl_json.library_ends import FileLibraryEnds
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.library_places import user_library_path
from carrel.stores.csl_json.user_libraries import UserLibraries

LETTER: dict[str, Any] = {
    "type": "article-journal",
    "title": "President's message",
    "author": [{"family": "Ada", "given": "B."}],
    "issued": {"date-parts": [[2001]]},
}
Items = list[dict[str, Any]]


def hand_over(home: Path, theirs: Items, ours: Items, times: int = 1) -> Items:
    """What Bob has after Ada's library was handed over to him, as often as it was begun."""

    async def work() -> Items:
        libraries = UserLibraries(home / "library.json", home / "users", None)
        ends = FileLibraryEnds(home / "users")
        leaving = LeavingLibrary(libraries, ends, LocalFiles())
        ada, bob = (libraries.of(Caller(name, frozenset())) for name in ("ada", "bob"))
        try:
            await bob.add((), lambda known: ours)
            for _ in range(times):
                await ada.add((), lambda known: theirs)
                await leaving.hand_over("ada", "bob")
                assert not await ends.has_library("ada")
            return list((await bob.snapshot()).items)
        finally:
            await libraries.close()

    return asyncio.run(work())


def test_works_of_one_title_in_other_volumes_are_all_handed_over(tmp_path: Path) -> None:
    theirs: Items = [
        {**LETTER, "id": f"letter-{volume}", "volume": str(volume)} for volume in (1, 2, 3)
    ]
    kept = hand_over(tmp_path, theirs, [{**LETTER, "id": "letter", "volume": "2"}])
    assert sorted(item["volume"] for item in kept) == ["1", "2", "3"]


def test_another_work_with_a_former_key_or_the_same_key_is_handed_over(tmp_path: Path) -> None:
    theirs: Items = [
        {"id": "note", "type": "document", "title": "Of Ada"},
        {"id": "a", "type": "book", "title": "One", "custom": {"former_ids": ["old"]}},
    ]
    ours: Items = [
        {"id": "note", "type": "document", "title": "Of Bob"},
        {"id": "b", "type": "book", "title": "Two", "custom": {"former_ids": ["old"]}},
    ]
    kept = hand_over(tmp_path, theirs, ours)
    assert sorted(item["title"] for item in kept) == ["Of Ada", "Of Bob", "One", "Two"]


def test_a_library_that_is_handed_over_again_after_a_kill_adds_nothing_twice(
    tmp_path: Path,
) -> None:
    theirs: Items = [
        {"id": "note", "type": "document", "title": "Of Ada"},
        {**LETTER, "id": "letter", "volume": "1"},
    ]
    kept = hand_over(tmp_path, theirs, [{**theirs[0], "title": "Of Bob"}], times=2)
    assert sorted(item["title"] for item in kept) == ["Of Ada", "Of Bob", "President's message"]


def test_a_library_that_a_server_has_open_does_not_come_back_while_it_is_erased(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = user_library_path(tmp_path / "users", "ada")
    server = LibraryFile(path)
    server.change(lambda present: present.with_added([{"id": "secret", "type": "book"}]))
    server.record(lambda present: present.with_added([{"id": "more", "type": "book"}]))

    def remove_slowly(folder: Path, remove: Callable[[Path], None] = shutil.rmtree) -> None:
        if folder.name != path.parent.name:
            remove(folder)
            return
        # As the standard library does it: what comes while it removes the rest stays.
        found = sorted(folder.iterdir(), key=Path.is_dir)
        for entry in found:
            entry.unlink() if entry.is_file() else remove(entry)
            server.read()
            server.materialize()
        folder.rmdir()

    monkeypatch.setattr(shutil, "rmtree", remove_slowly)
    asyncio.run(FileLibraryEnds(tmp_path / "users").remove_library("ada"))
    assert [each for each in (tmp_path / "users").rglob("*") if each.is_file()] == []
    assert server.read().document.items() == []


def test_a_removal_that_was_killed_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = user_library_path(tmp_path / "users", "ada")
    LibraryFile(path).change(lambda present: present.with_added([{"id": "a", "type": "book"}]))
    ends = FileLibraryEnds(tmp_path / "users")

    def fail(folder: Path) -> None:
        raise OSError("killed")

    monkeypatch.setattr(shutil, "rmtree", fail)
    with pytest.raises(OSError, match="killed"):
        asyncio.run(ends.remove_library("ada"))
    monkeypatch.undo()
    assert asyncio.run(ends.has_library("ada"))
    assert list((tmp_path / "users").glob("*/library.json")) == [], "nobody lists what is left"
    asyncio.run(ends.remove_library("ada"))
    assert not asyncio.run(ends.has_library("ada"))
    assert [each for each in (tmp_path / "users").rglob("*") if each.is_file()] == []
