"""Notices about works as they are stored, kept in step with the table that settings name."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from carrel.core.clock import Clock
from carrel.core.work_notices import (
    NoticesAbout,
    WorkNotice,
    find_notices,
    sort_notices,
    work_keys,
)
from carrel.libraries.literature.records import MergedWork, Notice, WorkIds
from carrel.rooms.literature.retraction_ports import (
    LoadedTable,
    NoticeStore,
    NoticeTable,
    TableContent,
    UnreadableTableError,
)

log = logging.getLogger(__name__)


class StoredNotices:
    """Finds notices off line; a changed table is loaded before the next answer."""

    def __init__(
        self,
        store: NoticeStore,
        has_store: Callable[[], bool],
        table: NoticeTable | None,
        clock: Clock,
    ) -> None:
        """`has_store` says whether anything was ever stored, without making a store."""
        self._store = store
        self._has_store = has_store
        self._table = table
        self._clock = clock
        self._seen: str | None = None
        self._loading = asyncio.Lock()
        # Why the table that settings name could not be loaded; empty where it was.
        self.problem = ""

    async def find(self, works: Sequence[Sequence[str]]) -> list[tuple[WorkNotice, ...]]:
        """As `NoticesAbout` says."""
        await self.refresh()
        if not self._has_store():
            return [()] * len(works)
        known = await self._store.find([key for keys in works for key in keys])
        return [_join(known.get(key, []) for key in keys) for keys in works]

    async def refresh(self) -> None:
        """Loads the table of the settings where it changed since it was loaded last."""
        table = self._table
        if table is None or (mark := table.mark()) == self._seen:
            return
        async with self._loading:
            if mark == self._seen:
                return
            try:
                await self._load_changed(table, mark)
                self.problem = ""
            except UnreadableTableError as error:
                # What was loaded before stays; looked at again when the file changes.
                self.problem = str(error)
                log.warning("table of notices not loaded", extra={"reason": str(error)})
            self._seen = mark

    async def _load_changed(self, table: NoticeTable, mark: str | None) -> None:
        if mark is None:
            raise UnreadableTableError(f"There is no file {table.place}")
        stored = await self._store.table(table.name) if self._has_store() else None
        if stored is None or (stored.place, stored.mark) != (table.place, mark):
            await self.load(table)

    async def load(self, table: NoticeTable) -> tuple[LoadedTable, TableContent]:
        """Puts a table in the place of the one before. Raises UnreadableTableError."""
        mark = table.mark() or ""
        content = await asyncio.to_thread(table.read)
        loaded = LoadedTable(
            table.name,
            table.place,
            mark,
            self._clock.now().isoformat(timespec="seconds"),
            content.record_count,
            sum(content.skipped.values()),
        )
        await self._store.replace_table(loaded, content.rows)
        return loaded, content

    async def loaded(self, name: str) -> LoadedTable | None:
        """The table as it was loaded last; None where it never was."""
        await self.refresh()
        return await self._store.table(name) if self._has_store() else None


async def add_stored_notices(
    works: Sequence[MergedWork], notices: NoticesAbout
) -> list[MergedWork]:
    """The works with the notices that are stored here beside those that services gave."""
    keys = [list_notice_keys(each.work.ids) for each in works]
    stored = await find_notices(notices, keys)
    return [
        replace(found, work=replace(found.work, notices=_join_notices(found.work.notices, more)))
        if more
        else found
        for found, more in zip(works, stored, strict=True)
    ]


def list_notice_keys(ids: WorkIds) -> tuple[str, ...]:
    """The keys under which notices may name a work."""
    return work_keys(ids.doi, ids.pmid, ids.arxiv)


def _join_notices(own: Sequence[Notice], stored: Sequence[WorkNotice]) -> tuple[Notice, ...]:
    more = (
        Notice(each.kind, each.date, each.doi, each.pmid, each.reasons, each.service)
        for each in stored
    )
    return tuple(dict.fromkeys((*own, *more)))


def show_notice(notice: Notice) -> WorkNotice:
    """A notice as answers show it."""
    return WorkNotice(
        kind=notice.kind,
        date=notice.date,
        doi=notice.doi,
        pmid=notice.pmid,
        reasons=notice.reasons,
        service=notice.service,
    )


def _join(several: Iterable[Sequence[Notice]]) -> tuple[WorkNotice, ...]:
    notices = (show_notice(each) for group in several for each in group)
    return sort_notices(dict.fromkeys(notices))
