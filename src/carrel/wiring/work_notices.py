"""Notices about works (retractions, corrections), opened once for every room that shows works."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from carrel.core.clock import SystemClock
from carrel.core.work_notices import WorkNotice
from carrel.settings import Settings
from carrel.settings.places import database_files
from carrel.wiring.home import open_driver

if TYPE_CHECKING:
    from carrel.rooms.literature.work_notices import StoredNotices
    from carrel.stores.sql.literature import SqlLiterature


class DeskNotices:
    """The notices of the desk; their store is opened where somebody first asks for it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._store: SqlLiterature | None = None
        self._notices: StoredNotices | None = None

    @property
    def store(self) -> SqlLiterature:
        """The tables of the literature room; nothing is made before the first statement."""
        if self._store is None:
            from carrel.stores.sql.literature import SqlLiterature

            steps = SqlLiterature.schema_steps
            self._store = SqlLiterature(open_driver(self._settings, "literature", steps))
        return self._store

    @property
    def stored(self) -> StoredNotices:
        if self._notices is None:
            from carrel.rooms.literature.work_notices import StoredNotices
            from carrel.services.literature.retraction_file import RetractionFile

            file = self._settings.literature.retraction_watch
            table = RetractionFile(file) if file is not None else None
            self._notices = StoredNotices(self.store.notices, self.has_store, table, SystemClock())
        return self._notices

    @property
    def keeps_tables(self) -> bool:
        """Whether there is a place for tables that lasts."""
        return bool(self._settings.database.url) or self._settings.keeps_home

    def has_store(self) -> bool:
        """Whether there is a store with these settings, without making one."""
        url, file = self._settings.database.url, database_files(self._settings)["literature"]
        return bool(url) or file.exists()

    async def find(self, works: Sequence[Sequence[str]]) -> list[tuple[WorkNotice, ...]]:
        """As `NoticesAbout` says; nothing is opened where nothing was ever stored."""
        has_table = self._settings.literature.retraction_watch is not None
        if not works or not self.keeps_tables or not (has_table or self.has_store()):
            return [()] * len(works)
        return await self.stored.find(works)

    async def close(self) -> None:
        store, self._store, self._notices = self._store, None, None
        if store is not None:
            await store.close()
