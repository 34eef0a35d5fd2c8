"""The tables of the build state, and how those of earlier versions become them."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable
from typing import Any

import orjson

from carrel.rooms.papers.building.decisions import file_hash
from carrel.rooms.papers.building.paper_keys import paper_keys
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.building.record_works import describe_record, file_names
from carrel.rooms.papers.paper_names import former_id_key
from carrel.stores.corpus.records import pack_json, read_record, record_facts, unpack_json
from carrel.stores.sql.driver import Rows, Step, UpgradeStatements
from carrel.stores.sqlite.schema import UpgradeStep

_DIGEST_BYTES = 16
_ROWS_AT_ONCE = 500

_FIRST = """
CREATE TABLE source (
    path TEXT PRIMARY KEY, reader TEXT NOT NULL, reader_version INTEGER NOT NULL,
    stamps BLOB NOT NULL, is_complete INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE part (
    path TEXT NOT NULL, number INTEGER NOT NULL, further BLOB NOT NULL, problems BLOB NOT NULL,
      PRIMARY KEY (path, number)
) WITHOUT ROWID;
CREATE TABLE record (
    record_id INTEGER PRIMARY KEY, path TEXT NOT NULL, part INTEGER NOT NULL, place INTEGER NOT
      NULL,
    digest TEXT NOT NULL, keys BLOB NOT NULL, assets BLOB NOT NULL, payload BLOB NOT NULL
);
CREATE INDEX record_of_source ON record(path);
CREATE TABLE published (
    paper_id TEXT PRIMARY KEY, paper_index INTEGER NOT NULL, digest TEXT NOT NULL, keys BLOB NOT
      NULL
) WITHOUT ROWID;
CREATE TABLE promised (
    paper_id TEXT PRIMARY KEY, paper_index INTEGER NOT NULL, digest TEXT NOT NULL, keys BLOB NOT
      NULL
) WITHOUT ROWID;
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID"""

# Version 2 finds what a change touches by keys, so that one paper costs the same at any size.
# Keys are 64 bits of their hash. `touched` holds keys of records that came or went since the last
# publication; a record without a paper_id is not published (no title, or removed).
_SECOND = (
    "ALTER TABLE source RENAME TO source_1",
    "ALTER TABLE part RENAME TO part_1",
    "ALTER TABLE record RENAME TO record_1",
    "ALTER TABLE published RENAME TO published_1",
    "DROP INDEX record_of_source",
    "DROP TABLE promised",
    """CREATE TABLE source (
        number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, reader TEXT NOT NULL,
        reader_version INTEGER NOT NULL, stamps BLOB NOT NULL, is_complete INTEGER NOT NULL)""",
    """CREATE TABLE part (
        source INTEGER NOT NULL, number INTEGER NOT NULL, further BLOB NOT NULL,
        problems BLOB NOT NULL, PRIMARY KEY (source, number)) WITHOUT ROWID""",
    """CREATE TABLE record (
        record_id INTEGER PRIMARY KEY, source INTEGER NOT NULL, part INTEGER NOT NULL,
        place INTEGER NOT NULL, paper INTEGER, digest BLOB NOT NULL, payload BLOB NOT NULL)""",
    "CREATE INDEX record_of_source ON record(source)",
    "CREATE INDEX record_of_paper ON record(paper) WHERE paper IS NOT NULL",
    "CREATE INDEX record_unpublished ON record(record_id) WHERE paper IS NULL",
    """CREATE TABLE record_key (
        hash INTEGER NOT NULL, record_id INTEGER NOT NULL, PRIMARY KEY (hash, record_id)
        ) WITHOUT ROWID""",
    """CREATE TABLE published (
        number INTEGER PRIMARY KEY, paper_id TEXT NOT NULL UNIQUE, paper_index INTEGER NOT NULL,
        digest BLOB NOT NULL, row INTEGER, filed TEXT NOT NULL, conflicts BLOB, removed_at TEXT)""",
    "CREATE INDEX published_with_conflicts ON published(number) WHERE conflicts IS NOT NULL",
    "CREATE INDEX published_with_filed ON published(number) WHERE filed <> ''",
    """CREATE TABLE published_key (
        hash INTEGER NOT NULL, paper INTEGER NOT NULL, PRIMARY KEY (hash, paper)) WITHOUT ROWID""",
    "CREATE INDEX key_of_published ON published_key(paper)",
    """CREATE TABLE promised (
        number INTEGER PRIMARY KEY, paper_id TEXT NOT NULL, facts BLOB NOT NULL)""",
    "CREATE TABLE touched (hash INTEGER PRIMARY KEY)",
)

# Version 4 keeps what people decided. `decision_name` holds hashes of the names of the records and
# papers that a decision is about; `is_pending` ends when the publication that shows it is on disk.
_FOURTH = (
    """CREATE TABLE decision (
        number INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, who TEXT NOT NULL,
        action TEXT NOT NULL, facts BLOB NOT NULL, undoes INTEGER, is_pending INTEGER NOT NULL)""",
    "CREATE INDEX decision_undoes ON decision(undoes) WHERE undoes IS NOT NULL",
    "CREATE INDEX decision_pending ON decision(number) WHERE is_pending",
    """CREATE TABLE decision_name (
        hash INTEGER NOT NULL, decision INTEGER NOT NULL, PRIMARY KEY (hash, decision)
        ) WITHOUT ROWID""",
)
_SOMEBODY = "local"


def key_hash(key: str) -> int:
    """64 bits of a key's hash, as SQLite keeps them."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big", signed=True)


def record_digest(record: PaperRecord) -> bytes:
    return hashlib.sha256(orjson.dumps(record)).digest()[:_DIGEST_BYTES]


def pack_record(record: PaperRecord) -> bytes:
    return pack_json(orjson.dumps(record_facts(record)))


def unpack_record(payload: bytes) -> PaperRecord:
    return read_record(orjson.loads(unpack_json(payload)))


def key_hashes(record: PaperRecord, path: str | None = None, reader: str = "") -> list[int]:
    """Hashes of what a record is found by: its keys, its file, and the files that it names."""
    names = [key.value for key in paper_keys(record)]
    if file := file_hash(record):
        names.append(f"file:{file}")
    if path is not None:
        names += file_names(describe_record(record, path, reader))
    return [key_hash(name) for name in names]


def block_hashes(record: PaperRecord, path: str, reader: str) -> list[int]:
    """Hashes of the blocking keys of a record: only such records are compared by likeness."""
    return [key_hash(f"block {block}") for block in describe_record(record, path, reader).blocks]


def _upgrade_to_second() -> Generator[Step, Rows, None]:
    for statement in _SECOND:
        yield statement, {}
    yield (
        "INSERT INTO source(path, reader, reader_version, stamps, is_complete) "
        "SELECT path, reader, reader_version, stamps, is_complete FROM source_1 ORDER BY path",
        {},
    )
    yield (
        "INSERT INTO part SELECT source.number, p.number, p.further, p.problems FROM part_1 p "
        "JOIN source ON source.path = p.path",
        {},
    )
    yield (
        "INSERT INTO published(paper_id, paper_index, digest, filed) "
        "SELECT paper_id, paper_index, x'', '' FROM published_1",
        {},
    )
    yield from _convert_published()
    yield from _convert_records()
    for table in ("source_1", "part_1", "record_1", "published_1"):
        yield f"DROP TABLE {table}", {}
    # Nothing of it is in segments yet.
    yield "INSERT OR REPLACE INTO fact VALUES ('everything', '1')", {}


def _convert_published() -> Generator[Step, Rows, None]:
    last = ""
    while rows := (
        yield (
            "SELECT new.number, old.paper_id, old.keys FROM published_1 old JOIN published new "
            "ON new.paper_id = old.paper_id WHERE old.paper_id > :last ORDER BY old.paper_id "
            f"LIMIT {_ROWS_AT_ONCE}",
            {"last": last},
        )
    ):
        for number, _, keys in rows:
            yield from _insert_hashes(
                "published_key(hash, paper)",
                number,
                (key_hash(value) for value in orjson.loads(keys)),
            )
        last = rows[-1][1]


def _convert_records() -> Generator[Step, Rows, None]:
    last = 0
    while rows := (
        yield (
            "SELECT record_id, source.number, part, place, payload FROM record_1 "
            "JOIN source ON source.path = record_1.path WHERE record_id > :last "
            f"ORDER BY record_id LIMIT {_ROWS_AT_ONCE}",
            {"last": last},
        )
    ):
        for record_id, source, part, place, payload in rows:
            record = read_record(orjson.loads(payload))
            values: dict[str, Any] = {
                "record_id": record_id,
                "source": source,
                "part": part,
                "place": place,
                "digest": record_digest(record),
                "payload": pack_record(record),
            }
            yield (
                "INSERT INTO record VALUES (:record_id, :source, :part, :place, NULL, :digest, "
                ":payload)",
                values,
            )
            yield from _insert_hashes("record_key(hash, record_id)", record_id, key_hashes(record))
        last = rows[-1][0]


def _insert_hashes(table: str, number: int, hashes: Iterable[int]) -> Generator[Step, Rows, None]:
    for found in hashes:
        yield (
            f"INSERT OR IGNORE INTO {table} VALUES (:hash, :number)",
            {"hash": found, "number": number},
        )


# Version 3 knows the bytes of a source, so that a renamed file stays the same source.
_THIRD = """
ALTER TABLE source ADD COLUMN content BLOB;
CREATE INDEX source_by_content ON source(content) WHERE content IS NOT NULL"""


def _upgrade_to_fourth() -> Generator[Step, Rows, None]:
    for statement in _FOURTH:
        yield statement, {}
    # What was removed so far can be put back as well.
    removed = yield (
        "SELECT paper_id, removed_at FROM published WHERE removed_at IS NOT NULL ORDER BY number",
        {},
    )
    for paper_id, removed_at in removed:
        papers = [{"paper_id": paper_id, "title": "", "records": []}]
        values: dict[str, Any] = {
            "at": removed_at,
            "who": _SOMEBODY,
            "facts": orjson.dumps({"papers": papers, "changes": []}),
        }
        rows = yield (
            "INSERT INTO decision(at, who, action, facts, is_pending) "
            "VALUES (:at, :who, 'remove', :facts, 0) RETURNING number",
            values,
        )
        yield from _insert_hashes(
            "decision_name(hash, decision)", rows[0][0], [key_hash(former_id_key(paper_id))]
        )


# Version 5 finds records of one work that share no key: `record_block` has what they are compared
# by, `touched_record` those whose likeness to another may be different now.
_FIFTH = (
    """CREATE TABLE record_block (
        hash INTEGER NOT NULL, record_id INTEGER NOT NULL, PRIMARY KEY (hash, record_id)
        ) WITHOUT ROWID""",
    "CREATE TABLE touched_record (record_id INTEGER PRIMARY KEY)",
    "ALTER TABLE published ADD COLUMN links BLOB",
    "CREATE INDEX published_with_links ON published(number) WHERE links IS NOT NULL",
)


def _upgrade_to_fifth() -> Generator[Step, Rows, None]:
    for statement in _FIFTH:
        yield statement, {}
    last = 0
    while rows := (
        yield (
            "SELECT record_id, path, reader, payload FROM record "
            "JOIN source ON source.number = record.source WHERE record_id > :last "
            f"ORDER BY record_id LIMIT {_ROWS_AT_ONCE}",
            {"last": last},
        )
    ):
        for record_id, path, reader, payload in rows:
            record = unpack_record(payload)
            yield from _insert_hashes(
                "record_key(hash, record_id)", record_id, key_hashes(record, path, reader)
            )
            yield from _insert_hashes(
                "record_block(hash, record_id)", record_id, block_hashes(record, path, reader)
            )
        last = rows[-1][0]
    # The next build joins what is alike; what nothing changes in is not written again.
    yield "INSERT INTO touched_record SELECT record_id FROM record", {}


# Version 6 keeps what was loaded of dumps. `dump_record` has 64 bits of the hash of a record's name
# in its dump, without a record where the dump withdrew it. `dump_block` has what records of dumps
# are compared by with others: they are many, and must not fill the blocks of `record_block`.
_SIXTH = """
CREATE TABLE dump (
    service TEXT PRIMARY KEY, reach BLOB NOT NULL, quarantine_bytes INTEGER NOT NULL,
    records INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE dump_file (
    service TEXT NOT NULL, name TEXT NOT NULL, stamp TEXT NOT NULL, filters TEXT NOT NULL,
    records INTEGER NOT NULL, is_complete INTEGER NOT NULL, problem TEXT,
    PRIMARY KEY (service, name)) WITHOUT ROWID;
CREATE TABLE dump_record (hash INTEGER PRIMARY KEY, record_id INTEGER, version TEXT NOT NULL);
CREATE TABLE dump_block (
    hash INTEGER NOT NULL, record_id INTEGER NOT NULL, PRIMARY KEY (hash, record_id)
    ) WITHOUT ROWID"""


STEPS: tuple[UpgradeStep, ...] = (
    _FIRST,
    UpgradeStatements(_upgrade_to_second),
    _THIRD,
    UpgradeStatements(_upgrade_to_fourth),
    UpgradeStatements(_upgrade_to_fifth),
    _SIXTH,
)
