"""Records of dumps in a build state: taken in bulk, the newest of a name wins."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import orjson

from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.loading.models import (
    DumpReach,
    FileProgress,
    LoadCounts,
    reader_name,
    source_name,
)
from carrel.rooms.papers.loading.ports import PackedRecords
from carrel.stores.sqlite.connection import connect
from carrel.stores.sqlite.papers.build_tables import (
    block_hashes,
    key_hashes,
    unpack_record,
)
from carrel.stores.sqlite.papers.build_touched import TouchedKeys
from carrel.stores.sqlite.papers.dump_entries import PackedEntry

_READER_VERSION = 1
# As in `build_links`, where the place of a record in its source is made of both.
_RECORDS_PER_PART = 1_000_000
_NAMES_AT_ONCE = 500


class DumpTables:
    """The tables `dump`, `dump_file`, `dump_record` and `dump_block` of a build state."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._touched = TouchedKeys(connection)

    def progress(self, service: str) -> dict[str, FileProgress]:
        rows = self._connection.execute(
            "SELECT name, stamp, filters, records, is_complete, problem FROM dump_file "
            "WHERE service = ?",
            (service,),
        )
        return {
            name: FileProgress(stamp, filters, records, bool(is_complete), problem)
            for name, stamp, filters, records, is_complete, problem in rows.fetchall()
        }

    def keep_progress(self, service: str, name: str, progress: FileProgress) -> None:
        self._begin()
        self._connection.execute(
            "INSERT OR REPLACE INTO dump_file VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                service,
                name,
                progress.stamp,
                progress.filters,
                progress.records,
                progress.is_complete,
                progress.problem,
            ),
        )

    def reach(self, service: str) -> tuple[DumpReach, int] | None:
        row = self._connection.execute(
            "SELECT reach, quarantine_bytes FROM dump WHERE service = ?", (service,)
        ).fetchone()
        return None if row is None else (DumpReach(**orjson.loads(row[0])), int(row[1]))

    def keep_reach(self, reach: DumpReach, quarantine_bytes: int) -> None:
        self._begin()
        self._connection.execute(
            "INSERT INTO dump VALUES (?, ?, ?, 0) ON CONFLICT(service) DO UPDATE SET "
            "reach = excluded.reach, quarantine_bytes = excluded.quarantine_bytes",
            (reach.service, orjson.dumps(reach), quarantine_bytes),
        )

    def record_count(self, service: str) -> int:
        row = self._connection.execute(
            "SELECT records FROM dump WHERE service = ?", (service,)
        ).fetchone()
        return 0 if row is None else int(row[0])

    def add(
        self, service: str, packed: PackedRecords, counts: LoadCounts, room: int | None
    ) -> tuple[int, int]:
        self._begin()
        source = self._source(service)
        entries: Sequence[PackedEntry] = packed.entries
        known = self._known(entries)
        new: dict[int, PackedEntry] = {}
        touched, looked_at, records = 0, packed.count, 0
        for each in entries:
            if each.name in new:
                # Twice in one file: the later one meets the earlier one in the tables.
                known |= self._insert(source, new)
                new = {}
            before = known.get(each.name)
            is_new = bool(each.payload) and (before is None or before[0] is None)
            if is_new and (before is None or each.version >= before[1]):
                if room is not None and records + 1 > room:
                    looked_at = each.number - packed.first
                    break
                new[each.name] = each
                counts.new += 1
                records += 1
                touched += 1
            elif before is None:
                known[each.name] = self._keep_name(each, None)
                counts.deleted += 1
            else:
                outcome = self._replace(each, before, source, counts)
                known[each.name] = outcome[0]
                touched += outcome[1]
                records += outcome[2]
        self._insert(source, new)
        self._count(service, records)
        return touched, looked_at

    def _known(self, entries: Sequence[PackedEntry]) -> dict[int, tuple[int | None, str]]:
        """The record and version of each name that is known."""
        names = [each.name for each in entries]
        known: dict[int, tuple[int | None, str]] = {}
        for at in range(0, len(names), _NAMES_AT_ONCE):
            some = names[at : at + _NAMES_AT_ONCE]
            rows = self._connection.execute(
                "SELECT hash, record_id, version FROM dump_record WHERE hash IN "
                f"({','.join('?' * len(some))})",
                some,
            )
            known |= {name: (record_id, version) for name, record_id, version in rows.fetchall()}
        return known

    def _insert(
        self, source: int, new: dict[int, PackedEntry]
    ) -> dict[int, tuple[int | None, str]]:
        """Add records of names that have none, in bulk."""
        if not new:
            return {}
        first = self._next_record()
        numbered = list(enumerate(new.values(), start=first))
        place = self._next_place(source)
        self._connection.executemany(
            "INSERT INTO record(record_id, source, part, place, digest, payload) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (
                (
                    record_id,
                    source,
                    *divmod(place + at, _RECORDS_PER_PART),
                    each.digest,
                    each.payload,
                )
                for at, (record_id, each) in enumerate(numbered)
            ),
        )
        for table, rows in (
            ("record_key", ((key, at) for at, each in numbered for key in each.keys)),
            ("dump_block", ((block, at) for at, each in numbered for block in each.blocks)),
        ):
            # In order: what is written next lies beside what was written last.
            self._connection.executemany(
                f"INSERT OR IGNORE INTO {table} VALUES (?, ?)", sorted(rows)
            )
        self._connection.executemany(
            "INSERT OR REPLACE INTO dump_record VALUES (?, ?, ?)",
            sorted((each.name, at, each.version) for at, each in numbered),
        )
        self._touch(record_id for record_id, _ in numbered)
        return {each.name: (at, each.version) for at, each in numbered}

    def _replace(
        self,
        each: PackedEntry,
        before: tuple[int | None, str],
        source: int,
        counts: LoadCounts,
    ) -> tuple[tuple[int | None, str], int, int]:
        """The name from now on, whether its paper was touched, and the change of the count."""
        record_id, version = before
        if each.version < version:
            counts.older += 1
            return before, 0, 0
        if record_id is None:
            counts.deleted += 1
            return self._keep_name(each, None), 0, 0
        digest, payload = self._connection.execute(
            "SELECT digest, payload FROM record WHERE record_id = ?", (record_id,)
        ).fetchone()
        if each.digest == digest:
            counts.unchanged += 1
            if each.version == version:
                return before, 0, 0
            return self._keep_name(each, record_id), 0, 0
        self._forget_hashes(record_id, unpack_record(payload), source)
        if not each.payload:
            counts.deleted += 1
            self._connection.execute("DELETE FROM record WHERE record_id = ?", (record_id,))
            self._connection.execute("DELETE FROM touched_record WHERE record_id = ?", (record_id,))
            return self._keep_name(each, None), 1, -1
        counts.changed += 1
        self._connection.execute(
            "UPDATE record SET digest = ?, payload = ? WHERE record_id = ?",
            (each.digest, each.payload, record_id),
        )
        for table, hashes in (("record_key", each.keys), ("dump_block", each.blocks)):
            self._connection.executemany(
                f"INSERT OR IGNORE INTO {table} VALUES (?, ?)",
                ((hashed, record_id) for hashed in hashes),
            )
        self._touch([record_id])
        return self._keep_name(each, record_id), 1, 0

    def _forget_hashes(self, record_id: int, record: PaperRecord, source: int) -> None:
        """What was found by the record's old keys is looked at again."""
        path, reader = self._connection.execute(
            "SELECT path, reader FROM source WHERE number = ?", (source,)
        ).fetchone()
        for table, hashes in (
            ("record_key", key_hashes(record, path, reader)),
            ("dump_block", block_hashes(record, path, reader)),
        ):
            self._connection.executemany(
                f"DELETE FROM {table} WHERE hash = ? AND record_id = ?",
                ((hashed, record_id) for hashed in hashes),
            )
            if table == "record_key":
                self._touched.touch(hashes)

    def _keep_name(self, each: PackedEntry, record_id: int | None) -> tuple[int | None, str]:
        self._connection.execute(
            "INSERT OR REPLACE INTO dump_record VALUES (?, ?, ?)",
            (each.name, record_id, each.version),
        )
        return record_id, each.version

    def _touch(self, record_ids: Iterable[int]) -> None:
        self._connection.executemany(
            "INSERT OR IGNORE INTO touched_record VALUES (?)",
            ((at,) for at in record_ids),
        )

    def _next_record(self) -> int:
        row = self._connection.execute("SELECT max(record_id) FROM record").fetchone()
        return int(row[0] or 0) + 1

    def _next_place(self, source: int) -> int:
        """A number behind that of every record of the source: records are numbered in order."""
        row = self._connection.execute(
            "SELECT part, place FROM record WHERE source = ? ORDER BY record_id DESC LIMIT 1",
            (source,),
        ).fetchone()
        return 0 if row is None else int(row[0]) * _RECORDS_PER_PART + int(row[1]) + 1

    def _source(self, service: str) -> int:
        path = source_name(service)
        row = self._connection.execute(
            "SELECT number FROM source WHERE path = ?", (path,)
        ).fetchone()
        if row is not None:
            return int(row[0])
        added = self._connection.execute(
            "INSERT INTO source(path, reader, reader_version, stamps, is_complete) "
            "VALUES (?, ?, ?, ?, 1)",
            (path, reader_name(service), _READER_VERSION, b"[]"),
        )
        assert added.lastrowid is not None
        return added.lastrowid

    def _count(self, service: str, more: int) -> None:
        if more:
            self._connection.execute(
                "INSERT INTO dump VALUES (?, ?, 0, ?) ON CONFLICT(service) DO UPDATE SET "
                "records = records + excluded.records",
                (service, orjson.dumps(DumpReach(service, "", "", "", 0, False)), more),
            )

    def _begin(self) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")


def read_reaches(state: Path, services: Sequence[str]) -> tuple[DumpReach, ...]:
    """How far the dumps of a corpus reach, by its state file; none where it knows of no dump."""
    if not state.is_file():
        return ()
    with closing(connect(state, "read")) as connection:
        try:
            tables = DumpTables(connection)
            found = [(tables.reach(service), tables.record_count(service)) for service in services]
        except sqlite3.OperationalError:
            # The state of an earlier version, which the next change brings forward.
            return ()
    return tuple(replace(kept[0], papers=count) for kept, count in found if kept is not None)
