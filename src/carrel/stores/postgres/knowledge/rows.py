"""Notes as rows of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC
from typing import Any

from psycopg import Error
from psycopg.types.json import Jsonb
from psycopg_pool import PoolTimeout

from carrel.libraries.text.tokenizer import case_key, split_words
from carrel.rooms.knowledge.errors import KnowledgeStoreError
from carrel.rooms.knowledge.notes import Note, Origin, Version, shelf_of
from carrel.stores.postgres.errors import reason_of

COLUMNS = (
    "id, title, content, user_id, source, status, tags, schema_version, created_at, updated_at, "
    "promoted_from_id, promoted_to_id, origin"
)
# PostgreSQL keeps word positions up to 16383, at most 255 for one word, and no more than a megabyte
# altogether.
_LAST_POSITION = 16_383
_MOST_POSITIONS = 255
_MOST_VECTOR_BYTES = 900_000
# A position, and what a word takes beside its letters: the first position, the count and padding.
_POSITION_BYTES = 2
_WORD_BYTES = 6


def values_of(note: Note) -> tuple[Any, ...]:
    return (
        note.id,
        note.title,
        note.content,
        note.user_id,
        note.source,
        note.status,
        list(note.tags),
        note.schema_version,
        note.created_at,
        note.updated_at,
        note.promoted_from_id,
        note.promoted_to_id,
        None if note.origin is None else Jsonb(asdict(note.origin)),
        case_key(note.title),
        shelf_of(note),
        word_vector(note),
    )


def note_from(row: tuple[Any, ...]) -> Note:
    return Note(
        id=row[0],
        title=row[1],
        content=row[2],
        user_id=row[3],
        source=row[4],
        status=row[5],
        tags=tuple(row[6]),
        schema_version=row[7],
        created_at=row[8].astimezone(UTC),
        updated_at=row[9].astimezone(UTC),
        promoted_from_id=row[10],
        promoted_to_id=row[11],
        origin=None if row[12] is None else Origin(**row[12]),
    )


def version_from(row: tuple[Any, ...]) -> Version:
    return Version(
        row[0], row[1].astimezone(UTC), row[2], row[3], row[4], row[5], tuple(row[6]), row[7]
    )


def word_vector(note: Note) -> str:
    """The words of a note with their places, title words heavier, written the way PostgreSQL reads
    a tsvector.
    """
    places: dict[str, list[str]] = {}
    title = split_words(note.title)
    for at, word in enumerate(title):
        places.setdefault(word, []).append(f"{min(at + 1, _LAST_POSITION)}A")
    # A gap, so that no phrase reaches from the title into the body.
    size = 0
    for at, word in enumerate(split_words(note.content), len(title) + 2):
        known = places.setdefault(word, [])
        size += _POSITION_BYTES if known else len(word.encode()) + _WORD_BYTES
        if size > _MOST_VECTOR_BYTES:
            # The rest of a very long text of ever new words is kept, and not found by its words.
            if not known:
                del places[word]
            break
        if len(known) < _MOST_POSITIONS:
            known.append(str(min(at, _LAST_POSITION)))
    return " ".join(f"'{word}':{','.join(at)}" for word, at in places.items())


def word_query(phrases: tuple[tuple[str, ...], ...]) -> str:
    return " & ".join(
        "(" + " <-> ".join(f"'{word}'" for word in phrase) + ")" for phrase in phrases
    )


@contextmanager
def told_plainly() -> Iterator[None]:
    """Turns the driver's errors into the room's own, without the address of the server."""
    try:
        yield
    except (Error, PoolTimeout) as error:
        raise KnowledgeStoreError("PostgreSQL", reason_of(error)) from error
