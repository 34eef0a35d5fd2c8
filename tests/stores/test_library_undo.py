"""Many references changed in one write, and a change of the library undone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import NotFoundError
from carrel.rooms.references.errors import ChangeNotUndoableError
from carrel.rooms.references.ports import Change, ManyChanges
from carrel.stores.csl_json.library import CslJsonLibrary

ITEMS = [{"id": name, "type": "book", "title": name.upper()} for name in ("a", "b", "c")]


def play(folder: Path, scene: Callable[[CslJsonLibrary], Awaitable[None]]) -> None:
    async def playing() -> None:
        library = CslJsonLibrary(folder / "library.json")
        await library.add((), lambda present: [dict(item) for item in ITEMS])
        await scene(library)
        await library.close()

    asyncio.run(playing())


async def read(library: CslJsonLibrary) -> list[dict[str, Any]]:
    return list((await library.snapshot()).items)


async def set_notes(library: CslJsonLibrary, *names: str, note: str = "n") -> None:
    changes = {name: Change({"note": note}) for name in names}
    await library.change_many(lambda items: ManyChanges(changes))


@pytest.mark.promise("L10")
def test_many_are_changed_in_one_write_and_an_unknown_id_changes_nothing(tmp_path: Path) -> None:
    async def scene(library: CslJsonLibrary) -> None:
        change = Change({"note": "n"}, ("title",))
        changes = dict.fromkeys(("a", "b", "nobody"), change)
        await library.change_many(lambda items: ManyChanges(changes))
        assert list((await library.snapshot()).items) == [
            {"id": "a", "type": "book", "note": "n"},
            {"id": "b", "type": "book", "note": "n"},
            ITEMS[2],
        ]
        newest, *before = await library.list_changes()
        assert (sorted(newest.written), len(before)) == (["a", "b"], 1)
        await library.change_many(lambda items: ManyChanges({}))
        assert len(await library.list_changes()) == 2

    play(tmp_path, scene)


@pytest.mark.promise("L9")
def test_a_change_whose_references_were_changed_since_is_not_undone(tmp_path: Path) -> None:
    async def scene(library: CslJsonLibrary) -> None:
        await set_notes(library, "a", "b")
        number = (await library.list_changes())[0].revision
        await set_notes(library, "b", note="later")
        before = await read(library)
        with pytest.raises(ChangeNotUndoableError) as refused:
            await library.undo(number)
        assert (refused.value.details or {})["ids"] == ["b"]
        with pytest.raises(NotFoundError):
            await library.undo(4711)
        assert await read(library) == before

    play(tmp_path, scene)


@pytest.mark.promise("L9")
def test_a_change_of_many_is_undone_in_one_write_and_undone_again_it_is_back(
    tmp_path: Path,
) -> None:
    async def scene(library: CslJsonLibrary) -> None:
        await set_notes(library, "a", "c")
        noted = await read(library)
        undone = await library.undo(None)
        assert (sorted(undone.written), await read(library)) == (["a", "c"], ITEMS)
        await library.undo(None)
        assert await read(library) == noted

    play(tmp_path, scene)


@pytest.mark.promise("L9")
def test_a_removal_is_undone_and_so_is_an_addition(tmp_path: Path) -> None:
    async def scene(library: CslJsonLibrary) -> None:
        await library.remove_many(["a", "b", "c"])
        await library.undo(None)
        assert sorted(item["id"] for item in await read(library)) == ["a", "b", "c"]
        await library.add((), lambda present: [{"id": "d", "type": "book"}])
        added = (await library.list_changes())[0].revision
        await set_notes(library, "a")
        await library.undo(added)
        found = {item["id"]: item for item in await read(library)}
        assert sorted(found) == ["a", "b", "c"]
        assert found["a"]["note"] == "n"

    play(tmp_path, scene)


def test_nothing_can_be_undone_in_a_new_library(tmp_path: Path) -> None:
    async def scene(library: CslJsonLibrary) -> None:
        empty = CslJsonLibrary(tmp_path / "other.json")
        with pytest.raises(NotFoundError):
            await empty.undo(None)
        await empty.close()

    play(tmp_path, scene)
