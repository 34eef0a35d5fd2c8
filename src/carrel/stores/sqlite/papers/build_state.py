"""The state of a build: what was read from which file, and what was published of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson

from carrel.rooms.papers.building.build_reports import ReportLine
from carrel.rooms.papers.building.decisions import Decision, RecordAddress
from carrel.rooms.papers.building.models import (
    FileStamp,
    FoundSource,
    KnownSource,
    PartRead,
    ReadProblem,
)
from carrel.rooms.papers.building.paper_groups import Conflict
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.building.papers import asset_paths, reader_rank
from carrel.rooms.papers.building.planning import (
    KnownPaper,
    LinkedRecords,
    PaperChange,
    PaperLinks,
)
from carrel.rooms.papers.building.record_works import move_linked_files
from carrel.rooms.papers.errors import BuildInProgressError, NewerBuildStateError
from carrel.rooms.papers.paper_names import former_id_key
from carrel.stores.file_lock import LockHeldError, hold_lock
from carrel.stores.sqlite.connection import connect
from carrel.stores.sqlite.papers.build_decisions import DecisionTable
from carrel.stores.sqlite.papers.build_likeness import LikenessTables
from carrel.stores.sqlite.papers.build_links import RecordLinks
from carrel.stores.sqlite.papers.build_tables import (
    STEPS,
    block_hashes,
    key_hash,
    key_hashes,
    pack_record,
    record_digest,
    unpack_record,
)
from carrel.stores.sqlite.schema import NewerFileError, upgrade_schema

_PARTS_PER_COMMIT = 32
# Less than add_paper may take, so that who waits is told why.
_ADDITION_WAIT_SECONDS = 240.0
_SOURCE = "SELECT number, path, reader, reader_version, stamps, is_complete, content FROM source"


class SqlitePaperBuildState:
    """The state file, committed often enough that a killed build loses a second of work."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = self._opened()
        self._uncommitted = 0
        self._likeness = LikenessTables(self._connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self.commit()
        self._connection.close()

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

    def forget_sources(self, paths: Iterable[str]) -> None:
        self._begin()
        for path in paths:
            number = self._source_number(path)
            if number is None:
                continue
            reader = self._reader_of(number)
            records = self._connection.execute(
                "SELECT record_id, payload FROM record WHERE source = ?", (number,)
            )
            for record_id, payload in records.fetchall():
                record = unpack_record(payload)
                self._delete_hashes("record_key", record_id, key_hashes(record, path, reader))
                self._likeness.remove(record_id, block_hashes(record, path, reader))
            self._connection.execute("DELETE FROM record WHERE source = ?", (number,))
            self._connection.execute("DELETE FROM part WHERE source = ?", (number,))
            self._connection.execute("DELETE FROM source WHERE number = ?", (number,))
        self.commit()

    def begin_source(self, source: FoundSource) -> frozenset[int]:
        self._begin()
        path, stamps = str(source.path), orjson.dumps(source.stamps)
        row = self._connection.execute(
            "SELECT reader, reader_version, stamps, is_complete, number FROM source WHERE path = ?",
            (path,),
        ).fetchone()
        expected = (source.reader, source.reader_version, stamps, 0)
        if row is not None and tuple(row[:4]) == expected:
            found = self._connection.execute("SELECT number FROM part WHERE source = ?", (row[4],))
            return frozenset(number for (number,) in found)
        self.forget_sources([path])
        self._begin()
        self._connection.execute(
            "INSERT INTO source(path, reader, reader_version, stamps, is_complete) "
            "VALUES (?, ?, ?, ?, 0)",
            (path, source.reader, source.reader_version, stamps),
        )
        return frozenset()

    def add_part(self, read: PartRead) -> None:
        self._begin()
        source = self._source_number(read.source)
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
        self._uncommitted += 1
        if self._uncommitted >= _PARTS_PER_COMMIT or len(read.records) > _PARTS_PER_COMMIT:
            self.commit()

    def complete_source(self, path: str, content: bytes | None = None) -> None:
        self._begin()
        self._connection.execute(
            "UPDATE source SET is_complete = 1, content = ? WHERE path = ?", (content, path)
        )

    def sources_with_content(self, content: bytes) -> list[KnownSource]:
        rows = self._connection.execute(f"{_SOURCE} WHERE content = ? ORDER BY path", (content,))
        return [_known_source(row, ()) for row in rows.fetchall()]

    def move_source(self, before: str, source: FoundSource) -> None:
        self._begin()
        path = str(source.path)
        self._connection.execute(
            "UPDATE source SET path = ?, stamps = ? WHERE path = ?",
            (path, orjson.dumps(source.stamps), before),
        )
        if path != before:
            self._move_file_names(before, path)
        self.commit()

    def commit(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")
        self._uncommitted = 0

    def record_count(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM record").fetchone()[0])

    def records(self, record_ids: Sequence[int]) -> list[PaperRecord]:
        find = "SELECT payload FROM record WHERE record_id = ?"
        return [
            unpack_record(self._connection.execute(find, (record_id,)).fetchone()[0])
            for record_id in record_ids
        ]

    def problems(self, path: str | None = None) -> Iterator[tuple[str, ReadProblem]]:
        only = "" if path is None else "AND path = ?"
        for found, problems in self._connection.execute(
            "SELECT path, problems FROM part JOIN source ON source.number = part.source "
            f"WHERE problems <> ? {only} ORDER BY path, part.number",
            (b"[]",) if path is None else (b"[]", path),
        ):
            for problem in orjson.loads(problems):
                yield found, ReadProblem(**problem)

    def link_notes(self) -> Iterator[ReportLine]:
        untitled = self._connection.execute(
            "SELECT path, payload FROM record JOIN source ON source.number = record.source "
            "WHERE paper IS NULL ORDER BY path"
        )
        for path, payload in untitled:
            title = unpack_record(payload).title.strip()
            if not title:
                yield ReportLine(path, "no_title", "a record without a title", is_skipped=True)
            else:
                message = f"{title[:80]!r} was removed and is held back; adding it puts it back"
                yield ReportLine(path, "removed", message, is_skipped=False)
        for (conflicts,) in self._connection.execute(
            "SELECT conflicts FROM published WHERE conflicts IS NOT NULL ORDER BY number"
        ):
            for conflict in _read_conflicts(conflicts):
                yield ReportLine(
                    conflict.source, "id_claimed_twice", conflict.message, is_skipped=False
                )

        yield from self._likeness.doubtful_lines()

    def paper_links(self, paper_id: str) -> PaperLinks:
        return self._likeness.paper_links(paper_id)

    # What changed since the last publication, and what follows from it.

    def is_touched(self) -> bool:
        touched = self._connection.execute("SELECT 1 FROM touched LIMIT 1").fetchone()
        return self._is_everything_touched() or touched is not None or self._likeness.has_touched()

    def touch_everything(self) -> None:
        self._begin()
        self._set_fact("everything", "1")
        self._connection.execute("UPDATE published SET row = NULL")
        self.commit()

    def touch_outdated(self, writer_version: int) -> None:
        if self._fact("writer") == str(writer_version):
            return
        self._begin()
        self._connection.execute("INSERT OR IGNORE INTO touched SELECT hash FROM published_key")
        # What was touched stays so until it is published, whatever happens before.
        self._set_fact("writer", str(writer_version))
        self.commit()

    def touch_papers(self, paper_ids: Iterable[str]) -> None:
        self._begin()
        for paper_id in paper_ids:
            self._connection.execute(
                "INSERT OR IGNORE INTO touched SELECT hash FROM published_key WHERE paper = "
                "(SELECT number FROM published WHERE paper_id = ?)",
                (paper_id,),
            )
        self.commit()

    def touch_source(self, path: str) -> None:
        self._begin()
        number = self._source_number(path)
        reader = self._reader_of(number)
        found = self._connection.execute("SELECT payload FROM record WHERE source = ?", (number,))
        for (payload,) in found.fetchall():
            self._touch(key_hashes(unpack_record(payload), path, reader))
        self.commit()

    def touched_count(self) -> int:
        if self._is_everything_touched():
            return self.record_count()
        return len(RecordLinks(self._connection, is_everything=False).seeds())

    def linked_records(self) -> Iterator[LinkedRecords]:
        links = RecordLinks(self._connection, is_everything=self._is_everything_touched())
        return links.walk()

    def known_paper(self, paper_id: str) -> tuple[KnownPaper, tuple[int, ...]] | None:
        return RecordLinks(self._connection, is_everything=False).paper(paper_id)

    def paper_id_by_keys(self, keys: Sequence[str]) -> str | None:
        links = RecordLinks(self._connection, is_everything=False)
        found = (links.paper_id_by_key(key) for key in keys)
        return next((paper_id for paper_id in found if paper_id is not None), None)

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

    def filed_stamps(self) -> dict[str, str]:
        return dict(
            self._connection.execute("SELECT paper_id, filed FROM published WHERE filed <> ''")
        )

    def left_out_assets(self) -> frozenset[str]:
        found = self._connection.execute("SELECT payload FROM record WHERE paper IS NULL")
        return frozenset(
            name for (payload,) in found for name in asset_paths(unpack_record(payload))
        )

    # What people decided.

    def decide(self, decision: Decision) -> tuple[int, frozenset[int]]:
        self._begin()
        number = DecisionTable(self._connection, has_pending=True).append(decision)
        links = RecordLinks(self._connection, is_everything=False)
        # An undoing is about what it undoes.
        about = self._undone_decision(decision) if decision.undoes else number
        records, hashes = links.names_of_decision(about)
        self._touch(hashes)
        return number, records

    def roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._uncommitted = 0

    def find_decision(self, number: int) -> Decision | None:
        return DecisionTable(self._connection, has_pending=False).find(number)

    def list_decisions(self, first: int, count: int) -> list[Decision]:
        return DecisionTable(self._connection, has_pending=False).newest_first(first, count)

    def decisions_about(self, paper_id: str, record_ids: Sequence[int]) -> list[Decision]:
        table = DecisionTable(self._connection, has_pending=False)
        links = RecordLinks(self._connection, is_everything=False)
        wanted = frozenset(record_ids)
        names = {key_hash(former_id_key(paper_id))}
        for address in links.addresses(record_ids):
            names.update(key_hash(name) for name in address.names())
        found: dict[int, Decision] = {}
        for number in table.numbers_by_names(names):
            decision = table.find(number)
            if decision is None or decision.action == "undo":
                continue
            if any(paper.paper_id == paper_id for paper in decision.papers) or (
                wanted & links.names_of_decision(number)[0]
            ):
                found[number] = decision
        for number in list(found):
            found |= {later.number: later for later in table.undoings(number)}
        return [found[number] for number in sorted(found, reverse=True)]

    def linked_with(self, record_ids: Sequence[int]) -> LinkedRecords:
        return RecordLinks(self._connection, is_everything=False).linked_with(record_ids)

    def record_addresses(self, record_ids: Sequence[int]) -> tuple[RecordAddress, ...]:
        return RecordLinks(self._connection, is_everything=False).addresses(record_ids)

    def _undone_decision(self, decision: Decision) -> int:
        """The edit, merge, split or removal at the end of a chain of undoings."""
        table = DecisionTable(self._connection, has_pending=True)
        found: Decision | None = decision
        while found is not None and found.undoes is not None:
            number = found.undoes
            found = table.find(number)
        return number

    # Publication in two steps, so that the manifest on disk decides whether it has happened.

    def published_build_id(self) -> str | None:
        build_id = self._fact("published")
        return build_id if build_id and build_id == self._fact("on_disk") else None

    def has_published(self) -> bool:
        return self._fact("published") is not None or self._fact("promised") is not None

    def greatest_numbers(self) -> tuple[int, int]:
        """The greatest row and index that a paper has had; 0 where there is none."""
        row = self._connection.execute(
            "SELECT coalesce(max(row), 0), coalesce(max(paper_index), 0) FROM published"
        ).fetchone()
        return int(row[0]), int(row[1])

    def promise(self, changes: Iterable[PaperChange]) -> None:
        self._begin()
        self._connection.executemany(
            "INSERT INTO promised(paper_id, facts) VALUES (?, ?)",
            ((change.paper_id, _change_facts(change)) for change in changes),
        )

    def promise_end(self, papers: Iterable[KnownPaper]) -> None:
        self._begin()
        self._connection.executemany(
            "INSERT INTO promised(paper_id, facts) VALUES (?, ?)",
            ((paper.paper_id, b"null") for paper in papers),
        )

    def promise_removal(self, paper: KnownPaper, removed_at: str) -> None:
        self._begin()
        self._connection.execute(
            "INSERT INTO promised(paper_id, facts) VALUES (?, ?)",
            (paper.paper_id, orjson.dumps(removed_at)),
        )

    def promise_left_out(self, record_ids: Iterable[int]) -> None:
        self._begin()
        self._connection.execute(
            "INSERT INTO promised(paper_id, facts) VALUES ('', ?)",
            (orjson.dumps(list(record_ids)),),
        )

    def drop_promises(self) -> None:
        self._begin()
        self._connection.execute("DELETE FROM promised")

    def prepare_publication(self, build_id: str) -> None:
        self._begin()
        self._set_fact("promised", build_id)
        self.commit()

    def confirm_publication(self, build_id_on_disk: str | None) -> None:
        self._begin()
        decisions = DecisionTable(self._connection, has_pending=True)
        if build_id_on_disk is not None and self._fact("promised") == build_id_on_disk:
            self._apply_promises()
            decisions.confirm()
            self._connection.execute("DELETE FROM touched")
            self._likeness.clear_touched()
            self._set_fact("everything", None)
            self._set_fact("published", build_id_on_disk)
        decisions.drop_pending()
        self._connection.execute("DELETE FROM promised")
        self._set_fact("promised", None)
        self._set_fact("on_disk", build_id_on_disk)
        self.commit()

    def _apply_promises(self) -> None:
        # One by one: a whole build promises every paper, and nothing here changes the promises.
        for paper_id, facts in self._connection.execute(
            "SELECT paper_id, facts FROM promised ORDER BY number"
        ):
            match orjson.loads(facts):
                case None:
                    self._end_paper(paper_id)
                case str() as removed_at:
                    self._remove_paper(paper_id, removed_at)
                case list() as record_ids:
                    self._connection.executemany(
                        "UPDATE record SET paper = NULL WHERE record_id = ?",
                        ((record_id,) for record_id in record_ids),
                    )
                case change:
                    self._apply_change(paper_id, change)

    def _end_paper(self, paper_id: str) -> None:
        row = self._connection.execute(
            "DELETE FROM published WHERE paper_id = ? RETURNING number", (paper_id,)
        ).fetchone()
        if row is not None:
            self._connection.execute("DELETE FROM published_key WHERE paper = ?", row)
            self._connection.execute("UPDATE record SET paper = NULL WHERE paper = ?", row)

    def _remove_paper(self, paper_id: str, removed_at: str) -> None:
        """Keep its identifier and keys for whoever adds it again."""
        row = self._connection.execute(
            "UPDATE published SET row = NULL, removed_at = ?, filed = '', conflicts = NULL, "
            "links = NULL "
            "WHERE paper_id = ? RETURNING number",
            (removed_at, paper_id),
        ).fetchone()
        self._connection.execute("UPDATE record SET paper = NULL WHERE paper = ?", row)

    def _apply_change(self, paper_id: str, change: dict[str, object]) -> None:
        values = (
            paper_id,
            change["paper_index"],
            bytes.fromhex(str(change["digest"])),
            change["row"],
            change["filed"],
            orjson.dumps(change["conflicts"]) if change["conflicts"] else None,
            orjson.dumps(change["links"]) if change.get("links") else None,
        )
        [(number,)] = self._connection.execute(
            "INSERT INTO published(paper_id, paper_index, digest, row, filed, conflicts, links) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT(paper_id) DO UPDATE SET "
            "paper_index = excluded.paper_index, digest = excluded.digest, row = excluded.row, "
            "filed = excluded.filed, conflicts = excluded.conflicts, "
            "links = excluded.links, "
            "removed_at = NULL RETURNING number",
            values,
        ).fetchall()
        keys, record_ids = change["keys"], change["record_ids"]
        assert isinstance(keys, list)
        assert isinstance(record_ids, list)
        self._connection.execute("DELETE FROM published_key WHERE paper = ?", (number,))
        self._connection.executemany(
            "INSERT OR IGNORE INTO published_key VALUES (?, ?)", ((key, number) for key in keys)
        )
        self._connection.executemany(
            "UPDATE record SET paper = ? WHERE record_id = ?",
            ((number, record_id) for record_id in record_ids),
        )

    def _insert_hashes(self, record_id: int, hashes: Sequence[int]) -> None:
        self._connection.executemany(
            "INSERT OR IGNORE INTO record_key VALUES (?, ?)",
            ((found, record_id) for found in hashes),
        )
        self._touch(hashes)

    def _delete_hashes(self, table: str, record_id: int, hashes: Sequence[int]) -> None:
        self._touch(hashes)
        self._connection.executemany(
            f"DELETE FROM {table} WHERE hash = ? AND record_id = ?",
            ((found, record_id) for found in hashes),
        )

    def _move_file_names(self, before: str, path: str) -> None:
        """A file is found under its new name, and a list names files beside it under theirs."""
        number = self._source_number(path)
        reader = self._reader_of(number)
        records = self._connection.execute(
            "SELECT record_id, payload FROM record WHERE source = ?", (number,)
        )
        for record_id, payload in records.fetchall():
            record = unpack_record(payload)
            self._delete_hashes("record_key", record_id, key_hashes(record, before, reader))
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

    def _touch(self, hashes: Iterable[int]) -> None:
        if not self._is_everything_touched():
            self._connection.executemany(
                "INSERT OR IGNORE INTO touched VALUES (?)", ((found,) for found in hashes)
            )

    def _is_everything_touched(self) -> bool:
        return self._fact("everything") is not None

    def _source_number(self, path: str) -> int | None:
        row = self._connection.execute(
            "SELECT number FROM source WHERE path = ?", (path,)
        ).fetchone()
        return int(row[0]) if row else None

    def _begin(self) -> None:
        """Opens the transaction that the next commit ends."""
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")

    def _opened(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            upgrade_schema(self._path, STEPS)
        except NewerFileError as error:
            raise NewerBuildStateError(str(error)) from None
        connection = connect(self._path)
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.create_function("reader_rank", 1, reader_rank, deterministic=True)
        return connection

    def _fact(self, name: str) -> str | None:
        row = self._connection.execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def _set_fact(self, name: str, value: str | None) -> None:
        self._connection.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, value))


def _change_facts(change: PaperChange) -> bytes:
    return orjson.dumps(
        {
            "paper_index": change.paper_index,
            "digest": change.digest.hex(),
            "row": change.row,
            "filed": change.filed,
            "keys": [key_hash(key) for key in change.keys],
            "record_ids": change.record_ids,
            "conflicts": change.conflicts,
            "links": {
                name: value
                for name, value in (
                    ("joins", change.joins),
                    ("doubtful", change.doubtful),
                    ("versions", change.versions),
                )
                if value
            },
        }
    )


def _read_conflicts(content: bytes) -> list[Conflict]:
    return [Conflict(**conflict) for conflict in orjson.loads(content)]


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


class BuildLockFile:
    """One build at a time in a folder; earlier versions lock the same file in the same way."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def held(self, wait_seconds: float = 0.0) -> Iterator[None]:
        """Holds the lock; raises BuildInProgressError where another build keeps it too long."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as held:
            try:
                held.enter_context(
                    hold_lock(self._path, is_database=True, wait_seconds=wait_seconds)
                )
            except LockHeldError as error:
                raise BuildInProgressError from error
            yield


@contextmanager
def wait_for_other_additions(workshop: Path) -> Iterator[None]:
    """Holds the lock of additions: servers that share a home add one paper after another.

    Raises BuildInProgressError where the turn does not come in time.
    """
    workshop.mkdir(parents=True, exist_ok=True)
    try:
        with hold_lock(workshop / "lock.db.adding", wait_seconds=_ADDITION_WAIT_SECONDS):
            yield
    except LockHeldError as error:
        raise BuildInProgressError from error
