"""The records of a library's search index: which reference has which row, and its stored form."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from carrel.rooms.references.items import Item

_WAIT_SECONDS = 10.0
_MARK_BYTES = 12
# How many rows one statement names.
_BATCH = 500
_SCHEMA = """
CREATE TABLE IF NOT EXISTS reference (
    row INTEGER PRIMARY KEY, place REAL NOT NULL, mark BLOB NOT NULL, item BLOB NOT NULL,
    body BLOB
);
CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS pending (row INTEGER PRIMARY KEY);
"""


@dataclass(frozen=True, slots=True)
class StoredReference:
    """A reference to be stored: its row, its place in the library, its text and its item."""

    row: int
    place: float
    mark: bytes
    item: Item
    body: str = ""


def text_mark(raw: str, attached: str = "") -> bytes:
    """Changes with the text of a reference and with what is attached to it."""
    return hashlib.blake2b(
        raw.encode("utf-8", "surrogatepass") + b"\0" + attached.encode("utf-8", "surrogatepass"),
        digest_size=_MARK_BYTES,
    ).digest()


class IndexRecords:
    """The database of one index. Every method raises sqlite3.Error where it is damaged."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._file, timeout=_WAIT_SECONDS)) as connection:
            # A cache: what a power cut spoils is made again.
            connection.execute("PRAGMA synchronous = NORMAL")
            yield connection

    def create(self) -> None:
        with self._open() as connection:
            connection.executescript(_SCHEMA)

    def facts(self) -> Mapping[str, str]:
        """What is known of the index as a whole; empty where there is none."""
        if not self._file.exists():
            return {}
        with self._open() as connection:
            return dict(connection.execute("SELECT name, value FROM fact"))

    def marks(self) -> dict[bytes, list[int]]:
        """The rows of each text, in the order of the library."""
        found: dict[bytes, list[int]] = {}
        with self._open() as connection:
            for row, mark in connection.execute("SELECT row, mark FROM reference ORDER BY place"):
                found.setdefault(mark, []).append(row)
        return found

    def pending(self) -> list[int]:
        """Rows whose entries an interrupted change may have left in either state."""
        with self._open() as connection:
            return [row for (row,) in connection.execute("SELECT row FROM pending")]

    def begin(self, rows: Iterable[int]) -> None:
        """Note, before the index is changed, which rows are about to change."""
        with self._open() as connection, connection:
            connection.executemany(
                "INSERT OR IGNORE INTO pending (row) VALUES (?)", ((row,) for row in rows)
            )

    def finish(
        self,
        added: Iterable[StoredReference],
        removed: Iterable[int],
        places: Iterable[tuple[float, int]],
        facts: Mapping[str, str],
    ) -> None:
        """Store what the index now has; (place, row) pairs are rows that have moved."""
        with self._open() as connection, connection:
            connection.executemany(
                "DELETE FROM reference WHERE row = ?", ((row,) for row in removed)
            )
            connection.executemany(
                "INSERT OR REPLACE INTO reference (row, place, mark, item, body) "
                "VALUES (?, ?, ?, ?, ?)",
                (
                    (each.row, each.place, each.mark, _pack(each.item), _pack_text(each.body))
                    for each in added
                ),
            )
            connection.executemany("UPDATE reference SET place = ? WHERE row = ?", places)
            connection.executemany(
                "INSERT OR REPLACE INTO fact (name, value) VALUES (?, ?)", facts.items()
            )
            connection.execute("DELETE FROM pending")

    def items(self, rows: Sequence[int]) -> dict[int, Item]:
        """The references of these rows; a row that is gone is left out."""
        found: dict[int, Item] = {}
        with self._open() as connection:
            for first in range(0, len(rows), _BATCH):
                batch = rows[first : first + _BATCH]
                marks = ",".join("?" * len(batch))
                for row, item in connection.execute(
                    f"SELECT row, item FROM reference WHERE row IN ({marks})", batch
                ):
                    found[row] = _unpack(item)
        return found

    def read_references(self, rows: Sequence[int]) -> list[StoredReference]:
        """What is stored of these rows."""
        with self._open() as connection:
            return [
                StoredReference(row, place, mark, _unpack(item), _unpack_text(body))
                for number in rows
                for row, place, mark, item, body in connection.execute(
                    "SELECT row, place, mark, item, body FROM reference WHERE row = ?", (number,)
                )
            ]

    def bodies(self) -> list[tuple[int, str]]:
        """The attached texts by row."""
        with self._open() as connection:
            return [
                (row, _unpack_text(body))
                for row, body in connection.execute(
                    "SELECT row, body FROM reference WHERE body IS NOT NULL"
                )
            ]

    def places(self) -> dict[int, float]:
        """The place of every row in the library."""
        with self._open() as connection:
            return dict(connection.execute("SELECT row, place FROM reference"))

    def count(self) -> int:
        with self._open() as connection:
            return int(connection.execute("SELECT count(*) FROM reference").fetchone()[0])


def _pack(item: Item) -> bytes:
    return zlib.compress(json.dumps(item, ensure_ascii=False).encode("utf-8", "surrogatepass"), 1)


def _unpack(packed: bytes) -> Item:
    found: Item = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    return found


def _pack_text(text: str) -> bytes | None:
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1) if text else None


def _unpack_text(packed: bytes | None) -> str:
    return zlib.decompress(packed).decode("utf-8", "surrogatepass") if packed else ""
