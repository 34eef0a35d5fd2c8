"""What every library promises of several references that are changed in one write."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from carrel.rooms.references.items import Item
from carrel.rooms.references.ports import Change, Library, ManyChanges

OpenLibrary = Callable[[], AbstractAsyncContextManager[Library]]


@pytest.mark.promise("L10")
class LibraryChangesContract:
    """`open_library` is a fixture that opens an empty library."""

    def run(self, open_library: OpenLibrary, scene: Callable[[Library], Awaitable[Any]]) -> Any:
        async def play() -> Any:
            async with open_library() as library:
                await library.add(
                    (), lambda present: [{"id": name, "title": name.upper()} for name in "abcd"]
                )
                return await scene(library)

        return asyncio.run(play())

    def test_a_failed_decision_changes_nothing(self, open_library: OpenLibrary) -> None:
        def refuse(present: Sequence[Item]) -> ManyChanges:
            raise LookupError("no")

        async def scene(library: Library) -> None:
            with pytest.raises(LookupError):
                await library.change_many(refuse)
            await library.change_many(lambda present: ManyChanges({}))
            await library.change_many(
                lambda present: ManyChanges({"x": Change({"title": "X"})}, ("y",))
            )
            after = await library.snapshot()
            assert [item["title"] for item in after.items] == ["A", "B", "C", "D"]

        self.run(open_library, scene)

    def test_several_are_changed_renamed_and_removed_in_one_write(
        self, open_library: OpenLibrary
    ) -> None:
        async def scene(library: Library) -> None:
            before = (await library.snapshot()).generation

            def decide(present: Sequence[Item]) -> ManyChanges:
                assert [item["id"] for item in present] == ["a", "b", "c", "d"]
                return ManyChanges(
                    {"a": Change({"id": "z"}), "b": Change({"note": "n"}, ("title",))},
                    ("d", "d", "missing"),
                )

            await library.change_many(decide)
            after = await library.snapshot()
            assert [dict(item) for item in after.items] == [
                {"id": "z", "title": "A"},
                {"id": "b", "note": "n"},
                {"id": "c", "title": "C"},
            ]
            assert after.generation > before
            assert await library.find("a") is None and await library.find("z") is not None

        self.run(open_library, scene)

    def test_two_keys_can_be_exchanged(self, open_library: OpenLibrary) -> None:
        async def scene(library: Library) -> None:
            await library.change_many(
                lambda present: ManyChanges({"a": Change({"id": "b"}), "b": Change({"id": "a"})})
            )
            assert (await library.find("a") or {})["title"] == "B"
            assert (await library.find("b") or {})["title"] == "A"

        self.run(open_library, scene)

    def test_what_was_removed_and_changed_comes_back_from_the_past(
        self, open_library: OpenLibrary
    ) -> None:
        async def scene(library: Library) -> None:
            await library.change_many(
                lambda present: ManyChanges({"a": Change({"title": "A of B"})}, ("b",))
            )
            await library.restore("a", None)
            await library.restore("b", None)
            assert (await library.find("a") or {})["title"] == "A"
            assert (await library.find("b") or {})["title"] == "B"

        self.run(open_library, scene)
