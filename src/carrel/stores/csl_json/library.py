"""The library file behind the room's port: files are read and written on a thread."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeVar

from carrel.core.caller import LOCAL_USER, Caller, library_name
from carrel.core.errors import CarrelError, NotFoundError
from carrel.core.health import Health
from carrel.libraries.query.empty_answers import EmptyAnswer
from carrel.rooms.references.errors import LibraryHalfChangedError, LibraryUnreadableError
from carrel.rooms.references.items import Item
from carrel.rooms.references.ports import (
    Change,
    FoundReferences,
    KeptVersion,
    LibrarySnapshot,
    PastChange,
    PastText,
    PastVersion,
)
from carrel.rooms.references.queries import ReferenceQuery
from carrel.stores.csl_json.document import (
    LibraryDocument,
    LibraryEntry,
    UnreadableLibraryError,
    element_label,
)
from carrel.stores.csl_json.element_history import ElementHistory
from carrel.stores.csl_json.ledger import Revision
from carrel.stores.csl_json.library_file import Edit, FileState, LibraryFile
from carrel.stores.csl_json.working_folder import CURRENT, locate_library

ResultT = TypeVar("ResultT")
LIBRARY_NAME = "library.json"
_LOOK_EVERY_SECONDS = 0.25


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
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="library")
        self._open_search = open_search
        self._search: FileSearch | None = None
        self._watching: asyncio.Task[None] | None = None
        self._snapshot: tuple[FileState, LibrarySnapshot] | None = None

    @property
    def folder(self) -> Path:
        return self._attachments

    async def snapshot(self) -> LibrarySnapshot:
        state = await self._state()
        if self._snapshot is None or self._snapshot[0] is not state:
            self._snapshot = (state, LibrarySnapshot(state.generation, state.document.items()))
        return self._snapshot[1]

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

    async def add(self, choose: Callable[[Sequence[Item]], Sequence[Item]]) -> Sequence[Item]:
        chosen: list[Item] = []

        def edit(present: LibraryDocument) -> LibraryDocument:
            chosen[:] = choose(present.items())
            return present.with_added(chosen) if chosen else present

        await self._run(lambda: self._change(edit))
        return chosen

    async def change(self, reference_id: str, decide: Callable[[Item], Change]) -> Item | None:
        def edit(present: LibraryDocument) -> LibraryDocument:
            entry, item = present.get(reference_id), present.find(reference_id)
            if entry is None or item is None:
                return present
            change = decide(dict(item))
            # An item whose id was derived has it in the file from its first change on.
            derived = {} if entry.item_id else {"id": reference_id}
            changed = entry.with_changes({**derived, **change.values}, change.removed)
            return present.with_entry(reference_id, changed)

        state = await self._run(lambda: self._change(edit))
        item = state.document.find(reference_id)
        return None if item is None else dict(item)

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

    def _history(self) -> LibraryHistory:
        return LibraryHistory(self._file.path, self._file)

    def _change(self, edit: Edit) -> FileState:
        state = self._file.change(edit)
        if self._open_search is not None and search_folder(self._file.path).is_dir():
            self._searching().follow(state)
        return state

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
        except (LibraryUnreadableError, LibraryHalfChangedError):
            # The answer itself is good; what could not be fetched is said with a later one.
            return ()

    def watch(self) -> None:
        """Looks for outside edits several times a second, so that the next call finds them read."""
        if self._watching is None:
            self._watching = asyncio.get_running_loop().create_task(self._keep_fresh())

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        if self._search is not None:
            self._search.close()
        await asyncio.get_running_loop().run_in_executor(None, self._thread.shutdown)

    async def _keep_fresh(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_EVERY_SECONDS)
            # What was never read is not kept fresh: the index beside the file answers searches.
            if self._file.was_read and not self._file.is_fresh():
                try:
                    await self.snapshot()
                except LibraryUnreadableError:
                    continue

    async def _state(self) -> FileState:
        fresh = self._file.fresh_state()
        return fresh if fresh is not None else await self._run(self._file.read)

    async def _ask(self, work: Callable[[], ResultT]) -> ResultT:
        """Run a search beside reading and writing; making the index may take a while."""
        with translate_file_errors(self._file):
            return await asyncio.to_thread(work)

    async def _run(self, work: Callable[[], ResultT]) -> ResultT:
        with translate_file_errors(self._file):
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)


@contextmanager
def translate_file_errors(file: LibraryFile) -> Iterator[None]:
    """Converts errors of the file to LibraryUnreadableError or LibraryHalfChangedError."""
    try:
        yield
    except UnreadableLibraryError as error:
        newest = file.newest_good_version()
        if newest is None:
            raise LibraryUnreadableError(str(error)) from error
        number, path = newest
        folder = f"{path.parent.parent.name}/{path.parent.name}"
        raise LibraryUnreadableError(str(error), number, folder) from error
    except OSError as error:
        reason = error.strerror or str(error)
        if file.is_touched:
            raise LibraryHalfChangedError(reason) from error
        raise LibraryUnreadableError(reason) from error


class UserLibraries:
    """The library of the local user at one path, and one for each other user in a folder."""

    def __init__(
        self,
        path: Path,
        users: Path,
        attachments: Path | None,
        open_search: OpenSearch | None = None,
    ) -> None:
        self._open_search = open_search
        self._path = path
        self._users = users
        self._attachments = attachments
        self._open: dict[str, CslJsonLibrary] = {}

    def of(self, caller: Caller) -> CslJsonLibrary:
        library = self._open.get(caller.user_id)
        if library is None:
            library = self._open[caller.user_id] = self._open_library(caller.user_id)
            library.watch()
        return library

    def _open_library(self, user_id: str) -> CslJsonLibrary:
        if user_id == LOCAL_USER:
            return CslJsonLibrary(self._path, self._attachments, self._open_search)
        path = user_library_path(self._users, user_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        return CslJsonLibrary(path, open_search=self._open_search)

    async def close(self) -> None:
        for library in self._open.values():
            await library.close()


def search_folder(path: Path) -> Path:
    """The folder of the search index beside a library; it can be deleted at any time."""
    return locate_library(path).folder / "search"


def user_library_path(users: Path, user_id: str) -> Path:
    """The library of a user other than the local one."""
    return users / library_name(user_id) / LIBRARY_NAME


class LibraryHealth:
    """Whether the library at a path can be used."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def check(self) -> Health:
        """Reads the whole library."""
        path = self._path
        if path.is_dir():
            return Health(
                False, f"{path} is a folder", "Name a file with references.library or --library."
            )
        if not path.exists():
            return Health(True, f"{path} (made by the first reference)")
        library = CslJsonLibrary(path)
        try:
            count = len((await library.snapshot()).items)
        except CarrelError as error:
            return Health(False, f"{path}: {error.message}", error.next_step)
        finally:
            await library.close()
        return Health(True, f"{path} ({count} reference{'' if count == 1 else 's'})")

    async def probe(self) -> Health:
        """Looks at both ends of the file, which costs the same at any size."""
        problem = await asyncio.to_thread(_find_problem, self._path)
        return Health(problem is None, f"{self._path}: {problem or 'there'}")


