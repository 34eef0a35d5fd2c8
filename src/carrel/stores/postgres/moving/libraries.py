"""Moves libraries: items in their order, every change with what it replaced, attached files."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from carrel.core.errors import UnavailableError
from carrel.rooms.references.items import Item, lookup_keys
from carrel.stores.csl_json.document import UnreadableLibraryError
from carrel.stores.csl_json.element_history import ElementHistory
from carrel.stores.csl_json.element_keys import entries_by_key
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.postgres.moving.kinds import Kind, Proof, RowProof
from carrel.stores.postgres.moving.rows import refuse_unstorable
from carrel.stores.postgres.statements import BlockingConnection, drive_blocking
from carrel.stores.sql.references.attached_files import CHUNK_BYTES
from carrel.stores.sql.references.statements import (
    LibraryName,
    Steps,
    digest_key,
    insert_rows,
    lock_library,
)

TABLES = (
    "reference_libraries",
    "reference_items",
    "reference_work_keys",
    "reference_changes",
    "reference_versions",
    "reference_files",
    "reference_file_chunks",
    "reference_file_drafts",
)
_UNKNOWN_TIME = "1970-01-01T00:00:00.000Z"
_BEFORE_ALL = 0


@dataclass(frozen=True, slots=True)
class LibraryPlace:
    """A library of a home: a copy of its file that may be read like any, and its attachments."""

    name: LibraryName
    file: Path
    attachments: Path


@dataclass(frozen=True, slots=True)
class _Change:
    revision: int
    at: str
    origin: str


@dataclass(frozen=True, slots=True)
class _Version:
    reference_id: str
    revision: int
    text: str | None
    is_present: bool


@dataclass(frozen=True, slots=True)
class _Content:
    """All of a library but its files; the last version of an item is the item."""

    items: list[tuple[Item, int]]
    changes: list[_Change]
    versions: list[_Version]


def move_libraries(places: list[LibraryPlace]) -> Kind:
    """All libraries of a home."""

    def read() -> Proof:
        proof = RowProof()
        for place in places:
            _prove(proof, place.name.key, _read_library(place))
            for path, file in _files(place.attachments):
                with file.open("rb") as stream:
                    digest = hashlib.file_digest(stream, "sha256").hexdigest()
                proof.add("file", (place.name.key, path, file.stat().st_size, digest))
        return proof.proof

    def copy(connection: BlockingConnection) -> None:
        for place in places:
            content = _read_library(place)
            drive_blocking(connection, _write_library(place.name, content))
            for path, file in _files(place.attachments):
                refuse_unstorable("reference_files", (path,))
                _write_file(connection, place.name.key, path, file)

    def check(connection: BlockingConnection) -> Proof:
        proof = RowProof()
        rows = connection.execute("SELECT library FROM reference_libraries").fetchall()
        for (key,) in rows:
            _prove(proof, str(key), _read_rows(connection, str(key)))
            for path, content, size in connection.execute(
                "SELECT path, content, size_bytes FROM reference_files WHERE library = %s", (key,)
            ).fetchall():
                digest = _digest_of_chunks(connection, str(content))
                proof.add("file", (key, path, size, digest))
        return proof.proof

    return Kind("libraries", TABLES, read, copy, check)


def _prove(proof: RowProof, key: str, content: _Content) -> None:
    proof.add("library", (key,))
    for place, (item, revision) in enumerate(content.items):
        proof.add("item", (key, place, revision, json.dumps(item, sort_keys=True)))
    for change in content.changes:
        proof.add("change", (key, change.revision, change.at, change.origin))
    for version in content.versions:
        proof.add(
            "version",
            (key, version.reference_id, version.revision, version.is_present, version.text),
        )


def _read_library(place: LibraryPlace) -> _Content:
    file = LibraryFile(place.file)
    try:
        document = file.read().document
        revisions = file.revisions()
    except (UnreadableLibraryError, OSError) as error:
        raise UnavailableError(
            f"The library {place.file.name} cannot be read: {error}",
            next_step="carrel doctor says what can be done; then run it again.",
        ) from error
    history = ElementHistory(revisions, entries_by_key(document.entries))
    items: list[tuple[Item, int]] = []
    versions: list[_Version] = []
    taken: set[str] = set()
    for item in document.items():
        reference_id = _distinct(str(item["id"]), taken)
        taken.add(reference_id)
        is_first = reference_id == str(item["id"])
        known = history.versions((f"id:{reference_id}", 0)) if is_first else ()
        revision = known[-1].revision if known else _BEFORE_ALL
        # Readers of rows ask for what is newer than what they know, beginning with nothing.
        items.append(({**item, "id": reference_id}, max(1, revision)))
        if not known:
            text = json.dumps({**item, "id": reference_id})
            versions.append(_Version(reference_id, _BEFORE_ALL, text, is_present=True))
    for key in tuple(history.keys()):
        name, number = key
        if name.startswith("id:") and not number:
            versions += [
                _Version(
                    name.removeprefix("id:"),
                    version.revision,
                    None if version.content is None else version.content.raw,
                    version.content is not None,
                )
                for version in history.versions(key)
                # Absent before it was first written is no version.
                if version.content is not None or version.revision
            ]
    changes = [_Change(each.number, each.at, each.origin) for each in revisions]
    if any(version.revision == _BEFORE_ALL for version in versions):
        first = changes[0].at if changes else _UNKNOWN_TIME
        changes.insert(0, _Change(_BEFORE_ALL, first, "outside"))
    return _Content(items, changes, versions)


def _distinct(reference_id: str, taken: set[str]) -> str:
    number = 2
    found = reference_id
    while found in taken:
        found = f"{reference_id}-{number}"
        number += 1
    return found


def _write_library(name: LibraryName, content: _Content) -> Steps[None]:
    yield from lock_library(name)
    newest = max((change.revision for change in content.changes), default=0)
    yield (
        "UPDATE reference_libraries SET revision = :revision, next_place = :place "
        "WHERE library = :library",
        {
            "library": name.key,
            "revision": max(newest, 1 if content.items else 0),
            "place": len(content.items) + 1,
        },
    )
    rows: list[tuple[object, ...]] = []
    keys: list[tuple[object, ...]] = []
    for place, (item, revision) in enumerate(content.items, 1):
        reference_id = str(item["id"])
        refuse_unstorable("reference_items", (reference_id,))
        lower = reference_id.lower()
        rows.append((name.key, reference_id, lower, place, revision, json.dumps(item)))
        digests = dict.fromkeys(map(digest_key, lookup_keys(item)))
        keys.extend((name.key, digest, reference_id) for digest in digests)
    yield from insert_rows(
        "reference_items", ("library", "id", "folded_id", "place", "revision", "item"), rows
    )
    yield from insert_rows("reference_work_keys", ("library", "digest", "id"), keys)
    yield from insert_rows(
        "reference_changes",
        ("library", "revision", "changed_at", "origin"),
        [(name.key, each.revision, each.at, each.origin) for each in content.changes],
    )
    yield from insert_rows(
        "reference_versions",
        ("library", "id", "revision", "is_present", "item"),
        [
            (name.key, each.reference_id, each.revision, int(each.is_present), each.text)
            for each in content.versions
        ],
    )


def _read_rows(connection: BlockingConnection, key: str) -> _Content:
    items = connection.execute(
        "SELECT item, revision FROM reference_items WHERE library = %s ORDER BY place", (key,)
    ).fetchall()
    changes = connection.execute(
        "SELECT revision, changed_at, origin FROM reference_changes WHERE library = %s", (key,)
    ).fetchall()
    versions = connection.execute(
        "SELECT id, revision, item, is_present FROM reference_versions WHERE library = %s", (key,)
    ).fetchall()
    return _Content(
        [(json.loads(item), int(revision)) for item, revision in items],
        [_Change(int(revision), at, origin) for revision, at, origin in changes],
        [_Version(i, int(number), text, bool(there)) for i, number, text, there in versions],
    )


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Attached files by their paths in the folder; drafts and links that lead out are none."""
    for file in sorted(folder.rglob("*")) if folder.is_dir() else ():
        name = file.relative_to(folder)
        if file.is_file() and not any(part.startswith(".") for part in name.parts):
            yield name.as_posix(), file


def _write_file(connection: BlockingConnection, key: str, path: str, file: Path) -> None:
    content, digest, size = secrets.token_hex(16), hashlib.sha256(), 0
    with file.open("rb") as stream:
        for number, chunk in enumerate(iter(lambda: stream.read(CHUNK_BYTES), b"")):
            digest.update(chunk)
            size += len(chunk)
            connection.execute(
                "INSERT INTO reference_file_chunks (content, number, bytes) VALUES (%s, %s, %s)",
                (content, number, chunk),
            )
    connection.execute(
        "INSERT INTO reference_files (library, path, content, size_bytes, digest) "
        "VALUES (%s, %s, %s, %s, %s)",
        (key, path, content, size, digest.hexdigest()),
    )


def _digest_of_chunks(connection: BlockingConnection, content: str) -> str:
    digest = hashlib.sha256()
    with connection.cursor(name="chunks") as cursor:
        cursor.itersize = 4
        for (chunk,) in cursor.execute(
            "SELECT bytes FROM reference_file_chunks WHERE content = %s ORDER BY number", (content,)
        ):
            digest.update(chunk)
    return digest.hexdigest()
