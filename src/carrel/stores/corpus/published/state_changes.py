"""Changes of the state of builds as files: which pages of the database differ, and which files.

The state is one SQLite file of some hundred bytes to two kilobytes a record. Publishing all of it
for one added paper would move megabytes, so a change holds only the pages that are different.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

PAGE_BYTES = 4096
# Files are compared in windows, then page by page where a window differs.
_WINDOW_PAGES = 256
_MAGIC = b"carrel change 1\n"
_LENGTH = struct.Struct(">I")
# First page, number of pages, bytes of their packed content.
_RUN = struct.Struct(">QII")
_MOST_HEADER_BYTES = 512 * 1024 * 1024
# Level 1 packs pages of a database nearly as small as level 6 in a third of the time.
_LEVEL = 1


class DamagedChangeError(ValueError):
    """The content is no change, or does not fit what it is applied to."""


@dataclass(frozen=True, slots=True)
class WorkshopFile:
    """A file beside the state: its content's hash, and the facts that builds compare."""

    sha256: str
    size_bytes: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class FileChanges:
    """Files that are new or different, by their path in the corpus, and those that are gone."""

    files: dict[str, WorkshopFile] = field(default_factory=dict)
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.files or self.removed)


@dataclass(frozen=True, slots=True)
class WrittenChange:
    """A change on disk, and the state's file as it is after it."""

    pages: int
    state_sha256: str
    state_bytes: int


def write_change(target: Path, before: Path | None, now: Path, files: FileChanges) -> WrittenChange:
    """Write how the state changed from one file to another, or with no `before` all of it."""
    digest = hashlib.sha256()
    pages = 0
    state_bytes = now.stat().st_size
    header = orjson.dumps(
        {
            "state_bytes": state_bytes,
            "files": {
                name: (each.sha256, each.size_bytes, each.modified_ns)
                for name, each in files.files.items()
            },
            "removed": files.removed,
        }
    )
    with target.open("wb") as out, now.open("rb") as new:
        out.write(_MAGIC + _LENGTH.pack(len(header)) + header)
        old = None if before is None or not before.exists() else before.open("rb")
        try:
            first = 0
            while window := new.read(_WINDOW_PAGES * PAGE_BYTES):
                digest.update(window)
                known = b"" if old is None else old.read(len(window))
                if window != known:
                    pages += _write_runs(out, first, window, known)
                first += _WINDOW_PAGES
        finally:
            if old is not None:
                old.close()
    return WrittenChange(pages, digest.hexdigest(), state_bytes)


def read_file_changes(change: Path) -> FileChanges:
    """The files that a change names. Raises DamagedChangeError."""
    with change.open("rb") as source:
        return _read_header(source)[1]


def apply_change(change: Path, state: Path) -> None:
    """Bring the state's file forward by a change. Raises DamagedChangeError."""
    state.parent.mkdir(parents=True, exist_ok=True)
    with change.open("rb") as source, state.open("r+b" if state.exists() else "w+b") as target:
        state_bytes, _ = _read_header(source)
        while head := source.read(_RUN.size):
            if len(head) < _RUN.size:
                raise DamagedChangeError("a run of pages is cut off")
            first, count, length = _RUN.unpack(head)
            if not 0 < count <= _WINDOW_PAGES or length > 2 * count * PAGE_BYTES:
                raise DamagedChangeError("a run of pages is too long")
            target.seek(first * PAGE_BYTES)
            target.write(_unpack(source.read(length), count))
        target.truncate(state_bytes)


def copy_differences(source: Path, target: Path) -> None:
    """Make `target` equal to `source`, writing only what differs."""
    with source.open("rb") as new, target.open("r+b" if target.exists() else "w+b") as old:
        while window := new.read(_WINDOW_PAGES * PAGE_BYTES):
            at = old.tell()
            if old.read(len(window)) != window:
                old.seek(at)
                old.write(window)
        old.truncate(new.tell())


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_runs(out: IO[bytes], first: int, window: bytes, known: bytes) -> int:
    """The runs of pages of a window that differ; returns how many pages they have."""
    written = 0
    for start, end in _differing_runs(window, known):
        content = zlib.compress(window[start * PAGE_BYTES : end * PAGE_BYTES], _LEVEL)
        out.write(_RUN.pack(first + start, end - start, len(content)))
        out.write(content)
        written += end - start
    return written


def _differing_runs(window: bytes, known: bytes) -> Iterator[tuple[int, int]]:
    begun: int | None = None
    count = -(-len(window) // PAGE_BYTES)
    for page in range(count):
        place = slice(page * PAGE_BYTES, (page + 1) * PAGE_BYTES)
        if window[place] != known[place]:
            begun = page if begun is None else begun
        elif begun is not None:
            yield begun, page
            begun = None
    if begun is not None:
        yield begun, count


def _unpack(content: bytes, count: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        pages = unpacker.decompress(content, count * PAGE_BYTES)
    except zlib.error as error:
        raise DamagedChangeError("a run of pages cannot be unpacked") from error
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise DamagedChangeError("a run of pages has another length")
    return pages


def _read_header(source: IO[bytes]) -> tuple[int, FileChanges]:
    try:
        if source.read(len(_MAGIC)) != _MAGIC:
            raise DamagedChangeError("no change")
        (length,) = _LENGTH.unpack(source.read(_LENGTH.size))
        if length > _MOST_HEADER_BYTES:
            raise DamagedChangeError("its list of files is too long")
        facts: dict[str, Any] = orjson.loads(source.read(length))
        files = {name: WorkshopFile(*each) for name, each in facts["files"].items()}
        return int(facts["state_bytes"]), FileChanges(files, tuple(facts["removed"]))
    except DamagedChangeError:
        raise
    except (ValueError, TypeError, KeyError, struct.error) as error:
        raise DamagedChangeError("its header cannot be read") from error


def join_files(
    known: dict[str, WorkshopFile], changes: Sequence[FileChanges]
) -> dict[str, WorkshopFile]:
    """The files after these changes."""
    files = dict(known)
    for each in changes:
        for name in each.removed:
            files.pop(name, None)
        files |= each.files
    return files
