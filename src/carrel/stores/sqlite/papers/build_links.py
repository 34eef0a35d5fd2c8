"""Follows the keys that records and papers share, from what was touched and no further."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from carrel.rooms.papers.building.identity import RecordClaim, paper_keys
from carrel.rooms.papers.building.papers import reader_rank
from carrel.rooms.papers.building.planning import KnownPaper, LinkedRecords
from carrel.stores.sqlite.papers.build_tables import key_hash, unpack_record

_RECORDS_PER_PART = 1_000_000
_IN_ORDER = "ORDER BY reader_rank(reader), path, part, place"
_TOUCHED_RECORDS = (
    "record_id IN (SELECT record_id FROM record_key WHERE hash IN (SELECT hash FROM touched))"
)
_PAPER = "SELECT number, paper_id, paper_index, digest, row, removed_at FROM published"


@dataclass(slots=True)
class _Found:
    """One set of linked records while it grows."""

    claims: list[RecordClaim] = field(default_factory=list)
    digests: dict[int, bytes] = field(default_factory=dict)
    published_ids: set[int] = field(default_factory=set)
    papers: dict[int, KnownPaper] = field(default_factory=dict)
    paper_of_hash: dict[int, str] = field(default_factory=dict)


class RecordLinks:
    """Sets of linked records; the connection must know the function `reader_rank`."""

    def __init__(self, connection: sqlite3.Connection, *, is_everything: bool) -> None:
        self._connection = connection
        self._is_everything = is_everything
        self._seen_records: set[int] = set()
        self._seen_papers: set[int] = set()

    def seeds(self) -> list[int]:
        """The touched records, those of the best sources first."""
        only = "" if self._is_everything else f"WHERE {_TOUCHED_RECORDS}"
        rows = self._connection.execute(
            f"SELECT record_id FROM record JOIN source ON source.number = record.source {only} "
            f"{_IN_ORDER}"
        )
        return [record_id for (record_id,) in rows]

    def walk(self) -> Iterator[LinkedRecords]:
        """Every set of linked records that something touched is in, in the order of sources."""
        for record_id in self.seeds():
            if record_id not in self._seen_records:
                yield self._follow(_Found(), records=[record_id])
        for number in self._touched_papers():
            if number not in self._seen_papers:
                yield self._follow(_Found(), papers=[number])

    def paper(self, paper_id: str) -> tuple[KnownPaper, tuple[int, ...]] | None:
        """A published or removed paper, and its records."""
        row = self._connection.execute(f"{_PAPER} WHERE paper_id = ?", (paper_id,)).fetchone()
        if row is None:
            return None
        records = self._connection.execute(
            "SELECT record_id FROM record WHERE paper = ? ORDER BY record_id", (row[0],)
        )
        return _known_paper(row), tuple(record_id for (record_id,) in records)

    def paper_id_by_key(self, key: str) -> str | None:
        """The published paper that has a key; one that was removed does not count."""
        found = self._connection.execute(
            "SELECT paper_id FROM published JOIN published_key ON paper = published.number "
            "WHERE hash = ? AND removed_at IS NULL ORDER BY published.number",
            (key_hash(key),),
        ).fetchone()
        return None if found is None else str(found[0])

    def _touched_papers(self) -> list[int]:
        query = (
            "SELECT number FROM published ORDER BY number"
            if self._is_everything
            else "SELECT DISTINCT paper FROM published_key "
            "WHERE hash IN (SELECT hash FROM touched) ORDER BY paper"
        )
        return [number for (number,) in self._connection.execute(query)]

    def _follow(
        self, found: _Found, *, records: list[int] | None = None, papers: list[int] | None = None
    ) -> LinkedRecords:
        waiting: list[int] = []
        seen: set[int] = set()
        for record_id in records or ():
            waiting += self._take_record(found, record_id)
        for number in papers or ():
            waiting += self._take_paper(found, number)
        while waiting:
            found_hash = waiting.pop()
            if found_hash in seen:
                continue
            seen.add(found_hash)
            for (record_id,) in self._connection.execute(
                "SELECT record_id FROM record_key WHERE hash = ?", (found_hash,)
            ).fetchall():
                waiting += self._take_record(found, record_id)
            for (number,) in self._connection.execute(
                "SELECT paper FROM published_key WHERE hash = ?", (found_hash,)
            ).fetchall():
                waiting += self._take_paper(found, number)
                found.paper_of_hash[found_hash] = found.papers[number].paper_id
        known = {
            key.value: found.paper_of_hash[hashed]
            for claim in found.claims
            for key in claim.keys
            if (hashed := key_hash(key.value)) in found.paper_of_hash
        }
        return LinkedRecords(
            tuple(found.claims),
            found.digests,
            known,
            tuple(found.papers.values()),
            frozenset(found.published_ids),
        )

    def _take_record(self, found: _Found, record_id: int) -> list[int]:
        """Add a record and return the hashes of its keys."""
        if record_id in found.digests:
            return []
        self._seen_records.add(record_id)
        path, reader, part, place, digest, payload, paper = self._connection.execute(
            "SELECT path, reader, part, place, digest, payload, paper FROM record "
            "JOIN source ON source.number = record.source WHERE record_id = ?",
            (record_id,),
        ).fetchone()
        keys = paper_keys(unpack_record(payload))
        order = (reader_rank(reader), path, part * _RECORDS_PER_PART + place)
        found.claims.append(RecordClaim(record_id, path, order, keys))
        found.digests[record_id] = digest
        if paper is not None:
            found.published_ids.add(record_id)
        return [key_hash(key.value) for key in keys]

    def _take_paper(self, found: _Found, number: int) -> list[int]:
        """Add a known paper and return the hashes of its keys."""
        if number in found.papers:
            return []
        self._seen_papers.add(number)
        row = self._connection.execute(f"{_PAPER} WHERE number = ?", (number,)).fetchone()
        found.papers[number] = _known_paper(row)
        keys = self._connection.execute("SELECT hash FROM published_key WHERE paper = ?", (number,))
        return [hashed for (hashed,) in keys]


def _known_paper(row: tuple[Any, ...]) -> KnownPaper:
    _, paper_id, paper_index, digest, place, removed_at = row
    return KnownPaper(paper_id, paper_index, digest, place, removed_at is not None)
