"""Keeps the three indices of papers as a corpus is: writes what is new, drops what is gone.

The papers index tells by row and digest what is there, and a paper is written after its passages
and texts: so a run that was stopped goes on where it was. Searches see a change when a run ends,
and a new set of indices when it is whole.
"""

from __future__ import annotations

import asyncio
import base64
from array import array
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson
from elasticsearch import AsyncElasticsearch
from elasticsearch.helpers import async_bulk

from carrel.libraries.query.elasticsearch.analyzer import ANALYSIS_SETTINGS
from carrel.stores.elasticsearch.errors import translate_driver_errors
from carrel.stores.elasticsearch.fields import DIGEST
from carrel.stores.elasticsearch.indices import (
    create_index,
    find_index,
    find_our_index,
    move_aliases,
    write_facts,
)
from carrel.stores.elasticsearch.papers.mapping import (
    FORMAT,
    KINDS,
    PART_BYTES,
    content_digest,
    mappings,
    paper_source,
    passage_sources,
    settings,
    text_sources,
)
from carrel.stores.elasticsearch.papers.state import ABBREVIATIONS, NO_PAPER
from carrel.stores.elasticsearch.writing import Synced, raise_first
from carrel.stores.indexed_papers import (
    IndexedVersion,
    OpenIndexedVersion,
    PassageVectorSource,
)
from carrel.stores.paper_documents import PAPER_FIELDS

Report = Callable[[int], None]

# Bytes of one request, and rows that one request drops.
_REQUEST_BYTES = 4_000_000
_ROWS_AT_ONCE = 1_000
_PAGE = 5_000
# With more changes than these the abbreviations are put together anew.
_WORTH_A_NEW_TABLE = 1_000


@dataclass(frozen=True, slots=True)
class _Plan:
    """Rows to write, and rows to drop; whether all of the cluster was compared."""

    write: Sequence[int]
    drop: Sequence[int]
    digests: Mapping[int, str]
    is_full: bool


