"""Answers search bodies from the embedded index, brought up to date before every answer."""

from __future__ import annotations

import asyncio
import fnmatch
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from carrel.core.clock import Clock
from carrel.core.errors import (
    InvalidInputError,
    NotFoundError,
    TimedOutError,
    UnavailableError,
)
from carrel.libraries.query.elasticsearch.clauses import SearchRequest
from carrel.libraries.query.elasticsearch.parser import parse_search_body
from carrel.rooms.knowledge.documents import (
    Checkpoint,
    DocumentChange,
    DocumentSource,
    PersonalSource,
)
from carrel.rooms.knowledge.errors import (
    IndexBuildingError,
    KnowledgeStoreError,
    translate_query_errors,
)
from carrel.rooms.knowledge.models import SearchAnswer
from carrel.stores.sqlite.database import DerivedDatabase
from carrel.stores.sqlite.errors import CacheUnusableError
from carrel.stores.sqlite.search.aggregate import Aggregator
from carrel.stores.sqlite.search.answer import (
    FOUND,
    begin_search,
    hit_answer,
    merge_hits,
    search_index,
)
from carrel.stores.sqlite.search.index import (
    STEPS,
    Index,
    ResetTracker,
    apply_changes,
    find_index,
    open_index,
    sweep,
)

_GROUP = 200
_INSTRUCTIONS_BETWEEN_LOOKS = 5000


@dataclass(frozen=True, slots=True)
class _ChosenSource:
    """A source to be asked, and whether the caller named it or a pattern did."""

    source: DocumentSource
    is_named: bool


def search_cache(file: Path) -> DerivedDatabase:
    """The file of the embedded search, which holds nothing of its own."""
    return DerivedDatabase(
        file, STEPS, describe=lambda reason: KnowledgeStoreError("SQLite", reason)
    )


