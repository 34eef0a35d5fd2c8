"""Segments of a corpus: folders named by their content, always whole, and only read.

The name is a hash of the records in order, with their rows, so that the same papers give the same
name on any machine.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from carrel.stores.corpus.manifest import sync_folder
from carrel.stores.corpus.records import unpack
from carrel.stores.corpus.schema import FILES_NAME, FORMAT, RECORDS_NAME
from carrel.stores.sqlite.connection import connect

_NAME_HEX = 32


def open_segment(folder: Path) -> sqlite3.Connection:
    """The records of a segment, read-only; they never change. Raises sqlite3.Error."""
    return connect(folder / RECORDS_NAME, "immutable")


def read_asset(folder: Path, connection: sqlite3.Connection, name: str) -> bytes | None:
    """An asset of a segment by its name, or None where the segment does not have it.

    Raises OSError where its file cannot be read, ValueError where it is damaged.
    """
    row = connection.execute("SELECT body FROM asset WHERE name = ?", (name,)).fetchone()
    if row is None:
        return None
    # The name is one of the segment's own, so it leads nowhere else.
    return (folder / FILES_NAME / name).read_bytes() if row[0] is None else unpack(row[0])


def read_segment_meta(folder: Path) -> dict[str, str]:
    """The facts of a segment by the names in `schema`. Raises sqlite3.Error."""
    with closing(open_segment(folder)) as connection:
        return dict(connection.execute("SELECT name, value FROM segment_meta"))


class SegmentName:
    """The name of a segment, from its records in order."""

    def __init__(self, index_format: int) -> None:
        self._hash = hashlib.sha256(f"carrel segment {FORMAT} {index_format}".encode())

    def add(self, row: int, content: bytes, assets: Sequence[str]) -> None:
        """Add a row: its record, unpacked, and the names of its assets in order."""
        self._hash.update(b"\n%d %d " % (row, len(content)))
        self._hash.update(content)
        self._hash.update(" ".join(assets).encode())

    def __str__(self) -> str:
        return self._hash.hexdigest()[:_NAME_HEX]


def sync_tree(folder: Path) -> None:
    """Make every file of a segment, and its name, last, all with the rights of its records."""
    rights = stat.S_IMODE((folder / RECORDS_NAME).stat().st_mode)
    for path in folder.rglob("*"):
        if path.is_dir():
            sync_folder(path)
            continue
        if stat.S_IMODE(path.stat().st_mode) != rights:
            # tantivy writes its lists for the owner alone.
            path.chmod(rights)
        with path.open("rb") as file:
            os.fsync(file.fileno())
    sync_folder(folder)


def size_of(folder: Path) -> int:
    """The bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
