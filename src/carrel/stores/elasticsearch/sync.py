"""Fills a real cluster from the local stores: in bulk, and from where it stopped, which the index
itself remembers.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from elasticsearch import AsyncElasticsearch
from elasticsearch.helpers import async_bulk

from carrel.core.errors import ConflictError, UnavailableError
from carrel.core.progress import Progress
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
from carrel.stores.elasticsearch.errors import plainly

READERS = "carrel_readers"

_GROUP = 500
# The version of how an index scores; an index of ours without it is made anew.
SCORING = "2"
# Sorts what scores alike, so that the order of writing, which others share in, does not show.
DOCUMENT_ID = "carrel_id"
# A word counts by how often it is in the text and how long the text is, and not by how many
# documents have it: those are
# others' too. 100 words is the length at which a text counts neither as short nor as long.
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
# The same folding as the embedded index: accents go, and scripts without spaces are read in pairs.
_SETTINGS: dict[str, Any] = {
    "analysis": {
        "analyzer": {
            "carrel": {
                "type": "custom",
                "tokenizer": "standard",
                "filter": ["cjk_width", "lowercase", "asciifolding", "cjk_bigram"],
            },
            "carrel_words": {"type": "custom", "tokenizer": "whitespace"},
        }
    }
}


@dataclass(frozen=True, slots=True)
class Synced:
    """What one run did."""

    index: str
    put: int
    dropped: int
    cursor: str | None = None


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
    with plainly():
        cursor = await _opened(client, name, source.fields, is_public(source))
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
    """A document that was gone already is as it should be; anything else ends the run, before its
    mark is set.
    """
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


async def _opened(
    client: AsyncElasticsearch, name: str, fields: Mapping[str, FieldKind], is_public: bool
) -> str | None:
    """Where the last run stopped. An index of ours with other fields is made anew; one of somebody
    else's is left alone.
    """
    if await client.indices.exists(index=name):
        mapping = (await client.indices.get_mapping(index=name))[name]["mappings"]
        ours = mapping.get("_meta", {}).get("carrel")
        if ours is None:
            raise ConflictError(
                f"The index {name} exists and was not made by Carrel",
                next_step="Set elasticsearch.prefix to another beginning of names.",
                details={"index": name},
            )
        if ours["fields"] == dict(fields) and (is_public or ours.get("scoring") == SCORING):
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
    return {"carrel": {"fields": dict(fields), "cursor": cursor, "scoring": SCORING}}


def _action(name: str, change: DocumentChange) -> dict[str, Any]:
    match change:
        case Put(document):
            ours = {READERS: list(document.readers), DOCUMENT_ID: document.id}
            return {"_index": name, "_id": document.id, "_source": {**document.fields, **ours}}
        case Drop(id):
            return {"_op_type": "delete", "_index": name, "_id": id}
        case Checkpoint() | Reset():
            raise AssertionError("a mark is no document")
