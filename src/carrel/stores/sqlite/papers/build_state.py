"""The state of a build: what was read from which file, and what was published of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson

from carrel.rooms.papers.building.build_reports import ReportLine
from carrel.rooms.papers.building.decisions import Decision, RecordAddress
from carrel.rooms.papers.building.models import (
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
from carrel.rooms.papers.errors import NewerBuildStateError
from carrel.rooms.papers.paper_names import former_id_key
from carrel.stores.sqlite.connection import connect
from carrel.stores.sqlite.papers.build_decisions import DecisionTable
from carrel.stores.sqlite.papers.build_likeness import LikenessTables
from carrel.stores.sqlite.papers.build_links import RecordLinks
from carrel.stores.sqlite.papers.build_promises import PromiseTable
from carrel.stores.sqlite.papers.build_sources import SourceTables
from carrel.stores.sqlite.papers.build_tables import (
    STEPS,
    key_hash,
    unpack_record,
)
from carrel.stores.sqlite.papers.build_touched import TouchedKeys
from carrel.stores.sqlite.papers.dump_tables import DumpTables
from carrel.stores.sqlite.schema import NewerFileError, upgrade_schema

_PARTS_PER_COMMIT = 32


class SqlitePaperBuildState:
    """The state file, committed often enough that a killed build loses a second of work."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = self._opened()
        self._uncommitted = 0
        self._touched = TouchedKeys(self._connection)
        self._likeness = LikenessTables(self._connection)
        self._sources = SourceTables(self._connection, self._touched, self._likeness)
        self._promises = PromiseTable(self._connection)
        self.dumps = DumpTables(self._connection)

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

    # What was read from which file.

    def known_sources(self) -> dict[str, KnownSource]:
        return self._sources.known_sources()

    def known_source(self, path: str) -> KnownSource | None:
        return self._sources.known_source(path)

    def forget_sources(self, paths: Iterable[str]) -> None:
        self._begin()
        for path in paths:
            self._sources.forget(path)
        self.commit()

    def begin_source(self, source: FoundSource) -> frozenset[int]:
        self._begin()
        done = self._sources.parts_done(source)
        if done is not None:
            return done
        self.forget_sources([str(source.path)])
        self._begin()
        self._sources.begin(source)
        return frozenset()

    def add_part(self, read: PartRead) -> None:
        self._begin()
        self._sources.add_part(read)
        self._uncommitted += 1
        if self._uncommitted >= _PARTS_PER_COMMIT or len(read.records) > _PARTS_PER_COMMIT:
            self.commit()

    def complete_source(self, path: str, content: bytes | None = None) -> None:
        self._begin()
        self._sources.complete(path, content)

    def sources_with_content(self, content: bytes) -> list[KnownSource]:
        return self._sources.sources_with_content(content)

    def move_source(self, before: str, source: FoundSource) -> None:
        self._begin()
        self._sources.move(before, source)
        self.commit()

    def problems(self, path: str | None = None) -> Iterator[tuple[str, ReadProblem]]:
        return self._sources.problems(path)

    def source_records(self, path: str) -> frozenset[int]:
        return self._sources.source_records(path)

    def record_sources(self, record_ids: Sequence[int]) -> list[str]:
        return self._sources.record_sources(record_ids)

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
        return self._touched.has_any() or self._likeness.has_touched()

    def touch_everything(self) -> None:
        self._begin()
        self._touched.set_fact("everything", "1")
        self._connection.execute("UPDATE published SET row = NULL")
        self.commit()

    def touch_outdated(self, writer_version: int) -> None:
        if self._touched.fact("writer") == str(writer_version):
            return
        self._begin()
        self._touched.touch_published()
        # What was touched stays so until it is published, whatever happens before.
        self._touched.set_fact("writer", str(writer_version))
        self.commit()

    def touch_papers(self, paper_ids: Iterable[str]) -> None:
        self._begin()
        for paper_id in paper_ids:
            self._touched.touch_paper(paper_id)
        self.commit()

    def touch_source(self, path: str) -> None:
        self._begin()
        self._sources.touch(path)
        self.commit()

    def touched_count(self) -> int:
        if self._touched.is_everything():
            return self.record_count()
        return len(RecordLinks(self._connection, is_everything=False).seeds())

    def linked_records(self) -> Iterator[LinkedRecords]:
        links = RecordLinks(self._connection, is_everything=self._touched.is_everything())
        return links.walk()

    def known_paper(self, paper_id: str) -> tuple[KnownPaper, tuple[int, ...]] | None:
        return RecordLinks(self._connection, is_everything=False).paper(paper_id)

    def paper_id_by_keys(self, keys: Sequence[str]) -> str | None:
        links = RecordLinks(self._connection, is_everything=False)
        found = (links.paper_id_by_key(key) for key in keys)
        return next((paper_id for paper_id in found if paper_id is not None), None)

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
        self._touched.touch(hashes)
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
        build_id = self._touched.fact("published")
        return build_id if build_id and build_id == self._touched.fact("on_disk") else None

    def has_published(self) -> bool:
        return (
            self._touched.fact("published") is not None
            or self._touched.fact("promised") is not None
        )

    def greatest_numbers(self) -> tuple[int, int]:
        """The greatest row and index that a paper has had; 0 where there is none."""
        row = self._connection.execute(
            "SELECT coalesce(max(row), 0), coalesce(max(paper_index), 0) FROM published"
        ).fetchone()
        return int(row[0]), int(row[1])

    def promise(self, changes: Iterable[PaperChange]) -> None:
        self._begin()
        self._promises.add_changes(changes)

    def promise_end(self, papers: Iterable[KnownPaper]) -> None:
        self._begin()
        self._promises.add_ends(papers)

    def promise_removal(self, paper: KnownPaper, removed_at: str) -> None:
        self._begin()
        self._promises.add_removal(paper, removed_at)

    def promise_left_out(self, record_ids: Iterable[int]) -> None:
        self._begin()
        self._promises.add_left_out(record_ids)

    def drop_promises(self) -> None:
        self._begin()
        self._promises.drop()

    def prepare_publication(self, build_id: str) -> None:
        self._begin()
        self._touched.set_fact("promised", build_id)
        self.commit()

    def confirm_publication(self, build_id_on_disk: str | None) -> None:
        self._begin()
        decisions = DecisionTable(self._connection, has_pending=True)
        if build_id_on_disk is not None and self._touched.fact("promised") == build_id_on_disk:
            self._promises.apply()
            decisions.confirm()
            self._touched.clear()
            self._likeness.clear_touched()
            self._touched.set_fact("published", build_id_on_disk)
        decisions.drop_pending()
        self._promises.drop()
        self._touched.set_fact("promised", None)
        self._touched.set_fact("on_disk", build_id_on_disk)
        self.commit()

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


def _read_conflicts(content: bytes) -> list[Conflict]:
    return [Conflict(**conflict) for conflict in orjson.loads(content)]
