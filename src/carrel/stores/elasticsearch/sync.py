"""Keeps our indices in a cluster as the stores are; the index itself remembers how far it is."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

import orjson
from elasticsearch import AsyncElasticsearch
from elasticsearch.helpers import async_bulk

from carrel.core.errors import (
    CarrelError,
    InvalidInputError,
    UnavailableError,
    describe_error,
)
from carrel.core.progress import Progress
from carrel.libraries.query.elasticsearch.analyzer import ANALYSIS_SETTINGS
from carrel.rooms.knowledge.documents import (
    Checkpoint,
    Document,
    DocumentChange,
    DocumentSource,
    Drop,
    FieldKind,
    Put,
    Reset,
    is_public,
)
from carrel.rooms.knowledge.errors import IndexBuildingError
from carrel.stores.elasticsearch.errors import translate_driver_errors
from carrel.stores.elasticsearch.fields import DIGEST, DOCUMENT_ID, READERS, field_types
from carrel.stores.elasticsearch.indices import (
    create_index,
    facts_of,
    find_index,
    find_our_index,
    move_aliases,
    write_facts,
)
from carrel.stores.elasticsearch.writing import Synced, raise_first

log = logging.getLogger("carrel.search")

_GROUP = 500
# More changes than these cannot be left out of a question one by one.
MAX_LEFT_OUT = 5_000
# The version of how an index scores; an index of ours without it is made anew.
SCORING = "2"
# The same for how texts become words.
ANALYSIS = "2"
_PAGE = 5_000
# Scores use term frequency and text length, but no document frequency, which would count documents
# of other users. At 100 words a text counts neither as short nor as long.
_OWN_DOCUMENT_SIMILARITY = {
    "type": "scripted",
    "script": {
        "source": "double tf = doc.freq; double norm = 1.2 * (0.25 + 0.75 * doc.length / 100.0); "
        "return query.boost * tf * 2.2 / (tf + norm);"
    },
}
_SETTINGS: dict[str, Any] = {"analysis": ANALYSIS_SETTINGS}


@runtime_checkable
class SyncingSource(Protocol):
    """A source of several indices that belong together, which it writes itself."""

    @property
    def index(self) -> str: ...

    async def has_changes(self, cursor: str | None) -> bool:
        """Whether there is more than the cursor knows."""
        ...

    async def sync(
        self,
        client: AsyncElasticsearch,
        name: str,
        report: Callable[[int], None],
        *,
        rebuild: bool = False,
    ) -> Synced:
        """Brings the indices up to date."""
        ...


ClusterSource = DocumentSource | SyncingSource


def choose_sources(
    sources: Iterable[ClusterSource], names: Collection[str], left_out: Collection[str]
) -> list[ClusterSource]:
    """Those named, or without names all but those left out; InvalidInputError for another name."""
    known = {source.index: source for source in sources}
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise InvalidInputError(
            f"There is no index {', '.join(unknown)}",
            next_step=f"Choose from {', '.join(known)}.",
        )
    chosen = names or [name for name in known if name not in left_out]
    return [source for name, source in known.items() if name in chosen]


async def sync_all(
    client: AsyncElasticsearch,
    sources: Iterable[ClusterSource],
    prefix: str,
    progress: Progress,
    *,
    rebuild: bool = False,
) -> AsyncGenerator[Synced, None]:
    """Brings one index after the other up to date, each under its name behind the prefix.

    `rebuild`: makes them anew beside those in use, which go when the new ones are whole.
    """
    for source in sources:
        progress.begin(source.index, None, "documents")
        counted = 0

        def report(count: int) -> None:
            nonlocal counted
            progress.advance(count - counted)
            counted = count

        done = await bring_up_to_date(
            client, source, f"{prefix}{source.index}", report, rebuild=rebuild
        )
        progress.end()
        yield done


async def bring_up_to_date(
    client: AsyncElasticsearch,
    source: ClusterSource,
    name: str,
    report: Callable[[int], None],
    *,
    rebuild: bool = False,
) -> Synced:
    """Brings one index up to date, or several that belong together."""
    if isinstance(source, SyncingSource):
        return await source.sync(client, name, report, rebuild=rebuild)
    return await sync(client, source, name, report, rebuild=rebuild)


async def sync(
    client: AsyncElasticsearch,
    source: DocumentSource,
    name: str,
    report: Callable[[int], None],
    *,
    rebuild: bool = False,
) -> Synced:
    """Brings one index up to date and says how many documents were written and dropped.

    After a reset only what differs is written, and what was not sent again goes at the end: so
    the index is never empty on the way, and two that do this at once end alike. One of another
    shape is replaced when the new one beside it is whole.
    """
    with translate_driver_errors():
        there, cursor = await _open_index(client, name, source, rebuild=rebuild)
        facts = _facts(source.fields, None)
        writer = _IndexWriter(client, there, report)
        if cursor is None:
            # New, or a run that sent everything ended on the way: what is left of it is swept.
            await writer.reset()
        async for change in source.changes(cursor):
            match change:
                case Put() | Drop():
                    await writer.take(change)
                case Reset():
                    # Until the next mark nobody may take what is there for the whole.
                    await write_facts(client, there, facts)
                    await writer.reset()
                case Checkpoint(after):
                    cursor = after
                    await writer.flush()
                    if not writer.is_sweeping:
                        await write_facts(client, there, {**facts, "cursor": after})
        await writer.flush()
        if writer.is_sweeping:
            await writer.sweep()
            await write_facts(client, there, {**facts, "cursor": cursor})
        await client.indices.refresh(index=there)
        await move_aliases(client, {name: there})
        report(writer.put + writer.dropped)
    return Synced(name, writer.put, writer.dropped, cursor)


class _IndexWriter:
    """Writes changes in groups; knows what the index holds while a source sends all anew."""

    def __init__(
        self, client: AsyncElasticsearch, name: str, report: Callable[[int], None]
    ) -> None:
        self.put = self.dropped = 0
        self._client = client
        self._name = name
        self._report = report
        self._group: list[DocumentChange] = []
        self._held: dict[str, str] = {}
        self.is_sweeping = False

    async def reset(self) -> None:
        self._group.clear()
        self._held = await _held_digests(self._client, self._name)
        self.is_sweeping = bool(self._held)

    async def take(self, change: Put | Drop) -> None:
        if isinstance(change, Put):
            if self._held.pop(change.document.id, None) == document_digest(change.document):
                return
            self.put += 1
        else:
            self._held.pop(change.id, None)
            self.dropped += 1
        self._group.append(change)
        if len(self._group) >= _GROUP:
            await self.flush()

    async def flush(self) -> None:
        if self._group:
            actions = [_action(self._name, change) for change in self._group]
            _, errors = await async_bulk(self._client, actions, raise_on_error=False)
            raise_first(errors)
            self._group.clear()
        self._report(self.put + self.dropped)

    async def sweep(self) -> None:
        """Drop what the source has not sent again."""
        for gone in list(self._held):
            await self.take(Drop(gone))
        await self.flush()
        self.is_sweeping = False


async def _held_digests(client: AsyncElasticsearch, name: str) -> dict[str, str]:
    """The ids in the index with the digests of their documents."""
    await client.indices.refresh(index=name)
    held: dict[str, str] = {}
    after: list[Any] | None = None
    while True:
        page = await client.search(
            index=name,
            size=_PAGE,
            source=False,
            docvalue_fields=[{"field": DIGEST}],
            sort=[{DOCUMENT_ID: "asc"}],
            search_after=after,
        )
        hits = page["hits"]["hits"]
        for hit in hits:
            held[str(hit["_id"])] = str(hit.get("fields", {}).get(DIGEST, [""])[0])
        if len(hits) < _PAGE:
            return held
        after = hits[-1]["sort"]


def document_digest(document: Document) -> str:
    """A short name for a document's content and readers."""
    content = orjson.dumps([document.fields, sorted(document.readers)], default=str)
    return hashlib.blake2b(content, digest_size=12).hexdigest()


