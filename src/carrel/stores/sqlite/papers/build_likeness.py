"""Records that are alike without sharing a key: blocking keys in the build state."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

import orjson

from carrel.libraries.works.comparison import LinkVerdict, compare
from carrel.libraries.works.linkage_weights import MAX_BLOCK_WORKS
from carrel.libraries.works.work import Work
from carrel.rooms.papers.building.build_reports import ReportLine
from carrel.rooms.papers.building.paper_groups import RecordJoin
from carrel.rooms.papers.building.planning import PaperLink, PaperLinks
from carrel.rooms.papers.building.record_works import describe_record
from carrel.rooms.papers.loading.models import DUMP_SOURCE
from carrel.stores.sqlite.papers.build_tables import key_hash, unpack_record

# Works that are kept at hand while a build compares them.
_MAX_REMEMBERED = 20_000
_BLOCK = f"SELECT record_id FROM record_block WHERE hash = ? LIMIT {MAX_BLOCK_WORKS + 2}"
_DUMP_BLOCK = f"SELECT record_id FROM dump_block WHERE hash = ? LIMIT {MAX_BLOCK_WORKS + 2}"


class LikenessTables:
    """The tables `record_block` and `touched_record` of a build state."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._works: dict[int, Work] = {}

    def add(self, record_id: int, blocks: Sequence[int]) -> None:
        """Keep the blocking keys of a record that was read."""
        for block in blocks:
            self._connection.execute(
                "INSERT OR IGNORE INTO record_block VALUES (?, ?)", (block, record_id)
            )
            members = self._members(block)
            if len(members) == MAX_BLOCK_WORKS + 1:
                # It is passed over from now on: what it joined must be looked at again.
                self._touch(members)

    def remove(self, record_id: int, blocks: Sequence[int]) -> None:
        """Forget a record; those that it was compared with are looked at again."""
        for block in blocks:
            members = self._members(block)
            if len(members) <= MAX_BLOCK_WORKS + 1:
                self._touch([member for member in members if member != record_id])
            self._connection.execute(
                "DELETE FROM record_block WHERE hash = ? AND record_id = ?", (block, record_id)
            )
        self._connection.execute("DELETE FROM touched_record WHERE record_id = ?", (record_id,))

    def has_touched(self) -> bool:
        return (
            self._connection.execute("SELECT 1 FROM touched_record LIMIT 1").fetchone() is not None
        )

    def clear_touched(self) -> None:
        self._connection.execute("DELETE FROM touched_record")

    def find_alike(self, record_id: int, work: Work) -> list[int]:
        """Records that are the same work, a version of it, or perhaps the same.

        Records of dumps find each other by identifiers alone.
        """
        found: dict[int, None] = {}
        compared = {record_id}
        is_dumped = (work.source or "").startswith(DUMP_SOURCE)
        if is_dumped and not self._has_blocks():
            return []
        for block in work.blocks:
            hashed = key_hash(f"block {block}")
            several = [self._members(hashed), [] if is_dumped else self._dumped_members(hashed)]
            members = [each for part in several if len(part) <= MAX_BLOCK_WORKS for each in part]
            others = [member for member in members if member not in compared]
            compared.update(others)
            for other in self._in_other_lists(others, work.source):
                if compare(work, self._work(other)).verdict is not LinkVerdict.DIFFERENT:
                    found[other] = None
        return list(found)

    def doubtful_lines(self) -> Iterator[ReportLine]:
        """Pairs of papers that may be one, each once."""
        rows = self._connection.execute(
            "SELECT paper_id, links FROM published WHERE links IS NOT NULL ORDER BY number"
        )
        for paper_id, content in rows:
            for link in _read_links(content).doubtful:
                if paper_id < link.paper_id:
                    message = f"may be one paper with {link.other_source}: {link.reason}"
                    yield ReportLine(link.source, "perhaps_one_paper", message, is_skipped=False)

    def paper_links(self, paper_id: str) -> PaperLinks:
        row = self._connection.execute(
            "SELECT links FROM published WHERE paper_id = ?", (paper_id,)
        ).fetchone()
        return PaperLinks() if row is None or row[0] is None else _read_links(row[0])

    def _members(self, block: int) -> list[int]:
        """The records of a block, as many as matter."""
        rows = self._connection.execute(_BLOCK, (block,))
        return [record_id for (record_id,) in rows.fetchall()]

    def _has_blocks(self) -> bool:
        """Whether there is any record that is not of a dump."""
        row = self._connection.execute("SELECT 1 FROM record_block LIMIT 1").fetchone()
        return row is not None

    def _dumped_members(self, block: int) -> list[int]:
        rows = self._connection.execute(_DUMP_BLOCK, (block,))
        return [record_id for (record_id,) in rows.fetchall()]

    def _in_other_lists(self, record_ids: Sequence[int], source: str | None) -> list[int]:
        """Without entries of the same list, which likeness never joins."""
        if source is None or not record_ids:
            return list(record_ids)
        marks = ",".join("?" * len(record_ids))
        rows = self._connection.execute(
            f"SELECT record_id FROM record WHERE record_id IN ({marks}) AND source <> "
            "(SELECT number FROM source WHERE path = ?)",
            (*record_ids, source),
        )
        return [record_id for (record_id,) in rows.fetchall()]

    def _touch(self, record_ids: Sequence[int]) -> None:
        self._connection.executemany(
            "INSERT OR IGNORE INTO touched_record VALUES (?)", ((at,) for at in record_ids)
        )

    def _work(self, record_id: int) -> Work:
        work = self._works.get(record_id)
        if work is None:
            path, reader, payload = self._connection.execute(
                "SELECT path, reader, payload FROM record "
                "JOIN source ON source.number = record.source WHERE record_id = ?",
                (record_id,),
            ).fetchone()
            if len(self._works) >= _MAX_REMEMBERED:
                self._works.clear()
            work = self._works[record_id] = describe_record(unpack_record(payload), path, reader)
        return work


def _read_links(content: bytes) -> PaperLinks:
    facts = orjson.loads(content)
    return PaperLinks(
        tuple(RecordJoin(**each) for each in facts.get("joins", ())),
        tuple(PaperLink(**each) for each in facts.get("doubtful", ())),
        tuple(PaperLink(**each) for each in facts.get("versions", ())),
    )
