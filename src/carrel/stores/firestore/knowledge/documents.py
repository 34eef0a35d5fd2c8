"""Notes as Firestore documents, and the queries on them that the indexes we ship can answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from google.api_core.exceptions import FailedPrecondition, GoogleAPICallError, RetryError
from google.auth.exceptions import GoogleAuthError
from google.cloud.firestore_v1 import SERVER_TIMESTAMP, DocumentSnapshot
from google.cloud.firestore_v1.async_collection import AsyncCollectionReference
from google.cloud.firestore_v1.async_query import AsyncQuery
from google.cloud.firestore_v1.base_query import And, BaseCompositeFilter, FieldFilter

from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.tokenizer import index_terms, name_trigrams
from carrel.rooms.knowledge.errors import KnowledgeStoreError
from carrel.rooms.knowledge.notes import (
    LAST_CHARACTER,
    SCHEMA_VERSION,
    Mine,
    MineAndTeam,
    Note,
    Order,
    Origin,
    Proposals,
    Shelf,
    Team,
    Version,
)

NOTES = "knowledge"
HISTORY = "history"
REMOVED = "knowledge_removed"
NODES = "knowledge_nodes"
# Which fold the search fields of all documents have.
UPGRADES = "knowledge_upgrades"
FOLD_VERSION = 2
# A document may have 40,000 index entries; a note with more different words than this is found by
# its first ones.
MOST_WORDS = 5_000
Filters = tuple[FieldFilter, ...]
_NEWEST = "DESCENDING"


# When the server took a write of ours; other programs set no such field.
CHANGED_AT = "changed_at"


def document_of(note: Note) -> dict[str, Any]:
    return {
        CHANGED_AT: SERVER_TIMESTAMP,
        "id": note.id,
        "title": note.title,
        "content": note.content,
        "user_id": note.user_id,
        "source": note.source,
        "status": note.status,
        "tags": list(note.tags),
        "schema_version": note.schema_version,
        "created_at": note.created_at,
        "updated_at": note.updated_at,
        "promoted_from_id": note.promoted_from_id,
        "promoted_to_id": note.promoted_to_id,
        "origin": None if note.origin is None else asdict(note.origin),
        **search_fields(note),
    }


def search_fields(note: Note) -> dict[str, Any]:
    """The folded fields that only our own searches use."""
    terms = dict.fromkeys((*index_terms(note.title), *index_terms(note.content)))
    return {
        "title_key": fold_text(note.title),
        "tag_keys": sorted({fold_text(tag) for tag in note.tags}),
        "words": list(terms)[:MOST_WORDS],
    }


def node_search_fields(name: str) -> dict[str, Any]:
    return {"search_key": fold_text(name), "grams": sorted(name_trigrams(name))}


def note_of(found: DocumentSnapshot[Any]) -> Note:
    """The note of a document that exists."""
    return _note_from(found.id, found.to_dict() or {}, found.update_time)


def _note_from(note_id: str, facts: Mapping[str, Any], changed_at: datetime | None = None) -> Note:
    """A note from a document of any program; fields that are missing have their default."""
    moment = plain_time(facts.get("updated_at") or facts.get("created_at") or changed_at)
    source, status = facts.get("source"), facts.get("status")
    origin = facts.get("origin")
    return Note(
        id=note_id,
        title=str(facts.get("title") or ""),
        content=str(facts.get("content") or ""),
        user_id=str(facts.get("user_id") or "anonymous"),
        source="team" if source == "team" else "personal",
        status=status if status in {"draft", "proposed", "promoted"} else "draft",
        tags=tuple(str(tag) for tag in facts.get("tags") or ()),
        schema_version=int(facts.get("schema_version") or SCHEMA_VERSION),
        created_at=plain_time(facts["created_at"]) if facts.get("created_at") else moment,
        updated_at=moment,
        promoted_from_id=facts.get("promoted_from_id"),
        promoted_to_id=facts.get("promoted_to_id"),
        origin=None if origin is None else Origin(**origin),
    )


def version_of(note: Note, by: str, kind: str) -> dict[str, Any]:
    return {
        "changed_at": note.updated_at,
        "changed_by": by,
        "kind": kind,
        "title": note.title,
        "content": note.content,
        "tags": list(note.tags),
        "status": note.status,
    }


def version_from(note_id: str, facts: Mapping[str, Any]) -> Version:
    return Version(
        note_id=note_id,
        changed_at=plain_time(facts["changed_at"]),
        by=facts["changed_by"],
        kind=facts["kind"],
        title=facts["title"],
        content=facts["content"],
        tags=tuple(facts["tags"]),
        status=facts["status"],
    )


def plain_time(value: Any) -> datetime:
    """A Firestore timestamp as a UTC datetime in microseconds; 1970 for other values."""
    if not isinstance(value, datetime):
        return datetime(1970, 1, 1, tzinfo=UTC)
    at = value if value.tzinfo else value.replace(tzinfo=UTC)
    at = at.astimezone(UTC)
    return datetime(
        at.year, at.month, at.day, at.hour, at.minute, at.second, at.microsecond, tzinfo=UTC
    )


@asynccontextmanager
async def translate_driver_errors(wait_seconds: float) -> AsyncIterator[None]:
    """Converts the client's errors, and limits the wait: left alone it tries again for minutes."""
    try:
        async with asyncio.timeout(wait_seconds):
            yield
    except FailedPrecondition as error:
        reason = (
            "an index is missing; deploy deployments/firestore.indexes.json"
            if "index" in str(error)
            else "refused"
        )
        raise KnowledgeStoreError("Firestore", reason) from error
    except (GoogleAPICallError, RetryError) as error:
        raise KnowledgeStoreError("Firestore", type(error).__name__) from error
    except GoogleAuthError as error:
        raise KnowledgeStoreError("Firestore", "no usable Google credentials") from error
    except TimeoutError as error:
        raise KnowledgeStoreError("Firestore", "no answer in time") from error
    except OSError as error:
        raise KnowledgeStoreError(
            "Firestore", "no Google Cloud project is named; set GOOGLE_CLOUD_PROJECT"
        ) from error


