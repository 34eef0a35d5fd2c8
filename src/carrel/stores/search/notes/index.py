"""The index of notes on disk: it follows its store before every search and is rebuilt if damaged.

current                  the name of the generation in use
<generation>/state.sqlite   the cursor of the store, and in which parts each note lies
<generation>/parts/team, proposals, own-<hash>   index parts
views/                   unions of parts, one for each set that a reader may see
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import secrets
import shutil
import sqlite3
import tempfile
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from carrel.core.errors import UnavailableError
from carrel.core.process_name import process_name
from carrel.rooms.knowledge.documents import Checkpoint, Drop, NoteChange, NotePut, Reset
from carrel.rooms.knowledge.errors import IndexBuildingError
from carrel.rooms.knowledge.notes import Shelf
from carrel.stores.file_lock import hold_lock
from carrel.stores.search.errors import UnusablePartError
from carrel.stores.search.notes.documents import note_digest
from carrel.stores.search.notes.state import IndexState
from carrel.stores.search.notes.writer import PARTS_FOLDER, IndexWriter, parts_of_shelf
from carrel.stores.search.schema import INDEX_FORMAT
from carrel.stores.search.views import View, name_view, open_view

log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")

# Raised when the documents that notes become change, so that an earlier index is made again.
NOTES_FORMAT = 1
# How long a search waits for an index that is being built; a call has 30 seconds in all.
BUILD_SECONDS = 25.0
_BATCH = 2_000
_OPEN_VIEWS = 32
# Changes that stores tell again are recognised while they are among the last ones.
_REMEMBERED = 20_000
_CURRENT = "current"
_LOCK = "lock"
# Between a saved note and the index, where no search asks for it before.
_FOLLOW_AFTER_SECONDS = 0.3

ReadChanges = Callable[[str | None], AsyncIterator[NoteChange]]


class IndexWriteError(UnavailableError):
    """The index cannot be written, such as on a full disk."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The search index of notes cannot be written: {reason}",
            next_step="Try again; if it stays so, the operator should run `carrel doctor`.",
        )


@dataclass(slots=True)
class _Generation:
    """What this process knows of the generation in use."""

    name: str
    cursor: str | None
    parts: frozenset[str]
    recent: OrderedDict[str, bytes] = field(default_factory=OrderedDict)

    def has_seen(self, change: NotePut | Drop) -> bool:
        if isinstance(change, Drop):
            return self.recent.get(change.id) == b""
        return self.recent.get(change.note.id) == note_digest(change.note)

    def remember(self, seen: dict[str, bytes]) -> None:
        for note_id, digest in seen.items():
            self.recent[note_id] = digest
            self.recent.move_to_end(note_id)
        while len(self.recent) > _REMEMBERED:
            self.recent.popitem(last=False)