class EmbeddedSearch:
    """One file for all indices; sources are asked for what has changed since."""

    def __init__(
        self,
        database: DerivedDatabase,
        sources: Iterable[DocumentSource],
        clock: Clock,
        *,
        personal: Iterable[PersonalSource] = (),
        build_seconds: float = 15.0,
        query_seconds: float = 10.0,
    ) -> None:
        self._database = database
        self._sources = {source.index: source for source in sources}
        self._personal = {source.index: source for source in personal}
        self._clock = clock
        self._build_seconds = build_seconds
        self._query_seconds = query_seconds
        self._filling: dict[str, asyncio.Task[Index]] = {}
        self._counts: dict[str, int] = {}

    async def search(
        self, index: str, body: Mapping[str, Any], readers: frozenset[str]
    ) -> SearchAnswer:
        with translate_query_errors():
            request = parse_search_body(body)
        try:
            return await self._answer(index, request, readers)
        except CacheUnusableError as error:
            # Once: what is still broken after that is no matter of this file.
            await self._stop_filling()
            await self._database.start_anew(error)
            return await self._answer(index, request, readers)

    async def _answer(
        self, index: str, request: SearchRequest, readers: frozenset[str]
    ) -> SearchAnswer:
        began = self._clock.monotonic()
        sources = self._choose_sources(index, readers)
        indices, missing = await self._bring_all_up_to_date(sources)
        hits, total, best, buckets = await self._database.read(
            lambda connection: self._search_within_limit(connection, indices, request, readers)
        )
        return SearchAnswer(
            took=int((self._clock.monotonic() - began) * 1000),
            timed_out=False,
            shards={
                "total": len(sources),
                "successful": len(indices),
                "skipped": 0,
                "failed": len(missing),
            },
            hits={"total": {"value": total, "relation": "eq"}, "max_score": best, "hits": hits},
            aggregations=buckets or None,
            warning=f"This answer is not complete: {' '.join(missing)}" if missing else None,
        )

    async def notes_changed(self) -> None:
        """Every question brings the file up to date itself."""

    async def close(self) -> None:
        await self._stop_filling()
        await self._database.close()

    async def _stop_filling(self) -> None:
        filling = list(self._filling.values())
        self._filling.clear()
        for task in filling:
            task.cancel()
        for task in filling:
            with suppress(asyncio.CancelledError, Exception):
                await task

    def _search_within_limit(
        self,
        connection: sqlite3.Connection,
        indices: list[Index],
        request: SearchRequest,
        readers: frozenset[str],
    ) -> tuple[list[dict[str, Any]], int, float | None, dict[str, Any]]:
        """Answers, or is interrupted when its time is up."""
        until = self._clock.monotonic() + self._query_seconds
        connection.set_progress_handler(
            lambda: self._clock.monotonic() > until, _INSTRUCTIONS_BETWEEN_LOOKS
        )
        try:
            return _search_all(connection, indices, request, readers, self._clock.now())
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                raise TimedOutError(
                    f"The embedded search took longer than {self._query_seconds:g} seconds",
                    next_step="Ask with rarer words or fewer clauses.",
                ) from error
            if any(words in str(error) for words in ("too many", "too large", "overflow")):
                raise InvalidInputError(
                    "The query is too large", next_step="Ask with fewer clauses and values."
                ) from error
            raise
        finally:
            connection.set_progress_handler(None, 0)

    def _choose_sources(self, given: str, readers: frozenset[str]) -> dict[str, _ChosenSource]:
        """The sources that a name or a pattern stands for, by the names that are shown."""
        known = [*self._sources, *self._personal]
        found: dict[str, _ChosenSource] = {}
        for name in (part.strip() for part in given.split(",")):
            pattern = "*" if name == "_all" else name
            matching = [one for one in known if fnmatch.fnmatchcase(one, pattern)]
            if not matching:
                raise NotFoundError(
                    "index", name, next_step=f"Search one of: {', '.join(sorted(known))}."
                )
            for one in matching:
                source = (
                    self._sources[one] if one in self._sources else self._personal[one].of(readers)
                )
                if source is not None:
                    is_named = name == one or (one in found and found[one].is_named)
                    found[one] = _ChosenSource(source, is_named)
                elif name == one:
                    raise NotFoundError("index", name, next_step="You have none of your own.")
        return found

    async def _bring_all_up_to_date(
        self, chosen: Mapping[str, _ChosenSource]
    ) -> tuple[list[Index], list[str]]:
        """The indices, and the errors of those that only a pattern named."""
        indices: list[Index] = []
        troubles: list[UnavailableError] = []
        for name, one in chosen.items():
            try:
                index = await self._bring_up_to_date(one.source)
                indices.append(replace(index, name=name))
            except UnavailableError as error:
                if one.is_named or isinstance(error, IndexBuildingError):
                    raise
                troubles.append(error)
        if troubles and not indices:
            raise troubles[0]
        return indices, [f"{error.message.rstrip('.')}." for error in troubles]

    async def _bring_up_to_date(self, source: DocumentSource) -> Index:
        """Waits until the index holds what its source has now; IndexBuildingError if that lasts."""
        name = source.index
        running = self._filling.get(name)
        if running is not None and not running.done():
            # It may have asked its source before the caller's last save; so wait, and let another
            # one follow.
            await asyncio.wait({running}, timeout=self._build_seconds)
            if not running.done():
                raise IndexBuildingError(name, self._counts.get(name, 0))
        task = self._filling.get(name)
        if task is None or task is running or task.done():
            task = self._filling[name] = asyncio.create_task(self._fill(source))
        await asyncio.wait({task}, timeout=self._build_seconds)
        if not task.done():
            raise IndexBuildingError(name, self._counts.get(name, 0))
        return task.result()

    async def _fill(self, source: DocumentSource) -> Index:
        name, fields = source.index, source.fields
        known = await self._database.read(lambda connection: find_index(connection, name, fields))
        if known is None:
            known = await self._database.write(
                lambda connection: open_index(connection, name, fields)
            )
        index, cursor = known
        group: list[DocumentChange] = []
        reset = ResetTracker()
        self._counts[source.index] = 0
        async for change in source.changes(cursor):
            group.append(change)
            if len(group) >= _GROUP:
                await self._apply(index, group, reset)
                group = []
        if any(not isinstance(change, Checkpoint) or change.cursor != cursor for change in group):
            await self._apply(index, group, reset)
        if reset.ids is not None:
            await self._database.write(lambda connection: sweep(connection, index, reset))
        return index

    async def _apply(self, index: Index, group: list[DocumentChange], reset: ResetTracker) -> None:
        await self._database.write(
            lambda connection: apply_changes(connection, index, group, reset)
        )
        self._counts[index.name] += len(group)


def _search_all(
    connection: sqlite3.Connection,
    indices: list[Index],
    request: SearchRequest,
    readers: frozenset[str],
    now: datetime,
) -> tuple[list[dict[str, Any]], int, float | None, dict[str, Any]]:
    begin_search(connection)
    parts = [search_index(connection, index, request, readers, now) for index in indices]
    hits = merge_hits([hit for part in parts for hit in part.hits], request)
    page = [
        hit_answer(connection, hit, request)
        for hit in hits[request.first : request.first + request.size]
    ]
    is_scored = request.size > 0 and (
        not request.sort or any(key.field == "_score" for key in request.sort)
    )
    best = (
        max((part.best for part in parts if part.best is not None), default=None)
        if is_scored
        else None
    )
    aggregator = Aggregator(connection, indices, readers, now)
    return (
        page,
        sum(part.total for part in parts),
        None if best is None else round(best, 7),
        aggregator.answer(request.aggregations, FOUND),
    )
