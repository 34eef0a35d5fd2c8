"""The library file behind the room's port: read and changed on a thread, the file follows later."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from carrel.core.errors import UnavailableError
from carrel.libraries.query.empty_answers import EmptyAnswer
from carrel.rooms.references.errors import LibraryUnreadableError
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
from carrel.stores.csl_json.document import LibraryDocument
from carrel.stores.csl_json.file_follower import FileFollower
from carrel.stores.csl_json.library_entry import LibraryEntry
from carrel.stores.csl_json.library_errors import translate_file_errors, translate_read_errors
from carrel.stores.csl_json.library_file import Edit, FileState, LibraryFile
from carrel.stores.csl_json.library_history import LibraryHistory
from carrel.stores.csl_json.library_places import attachments_folder, search_folder
from carrel.stores.csl_json.work_index import TakenIds, WorkIndex

ResultT = TypeVar("ResultT")
_LOOK_EVERY_SECONDS = 0.25
# A file that lacks changes for so long is brought up to date by whoever sees it.
_ABANDONED_SECONDS = 5.0


class FileSearch(Protocol):
    """Searches one library file; every method blocks."""

    def search(self, query: ReferenceQuery, first: int, count: int) -> FoundReferences: ...

    def find_all(self, query: ReferenceQuery) -> Sequence[Item]: ...

    def find_ids(self, query: ReferenceQuery) -> Sequence[str]: ...

    def explain(self, query: ReferenceQuery) -> EmptyAnswer: ...

    def follow(self, state: FileState) -> None:
        """Bring the index to a state that was just written; never raises."""
        ...

    def close(self) -> None: ...


# Opens the search of a file with its folder of attachments; drivers are loaded only then.
OpenSearch = Callable[[LibraryFile, Path], FileSearch]


class CslJsonLibrary:
    """One library. `watch` keeps it fresh in the background until `close`."""

    def __init__(
        self,
        path: Path,
        attachments: Path | None = None,
        open_search: OpenSearch | None = None,
    ) -> None:
        self._file = LibraryFile(path)
        self._attachments = attachments or attachments_folder(self._file.path)
        self._thread = _make_thread()
        # How many calls are under way.
        self._running = 0
        self._open_search = open_search
        self._search: FileSearch | None = None
        self._watching: asyncio.Task[None] | None = None
        self._snapshot: LibrarySnapshot | None = None
        self._works = WorkIndex()
        self._follower = self._make_follower()
        # The revision that the file was seen to lack, and since when.
        self._lacking: tuple[int, float] | None = None

    @property
    def folder(self) -> Path:
        return self._attachments

    @property
    def attached_files(self) -> None:
        """None: attached files are files of this machine."""
        return None

    async def snapshot(self) -> LibrarySnapshot:
        state = await self._state()
        if self._snapshot is None or self._snapshot.generation != state.generation:
            self._snapshot = LibrarySnapshot(state.generation, state.document.items())
        return self._snapshot

    async def search(self, query: ReferenceQuery, first: int, count: int) -> FoundReferences:
        return await self._ask(lambda: self._searching().search(query, first, count))

    async def find_all(self, query: ReferenceQuery) -> Sequence[Item]:
        return await self._ask(lambda: self._searching().find_all(query))

    async def find_ids(self, query: ReferenceQuery) -> Sequence[str]:
        return await self._ask(lambda: self._searching().find_ids(query))

    async def explain_empty(self, query: ReferenceQuery) -> EmptyAnswer:
        return await self._ask(lambda: self._searching().explain(query))

    async def find(self, reference_id: str) -> Item | None:
        item = (await self._state()).document.find(reference_id)
        if item is None and (reason := self._file.unreadable_reason):
            # It may be in the file that cannot be read: that is no absence.
            raise LibraryUnreadableError(reason)
        return None if item is None else dict(item)

    async def find_many(self, reference_ids: Sequence[str]) -> Sequence[Item]:
        found = [await self.find(one) for one in reference_ids]
        return [item for item in found if item is not None]

    async def find_works(self, keys: Collection[WorkKey]) -> Sequence[Item]:
        document = (await self._state()).document
        with self._under_way():
            return await asyncio.to_thread(self._works.find, document, keys)

    async def list_items(self, first: int, count: int) -> tuple[int, Sequence[Item]]:
        items = (await self.snapshot()).items
        return len(items), items[first : first + count]

    async def add(
        self, keys: Collection[WorkKey], choose: Callable[[KnownReferences], Sequence[Item]]
    ) -> Sequence[Item]:
        chosen: list[Item] = []

        def edit(present: LibraryDocument) -> LibraryDocument:
            known = self._works.find(present, keys)
            chosen[:] = choose(KnownReferences(known, TakenIds(self._works, present)))
            return present.with_added(chosen) if chosen else present

        def add() -> None:
            if keys:
                # Before the lock is taken: the first time takes a while.
                self._works.follow(self._file.read().document)
            self._change(edit)

        await self._run(add)
        return chosen

    async def change(self, reference_id: str, decide: Callable[[Item], Change]) -> Item | None:
        def edit(present: LibraryDocument) -> LibraryDocument:
            entry, item = present.get(reference_id), present.find(reference_id)
            if entry is None or item is None:
                return present
            changed = _change_entry(entry, reference_id, decide(dict(item)))
            return present.with_entry(reference_id, changed)

        state = await self._run(lambda: self._change(edit))
        item = state.document.find(reference_id)
        return None if item is None else dict(item)

    async def change_many(self, decide: Callable[[Sequence[Item]], ManyChanges]) -> None:
        def edit(present: LibraryDocument) -> LibraryDocument:
            decided = decide(present.items())
            changed: dict[str, LibraryEntry] = {}
            for reference_id, change in decided.changes.items():
                entry = present.get(reference_id)
                if entry is not None:
                    changed[reference_id] = _change_entry(entry, reference_id, change)
            gone = [one for one in dict.fromkeys(decided.removed) if present.get(one)]
            return present.with_entries(changed, gone) if changed or gone else present

        await self._run(lambda: self._change(edit))

    async def remove(self, reference_id: str) -> Item | None:
        removed: list[Item] = []

        def edit(present: LibraryDocument) -> LibraryDocument:
            removed.clear()
            item = present.find(reference_id)
            if item is None:
                return present
            removed.append(dict(item))
            return present.without(reference_id)

        await self._run(lambda: self._change(edit))
        return removed[0] if removed else None

    async def remove_many(self, reference_ids: Sequence[str]) -> Sequence[str]:
        removed: list[str] = []

        def edit(present: LibraryDocument) -> LibraryDocument:
            removed[:] = [one for one in dict.fromkeys(reference_ids) if present.find(one)]
            return present.without_all(removed) if removed else present

        await self._run(lambda: self._change(edit))
        return removed

    async def list_past(self, reference_id: str) -> Sequence[PastVersion]:
        return await self._run(lambda: self._history().list_past(reference_id))

    async def restore(self, reference_id: str, revision: int | None) -> None:
        await self._run(lambda: self._history().restore_reference(reference_id, revision))

    async def list_changes(self, reference_id: str | None = None) -> Sequence[PastChange]:
        return await self._run(lambda: self._history().list_changes(reference_id))

    async def find_overtaken(self, revisions: Collection[int]) -> Collection[int]:
        return await self._run(lambda: self._history().find_overtaken(revisions))

    async def undo(self, revision: int | None) -> PastChange:
        return await self._run(lambda: self._history().undo_change(revision))

    def _history(self) -> LibraryHistory:
        return LibraryHistory(self._file.path, self._file, self._change)

    def _change(self, edit: Edit) -> FileState:
        state = self._file.record(edit)
        self._follower.wake()
        return state

    def _materialize(self) -> None:
        self._file.materialize()
        self._follow_search()

    def _follow_search(self) -> None:
        state = self._file.fresh_state()
        if (
            state is not None
            and self._open_search is not None
            and search_folder(self._file.path).is_dir()
        ):
            self._searching().follow(state)

    def _searching(self) -> FileSearch:
        if self._search is None:
            if self._open_search is None:
                raise RuntimeError("this library was opened without its search")
            self._search = self._open_search(self._file, self._attachments)
        return self._search

    async def take_notices(self) -> Sequence[str]:
        fresh = self._file.fresh_state()
        if fresh is not None and not fresh.has_notices:
            return ()
        if reason := self._file.unreadable_reason:
            return (
                f"The library file cannot be read ({reason}). This is its last good state; mend "
                f"the file.",
            )
        try:
            return await self._run(self._file.take_notices)
        except UnavailableError:
            # The answer itself is good; what could not be fetched is said with a later one.
            return ()

    def watch(self) -> None:
        """Looks for outside edits several times a second, so that the next call finds them read."""
        if self._watching is None:
            self._watching = asyncio.get_running_loop().create_task(self._keep_fresh())

    @property
    def is_busy(self) -> bool:
        """Whether a call is under way, or the file lacks something."""
        return self._running > 0 or self._file.is_behind or self._follower.is_pending

    async def rest(self) -> None:
        """Let go of memory, threads and the index, of a library that is not busy.

        The next call takes them again; until then outside edits are not looked for.
        """
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.cancel()
        search, self._search = self._search, None
        follower, self._follower = self._follower, self._make_follower()
        thread, self._thread = self._thread, _make_thread()
        self._snapshot, self._works, self._lacking = None, WorkIndex(), None

        def let_go() -> None:
            follower.close()
            if search is not None:
                search.close()
            thread.shutdown()
            self._file.forget()

        await asyncio.to_thread(let_go)

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        await asyncio.to_thread(self._follower.close)
        if self._search is not None:
            self._search.close()
        await asyncio.get_running_loop().run_in_executor(None, self._thread.shutdown)
        # Whoever still has this object holds no library by it.
        self._snapshot, self._works = None, WorkIndex()
        await asyncio.to_thread(self._file.forget)

    async def _keep_fresh(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_EVERY_SECONDS)
            # What was never read is not kept fresh: the index beside the file answers searches.
            if self._file.was_read and not self._file.is_fresh():
                try:
                    await self.snapshot()
                except UnavailableError:
                    # Unreadable, half written or no space for a merge: it is looked at again.
                    continue
            if self._is_abandoned():
                self._follower.wake()

    def _is_abandoned(self) -> bool:
        """Whether the file lacks changes for so long that their writer must have been killed."""
        state = self._file.fresh_state()
        if state is None or state.is_placed:
            self._lacking = None
        elif self._lacking is None or self._lacking[0] != state.revision:
            self._lacking = (state.revision, time.monotonic())
        elif time.monotonic() - self._lacking[1] > _ABANDONED_SECONDS:
            self._lacking = None
            return True
        return False

    async def _state(self) -> FileState:
        fresh = self._file.fresh_state()
        return fresh if fresh is not None else await self._run(self._file.read)

    async def _ask(self, work: Callable[[], ResultT]) -> ResultT:
        """Run a search beside reading and writing; making the index may take a while."""
        with translate_read_errors(self._file), self._under_way():
            return await asyncio.to_thread(work)

    async def _run(self, work: Callable[[], ResultT]) -> ResultT:
        with translate_file_errors(self._file), self._under_way():
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    @contextmanager
    def _under_way(self) -> Iterator[None]:
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1

    def _make_follower(self) -> FileFollower:
        return FileFollower(self._follow_search, self._materialize)


def _make_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="library")


def _change_entry(entry: LibraryEntry, reference_id: str, change: Change) -> LibraryEntry:
    """The entry with a change; a derived id is written from the first change on."""
    derived = {} if entry.item_id else {"id": reference_id}
    return entry.with_changes({**derived, **change.values}, change.removed)
