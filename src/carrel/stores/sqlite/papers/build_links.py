"""Follows the keys that records and papers share, from what was touched and no further."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import orjson

from carrel.libraries.works.work import Work
from carrel.rooms.papers.building.decided_links import (
    DecidedLinks,
    combine_decisions,
    resolve_decision,
)
from carrel.rooms.papers.building.decisions import (
    Decision,
    RecordAddress,
    apply_edits,
    edited_record_keys,
    file_hash,
)
from carrel.rooms.papers.building.paper_groups import RecordClaim
from carrel.rooms.papers.building.paper_keys import PaperKey, paper_keys
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.building.papers import reader_rank
from carrel.rooms.papers.building.planning import KnownPaper, LinkedRecords
from carrel.rooms.papers.building.record_works import describe_record, file_names
from carrel.rooms.papers.paper_names import former_id_key
from carrel.stores.sqlite.papers.build_decisions import DecisionTable
from carrel.stores.sqlite.papers.build_likeness import LikenessTables
from carrel.stores.sqlite.papers.build_tables import key_hash, unpack_record

_RECORDS_PER_PART = 1_000_000
_HASH_NAME = re.compile(r"[0-9a-f]{32,64}")
_LATEST = 10**19
# Records that one name of a decision is compared with; more have it only in odd corpora.
_MAX_CANDIDATES = 1_000
_IN_ORDER = "ORDER BY reader_rank(reader), path, part, place"
_TOUCHED_RECORDS = (
    "record_id IN (SELECT record_id FROM record_key WHERE hash IN (SELECT hash FROM touched) "
    "UNION SELECT record_id FROM touched_record)"
)
_PAPER = "SELECT number, paper_id, paper_index, digest, row, removed_at FROM published"


@dataclass(frozen=True, slots=True)
class _FoundRecord:
    """A record, its place in the order of sources, and its address."""

    record: PaperRecord
    order: tuple[int, str, int]
    address: RecordAddress
    work: Work
    keys: tuple[PaperKey, ...]


@dataclass(slots=True)
class _Found:
    """One set of linked records while it grows."""

    records: dict[int, _FoundRecord] = field(default_factory=dict)
    digests: dict[int, bytes] = field(default_factory=dict)
    decisions: dict[int, Decision] = field(default_factory=dict)
    paper_of: dict[int, str] = field(default_factory=dict)
    papers: dict[int, KnownPaper] = field(default_factory=dict)
    paper_of_hash: dict[int, str] = field(default_factory=dict)
    # Records whose like ones have not been looked for.
    to_compare: list[int] = field(default_factory=list)


class RecordLinks:
    """Sets of linked records; the connection must know the function `reader_rank`."""

    def __init__(self, connection: sqlite3.Connection, *, is_everything: bool) -> None:
        self._connection = connection
        self._is_everything = is_everything
        self._seen_records: set[int] = set()
        self._seen_papers: set[int] = set()
        self._decisions = DecisionTable(connection, has_pending=True)
        self._has_decisions = self._decisions.has_any()
        self._likeness = LikenessTables(connection)

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

    def linked_with(self, record_ids: Sequence[int]) -> LinkedRecords:
        """These records with all that are linked to them."""
        return self._follow(_Found(), records=list(record_ids))

    def names_of_decision(self, number: int) -> tuple[frozenset[int], frozenset[int]]:
        """The records that a decision is about, and hashes by which all of it is found."""
        found = _Found()
        hashes = self._take_decision(found, number)
        addresses = {record_id: each.address for record_id, each in found.records.items()}
        records = (
            resolve_decision(each, addresses).all_records for each in found.decisions.values()
        )
        return frozenset().union(*records), frozenset(hashes)

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
        while True:
            self._follow_hashes(found, waiting, seen)
            decided = self._decided(found)
            claims = _claims(found, decided)
            edited = {key_hash(key.value) for claim in claims for key in claim.keys}
            if not decided.edits or edited <= seen:
                break
            waiting = list(edited - seen)
        known = {
            key.value: found.paper_of_hash[hashed]
            for claim in claims
            for key in claim.keys
            if (hashed := key_hash(key.value)) in found.paper_of_hash
        }
        return LinkedRecords(
            claims,
            found.digests,
            known,
            tuple(found.papers.values()),
            frozenset(found.paper_of),
            decided,
            found.paper_of,
        )

    def _follow_hashes(self, found: _Found, waiting: list[int], seen: set[int]) -> None:
        while waiting or found.to_compare:
            if not waiting:
                waiting += self._take_alike(found, found.to_compare.pop())
                continue
            found_hash = waiting.pop()
            if found_hash in seen:
                continue
            seen.add(found_hash)
            for (record_id,) in self._connection.execute(
                "SELECT record_id FROM record_key WHERE hash = ?", (found_hash,)
            ).fetchall():
                waiting += self._take_record(found, record_id)
            for (number,) in self._connection.execute(
                "SELECT paper FROM published_key WHERE hash = ? ORDER BY paper", (found_hash,)
            ).fetchall():
                waiting += self._take_paper(found, number)
                # Papers may share the key of their fields; the first is known by it.
                found.paper_of_hash.setdefault(found_hash, found.papers[number].paper_id)
            if self._has_decisions:
                for number in self._decisions.numbers_by_names([found_hash]):
                    waiting += self._take_decision(found, number)

    def _take_alike(self, found: _Found, record_id: int) -> list[int]:
        """Add records that may be of the same work; returns the hashes of what finds them."""
        hashes: list[int] = []
        for other in self._likeness.find_alike(record_id, found.records[record_id].work):
            hashes += self._take_record(found, other)
        return hashes

    def _take_record(self, found: _Found, record_id: int) -> list[int]:
        """Add a record and return the hashes of what it is found by."""
        if record_id in found.digests:
            return []
        self._seen_records.add(record_id)
        path, reader, part, place, digest, payload, paper, stamps = self._connection.execute(
            "SELECT path, reader, part, place, digest, payload, paper, stamps FROM record "
            "JOIN source ON source.number = record.source WHERE record_id = ?",
            (record_id,),
        ).fetchone()
        record, number = unpack_record(payload), part * _RECORDS_PER_PART + place
        keys = paper_keys(record)
        address = _address(record, keys, path, reader, number, digest)
        order = (reader_rank(reader), _sorted_name(path, stamps), number)
        work = describe_record(record, path, reader, order)
        found.records[record_id] = _FoundRecord(record, order, address, work, keys)
        found.to_compare.append(record_id)
        found.digests[record_id] = digest
        hashes = [key_hash(name) for name in (*address.keys, *file_names(work))]
        if address.file:
            hashes.append(key_hash(f"file:{address.file}"))
        if self._has_decisions:
            hashes += [key_hash(name) for name in address.names()]
        if paper is not None:
            hashes += self._take_paper(found, paper)
            found.paper_of[record_id] = found.papers[paper].paper_id
        return hashes

    def _take_paper(self, found: _Found, number: int) -> list[int]:
        """Add a known paper and return the hashes of its keys."""
        if number in found.papers:
            return []
        self._seen_papers.add(number)
        row = self._connection.execute(f"{_PAPER} WHERE number = ?", (number,)).fetchone()
        paper = found.papers[number] = _known_paper(row)
        keys = self._connection.execute("SELECT hash FROM published_key WHERE paper = ?", (number,))
        hashes = [hashed for (hashed,) in keys]
        return [*hashes, key_hash(former_id_key(paper.paper_id))] if self._has_decisions else hashes

    def _take_decision(self, found: _Found, number: int) -> list[int]:
        """Add a decision with its records and papers; returns the hashes of all their names."""
        decision = None if number in found.decisions else self._decisions.find(number)
        if decision is None or decision.action == "undo":
            return []
        found.decisions[number] = decision
        hashes: list[int] = []
        for address in decision.records():
            for record_id in self._candidates(address):
                hashes += self._take_record(found, record_id)
        for paper in decision.papers:
            row = self._connection.execute(
                "SELECT number FROM published WHERE paper_id = ?", (paper.paper_id,)
            ).fetchone()
            if row is not None:
                hashes += self._take_paper(found, row[0])
        return hashes

    def _candidates(self, address: RecordAddress) -> list[int]:
        """Records that may be the one of an address."""
        found: dict[int, None] = {}
        for name in address.names():
            if name.startswith("in:"):
                _, _, label = name.partition("\n")
                query = (
                    "SELECT record_id FROM record JOIN source ON source.number = record.source "
                    "WHERE path = ?"
                )
                values: tuple[object, ...] = (address.path,)
                if label:
                    query += " AND record_id IN (SELECT record_id FROM record_key WHERE hash = ?)"
                    values = (*values, key_hash(label))
            else:
                query, values = "SELECT record_id FROM record_key WHERE hash = ?", (key_hash(name),)
            rows = self._connection.execute(f"{query} LIMIT {_MAX_CANDIDATES}", values)
            found |= dict.fromkeys(record_id for (record_id,) in rows.fetchall())
        return list(found)

    def _decided(self, found: _Found) -> DecidedLinks:
        addresses = {record_id: each.address for record_id, each in found.records.items()}
        return combine_decisions(
            [resolve_decision(each, addresses) for each in found.decisions.values()]
        )

    def addresses(self, record_ids: Sequence[int]) -> tuple[RecordAddress, ...]:
        """How decisions name these records."""
        found = _Found()
        for record_id in record_ids:
            self._take_record(found, record_id)
        return tuple(found.records[record_id].address for record_id in record_ids)


def _claims(found: _Found, decided: DecidedLinks) -> tuple[RecordClaim, ...]:
    return tuple(
        RecordClaim(
            record_id,
            each.address.path,
            each.order,
            edited_record_keys(each.record, edits)
            if (edits := decided.edits_of([record_id]))
            else each.keys,
            describe_record(
                apply_edits(each.record, edits), each.address.path, each.address.reader, each.order
            )
            if edits
            else each.work,
        )
        for record_id, each in found.records.items()
    )


def _sorted_name(path: str, stamps: bytes) -> str:
    """What a source is sorted by among those of one reader: its path, or how new it is.

    Files that were handed in are named by their hash, which says nothing: the newest goes first.
    """
    place = PurePath(path)
    if not _HASH_NAME.fullmatch(place.stem):
        return path
    newest = max((stamp["modified_ns"] for stamp in orjson.loads(stamps)), default=0)
    return str(place.with_name(f"{_LATEST - newest:020d} {place.name}"))


def _address(
    record: PaperRecord,
    keys: Sequence[PaperKey],
    path: str,
    reader: str,
    place: int,
    digest: bytes,
) -> RecordAddress:
    names = tuple(key.value for key in keys)
    return RecordAddress(path, reader, place, digest.hex(), names, file_hash(record))


def _known_paper(row: tuple[Any, ...]) -> KnownPaper:
    _, paper_id, paper_index, digest, place, removed_at = row
    return KnownPaper(paper_id, paper_index, digest, place, removed_at is not None)
