"""Sources, parts and records of a build state: what was read from which file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

import orjson

from carrel.rooms.papers.building.models import (
    FileStamp,
    FoundSource,
    KnownSource,
    PartRead,
    ReadProblem,
)
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.building.record_works import move_linked_files
from carrel.stores.sqlite.papers.build_likeness import LikenessTables
from carrel.stores.sqlite.papers.build_tables import (
    block_hashes,
    key_hashes,
    pack_record,
    record_digest,
    unpack_record,
)
from carrel.stores.sqlite.papers.build_touched import TouchedKeys

_SOURCE = "SELECT number, path, reader, reader_version, stamps, is_complete, content FROM source"


class SourceTables:
    """The tables `source`, `part`, `record` and `record_key` of a build state."""

    def __init__(
        self, connection: sqlite3.Connection, touched: TouchedKeys, likeness: LikenessTables
    ) -> None:
        self._connection = connection
        self._touched = touched
        self._likeness = likeness

    def known_sources(self) -> dict[str, KnownSource]:
        further: dict[int, list[FileStamp]] = {}
        for number, stamps in self._connection.execute(
            "SELECT source, further FROM part WHERE further <> ?", (b"[]",)
        ):
            further.setdefault(number, []).extend(_stamps(stamps))
        rows = self._connection.execute(_SOURCE)
        return {row[1]: _known_source(row, further.get(row[0], ())) for row in rows}

    def known_source(self, path: str) -> KnownSource | None:
        row = self._connection.execute(f"{_SOURCE} WHERE path = ?", (path,)).fetchone()
        if row is None:
            return None
        parts = self._connection.execute("SELECT further FROM part WHERE source = ?", (row[0],))
        return _known_source(row, [stamp for (stamps,) in parts for stamp in _stamps(stamps)])

    def forget(self, path: str) -> None:
        """Delete a source with its records; what they were linked with is touched."""
        number = self._number(path)
        if number is None:
            return
        reader = self._reader_of(number)
        for record_id, record in self._records_of(number):
            self._delete_hashes(record_id, key_hashes(record, path, reader))
            self._likeness.remove(record_id, block_hashes(record, path, reader))
        self._connection.execute("DELETE FROM record WHERE source = ?", (number,))
        self._connection.execute("DELETE FROM part WHERE source = ?", (number,))
        self._connection.execute("DELETE FROM source WHERE number = ?", (number,))

    def parts_done(self, source: FoundSource) -> frozenset[int] | None:
        """The parts of a half-read source; None where it must be read from its beginning."""
        row = self._connection.execute(
            "SELECT reader, reader_version, stamps, is_complete, number FROM source WHERE path = ?",
            (str(source.path),),
        ).fetchone()
        expected = (source.reader, source.reader_version, orjson.dumps(source.stamps), 0)
        if row is None or tuple(row[:4]) != expected:
            return None
        found = self._connection.execute("SELECT number FROM part WHERE source = ?", (row[4],))
        return frozenset(number for (number,) in found)

    def begin(self, source: FoundSource) -> None:
        self._connection.execute(
            "INSERT INTO source(path, reader, reader_version, stamps, is_complete) "
            "VALUES (?, ?, ?, ?, 0)",
            (
                str(source.path),
                source.reader,
                source.reader_version,
                orjson.dumps(source.stamps),
            ),
        )

    def add_part(self, read: PartRead) -> None:
        source = self._number(read.source)
        reader = self._reader_of(source)
        for place, record in enumerate(read.records):
            added = self._connection.execute(
                "INSERT INTO record(source, part, place, digest, payload) VALUES (?, ?, ?, ?, ?)",
                (source, read.number, place, record_digest(record), pack_record(record)),
            )
            record_id = added.lastrowid
            assert record_id is not None
            self._insert_hashes(record_id, key_hashes(record, read.source, reader))
            self._likeness.add(record_id, block_hashes(record, read.source, reader))
        self._connection.execute(
            "INSERT INTO part VALUES (?, ?, ?, ?)",
            (source, read.number, orjson.dumps(read.further), orjson.dumps(read.problems)),
        )

    def complete(self, path: str, content: bytes | None) -> None:
        self._connection.execute(
            "UPDATE source SET is_complete = 1, content = ? WHERE path = ?", (content, path)
        )

    def sources_with_content(self, content: bytes) -> list[KnownSource]:
        rows = self._connection.execute(f"{_SOURCE} WHERE content = ? ORDER BY path", (content,))
        return [_known_source(row, ()) for row in rows.fetchall()]

    def move(self, before: str, source: FoundSource) -> None:
        """The source of the path `before` lies elsewhere now, or has another time."""
        path = str(source.path)
        self._connection.execute(
            "UPDATE source SET path = ?, stamps = ? WHERE path = ?",
            (path, orjson.dumps(source.stamps), before),
        )
        if path != before:
            self._move_file_names(before, path)

    def touch(self, path: str) -> None:
        number = self._number(path)
        reader = self._reader_of(number)
        for _, record in self._records_of(number):
            self._touched.touch(key_hashes(record, path, reader))

    def problems(self, path: str | None = None) -> Iterator[tuple[str, ReadProblem]]:
        only = "" if path is None else "AND path = ?"
        for found, problems in self._connection.execute(
            "SELECT path, problems FROM part JOIN source ON source.number = part.source "
            f"WHERE problems <> ? {only} ORDER BY path, part.number",
            (b"[]",) if path is None else (b"[]", path),
        ):
            for problem in orjson.loads(problems):
                yield found, ReadProblem(**problem)

    def source_records(self, path: str) -> frozenset[int]:
        found = self._connection.execute(
            "SELECT record_id FROM record JOIN source ON source.number = record.source "
            "WHERE path = ?",
            (path,),
        )
        return frozenset(record_id for (record_id,) in found)

    def record_sources(self, record_ids: Sequence[int]) -> list[str]:
        find = (
            "SELECT path FROM record JOIN source ON source.number = record.source "
            "WHERE record_id = ?"
        )
        return [
            str(self._connection.execute(find, (record_id,)).fetchone()[0])
            for record_id in record_ids
        ]

    def _insert_hashes(self, record_id: int, hashes: Sequence[int]) -> None:
        self._connection.executemany(
            "INSERT OR IGNORE INTO record_key VALUES (?, ?)",
            ((found, record_id) for found in hashes),
        )
        self._touched.touch(hashes)

    def _delete_hashes(self, record_id: int, hashes: Sequence[int]) -> None:
        self._touched.touch(hashes)
        self._connection.executemany(
            "DELETE FROM record_key WHERE hash = ? AND record_id = ?",
            ((found, record_id) for found in hashes),
        )

    def _move_file_names(self, before: str, path: str) -> None:
        """A file is found under its new name, and a list names files beside it under theirs."""
        number = self._number(path)
        reader = self._reader_of(number)
        for record_id, record in self._records_of(number):
            self._delete_hashes(record_id, key_hashes(record, before, reader))
            moved = move_linked_files(record, before, path)
            if moved is not record:
                self._connection.execute(
                    "UPDATE record SET digest = ?, payload = ? WHERE record_id = ?",
                    (record_digest(moved), pack_record(moved), record_id),
                )
            self._insert_hashes(record_id, key_hashes(moved, path, reader))

    def _reader_of(self, number: int | None) -> str:
        row = self._connection.execute(
            "SELECT reader FROM source WHERE number = ?", (number,)
        ).fetchone()
        return str(row[0]) if row else ""

    def _records_of(self, number: int | None) -> Iterator[tuple[int, PaperRecord]]:
        found = self._connection.execute(
            "SELECT record_id, payload FROM record WHERE source = ?", (number,)
        )
        # All rows first: the caller changes the table between them.
        for record_id, payload in found.fetchall():
            yield record_id, unpack_record(payload)

    def _number(self, path: str) -> int | None:
        row = self._connection.execute(
            "SELECT number FROM source WHERE path = ?", (path,)
        ).fetchone()
        return int(row[0]) if row else None


def _known_source(row: Sequence[object], further: Iterable[FileStamp]) -> KnownSource:
    _, path, reader, version, stamps, is_complete, content = row
    assert isinstance(version, int)
    assert isinstance(stamps, bytes)
    assert content is None or isinstance(content, bytes)
    return KnownSource(
        str(path), str(reader), version, _stamps(stamps), tuple(further), bool(is_complete), content
    )


def _stamps(blob: bytes) -> tuple[FileStamp, ...]:
    return tuple(FileStamp(**stamp) for stamp in orjson.loads(blob))
