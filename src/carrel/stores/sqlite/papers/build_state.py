"""The state of a build: what was read from which file, and what was published of it."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from carrel.rooms.papers.building.identity import KeyKind, PaperKey, RecordClaim, paper_keys
from carrel.rooms.papers.building.models import (
    BibtexEntry,
    FiledSummary,
    FileStamp,
    FoundSource,
    Heading,
    KeptImage,
    KnownPaper,
    KnownSource,
    PaperRecord,
    PartRead,
    ReadProblem,
)
from carrel.rooms.papers.building.papers import reader_rank
from carrel.rooms.papers.errors import BuildInProgressError, NewerBuildStateError
from carrel.stores.file_lock import LockHeldError, hold_lock
from carrel.stores.sqlite.connection import connect
from carrel.stores.sqlite.schema import NewerFileError, upgrade_schema

_PARTS_PER_COMMIT = 32
# Less than add_paper may take, so that who waits is told why.
_ADDITION_WAIT_SECONDS = 240.0
_RECORDS_PER_PART = 1_000_000
_SCRIPTS = (
    """
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
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID""",
)


class SqlitePaperBuildState:
    """The state file, committed often enough that a killed build loses a second of work."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = self._opened()
        self._uncommitted = 0

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
        further: dict[str, list[FileStamp]] = {}
        for path, stamps in self._connection.execute("SELECT path, further FROM part"):
            further.setdefault(path, []).extend(_stamps(stamps))
        return {
            path: KnownSource(
                path,
                reader,
                version,
                _stamps(stamps),
                tuple(further.get(path, ())),
                bool(is_complete),
            )
            for path, reader, version, stamps, is_complete in self._connection.execute(
                "SELECT path, reader, reader_version, stamps, is_complete FROM source"
            )
        }

    def forget_sources(self, paths: Iterable[str]) -> None:
        self._begin()
        for path in paths:
            for table in ("source", "part", "record"):
                self._connection.execute(f"DELETE FROM {table} WHERE path = ?", (path,))
        self.commit()

    def begin_source(self, source: FoundSource) -> frozenset[int]:
        self._begin()
        path, stamps = str(source.path), orjson.dumps(source.stamps)
        row = self._connection.execute(
            "SELECT reader, reader_version, stamps, is_complete FROM source WHERE path = ?", (path,)
        ).fetchone()
        if row is not None and tuple(row) == (source.reader, source.reader_version, stamps, 0):
            return frozenset(
                number
                for (number,) in self._connection.execute(
                    "SELECT number FROM part WHERE path = ?", (path,)
                )
            )
        self.forget_sources([path])
        self._connection.execute(
            "INSERT INTO source VALUES (?, ?, ?, ?, 0)",
            (path, source.reader, source.reader_version, stamps),
        )
        return frozenset()

    def add_part(self, read: PartRead) -> None:
        self._begin()
        self._connection.executemany(
            "INSERT INTO record(path, part, place, digest, keys, assets, payload) VALUES (?, ?, "
            "?, ?, ?, ?, ?)",
            (_row(read, place, record) for place, record in enumerate(read.records)),
        )
        self._connection.execute(
            "INSERT INTO part VALUES (?, ?, ?, ?)",
            (read.source, read.number, orjson.dumps(read.further), orjson.dumps(read.problems)),
        )
        self._uncommitted += 1
        if self._uncommitted >= _PARTS_PER_COMMIT or len(read.records) > _PARTS_PER_COMMIT:
            self.commit()

    def complete_source(self, path: str) -> None:
        self._begin()
        self._connection.execute("UPDATE source SET is_complete = 1 WHERE path = ?", (path,))

    def commit(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")
        self._uncommitted = 0

    def _begin(self) -> None:
        """Opens the transaction that the next commit ends."""
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")

    def claims(self) -> Iterator[RecordClaim]:
        rows = self._connection.execute(
            "SELECT record_id, record.path, reader, part, place, keys FROM record JOIN source ON "
            "source.path = record.path"
        )
        for record_id, path, reader, part, place, keys in rows:
            names = tuple(
                PaperKey(KeyKind(kind), value, fingerprint)
                for kind, value, fingerprint in orjson.loads(keys)
            )
            yield RecordClaim(
                record_id,
                path,
                (reader_rank(reader), path, part * _RECORDS_PER_PART + place),
                names,
            )

    def digests(self) -> dict[int, str]:
        return dict(self._connection.execute("SELECT record_id, digest FROM record"))

    def record_count(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM record").fetchone()[0])

    def records(self, record_ids: Sequence[int]) -> list[PaperRecord]:
        find = "SELECT payload FROM record WHERE record_id = ?"
        return [
            _record(self._connection.execute(find, (record_id,)).fetchone()[0])
            for record_id in record_ids
        ]

    def assets(self) -> frozenset[str]:
        found: set[str] = set()
        for (paths,) in self._connection.execute(
            "SELECT assets FROM record WHERE assets <> ?", (b"[]",)
        ):
            found.update(orjson.loads(paths))
        return frozenset(found)

    def problems(self) -> Iterator[tuple[str, ReadProblem]]:
        for path, problems in self._connection.execute(
            "SELECT path, problems FROM part WHERE problems <> ? ORDER BY path, number", (b"[]",)
        ):
            for problem in orjson.loads(problems):
                yield path, ReadProblem(**problem)

    def published(self) -> tuple[str | None, dict[str, KnownPaper]]:
        rows = self._connection.execute("SELECT paper_id, paper_index, digest, keys FROM published")
        papers = {
            row[0]: KnownPaper(row[0], row[1], row[2], tuple(orjson.loads(row[3]))) for row in rows
        }
        build_id = self._fact("published")
        return (build_id if build_id and build_id == self._fact("on_disk") else None), papers

    def prepare_publication(self, build_id: str, papers: Iterable[KnownPaper]) -> None:
        self._begin()
        self._connection.execute("DELETE FROM promised")
        self._connection.executemany(
            "INSERT INTO promised VALUES (?, ?, ?, ?)",
            (
                (paper.paper_id, paper.paper_index, paper.digest, orjson.dumps(paper.keys))
                for paper in papers
            ),
        )
        self._set_fact("promised", build_id)
        self.commit()

    def confirm_publication(self, build_id_on_disk: str | None) -> None:
        self._begin()
        if build_id_on_disk is not None and self._fact("promised") == build_id_on_disk:
            self._connection.execute("DELETE FROM published")
            self._connection.execute("INSERT INTO published SELECT * FROM promised")
            self._set_fact("published", build_id_on_disk)
        self._connection.execute("DELETE FROM promised")
        self._set_fact("promised", None)
        self._set_fact("on_disk", build_id_on_disk)
        self.commit()

    def has_published(self) -> bool:
        return self._fact("published") is not None or self._fact("promised") is not None

    def _opened(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            upgrade_schema(self._path, _SCRIPTS)
        except NewerFileError as error:
            raise NewerBuildStateError(str(error)) from None
        connection = connect(self._path)
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection

    def _fact(self, name: str) -> str | None:
        row = self._connection.execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def _set_fact(self, name: str, value: str | None) -> None:
        self._connection.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, value))


def _row(read: PartRead, place: int, record: PaperRecord) -> tuple[object, ...]:
    payload = orjson.dumps(record)
    keys = orjson.dumps([(int(key.kind), key.value, key.fingerprint) for key in paper_keys(record)])
    digest = hashlib.sha256(payload).hexdigest()
    return (
        read.source,
        read.number,
        place,
        digest,
        keys,
        orjson.dumps(asset_paths(record)),
        payload,
    )


def asset_paths(record: PaperRecord) -> list[str]:
    """Where in the static folder the files of a record lie."""
    return [
        *([f"md/{record.markdown_sha256}.md"] if record.markdown_sha256 else []),
        *([f"pdf/{record.pdf_sha256}.pdf"] if record.pdf_sha256 else []),
        *(f"md_translate/{language}/{sha256}.md" for language, sha256 in record.translations),
        *(image.static_path for image in record.images if image.sha256),
    ]


def _stamps(blob: bytes) -> tuple[FileStamp, ...]:
    return tuple(FileStamp(**stamp) for stamp in orjson.loads(blob))


def _record(payload: bytes) -> PaperRecord:
    facts: dict[str, Any] = orjson.loads(payload)
    for name in ("authors", "institutions", "keywords", "tags"):
        facts[name] = tuple(facts[name])
    # Readings of earlier versions do not say what was inferred.
    facts["inferred"] = tuple(facts.get("inferred", ()))
    facts["translations"] = tuple((language, sha256) for language, sha256 in facts["translations"])
    facts["headings"] = tuple(Heading(**heading) for heading in facts["headings"])
    facts["summaries"] = tuple(FiledSummary(**summary) for summary in facts["summaries"])
    facts["images"] = tuple(KeptImage(**image) for image in facts["images"])
    facts["bibtex"] = BibtexEntry(**facts["bibtex"]) if facts["bibtex"] else None
    return PaperRecord(**facts)


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
