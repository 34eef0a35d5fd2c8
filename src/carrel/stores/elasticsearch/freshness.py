"""Keeps our own indices of a cluster as the stores are, before every answer and after every change
of a note.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping

from elasticsearch import AsyncElasticsearch, NotFoundError

from carrel.core.errors import CarrelError, UnavailableError, describe_error
from carrel.rooms.knowledge.documents import DocumentSource, Drop, Put, Reset
from carrel.rooms.knowledge.errors import IndexBuildingError
from carrel.stores.elasticsearch.errors import plainly
from carrel.stores.elasticsearch.sync import SCORING, sync

log = logging.getLogger("carrel.search")

# More changes than these cannot be left out of a question one by one.
MAX_LEFT_OUT = 5_000


class IndexOutdatedError(UnavailableError):
    """The index in the cluster was made by a version that let every document count for
    everybody.
    """

    def __init__(self, index: str) -> None:
        super().__init__(
            f"The index {index} in the cluster was made by an older Carrel, whose scores tell of "
            f"others' documents",
            next_step="The operator should run `carrel search sync`, which makes it anew.",
            details={"index": index},
        )


class ClusterFreshness:
    """What the cluster has not been told yet is written to it, or, where it takes no writes, left
    out of the question.
    """

    def __init__(
        self,
        client: Callable[[], AsyncElasticsearch],
        sources: Iterable[DocumentSource],
        names: Mapping[str, str],
        *,
        build_seconds: float = 15.0,
    ) -> None:
        self._client = client
        self._sources = {source.index: source for source in sources}
        self._names = names
        self._build_seconds = build_seconds
        self._cursors: dict[str, str | None] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._verified: set[str] = set()

    @property
    def indices(self) -> tuple[str, ...]:
        return tuple(self._sources)

    async def close(self) -> None:
        running = list(self._running.values())
        self._running.clear()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def bring_up_to_date(self, index: str) -> list[str]:
        """Waits until the cluster holds what the store has now. Where it cannot be written, the ids
        that it has wrong.
        """
        source = self._sources[index]
        if index in self._cursors and not await _has_changes(source, self._cursors[index]):
            return []
        try:
            await self._wait_for(index, source)
        except IndexBuildingError:
            raise
        except CarrelError as error:
            log.warning(
                "cluster not brought up to date",
                extra={"index": index, "code": error.code, "cause": describe_error(error)},
            )
            return await self._changed_ids(index, source, error)
        return []

    async def require_own_scoring(self, index: str) -> None:
        """Raises IndexOutdatedError for an index whose scores depend on documents that its readers
        may not see.
        """
        if index in self._verified:
            return
        ours = await self._facts(index)
        if ours is not None and ours.get("scoring") != SCORING:
            raise IndexOutdatedError(index)
        if ours is not None:
            self._verified.add(index)

    async def _wait_for(self, index: str, source: DocumentSource) -> None:
        running = self._running.get(index)
        if running is not None and not running.done():
            # It may have asked the store before the last change; so another one follows.
            await asyncio.wait({running}, timeout=self._build_seconds)
            if not running.done():
                raise IndexBuildingError(index, 0)
        task = self._running.get(index)
        if task is None or task is running or task.done():
            task = self._running[index] = asyncio.create_task(self._sync(index, source))
        await asyncio.wait({task}, timeout=self._build_seconds)
        if not task.done():
            raise IndexBuildingError(index, 0)
        task.result()

    async def _sync(self, index: str, source: DocumentSource) -> None:
        done = await sync(self._client(), source, self._names[index], lambda count: None)
        self._cursors[index] = done.cursor

    async def _changed_ids(
        self, index: str, source: DocumentSource, error: CarrelError
    ) -> list[str]:
        ours = await self._facts(index)
        if ours is None:
            raise error
        changed: list[str] = []
        async for change in source.changes(ours.get("cursor")):
            if isinstance(change, Put):
                changed.append(change.document.id)
            elif isinstance(change, Drop):
                changed.append(change.id)
            if isinstance(change, Reset) or len(changed) > MAX_LEFT_OUT:
                raise error
        return changed

    async def _facts(self, index: str) -> Mapping[str, str] | None:
        """What the index says of itself; None where there is no such index."""
        name = self._names[index]
        with plainly():
            try:
                mapping = (await self._client().indices.get_mapping(index=name))[name]["mappings"]
            except NotFoundError:
                return None
        found: Mapping[str, str] = mapping.get("_meta", {}).get("carrel", {})
        return found


async def _has_changes(source: DocumentSource, cursor: str | None) -> bool:
    async for change in source.changes(cursor):
        if isinstance(change, Put | Drop | Reset):
            return True
    return False
