"""Whether the corpus can be read, and what an operator does where it cannot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from carrel.core.errors import CarrelError
from carrel.core.health import Health
from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.corpus.current import CheckedStore, CorpusPlace

_FIRST_PAPERS = "carrel add FOLDER adds papers; the server sees them at once."


class CorpusHealth:
    """`is_named`: the corpus was named in the settings. `ask`: a search of a cluster."""

    def __init__(
        self,
        place: CorpusPlace,
        store: CheckedStore,
        *,
        is_named: bool,
        ask: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self._place = place
        self._store = store
        self._is_named = is_named
        self._ask = ask

    async def check(self) -> Health:
        if await self._is_empty():
            return self._describe_empty()
        path = await asyncio.to_thread(lambda: self._place.path)
        try:
            await self._store.check()
            if self._ask is not None:
                await self._ask()
        except CarrelError as error:
            return Health(False, f"{path}: {error.message}", self._next_step(error))
        return Health(True, str(path))

    async def probe(self) -> Health:
        """A desk without papers is ready for its first."""
        return await self.check()

    async def _is_empty(self) -> bool:
        return not self._is_named and not await asyncio.to_thread(self._place.exists)

    def _describe_empty(self) -> Health:
        path = self._place.folder.path
        return Health(True, f"{path} (no papers yet)", _FIRST_PAPERS, note="empty")

    def _next_step(self, error: CarrelError) -> str:
        is_unreadable = isinstance(error, SnapshotUnavailableError)
        if self._ask is not None and self._place.exists() and not is_unreadable:
            return (
                "Start Elasticsearch or correct elasticsearch.url, then fill it with carrel "
                "search sync."
            )
        if self._place.has_segments():
            return error.next_step
        if self._is_named:
            return (
                "Correct papers.snapshot (PAPER_DB_SNAPSHOT_DB, --snapshot), or make the file "
                "again with carrel papers build FOLDER."
            )
        return "Make it again with carrel papers build FOLDER."