def shelf_filters(shelf: Shelf) -> list[Filters]:
    """The conditions of a shelf on documents; one with several is asked once for each."""
    match shelf:
        case Mine(user_id):
            return [_personal(user_id)]
        case Team():
            return [_TEAM]
        case MineAndTeam(user_id):
            return [
                (*_personal(user_id), FieldFilter("status", "in", ["draft", "proposed"])),
                _TEAM,
            ]
        case Proposals():
            return [
                (FieldFilter("source", "==", "personal"), FieldFilter("status", "==", "proposed"))
            ]


_TEAM: Filters = (FieldFilter("source", "==", "team"),)


def _personal(user_id: str) -> Filters:
    return FieldFilter("user_id", "==", user_id), FieldFilter("source", "==", "personal")


def newest_notes(notes: AsyncCollectionReference, filters: Filters) -> AsyncQuery:
    return _where(notes, filters).order_by("created_at", direction=_NEWEST)


def notes_with_prefix(
    notes: AsyncCollectionReference, filters: Filters, field: str, text: str, order: Order
) -> AsyncQuery:
    """By `title_key` for notes of ours, by `title` as it stands for those of other programs."""
    inside = (
        *filters,
        FieldFilter(field, ">=", text),
        FieldFilter(field, "<", text + LAST_CHARACTER),
    )
    query = _where(notes, inside)
    if order == "newest":
        return query.order_by("created_at", direction=_NEWEST).order_by(field, direction=_NEWEST)
    return query.order_by(field).order_by("created_at", direction=_NEWEST)


def notes_with_value(
    notes: AsyncCollectionReference, filters: Filters, field: str, value: str
) -> AsyncQuery:
    """Newest first, with this value in a list: a tag, a folded tag, or a word."""
    return _where(notes, (*filters, FieldFilter(field, "array_contains", value))).order_by(
        "created_at", direction=_NEWEST
    )


def notes_with_titles(
    notes: AsyncCollectionReference, filters: Filters, field: str, titles: Sequence[str]
) -> AsyncQuery:
    return _where(notes, (*filters, FieldFilter(field, "in", list(titles)))).order_by(
        "created_at", direction=_NEWEST
    )


def _where(notes: AsyncCollectionReference, conditions: Sequence[FieldFilter]) -> AsyncQuery:
    both: BaseCompositeFilter | FieldFilter = (
        And(filters=list(conditions)) if len(conditions) > 1 else conditions[0]
    )
    return notes.where(filter=both)