async def _open_index(
    client: AsyncElasticsearch, name: str, source: DocumentSource, *, rebuild: bool
) -> tuple[str, str | None]:
    """The index to write and the cursor of the last run; a new one where the shape is another."""
    public = is_public(source)
    shape = _facts(source.fields, None)
    current = await find_our_index(client, name)
    if current is not None and not rebuild and _has_shape(current.facts or {}, shape, public):
        cursor = (current.facts or {}).get("cursor")
        return current.name, None if cursor is None else str(cursor)
    there = f"{name}-{_shape_digest(shape)}"
    if current is not None and current.name == there:
        there = f"{there}-2"
    mappings = {
        "dynamic": False,
        "_meta": facts_of(shape),
        "properties": {
            **field_types(source.fields),
            READERS: {"type": "keyword"},
            DOCUMENT_ID: {"type": "keyword"},
            DIGEST: {"type": "keyword", "index": False},
        },
    }
    settings = (
        _SETTINGS if public else {**_SETTINGS, "similarity": {"default": _OWN_DOCUMENT_SIMILARITY}}
    )
    await create_index(client, there, settings, mappings)
    if current is None:
        # Nobody has one to lose: the first documents are found as soon as they are written.
        await move_aliases(client, {name: there})
    return there, None


def _has_shape(facts: Mapping[str, Any], shape: Mapping[str, Any], public: bool) -> bool:
    wanted = ("fields", "analysis") if public else ("fields", "analysis", "scoring")
    return all(facts.get(name) == shape[name] for name in wanted)


