"""Statements on the rows of one library, for transactions that hold its lock."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from carrel.core.errors import ConflictError
from carrel.rooms.references.items import Item, WorkKey, lookup_keys
from carrel.stores.sql.driver import Rows, Step, bind

ResultT = TypeVar("ResultT")
Steps = Generator[Step, Rows, ResultT]
# Rows in one statement.
BATCH = 100
# Versions of a reference whose text is kept, as in a library file.
KEPT_TEXTS = 10
# The kind of the row that counts the personal libraries that were removed, for search indexes.
REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class LibraryName:
    """The name of a library among the rows, and whose it is."""

    key: str
    kind: str
    owner: str


@dataclass(frozen=True, slots=True)
class LibraryHead:
    """The state of a library: the revision of its last change, and what tells it from others."""

    epoch: str
    revision: int


@dataclass(frozen=True, slots=True)
class StoredItem:
    """A reference as its row has it."""

    id: str
    place: int
    revision: int
    item: Item


def read_head(library: LibraryName) -> Steps[LibraryHead]:
    """The head of a library; the revision is 0 where nothing was ever written."""
    rows = yield (
        "SELECT epoch, revision FROM reference_libraries WHERE library = :library",
        {"library": library.key},
    )
    return LibraryHead(str(rows[0][0]), int(rows[0][1])) if rows else LibraryHead("", 0)


def lock_library(library: LibraryName) -> Steps[LibraryHead]:
    """Make the library if there is none, and hold its row until the transaction ends.

    Raises ConflictError where it is removed meanwhile.
    """
    yield (
        "INSERT INTO reference_libraries (library, kind, owner, epoch) "
        "VALUES (:library, :kind, :owner, :epoch) ON CONFLICT DO NOTHING",
        {
            "library": library.key,
            "kind": library.kind,
            "owner": library.owner,
            "epoch": secrets.token_hex(8),
        },
    )
    rows = yield (
        "UPDATE reference_libraries SET revision = revision WHERE library = :library "
        "RETURNING epoch, revision",
        {"library": library.key},
    )
    if not rows:
        raise ConflictError("The library was removed at this moment")
    return LibraryHead(str(rows[0][0]), int(rows[0][1]))


def remove_library(library: LibraryName) -> list[Step]:
    """Everything of a library: references, history and attached files.

    Its row is held first: whoever writes at this moment is finished, or is told that it went.
    """
    tables = (
        "reference_files",
        "reference_work_keys",
        "reference_items",
        "reference_versions",
        "reference_changes",
        "reference_libraries",
    )
    whose = {"library": library.key}
    hold = "UPDATE reference_libraries SET revision = revision WHERE library = :library"
    count = (
        "INSERT INTO reference_libraries (library, kind, owner, epoch, revision) "
        "SELECT CAST(:removed AS TEXT), CAST(:removed AS TEXT), '', '', 1 WHERE EXISTS "
        "(SELECT 1 FROM reference_libraries AS l "
        "WHERE l.library = :library AND l.kind = 'personal') "
        "ON CONFLICT (library) DO UPDATE SET revision = reference_libraries.revision + 1"
    )
    chunks = (
        "DELETE FROM reference_file_chunks WHERE content IN "
        "(SELECT content FROM reference_files WHERE library = :library)"
    )
    return [
        (hold, whose),
        (count, {**whose, "removed": REMOVED}),
        (chunks, whose),
        *((f"DELETE FROM {table} WHERE library = :library", whose) for table in tables),
    ]


def read_items(
    library: LibraryName, condition: str, parameters: Mapping[str, object]
) -> Steps[list[StoredItem]]:
    """The references for which an SQL condition on their rows holds, in order."""
    rows = yield (
        "SELECT id, place, revision, item FROM reference_items "
        f"WHERE library = :library AND {condition} ORDER BY place, id",
        {"library": library.key, **parameters},
    )
    return [StoredItem(str(row[0]), int(row[1]), int(row[2]), parse_item(row[3])) for row in rows]


def read_ids(library: LibraryName, ids: Iterable[str]) -> Steps[dict[str, StoredItem]]:
    found: dict[str, StoredItem] = {}
    for batch in split_batches(list(dict.fromkeys(ids))):
        places, parameters = bind("id", batch)
        stored = yield from read_items(library, f"id IN ({places})", parameters)
        found.update((each.id, each) for each in stored)
    return found


def read_works(library: LibraryName, keys: Collection[WorkKey]) -> Steps[list[StoredItem]]:
    """The references that have one of the keys, in order."""
    ids: set[str] = set()
    for batch in split_batches(sorted({digest_key(key) for key in keys})):
        places, parameters = bind("digest", batch)
        rows = yield (
            "SELECT DISTINCT id FROM reference_work_keys "
            f"WHERE library = :library AND digest IN ({places})",
            {"library": library.key, **parameters},
        )
        ids.update(str(row[0]) for row in rows)
    found = yield from read_ids(library, sorted(ids))
    return sorted(found.values(), key=lambda each: (each.place, each.id))


def read_taken(library: LibraryName, folded: Collection[str]) -> Steps[set[str]]:
    """Those of the ids in lower case that are taken."""
    taken: set[str] = set()
    for batch in split_batches(sorted(folded)):
        places, parameters = bind("id", batch)
        rows = yield (
            "SELECT DISTINCT folded_id FROM reference_items "
            f"WHERE library = :library AND folded_id IN ({places})",
            {"library": library.key, **parameters},
        )
        taken.update(str(row[0]) for row in rows)
    return taken


@dataclass(frozen=True, slots=True)
class ItemWrites:
    """What one change does: items by id with their place, None for one at the end; and removals."""

    written: Mapping[str, tuple[Item, int | None]]
    removed: Sequence[str] = ()


def write_change(
    library: LibraryName, head: LibraryHead, writes: ItemWrites, at: str, origin: str
) -> Steps[int]:
    """Make a change as the next revision and record it; returns the revision."""
    if not writes.written and not writes.removed:
        return head.revision
    revision = head.revision + 1
    fresh = sum(place is None for _, place in writes.written.values())
    rows = yield (
        "UPDATE reference_libraries SET revision = :revision, next_place = next_place + :fresh "
        "WHERE library = :library RETURNING next_place",
        {"library": library.key, "revision": revision, "fresh": fresh},
    )
    next_place = int(rows[0][0]) - fresh
    yield (
        "INSERT INTO reference_changes (library, revision, changed_at, origin) "
        "VALUES (:library, :revision, :at, :origin)",
        {"library": library.key, "revision": revision, "at": at, "origin": origin},
    )
    replaced = [*writes.removed, *(i for i, (_, at) in writes.written.items() if at is not None)]
    for batch in split_batches(replaced):
        places, parameters = bind("id", batch)
        for table in ("reference_items", "reference_work_keys"):
            yield (
                f"DELETE FROM {table} WHERE library = :library AND id IN ({places})",
                {"library": library.key, **parameters},
            )
    items: list[tuple[object, ...]] = []
    keys: list[tuple[object, ...]] = []
    versions: list[tuple[object, ...]] = [
        (library.key, removed, revision, 0, None) for removed in writes.removed
    ]
    free_places = count(next_place)
    for reference_id, (item, present) in writes.written.items():
        place = next(free_places) if present is None else present
        text = json.dumps(item)
        items.append((library.key, reference_id, reference_id.lower(), place, revision, text))
        versions.append((library.key, reference_id, revision, 1, text))
        digests = dict.fromkeys(map(digest_key, lookup_keys(item)))
        keys.extend((library.key, digest, reference_id) for digest in digests)
    yield from insert_rows(
        "reference_items", ("library", "id", "folded_id", "place", "revision", "item"), items
    )
    yield from insert_rows("reference_work_keys", ("library", "digest", "id"), keys)
    yield from insert_rows(
        "reference_versions", ("library", "id", "revision", "is_present", "item"), versions
    )
    yield from _let_go_of_texts(library, replaced)
    return revision


def _let_go_of_texts(library: LibraryName, ids: Sequence[str]) -> Steps[None]:
    for reference_id in ids:
        yield (
            """UPDATE reference_versions SET item = NULL
            WHERE library = :library AND id = :id AND item IS NOT NULL AND revision <
              (SELECT revision FROM reference_versions WHERE library = :library AND id = :id
                ORDER BY revision DESC LIMIT 1 OFFSET :kept)""",
            {"library": library.key, "id": reference_id, "kept": KEPT_TEXTS - 1},
        )


def insert_rows(
    table: str, columns: Sequence[str], rows: Sequence[tuple[object, ...]]
) -> Steps[None]:
    """Insert rows, many in one statement."""
    for batch in split_batches(rows):
        parameters: dict[str, object] = {}
        values = []
        for number, row in enumerate(batch):
            names = [f"{column}_{number}" for column in columns]
            parameters.update(zip(names, row, strict=True))
            values.append(f"({', '.join(f':{name}' for name in names)})")
        yield (
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join(values)}",
            parameters,
        )


RowT = TypeVar("RowT")


def split_batches(rows: Sequence[RowT]) -> Iterable[Sequence[RowT]]:
    return (rows[at : at + BATCH] for at in range(0, len(rows), BATCH))


def digest_key(key: WorkKey) -> str:
    kind, value = key
    return hashlib.sha256(f"{kind}\0{value}".encode("utf-8", "surrogatepass")).hexdigest()[:40]


def parse_item(text: Any) -> Item:
    found: Item = json.loads(text)
    return found
