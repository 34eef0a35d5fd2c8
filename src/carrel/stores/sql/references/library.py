"""One library as rows: every change is one transaction that holds the library's row.

Writers of one library wait for each other at that row, on this and on other servers, so that each
decides on the state that the one before has left. A change reads and writes the rows it is about.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, TypeVar

from carrel.core.errors import ConflictError
from carrel.libraries.query.empty_answers import EmptyAnswer
from carrel.rooms.references.items import Item, WorkKey
from carrel.rooms.references.ports import (
    Change,
    FoundReferences,
    KnownReferences,
    LibrarySnapshot,
    ManyChanges,
    PastChange,
    PastVersion,
)
from carrel.rooms.references.queries import ReferenceQuery
from carrel.stores.sql.driver import Driver
from carrel.stores.sql.references.attached_files import DatabaseFiles
from carrel.stores.sql.references.history import (
    plan_restore,
    plan_undo,
    read_changed_since,
    read_changes,
    read_past,
)
from carrel.stores.sql.references.snapshots import CachedRows, RowState
from carrel.stores.sql.references.statements import (
    ItemWrites,
    LibraryHead,
    LibraryName,
    Steps,
    StoredItem,
    lock_library,
    read_ids,
    read_taken,
    read_works,
    write_change,
)

ResultT = TypeVar("ResultT")
ORIGIN = "carrel"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class RowSearch(Protocol):
    """Searches one library as of a state; every method blocks."""

    def search(self, query: ReferenceQuery, first: int, count: int) -> FoundReferences: ...

    def find_all(self, query: ReferenceQuery) -> Sequence[Item]: ...

    def find_ids(self, query: ReferenceQuery) -> Sequence[str]: ...

    def explain(self, query: ReferenceQuery) -> EmptyAnswer: ...

    def close(self) -> None: ...


# Opens the search of a library: where its state is read, its attached files, and its cache folder.
OpenRowSearch = Callable[[Callable[[], RowState], DatabaseFiles, Path], RowSearch]


def _utc_now() -> datetime:
    return datetime.now(UTC)


class RowLibrary:
    """One library; `cache` is a folder of this machine that may be deleted at any time."""

    def __init__(
        self,
        driver: Driver,
        name: LibraryName,
        cache: Path,
        open_search: OpenRowSearch | None = None,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._driver = driver
        self._name = name
        self._cache = cache
        self._open_search = open_search
        self._now = now
        self._search: RowSearch | None = None
        self._rows = CachedRows(name)
        self._running = 0
        self.attached_files = DatabaseFiles(driver, name.key, cache / "attachments")

    @property
    def folder(self) -> Path:
        return self.attached_files.folder

    async def snapshot(self) -> LibrarySnapshot:
        state = await self._state()
        return LibrarySnapshot(state.head.revision, state.items)

    async def find(self, reference_id: str) -> Item | None:
        found = await self._read(read_ids(self._name, [reference_id]))
        return found[reference_id].item if reference_id in found else None

    async def find_many(self, reference_ids: Sequence[str]) -> Sequence[Item]:
        found = await self._read(read_ids(self._name, reference_ids))
        return [found[one].item for one in reference_ids if one in found]

    async def find_works(self, keys: Collection[WorkKey]) -> Sequence[Item]:
        return [each.item for each in await self._read(read_works(self._name, keys))]

    async def list_items(self, first: int, count: int) -> tuple[int, Sequence[Item]]:
        def read() -> Steps[tuple[int, list[Item]]]:
            rows = yield (
                "SELECT count(*) FROM reference_items WHERE library = :library",
                {"library": self._name.key},
            )
            stored = yield (
                "SELECT id FROM reference_items WHERE library = :library "
                "ORDER BY place, id LIMIT :count OFFSET :first",
                {"library": self._name.key, "count": count, "first": first},
            )
            ids = [str(row[0]) for row in stored]
            found = yield from read_ids(self._name, ids)
            return int(rows[0][0]), [found[one].item for one in ids if one in found]

        return await self._read(read())

    async def search(self, query: ReferenceQuery, first: int, count: int) -> FoundReferences:
        return await self._ask(lambda search: search.search(query, first, count))

    async def find_all(self, query: ReferenceQuery) -> Sequence[Item]:
        return await self._ask(lambda search: search.find_all(query))

    async def find_ids(self, query: ReferenceQuery) -> Sequence[str]:
        return await self._ask(lambda search: search.find_ids(query))

    async def explain_empty(self, query: ReferenceQuery) -> EmptyAnswer:
        return await self._ask(lambda search: search.explain(query))

    async def add(
        self, keys: Collection[WorkKey], choose: Callable[[KnownReferences], Sequence[Item]]
    ) -> Sequence[Item]:
        def work() -> Steps[list[Item]]:
            head = yield from lock_library(self._name)
            known = [each.item for each in (yield from read_works(self._name, keys))]
            ids = _ProbedIds()
            while True:
                chosen = [dict(item) for item in choose(KnownReferences(known, ids))]
                _probe_chosen(ids, chosen)
                if not ids.unknown:
                    break
                ids.learn((yield from read_taken(self._name, ids.take_unknown())))
            written = {str(item["id"]): (item, None) for item in _name_items(chosen, ids)}
            yield from self._write(head, ItemWrites(written))
            return [item for item, _ in written.values()]

        return await self._driver.transact(work())

    async def change(self, reference_id: str, decide: Callable[[Item], Change]) -> Item | None:
        def work() -> Steps[Item | None]:
            head = yield from lock_library(self._name)
            stored = (yield from read_ids(self._name, [reference_id])).get(reference_id)
            if stored is None:
                return None
            changes = ManyChanges({reference_id: decide(dict(stored.item))})
            writes = yield from self._plan(changes, {reference_id: stored})
            yield from self._write(head, writes)
            return next((item for item, _ in writes.written.values()), stored.item)

        return await self._driver.transact(work())

    async def change_many(self, decide: Callable[[Sequence[Item]], ManyChanges]) -> None:
        def work() -> Steps[None]:
            head = yield from lock_library(self._name)
            state = yield from self._rows.refresh()
            decided = decide(state.items)
            wanted = [*decided.changes, *decided.removed]
            present = yield from read_ids(self._name, wanted)
            yield from self._write(head, (yield from self._plan(decided, present)))

        await self._driver.transact(work())

    async def remove(self, reference_id: str) -> Item | None:
        def work() -> Steps[Item | None]:
            head = yield from lock_library(self._name)
            stored = (yield from read_ids(self._name, [reference_id])).get(reference_id)
            if stored is not None:
                yield from self._write(head, ItemWrites({}, (reference_id,)))
            return None if stored is None else stored.item

        return await self._driver.transact(work())

    async def remove_many(self, reference_ids: Sequence[str]) -> Sequence[str]:
        def work() -> Steps[list[str]]:
            head = yield from lock_library(self._name)
            present = yield from read_ids(self._name, reference_ids)
            removed = [one for one in dict.fromkeys(reference_ids) if one in present]
            yield from self._write(head, ItemWrites({}, removed))
            return removed

        return await self._driver.transact(work())

    async def list_past(self, reference_id: str) -> Sequence[PastVersion]:
        return await self._read(read_past(self._name, reference_id))

    async def list_changes(self, reference_id: str | None = None) -> Sequence[PastChange]:
        return await self._read(read_changes(self._name, reference_id))

    async def restore(self, reference_id: str, revision: int | None) -> None:
        def work() -> Steps[None]:
            head = yield from lock_library(self._name)
            yield from self._write(
                head, (yield from plan_restore(self._name, reference_id, revision))
            )

        await self._driver.transact(work())

    async def find_overtaken(self, revisions: Collection[int]) -> Collection[int]:
        return await self._read(read_changed_since(self._name, revisions))

    async def undo(self, revision: int | None) -> PastChange:
        def work() -> Steps[PastChange]:
            head = yield from lock_library(self._name)
            change, writes = yield from plan_undo(self._name, revision)
            yield from self._write(head, writes)
            return change

        return await self._driver.transact(work())

    async def take_notices(self) -> Sequence[str]:
        """None: no other program writes rows."""
        return ()

    @property
    def is_busy(self) -> bool:
        """Whether a search is under way."""
        return self._running > 0

    async def rest(self) -> None:
        """Let go of the references in memory and of the index; the next search reads them again."""
        search, self._search = self._search, None
        self._rows = CachedRows(self._name)
        if search is not None:
            await asyncio.to_thread(search.close)

    async def close(self) -> None:
        await self.rest()

    def _plan(self, decided: ManyChanges, present: dict[str, StoredItem]) -> Steps[ItemWrites]:
        """The rows to write for changes of references; ConflictError where an id is taken."""
        gone = {one for one in decided.removed if one in present}
        written: dict[str, tuple[Item, int | None]] = {}
        for reference_id, change in decided.changes.items():
            stored = present.get(reference_id)
            if stored is None or reference_id in gone:
                continue
            item = {n: v for n, v in stored.item.items() if n not in change.removed}
            item.update(change.values)
            name = str(item["id"])
            if name in written:
                raise _taken_error(name)
            if name != reference_id:
                gone.add(reference_id)
            written[name] = (item, stored.place)
        gone -= set(written)
        renamed = [name for name in written if name not in decided.changes]
        taken = yield from read_ids(self._name, renamed)
        if others := sorted(set(taken) - set(decided.removed)):
            raise _taken_error(others[0])
        return ItemWrites(written, sorted(gone))

    def _write(self, head: LibraryHead, writes: ItemWrites) -> Steps[int]:
        at = self._now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return (yield from write_change(self._name, head, writes, at, ORIGIN))

    async def _state(self) -> RowState:
        return await self._driver.transact(self._rows.refresh(), is_read_only=True)

    async def _read(self, work: Steps[ResultT]) -> ResultT:
        return await self._driver.transact(work, is_read_only=True)

    async def _ask(self, ask: Callable[[RowSearch], ResultT]) -> ResultT:
        if self._search is None:
            if self._open_search is None:
                raise RuntimeError("this library was opened without its search")
            self.attached_files.remember_loop()
            self._search = self._open_search(
                self._rows.last_state, self.attached_files, self._cache / "search"
            )
        search = self._search
        self._running += 1
        try:
            await self._state()
            await self.attached_files.read_marks()
            return await asyncio.to_thread(ask, search)
        finally:
            self._running -= 1


class _ProbedIds:
    """Ids in lower case that are taken; what it was asked and does not know is in `unknown`."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}
        self.unknown: set[str] = set()

    def __contains__(self, folded_id: object) -> bool:
        text = str(folded_id)
        if text not in self._known:
            self.unknown.add(text)
        return self._known.get(text, False)

    def take_unknown(self) -> set[str]:
        """What to ask the database: the unknown ids, and each with a letter behind it."""
        asked = self.unknown | {one + letter for one in self.unknown for letter in _LETTERS}
        self._known.update(dict.fromkeys(asked, False))
        self.unknown = set()
        return asked

    def learn(self, taken: Collection[str]) -> None:
        self._known.update(dict.fromkeys(taken, True))


def _probe_chosen(ids: _ProbedIds, chosen: Sequence[Item]) -> None:
    for item in chosen:
        _ = str(item.get("id") or "").lower() in ids


def _name_items(chosen: Sequence[Item], ids: _ProbedIds) -> list[Item]:
    """The items; ConflictError where one has no id, or an id that is taken."""
    seen: set[str] = set()
    for item in chosen:
        name = str(item.get("id") or "")
        if not name or name in seen or name.lower() in ids:
            raise _taken_error(name)
        seen.add(name)
    return list(chosen)


def _taken_error(name: str) -> ConflictError:
    return ConflictError(
        f"There is a reference with the id {name!r} already" if name else "An item has no id",
        next_step="Choose another id.",
        details={"id": name},
    )
