"""Keys that a reference had before: they stay in the item and still lead to it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from carrel.core.caller import Caller
from carrel.libraries.query.empty_answers import EmptyAnswer
from carrel.rooms.references.items import Item, WorkKey, custom, former_ids, former_key, text_of
from carrel.rooms.references.ports import (
    Change,
    Files,
    FoundReferences,
    KnownReferences,
    Libraries,
    Library,
    LibrarySnapshot,
    ManyChanges,
    PastChange,
    PastVersion,
)
from carrel.rooms.references.queries import ReferenceQuery

FORMER_IDS = "former_ids"
# Messages that wait for an answer; more are those of a program that follows a hundred old keys.
_MOST_NOTICES = 20
# Of a forgotten one at most a message is lost.
_MOST_KNOWN = 1_000


def with_former_ids(item: Item, ids: Iterable[str]) -> Item:
    """The item's `custom` with further former keys; its own key is none."""
    known = dict.fromkeys([*former_ids(item), *ids])
    known.pop(text_of(item, "id"), None)
    return {**custom(item), FORMER_IDS: list(known)}


class ForwardingLibrary:
    """A library in which `find` and `change` follow former keys, and a notice says so."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._followed: dict[str, str] = {}

    @property
    def folder(self) -> Path:
        return self._library.folder

    @property
    def attached_files(self) -> Files | None:
        return self._library.attached_files

    async def find_present_id(self, reference_id: str) -> str | None:
        """The key that the reference of a former key has now, or None."""
        found = await self._library.find_works([former_key(reference_id)])
        return next(
            (text_of(item, "id") for item in found if reference_id in former_ids(item)), None
        )

    async def find(self, reference_id: str) -> Item | None:
        item = await self._library.find(reference_id)
        if item is not None:
            return item
        present = await self._follow(reference_id)
        return None if present is None else await self._library.find(present)

    async def change(self, reference_id: str, decide: Callable[[Item], Change]) -> Item | None:
        changed = await self._library.change(reference_id, decide)
        if changed is not None:
            return changed
        present = await self._follow(reference_id)
        return None if present is None else await self._library.change(present, decide)

    async def _follow(self, reference_id: str) -> str | None:
        present = await self.find_present_id(reference_id)
        if present is not None and len(self._followed) < _MOST_NOTICES:
            self._followed[reference_id] = present
        return present

    async def take_notices(self) -> Sequence[str]:
        followed, self._followed = self._followed, {}
        told = [f"{old} is now called {new}." for old, new in followed.items()]
        return [*told, *await self._library.take_notices()]

    async def snapshot(self) -> LibrarySnapshot:
        return await self._library.snapshot()

    async def search(self, query: ReferenceQuery, first: int, count: int) -> FoundReferences:
        return await self._library.search(query, first, count)

    async def find_all(self, query: ReferenceQuery) -> Sequence[Item]:
        return await self._library.find_all(query)

    async def find_ids(self, query: ReferenceQuery) -> Sequence[str]:
        return await self._library.find_ids(query)

    async def explain_empty(self, query: ReferenceQuery) -> EmptyAnswer:
        return await self._library.explain_empty(query)

    async def find_many(self, reference_ids: Sequence[str]) -> Sequence[Item]:
        return await self._library.find_many(reference_ids)

    async def find_works(self, keys: Collection[WorkKey]) -> Sequence[Item]:
        return await self._library.find_works(keys)

    async def list_items(self, first: int, count: int) -> tuple[int, Sequence[Item]]:
        return await self._library.list_items(first, count)

    async def add(
        self, keys: Collection[WorkKey], choose: Callable[[KnownReferences], Sequence[Item]]
    ) -> Sequence[Item]:
        return await self._library.add(keys, choose)

    async def list_changes(self, reference_id: str | None = None) -> Sequence[PastChange]:
        return await self._library.list_changes(reference_id)

    async def find_overtaken(self, revisions: Collection[int]) -> Collection[int]:
        return await self._library.find_overtaken(revisions)

    async def undo(self, revision: int | None) -> PastChange:
        return await self._library.undo(revision)

    async def change_many(self, decide: Callable[[Sequence[Item]], ManyChanges]) -> None:
        await self._library.change_many(decide)

    async def remove(self, reference_id: str) -> Item | None:
        return await self._library.remove(reference_id)

    async def remove_many(self, reference_ids: Sequence[str]) -> Sequence[str]:
        return await self._library.remove_many(reference_ids)

    async def list_past(self, reference_id: str) -> Sequence[PastVersion]:
        return await self._library.list_past(reference_id)

    async def restore(self, reference_id: str, revision: int | None) -> None:
        await self._library.restore(reference_id, revision)


class ForwardingLibraries:
    """The libraries of callers, each following former keys."""

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries
        self._known: OrderedDict[int, tuple[Library, ForwardingLibrary]] = OrderedDict()

    def of(self, caller: Caller) -> ForwardingLibrary:
        library = self._libraries.of(caller)
        found = self._known.get(id(library))
        if found is None or found[0] is not library:
            found = self._known[id(library)] = (library, ForwardingLibrary(library))
        self._known.move_to_end(id(library))
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return found[1]
