"""Keeps our indices in a cluster as the stores are; the index itself remembers how far it is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from elasticsearch import AsyncElasticsearch, NotFoundError
from elasticsearch.helpers import async_bulk

from carrel.core.errors import (
    CarrelError,
    ConflictError,
    InvalidInputError,
    UnavailableError,
    describe_error,
)
from carrel.core.progress import Progress
from carrel.libraries.query.elasticsearch.analyzer import ANALYSIS_SETTINGS
from carrel.rooms.knowledge.documents import (
    Checkpoint,
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

log = logging.getLogger("carrel.search")

READERS = "carrel_readers"

_GROUP = 500
# More changes than these cannot be left out of a question one by one.
MAX_LEFT_OUT = 5_000
# The version of how an index scores; an index of ours without it is made anew.
SCORING = "2"
# The same for how texts become words.
ANALYSIS = "2"
# Sorts what scores alike, so that the order of writing, which others share in, does not show.
DOCUMENT_ID = "carrel_id"
# Scores use term frequency and text length, but no document frequency, which would count documents
# of other users. At 100 words a text counts neither as short nor as long.
_OWN_DOCUMENT_SIMILARITY = {
    "type": "scripted",
    "script": {
        "source": "double tf = doc.freq; double norm = 1.2 * (0.25 + 0.75 * doc.length / 100.0); "
        "return query.boost * tf * 2.2 / (tf + norm);"
    },
}
_TYPES: dict[FieldKind, dict[str, Any]] = {
    "text": {
        "type": "text",
        "analyzer": "carrel",
        "fields": {"keyword": {"type": "keyword", "ignore_above": 256}},
    },
    "keyword": {"type": "keyword", "ignore_above": 256},
    "number": {"type": "double"},
    "date": {"type": "date"},
    "boolean": {"type": "boolean"},
    "words": {"type": "text", "analyzer": "carrel_words"},
}
_SETTINGS: dict[str, Any] = {"analysis": ANALYSIS_SETTINGS}


@dataclass(frozen=True, slots=True)
class Synced:
    """The result of one sync run."""

    index: str
    put: int
    dropped: int
    cursor: str | None = None


def choose_sources(
    sources: Iterable[DocumentSource], names: Collection[str], left_out: Collection[str]
) -> list[DocumentSource]:
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
    client: AsyncElasticsearch, sources: Iterable[DocumentSource], prefix: str, progress: Progress
) -> AsyncGenerator[Synced, None]:
    """Brings one index after the other up to date, each under its name behind the prefix."""
    for source in sources:
        progress.begin(source.index, None, "documents")
        counted = 0

        def report(count: int) -> None:
            nonlocal counted
            progress.advance(count - counted)
            counted = count

        done = await sync(client, source, f"{prefix}{source.index}", report)
        progress.end()
        yield done


async def sync(
    client: AsyncElasticsearch, source: DocumentSource, name: str, report: Callable[[int], None]
) -> Synced:
    """Brings one index up to date and says how many documents were written and dropped."""
    with translate_driver_errors():
        cursor = await _open_index(client, name, source.fields, is_public(source))
        put = dropped = 0
        group: list[DocumentChange] = []

        async def flush() -> None:
            if group:
                _, errors = await async_bulk(
                    client, [_action(name, change) for change in group], raise_on_error=False
                )
                _raise_first(errors)
                group.clear()

        async for change in source.changes(cursor):
            match change:
                case Put() | Drop():
                    group.append(change)
                    put += isinstance(change, Put)
                    dropped += isinstance(change, Drop)
                    if len(group) >= _GROUP:
                        await flush()
                        report(put + dropped)
                case Reset():
                    group.clear()
                    # Until the next mark nobody may take what is there for the whole.
                    await client.indices.put_mapping(index=name, meta=_meta(source.fields, None))
                    await client.delete_by_query(
                        index=name, query={"match_all": {}}, refresh=True, conflicts="proceed"
                    )
                case Checkpoint(after):
                    await flush()
                    cursor = after
                    await client.indices.put_mapping(index=name, meta=_meta(source.fields, after))
                    report(put + dropped)
        await flush()
        await client.indices.refresh(index=name)
        report(put + dropped)
    return Synced(name, put, dropped, cursor)


def _raise_first(errors: int | list[Any]) -> None:
    """A document already gone is fine; any other error ends the run before its checkpoint."""
    for error in errors if isinstance(errors, list) else []:
        ((action, facts),) = error.items()
        if not (action == "delete" and facts.get("status") == 404):
            # Only the kind of error: its reason shows a preview of the document.
            error_facts = facts.get("error")
            kind = error_facts.get("type") if isinstance(error_facts, dict) else None
            raise UnavailableError(
                f"Elasticsearch did not take document {facts.get('_id')} "
                f"({kind or 'no reason given'})",
                next_step="Look at the log of the cluster, mend it and run again.",
            )


async def _open_index(
    client: AsyncElasticsearch, name: str, fields: Mapping[str, FieldKind], is_public: bool
) -> str | None:
    """The cursor of the last run; an index of ours with other fields is made anew."""
    if await client.indices.exists(index=name):
        mapping = (await client.indices.get_mapping(index=name))[name]["mappings"]
        ours = mapping.get("_meta", {}).get("carrel")
        if ours is None:
            raise ConflictError(
                f"The index {name} exists and was not made by Carrel",
                next_step="Set elasticsearch.prefix to another beginning of names.",
                details={"index": name},
            )
        if (
            ours["fields"] == dict(fields)
            and ours.get("analysis") == ANALYSIS
            and (is_public or ours.get("scoring") == SCORING)
        ):
            return str(ours["cursor"]) if ours["cursor"] is not None else None
        await client.indices.delete(index=name)
    properties = {field: _TYPES[kind] for field, kind in fields.items()}
    mappings = {
        "dynamic": False,
        "_meta": _meta(fields, None),
        "_source": {"excludes": [field for field, kind in fields.items() if kind == "words"]},
        "properties": {
            **properties,
            READERS: {"type": "keyword"},
            DOCUMENT_ID: {"type": "keyword"},
        },
    }
    settings = (
        _SETTINGS
        if is_public
        else {**_SETTINGS, "similarity": {"default": _OWN_DOCUMENT_SIMILARITY}}
    )
    await client.indices.create(index=name, settings=settings, mappings=mappings)
    return None


def _meta(fields: Mapping[str, FieldKind], cursor: str | None) -> dict[str, Any]:
    return {
        "carrel": {
            "fields": dict(fields),
            "cursor": cursor,
            "scoring": SCORING,
            "analysis": ANALYSIS,
        }
    }


def _action(name: str, change: DocumentChange) -> dict[str, Any]:
    match change:
        case Put(document):
            ours = {READERS: list(document.readers), DOCUMENT_ID: document.id}
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
        name = self._names[index]
        with translate_driver_errors():
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