def _shape_digest(shape: Mapping[str, Any]) -> str:
    content = orjson.dumps(shape, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(content, digest_size=4).hexdigest()


def _facts(fields: Mapping[str, FieldKind], cursor: str | None) -> dict[str, Any]:
    return {"fields": dict(fields), "cursor": cursor, "scoring": SCORING, "analysis": ANALYSIS}


def _action(name: str, change: DocumentChange) -> dict[str, Any]:
    match change:
        case Put(document):
            ours = {
                READERS: list(document.readers),
                DOCUMENT_ID: document.id,
                DIGEST: document_digest(document),
            }
            return {"_index": name, "_id": document.id, "_source": {**document.fields, **ours}}
        case Drop(id):
            return {"_op_type": "delete", "_index": name, "_id": id}
        case Checkpoint() | Reset():
            raise AssertionError("a mark is no document")


class IndexOutdatedError(UnavailableError):
    """The index was made by a version that let every document count for everybody."""

    def __init__(self, index: str) -> None:
        super().__init__(
            f"The index {index} in the cluster was made by an older Carrel, whose scores tell of "
            f"others' documents",
            next_step="The operator should run `carrel search sync`, which makes it anew.",
            details={"index": index},
        )


class ClusterFreshness:
    """Writes to the cluster what it lacks; where it takes no writes, names what to leave out."""

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
        """Waits until the cluster is as the store; the ids it lacks where it takes no writes."""
        source = self._sources[index]
        if index in self._cursors and not await has_changes(source, self._cursors[index]):
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
        """IndexOutdatedError where scores depend on documents that readers may not see."""
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
        """The stored metadata of the index; None where there is no such index."""
        with translate_driver_errors():
            found = await find_index(self._client(), self._names[index])
        return None if found is None else found.facts or {}


async def has_changes(source: ClusterSource, cursor: str | None) -> bool:
    """Whether a store has more than the cursor knows."""
    if isinstance(source, SyncingSource):
        return await source.has_changes(cursor)
    async for change in source.changes(cursor):
        if isinstance(change, Put | Drop | Reset):
            return True
    return False
