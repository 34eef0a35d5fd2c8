"""Notes as rows, and shelves as what a search may look at."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from carrel.rooms.knowledge.errors import KnowledgeStoreError
from carrel.rooms.knowledge.notes import Note, Origin, Version
from carrel.stores.database_identity import DatabaseReplacedError
from carrel.stores.sqlite.errors import is_damaged, reason_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

COLUMNS = (
    "id, title, content, user_id, source, status, tags, schema_version, created_at, updated_at, "
    "promoted_from_id, promoted_to_id, origin"
)


def microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def moment(count: int) -> datetime:
    return _EPOCH + timedelta(microseconds=count)


def note_from(row: tuple[object, ...]) -> Note:
    (
        id_,
        title,
        content,
        user_id,
        source,
        status,
        tags,
        schema_version,
        created,
        updated,
        from_id,
        to_id,
        origin,
    ) = row[:13]
    return Note(
        id=str(id_),
        title=str(title),
        content=str(content),
        user_id=str(user_id),
        source="team" if source == "team" else "personal",
        status=status,  # type: ignore[arg-type]  # written by us from the same type
        tags=tuple(orjson.loads(str(tags))),
        created_at=moment(int(str(created))),
        updated_at=moment(int(str(updated))),
        schema_version=int(str(schema_version)),
        promoted_from_id=None if from_id is None else str(from_id),
        promoted_to_id=None if to_id is None else str(to_id),
        origin=None if origin is None else Origin(**orjson.loads(str(origin))),
    )


def version_from(row: tuple[object, ...]) -> Version:
    note_id, changed_at, by, kind, title, content, tags, status = row
    return Version(
        note_id=str(note_id),
        changed_at=moment(int(str(changed_at))),
        by=str(by),
        kind=kind,  # type: ignore[arg-type]  # written by us from the same type
        title=str(title),
        content=str(content),
        tags=tuple(orjson.loads(str(tags))),
        status=status,  # type: ignore[arg-type]  # as above
    )


@contextmanager
def told_plainly(file: Path) -> Iterator[None]:
    """Turns SQLite's errors into the room's own. A damaged file is told as such: to try again is no
    help there.
    """
    try:
        yield
    except sqlite3.Error as error:
        if is_damaged(error):
            raise DatabaseReplacedError(file, "is damaged") from error
        raise KnowledgeStoreError("SQLite", reason_of(error)) from error
