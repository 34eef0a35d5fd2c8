"""The index of notes, opened by the first search so that its driver costs no start-up."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from carrel.core.errors import UnavailableError
from carrel.rooms.knowledge.notes import (
    FoundIds,
    ListedIds,
    NoteListing,
    RankedSearch,
    Shelf,
)
from carrel.rooms.knowledge.ports import KnowledgeStores, NoteFinder
from carrel.settings import Settings

log = logging.getLogger(__name__)

# A server answers its first calls before it looks after its index.
_START_AFTER_SECONDS = 2.0


class LateFinder:
    """The index of notes, opened and its driver imported by the first search."""

    def __init__(self, make_finder: Callable[[], NoteFinder]) -> None:
        self._make_finder = make_finder
        self._finder: NoteFinder | None = None
        self._opening = asyncio.Lock()
        self._starting: asyncio.Task[None] | None = None

    async def search(self, search: RankedSearch) -> FoundIds:
        return await (await self._open()).search(search)

    async def list_notes(self, listing: NoteListing) -> ListedIds:
        return await (await self._open()).list_notes(listing)

    async def find_links(self, terms: Sequence[str], shelf: Shelf, limit: int) -> list[str]:
        return await (await self._open()).find_links(terms, shelf, limit)

    def follow_later(self) -> None:
        """Where nobody has searched yet, the first search catches up."""
        if self._finder is not None:
            self._finder.follow_later()

    async def start(self) -> None:
        """Bring the index up to date soon, in a process that stays."""
        self._starting = asyncio.create_task(self._follow_soon())

    async def _follow_soon(self) -> None:
        await asyncio.sleep(_START_AFTER_SECONDS)
        (await self._open()).follow_later()

    async def close(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._finder is not None:
            await self._finder.close()

    async def _open(self) -> NoteFinder:
        async with self._opening:
            if self._finder is None:
                self._finder = await asyncio.to_thread(self._make_finder)
        return self._finder


def index_folder(settings: Settings) -> Path:
    """Where the index of these notes lies: one for each store."""
    place = {
        "sqlite": "sqlite",
        "postgres": f"postgres {settings.database.url}",
        "firestore": f"firestore {settings.knowledge.project} {settings.knowledge.database}",
    }[settings.knowledge_store]
    name = hashlib.sha256(place.encode()).hexdigest()[:16]
    return (settings.cache or settings.home / "cache") / "notes" / name


def open_finder(settings: Settings, stores: KnowledgeStores) -> LateFinder:
    """The index of the notes, in the cache folder."""

    def make_finder() -> NoteFinder:
        from carrel.stores.search.notes.finder import IndexedNotes

        return IndexedNotes(stores.notes.note_changes, index_folder(settings))

    return LateFinder(make_finder)


async def update_note_index(settings: Settings, stores: KnowledgeStores) -> None:
    """Brings the index up to date after an import; where it cannot be, the next search tries."""
    from carrel.stores.search.notes.finder import IndexedNotes

    finder = IndexedNotes(stores.notes.note_changes, index_folder(settings))
    try:
        await finder.update()
    except UnavailableError as error:
        log.warning("note index not updated", extra={"code": error.code})
    finally:
        await finder.close()
