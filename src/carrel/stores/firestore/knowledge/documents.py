"""Notes as Firestore documents: the ten fields everybody shares, and the folded keys that our own
searches use.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from google.api_core.exceptions import FailedPrecondition, GoogleAPICallError, RetryError
from google.auth.exceptions import GoogleAuthError

from carrel.libraries.text.tokenizer import case_key, split_words
from carrel.rooms.knowledge.errors import KnowledgeStoreError
from carrel.rooms.knowledge.notes import SCHEMA_VERSION, Note, Origin, Version

NOTES = "knowledge"
HISTORY = "history"
REMOVED = "knowledge_removed"
NODES = "knowledge_nodes"
# A document may have 40,000 index entries; a note with more different words than this is found by
# its first ones.
MOST_WORDS = 5_000


def document_of(note: Note) -> dict[str, Any]:
    return {
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
        "title_key": case_key(note.title),
        "tag_keys": sorted({case_key(tag) for tag in note.tags}),
        "words": list(dict.fromkeys((*split_words(note.title), *split_words(note.content))))[
            :MOST_WORDS
        ],
    }


def note_from(note_id: str, facts: Mapping[str, Any], changed_at: datetime | None = None) -> Note:
    """A note from a document that we or another program wrote; what another one left out has its
    default.
    """
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
    """Firestore's own kind of time as everybody else's, in microseconds."""
    if not isinstance(value, datetime):
        return datetime(1970, 1, 1, tzinfo=UTC)
    at = value if value.tzinfo else value.replace(tzinfo=UTC)
    at = at.astimezone(UTC)
    return datetime(
        at.year, at.month, at.day, at.hour, at.minute, at.second, at.microsecond, tzinfo=UTC
    )


@asynccontextmanager
async def told_plainly(wait_seconds: float) -> AsyncIterator[None]:
    """Turns the client's errors into the room's own, and ends its patience: left alone it tries
    again for minutes.
    """
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
