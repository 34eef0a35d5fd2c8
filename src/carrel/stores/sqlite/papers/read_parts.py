"""What workers read of partitions, a file for each, until a build takes it into its state."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import orjson

from carrel.rooms.papers.building.models import FileStamp, FoundSource, PartRead, ReadProblem
from carrel.rooms.papers.building.papers import asset_paths
from carrel.stores.sqlite.connection import connect, transaction
from carrel.stores.sqlite.papers.build_tables import pack_record, unpack_record

_TABLES = """
CREATE TABLE source (path TEXT PRIMARY KEY, identity BLOB NOT NULL, content BLOB) WITHOUT ROWID;
CREATE TABLE part (path TEXT, number INTEGER, size INTEGER, further BLOB, problems BLOB,
    PRIMARY KEY (path, number)) WITHOUT ROWID;
CREATE TABLE record (path TEXT, part INTEGER, place INTEGER, payload BLOB,
    PRIMARY KEY (path, part, place)) WITHOUT ROWID;
"""
_DIGEST_LETTERS = 16
_BLOCK_BYTES = 1 << 20


class PartWriter:
    """Writes what was read of the sources of one partition."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def begin(self, source: FoundSource, content: bytes | None) -> None:
        self._connection.execute(
            "INSERT INTO source VALUES (?, ?, ?)", (str(source.path), _identity(source), content)
        )

    def add(self, read: PartRead) -> None:
        self._connection.execute(
            "INSERT INTO part VALUES (?, ?, ?, ?, ?)",
            (
                read.source,
                read.number,
                read.size_bytes,
                orjson.dumps(read.further),
                orjson.dumps(read.problems),
            ),
        )
        self._connection.executemany(
            "INSERT INTO record VALUES (?, ?, ?, ?)",
            (
                (read.source, read.number, place, pack_record(record))
                for place, record in enumerate(read.records)
            ),
        )


class PartsFolder:
    """The files of partitions, each named for its partition and its content, and their texts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.assets = folder / "assets"

    def find(self, partition: str) -> Path | None:
        """The file of a partition that was read to its end."""
        return next(iter(sorted(self._folder.glob(f"{partition}.*.part"))), None)

    @contextmanager
    def write(self, partition: str) -> Iterator[PartWriter]:
        """Writes a partition, which counts once the block has ended well."""
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = self._folder / f".{partition}.{secrets.token_hex(8)}.draft"
        try:
            with closing(connect(draft)) as connection:
                connection.execute("PRAGMA journal_mode = OFF")
                connection.executescript(_TABLES)
                with transaction(connection):
                    yield PartWriter(connection)
            with draft.open("rb") as file:
                os.fsync(file.fileno())
            draft.replace(self._folder / f"{partition}.{_digest(draft)}.part")
        finally:
            draft.unlink(missing_ok=True)


class ReadParts:
    """Takes what was read into a build; what does not fit the files as they are now is left."""

    def __init__(self, folder: Path, staged: Path) -> None:
        self._folder = folder
        self._assets = PartsFolder(folder).assets
        self._staged = staged
        self._files: dict[str, Path] = {}
        self._left: dict[Path, int] = {}
        self._open: tuple[Path, sqlite3.Connection] | None = None
        for file in sorted(folder.glob("*.part")):
            if file.name.split(".")[1] != _digest(file):
                # Cut short or damaged on its way: its sources are read again.
                file.unlink(missing_ok=True)
                continue
            with closing(connect(file, "immutable")) as connection:
                paths = [path for (path,) in connection.execute("SELECT path FROM source")]
            self._files.update(dict.fromkeys(paths, file))
            self._left[file] = len(paths)

    def take(self, source: FoundSource) -> tuple[bytes | None, Iterator[PartRead]] | None:
        """The digest and the parts of a source, in order; None where it was not read as it is."""
        path = str(source.path)
        file = self._files.get(path)
        if file is None:
            return None
        self._left[file] -= 1
        connection = self._connection(file)
        identity, content = connection.execute(
            "SELECT identity, content FROM source WHERE path = ?", (path,)
        ).fetchone()
        if identity != _identity(source):
            return None
        return content, self._parts(connection, path)

    def _parts(self, connection: sqlite3.Connection, path: str) -> Iterator[PartRead]:
        rows = connection.execute(
            "SELECT number, size, further, problems FROM part WHERE path = ? ORDER BY number",
            (path,),
        ).fetchall()
        for number, size, further, problems in rows:
            packed = connection.execute(
                "SELECT payload FROM record WHERE path = ? AND part = ? ORDER BY place",
                (path, number),
            )
            records = tuple(unpack_record(payload) for (payload,) in packed)
            for record in records:
                for name in asset_paths(record):
                    self._stage(name)
            yield PartRead(
                path,
                number,
                size,
                records,
                tuple(ReadProblem(**problem) for problem in orjson.loads(problems)),
                tuple(FileStamp(**stamp) for stamp in orjson.loads(further)),
            )

    def _stage(self, name: str) -> None:
        read, target = self._assets / name, self._staged / name
        if target.exists() or not read.exists():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        try:
            os.link(read, aside)
        except OSError:
            shutil.copyfile(read, aside)
        aside.replace(target)

    def _connection(self, file: Path) -> sqlite3.Connection:
        if self._open is None or self._open[0] != file:
            self.close()
            self._open = file, connect(file, "immutable")
        return self._open[1]

    def finish(self) -> None:
        """The build is published: files of which all was taken are removed."""
        self.close()
        for file, left in self._left.items():
            if left <= 0:
                file.unlink(missing_ok=True)
        if self._folder.is_dir() and not any(self._folder.glob("*.part")):
            # A worker that writes now makes its texts again, or its partition is read again.
            shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        if self._open is not None:
            with suppress(sqlite3.Error):
                self._open[1].close()
            self._open = None


def _identity(source: FoundSource) -> bytes:
    return orjson.dumps((source.reader, source.reader_version, source.stamps))


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while block := opened.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()[:_DIGEST_LETTERS]