class PaperIndices:
    """The source of the papers in a cluster; keep the object, it knows what it wrote."""

    index = "papers"
    fields = PAPER_FIELDS
    is_public = True

    def __init__(
        self,
        open_version: OpenIndexedVersion,
        *,
        shards: int = 1,
        most_text_bytes: int = 32 * 1024 * 1024,
        papers_at_once: int = 20,
        open_vectors: Callable[[], PassageVectorSource | None] = lambda: None,
    ) -> None:
        self._open_version = open_version
        self._shards = shards
        self._most_text_bytes = most_text_bytes
        self._papers_at_once = papers_at_once
        self._open_vectors = open_vectors
        # The rows of the build that this process wrote last.
        self._written: tuple[str, array[int]] = ("", array("q"))

    async def has_changes(self, cursor: str | None) -> bool:
        """Whether the corpus is another than the cluster's."""
        vectors = await asyncio.to_thread(self._open_vectors)
        async with self._version() as version:
            return _cursor_of(version, vectors) != cursor

    async def sync(
        self, client: AsyncElasticsearch, name: str, report: Report, *, rebuild: bool = False
    ) -> Synced:
        """Brings the indices behind `name` and its sisters up to date, or makes them anew."""
        prefix = name.removesuffix(self.index)
        vectors = await asyncio.to_thread(self._open_vectors)
        with translate_driver_errors():
            names, facts = await self._open_set(client, prefix, vectors, rebuild)
            async with self._version() as version:
                cursor = _cursor_of(version, vectors)
                if facts.get("cursor") == cursor:
                    await move_aliases(client, {f"{prefix}{kind}": names[kind] for kind in KINDS})
                    return Synced(name, 0, 0, cursor)
                plan = await self._plan(client, names, version, facts.get("cursor"), vectors)
                writing = {**facts, "cursor": None}
                await write_facts(client, names["papers"], writing)
                writer = _SetWriter(client, names, report)
                await writer.drop(plan.drop)
                for rows in _chunks(plan.write, self._papers_at_once):
                    await writer.write(
                        await asyncio.to_thread(
                            self._actions, version, names, rows, plan.digests, vectors
                        ),
                        len(rows),
                    )
                if plan.is_full:
                    await writer.sweep()
                ready = await self._finish(writer, version, plan, {**facts, "cursor": cursor})
                await client.indices.refresh(index=list(names.values()))
                await write_facts(client, names["papers"], ready)
                await move_aliases(client, {f"{prefix}{kind}": names[kind] for kind in KINDS})
                written = await asyncio.to_thread(_numbers, version)
                self._written = (cursor, written)
                gone = len(set(plan.drop).difference(plan.write))
                return Synced(name, len(plan.write), gone, cursor)

    async def _open_set(
        self,
        client: AsyncElasticsearch,
        prefix: str,
        vectors: PassageVectorSource | None,
        rebuild: bool,
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """The names of the indices to write, made where they are missing, and what is noted."""
        shape = {
            "fields": dict(PAPER_FIELDS),
            "format": FORMAT,
            "analysis": content_digest(ANALYSIS_SETTINGS),
            "shards": self._shards,
            "model": None if vectors is None else vectors.model,
        }
        current = await find_our_index(client, f"{prefix}papers")
        ending = f"-{content_digest(shape)[:8]}"
        in_use = None if current is None else current.name.removeprefix(f"{prefix}papers")
        if current is not None and not rebuild and _fits(current.facts or {}, shape):
            ending = in_use or ending
        elif in_use == ending:
            ending = f"{ending}-2"
        names = {kind: f"{prefix}{kind}{ending}" for kind in KINDS}
        dimensions = None if vectors is None else vectors.dimensions
        for kind, one in names.items():
            shaped = mappings(kind, {**shape, "cursor": None}, dimensions)
            await create_index(client, one, settings(self._shards), shaped)
        found = await find_index(client, names["papers"])
        return names, dict(found.facts or {}) if found is not None else {**shape, "cursor": None}

    async def _plan(
        self,
        client: AsyncElasticsearch,
        names: Mapping[str, str],
        version: IndexedVersion,
        cursor: str | None,
        vectors: PassageVectorSource | None,
    ) -> _Plan:
        last, before = self._written
        if cursor is not None and cursor == last and vectors is None:
            now = set(await asyncio.to_thread(lambda: list(version.row_numbers())))
            known = set(before)
            new = sorted(now - known)
            digests = await asyncio.to_thread(version.digests, new)
            return _Plan(new, sorted(known - now), digests, is_full=False)
        await client.indices.refresh(index=list(names.values()))
        write, drop, digests = array("q"), array("q"), dict[int, str]()
        held = _held(client, names["papers"])
        there = await anext(held, None)
        async for row, content in _in_thread(version.rows()):
            # A paper is written again when its vectors are made.
            digest = f"{content}+" if vectors is not None and vectors.has(row) else content
            while there is not None and there[0] < row:
                drop.append(there[0])
                there = await anext(held, None)
            if there is not None and there[0] == row:
                is_same = there[1] == digest
                there = await anext(held, None)
                if is_same:
                    continue
                drop.append(row)
            write.append(row)
            digests[row] = digest
        while there is not None:
            drop.append(there[0])
            there = await anext(held, None)
        return _Plan(write, drop, digests, is_full=True)

    def _actions(
        self,
        version: IndexedVersion,
        names: Mapping[str, str],
        rows: Sequence[int],
        digests: Mapping[int, str],
        vectors: PassageVectorSource | None,
    ) -> list[dict[str, Any]]:
        """Passages and texts before their papers, whose documents say that all of it is there."""
        found = vectors.of_rows(rows) if vectors is not None else {}
        before: list[dict[str, Any]] = []
        after: list[dict[str, Any]] = []
        for paper in version.papers(rows):
            for one, source in passage_sources(paper, found.get(paper.row, {})):
                before.append({"_index": names["passages"], "_id": one, "_source": source})
            for one, source in text_sources(paper, self._most_text_bytes):
                before.append({"_index": names["texts"], "_id": one, "_source": source})
            source = paper_source(paper, digests[paper.row])
            after.append({"_index": names["papers"], "_id": paper.document.id, "_source": source})
        return before + after

    async def _finish(
        self, writer: _SetWriter, version: IndexedVersion, plan: _Plan, facts: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What is noted about the whole: statistics, and the abbreviations of the papers."""
        ready = dict(facts)
        ready["statistics"] = await asyncio.to_thread(version.statistics)
        changes = len(plan.write) + len(plan.drop)
        if plan.is_full or changes > _WORTH_A_NEW_TABLE or not facts.get("abbreviations"):
            table = await asyncio.to_thread(lambda: orjson.dumps(version.abbreviations()))
            digest = content_digest(table)
            if digest != facts.get("abbreviations"):
                await writer.write_abbreviations(table)
            ready["abbreviations"] = digest
        return ready

    @asynccontextmanager
    async def _version(self) -> AsyncIterator[IndexedVersion]:
        opened = self._open_version()
        version = await asyncio.to_thread(opened.__enter__)
        try:
            yield version
        finally:
            await asyncio.to_thread(opened.__exit__, None, None, None)


class _SetWriter:
    """Writes to one set of indices and counts the papers."""

    def __init__(
        self, client: AsyncElasticsearch, names: Mapping[str, str], report: Report
    ) -> None:
        self._client = client
        self._names = names
        self._report = report
        self._done = 0

    async def write(self, actions: Iterable[dict[str, Any]], papers: int) -> None:
        _, errors = await async_bulk(
            self._client, actions, max_chunk_bytes=_REQUEST_BYTES, raise_on_error=False
        )
        raise_first(errors)
        self._done += papers
        self._report(self._done)

    async def drop(self, rows: Sequence[int]) -> None:
        """Passages and texts of these rows, and then their papers."""
        for some in _chunks(rows, _ROWS_AT_ONCE):
            for kind in ("passages", "texts", "papers"):
                await self._drop_from(kind, some)
            self._done += len(some)
            self._report(self._done)

    async def sweep(self) -> None:
        """Drop what a run that was stopped has written of papers that are no more."""
        await self._client.indices.refresh(index=list(self._names.values()))
        papers = {row async for row, _ in _held(self._client, self._names["papers"])}
        for kind in ("passages", "texts"):
            gone = [
                row
                async for row in _rows(self._client, self._names[kind])
                if row not in papers and row != NO_PAPER
            ]
            for some in _chunks(gone, _ROWS_AT_ONCE):
                await self._drop_from(kind, some)

    async def write_abbreviations(self, table: bytes) -> None:
        await self._drop_from("texts", [NO_PAPER])
        actions = [
            {
                "_index": self._names["texts"],
                "_id": f"{NO_PAPER}-{content_digest(table)}-{number}",
                "_source": {
                    "row": NO_PAPER,
                    "name": ABBREVIATIONS,
                    "part": number,
                    "body": base64.b64encode(table[first : first + PART_BYTES]).decode("ascii"),
                },
            }
            for number, first in enumerate(range(0, len(table), PART_BYTES))
        ]
        await self.write(actions, 0)

    async def _drop_from(self, kind: str, rows: Sequence[int]) -> None:
        await self._client.delete_by_query(
            index=self._names[kind],
            query={"terms": {"row": list(rows)}},
            conflicts="proceed",
        )


def _cursor_of(version: IndexedVersion, vectors: PassageVectorSource | None) -> str:
    """The build, and which vectors of it there are."""
    return version.build_id if vectors is None else f"{version.build_id}+{vectors.stamp}"


def _numbers(version: IndexedVersion) -> array[int]:
    return array("q", version.row_numbers())


def _fits(facts: Mapping[str, Any], shape: Mapping[str, Any]) -> bool:
    return all(facts.get(name) == value for name, value in shape.items())


async def _held(client: AsyncElasticsearch, name: str) -> AsyncIterator[tuple[int, str]]:
    """The rows of an index of papers with their digests, in ascending order."""
    after: list[Any] | None = None
    while True:
        page = await client.search(
            index=name,
            size=_PAGE,
            source=False,
            docvalue_fields=[{"field": "row"}, {"field": DIGEST}],
            sort=[{"row": "asc"}, {DIGEST: "asc"}],
            search_after=after,
            track_total_hits=False,
        )
        hits = page["hits"]["hits"]
        for hit in hits:
            fields = hit.get("fields", {})
            yield int(fields["row"][0]), str(fields.get(DIGEST, [""])[0])
        if len(hits) < _PAGE:
            return
        after = hits[-1]["sort"]


async def _rows(client: AsyncElasticsearch, name: str) -> AsyncIterator[int]:
    """The rows that an index has documents of, each once."""
    after: Mapping[str, Any] = {}
    while True:
        composite: dict[str, Any] = {
            "size": _PAGE,
            "sources": [{"row": {"terms": {"field": "row"}}}],
        }
        if after:
            composite["after"] = after
        answer = await client.search(
            index=name, size=0, aggregations={"rows": {"composite": composite}}
        )
        found = answer["aggregations"]["rows"]
        for bucket in found["buckets"]:
            yield int(bucket["key"]["row"])
        after = found.get("after_key") or {}
        if not after:
            return


async def _in_thread(rows: Iterator[tuple[int, str]]) -> AsyncIterator[tuple[int, str]]:
    """The same, read page by page on another thread."""

    def next_page() -> list[tuple[int, str]]:
        return [each for _, each in zip(range(_PAGE), rows, strict=False)]

    while page := await asyncio.to_thread(next_page):
        for each in page:
            yield each


def _chunks(rows: Sequence[int], size: int) -> Iterator[list[int]]:
    for first in range(0, len(rows), size):
        yield list(rows[first : first + size])