class NoteIndex:
    """The index of one store of notes, shared by all processes that use the same folder."""

    def __init__(
        self, changes: ReadChanges, folder: Path, *, build_seconds: float = BUILD_SECONDS
    ) -> None:
        self._changes = changes
        self._folder = folder / f"{NOTES_FORMAT}-{INDEX_FORMAT}"
        self._build_seconds = build_seconds
        self._generation: _Generation | None = None
        self._following: asyncio.Task[None] | None = None
        self._later: asyncio.Task[None] | None = None
        self._views: OrderedDict[str, View] = OrderedDict()
        self._views_lock = threading.Lock()
        self._written = 0

    async def search(self, shelf: Shelf, work: Callable[[View | None], ResultT]) -> ResultT:
        """Run `work` in a thread on all that is visible on a shelf; None where it is empty.

        Every write that was acknowledged before is in it. Raises IndexBuildingError.
        """
        await self.catch_up()
        try:
            return await asyncio.to_thread(self._work_on_view, shelf, work)
        except (UnusablePartError, _DamagedIndexError) as error:
            log.warning("note index rebuilt", extra={"reason": str(error)})
            await asyncio.to_thread(self._forget_generation)
            await self.catch_up()
            return await asyncio.to_thread(self._work_on_view, shelf, work)

    async def catch_up(self, wait_seconds: float | None = None) -> None:
        """Bring the index to what its store holds now."""
        wait_seconds = self._build_seconds if wait_seconds is None else wait_seconds
        while not await self._is_current():
            task, is_joined = self._following, True
            if task is None or task.done():
                task, is_joined = asyncio.create_task(self._follow()), False
                self._following = task
            try:
                async with asyncio.timeout(wait_seconds):
                    await asyncio.shield(task)
            except TimeoutError:
                raise IndexBuildingError("knowledge", self._written) from None
            if not is_joined:
                return

    def follow_later(self) -> None:
        """Catch up soon, in the background; several calls are one."""
        if self._later is None or self._later.done():
            self._later = asyncio.create_task(self._follow_soon())

    async def close(self) -> None:
        for task in (self._later, self._following):
            if task is not None and not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        self._views.clear()

    async def _follow_soon(self) -> None:
        await asyncio.sleep(_FOLLOW_AFTER_SECONDS)
        try:
            await self.catch_up()
        except (UnavailableError, OSError) as error:
            # The next search tries again and says what is wrong.
            log.info("note index not followed", extra={"reason": str(error)})

    async def _is_current(self) -> bool:
        generation = await asyncio.to_thread(self._load_generation)
        if generation is None:
            return False
        cursor = generation.cursor
        async for change in self._changes(cursor):
            match change:
                case Checkpoint(mark):
                    cursor = mark
                case NotePut() | Drop():
                    if not generation.has_seen(change):
                        return False
                case Reset():
                    return False
        generation.cursor = cursor
        return True

    async def _follow(self) -> None:
        with suppress(OSError):
            await asyncio.to_thread(self._folder.mkdir, mode=0o700, parents=True, exist_ok=True)
        if not await asyncio.to_thread(os.access, self._folder, os.W_OK):
            self._folder = await asyncio.to_thread(_own_folder)
        lock = _held_lock(self._folder / _LOCK)
        await asyncio.to_thread(lock.__enter__)
        try:
            await self._follow_locked()
        except sqlite3.OperationalError as error:
            raise IndexWriteError(str(error)) from error
        except OSError as error:
            raise IndexWriteError(error.strerror or type(error).__name__) from error
        finally:
            lock.__exit__(None, None, None)

    async def _follow_locked(self) -> None:
        self._generation = None
        generation = await asyncio.to_thread(self._load_generation)
        if generation is not None:
            try:
                if await self._write_changes(generation.name, generation.cursor):
                    return
            except (UnusablePartError, sqlite3.DatabaseError, ValueError) as error:
                if _is_full(error):
                    raise
                log.warning("note index rebuilt", extra={"reason": str(error)})
        name = f"g{secrets.token_hex(8)}"
        await asyncio.to_thread((self._folder / name).mkdir, mode=0o700)
        await self._write_changes(name, None)
        await asyncio.to_thread(self._publish, name)

    async def _write_changes(self, name: str, since: str | None) -> bool:
        """Write what changed into a generation; False where it belongs to another database."""
        writer = await asyncio.to_thread(IndexWriter, self._folder / name)
        try:
            recent: dict[str, bytes] = {}
            batch: list[NotePut | Drop] = []
            cursor: str | None = None
            async for change in self._changes(since):
                match change:
                    case Reset():
                        if since is not None:
                            return False
                    case Checkpoint(mark):
                        cursor = mark
                        if len(batch) >= _BATCH:
                            recent |= await asyncio.to_thread(writer.write, batch, cursor)
                            batch, self._written = [], writer.written
                    case NotePut() | Drop():
                        batch.append(change)
            recent |= await asyncio.to_thread(writer.write, batch, cursor)
            self._written = writer.written
            generation = await asyncio.to_thread(_read_generation, name, writer.state)
            generation.remember(recent)
            self._generation = generation
            return True
        finally:
            await asyncio.to_thread(writer.state.close)

    def _load_generation(self) -> _Generation | None:
        """The generation in use, as far as this process knows it."""
        try:
            name = (self._folder / _CURRENT).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
        known = self._generation
        if known is not None and known.name == name:
            return known
        folder = self._folder / name
        if not name.isalnum() or not folder.is_dir():
            return None
        try:
            state = IndexState(folder)
        except (sqlite3.DatabaseError, OSError):
            return None
        try:
            self._generation = _read_generation(name, state)
        except sqlite3.DatabaseError:
            return None
        finally:
            state.close()
        return self._generation

    def _publish(self, name: str) -> None:
        """Make a generation the one in use and remove all others."""
        draft = self._folder / f"{_CURRENT}.{process_name()}"
        with draft.open("w", encoding="ascii") as file:
            file.write(name)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._folder / _CURRENT)
        for folder in self._folder.glob("g*"):
            if folder.name != name:
                shutil.rmtree(folder, ignore_errors=True)

    def _forget_generation(self) -> None:
        with _held_lock(self._folder / _LOCK):
            known, self._generation = self._generation, None
            with self._views_lock:
                self._views.clear()
            with suppress(OSError):
                current = (self._folder / _CURRENT).read_text(encoding="ascii").strip()
                # Whoever found the damage before us has built another one.
                if known is None or known.name == current:
                    (self._folder / _CURRENT).unlink()
                    shutil.rmtree(self._folder / "views", ignore_errors=True)

    def _work_on_view(self, shelf: Shelf, work: Callable[[View | None], ResultT]) -> ResultT:
        generation = self._generation
        if generation is None:
            raise UnusablePartError("the index of notes is gone")
        parts = self._folder / generation.name / PARTS_FOLDER
        names = [name for name in parts_of_shelf(shelf) if name in generation.parts]
        if not names:
            return work(None)
        view = self._open_view([parts / name for name in names])
        with _as_damage():
            return work(view)

    def _open_view(self, parts: list[Path]) -> View:
        name = name_view(parts)
        with self._views_lock:
            known = self._views.get(name)
            if known is not None:
                self._views.move_to_end(name)
                return known
        with _as_damage():
            view = open_view(parts, self._folder / "views")
        with self._views_lock:
            self._views[view.name] = view
            while len(self._views) > _OPEN_VIEWS:
                self._views.popitem(last=False)
        return view


class _DamagedIndexError(Exception):
    """The index failed in a way that only damaged files explain."""


@contextmanager
def _as_damage() -> Iterator[None]:
    try:
        yield
    except UnusablePartError:
        raise
    except BaseException as error:
        # Rust code that meets impossible bytes panics, which is no Exception.
        if type(error).__name__ == "PanicException" or isinstance(error, OSError):
            raise _DamagedIndexError(str(error)) from error
        raise


def _read_generation(name: str, state: IndexState) -> _Generation:
    return _Generation(name, state.read_cursor(), state.read_parts())


def _is_full(error: Exception) -> bool:
    return isinstance(error, sqlite3.OperationalError) and "full" in str(error)


@contextmanager
def _held_lock(file: Path) -> Iterator[None]:
    with hold_lock(file, wait_seconds=None):
        yield


def _own_folder() -> Path:
    """A folder of this process alone, where the cache folder cannot be written."""
    folder = Path(tempfile.mkdtemp(prefix="carrel-notes-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