def _find_problem(path: Path) -> str | None:
    """Why the library cannot be used, judged by both ends of its file; None where it can."""
    if path.is_dir():
        return "is a folder"
    try:
        with path.open("rb") as file:
            first = file.read(_END_BYTES)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _END_BYTES))
            last = file.read(_END_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    is_whole = first.removeprefix(_BYTE_ORDER_MARK).lstrip().startswith(
        b"["
    ) and last.rstrip().endswith(b"]")
    is_blank = not (first.strip() or last.strip())
    return None if is_whole or is_blank else "is not a whole CSL-JSON array"


def attachments_folder(path: Path) -> Path:
    """The folder of attached files: beside the path, or beside the file that a link leads to."""
    beside = path.with_name(f"{path.stem}-attachments")
    if not path.is_symlink() or beside.is_dir():
        return beside
    target = Path(os.path.realpath(path))
    return target.with_name(f"{target.stem}-attachments")


_END_BYTES = 4096
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class NothingToRestoreError(NotFoundError):
    """No such version is kept."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "Version", reason, next_step="carrel references history lists what is kept."
        )


class LibraryHistory:
    """Every method raises LibraryUnreadableError where the library cannot be used."""

    def __init__(self, path: Path, file: LibraryFile | None = None) -> None:
        self.path = path
        self._library = file or LibraryFile(path)

    def list_changes(self, reference_id: str | None = None) -> list[PastChange]:
        """Every change that the ledger knows, newest first; those of one reference if named."""
        with translate_file_errors(self._library):
            self._library.read()
            found = [_as_change(revision) for revision in reversed(self._library.revisions())]
        return [
            change
            for change in found
            if (ids := {*change.written, *change.removed, *change.kept})
            and (reference_id is None or reference_id in ids)
        ]

    def list_versions(self) -> list[KeptVersion]:
        """Complete versions that are still kept, newest first."""
        with translate_file_errors(self._library):
            return [
                KeptVersion(number, path, kind != CURRENT, path.stat().st_size)
                for number, kind, path in reversed(self._library.kept_versions())
            ]

    def list_texts(self, reference_id: str) -> list[PastText]:
        """Every version of one reference, oldest first."""
        with translate_file_errors(self._library):
            entry = self._library.read().document.get(reference_id)
            key = (f"id:{reference_id}", 0)
            history = ElementHistory(
                self._library.revisions(), {} if entry is None else {key: entry}
            )
        return [
            PastText(
                version.revision,
                None if version.content is None else version.content.raw,
                version.content is not None,
            )
            for version in history.versions(key)
        ]

    def list_past(self, reference_id: str) -> list[PastVersion]:
        """Every version of one reference with the change that made it, newest first."""
        texts = self.list_texts(reference_id)
        with translate_file_errors(self._library):
            changes = {revision.number: revision for revision in self._library.revisions()}
        return [
            PastVersion(
                text.revision,
                changes[text.revision].at if text.revision in changes else "",
                changes[text.revision].origin if text.revision in changes else "",
                text.is_present,
                None if text.text is None else _read_item(text.text),
            )
            for text in reversed(texts)
        ]

    def restore_version(self, number: int) -> int:
        """Restore a kept version of the whole library; returns the number of references.

        The present version is kept too. Raises NothingToRestoreError for an unknown version.
        """
        paths = {version.number: version.path for version in self.list_versions()}
        if number not in paths:
            raise NothingToRestoreError(f"no version {number} is kept")
        with translate_file_errors(self._library):
            restored = LibraryDocument.parse(paths[number].read_bytes())
            if self._library.is_damaged():
                self._library.replace_damaged()
            return len(self._library.change(restored.reuse_entries).document.items())

    def find_damage(self) -> int | None:
        """The version that can replace a library file that is damaged, or None."""
        newest = self._library.newest_good_version() if self._library.is_damaged() else None
        return None if newest is None else newest[0]

    def restore_reference(self, reference_id: str, revision: int | None = None) -> None:
        """Restore one reference as of a revision, or as before its last change, even if removed.

        Raises NothingToRestoreError where no earlier text is kept.
        """
        texts = self.list_texts(reference_id)
        if revision is not None:
            candidates = [text for text in texts if text.revision <= revision]
            raw = candidates[-1].text if candidates else None
        else:
            raw = next((text.text for text in reversed(texts[:-1]) if text.text is not None), None)
        if raw is None:
            raise NothingToRestoreError(f"no earlier text of {reference_id} is kept")

        def edit(present: LibraryDocument) -> LibraryDocument:
            entry = present.get(reference_id)
            if entry is not None:
                return present.with_entry(reference_id, replace(entry, raw=raw))
            tail = present.tail if present.entries else "\n" + present.tail.lstrip()
            return LibraryDocument(
                (*present.entries, LibraryEntry("\n  ", raw)), present.head, tail
            )

        with translate_file_errors(self._library):
            self._library.change(edit)


def _read_item(text: str) -> Item | None:
    found = json.loads(text)
    return found if isinstance(found, dict) else None


def _as_change(revision: Revision) -> PastChange:
    return PastChange(
        revision.number,
        revision.at,
        revision.origin,
        [element_label(key) for key in revision.written],
        [element_label(key) for key in revision.removed],
        list(revision.kept),
    )
