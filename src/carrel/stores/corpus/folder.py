"""A corpus folder opened for reading: the newest manifest, and the segments that it lists."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.corpus import MANIFEST_NAME
from carrel.stores.corpus.manifest import (
    Manifest,
    SegmentEntry,
    read_manifest,
    segment_folder,
)
from carrel.stores.corpus.schema import RECORDS_NAME
from carrel.stores.sqlite.connection import connect

Signature = tuple[int, ...]
Row = tuple[Any, ...]
ResultT = TypeVar("ResultT")

_SETTINGS = """
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
PRAGMA temp_store = MEMORY;
PRAGMA mmap_size = 2147418112;
PRAGMA cache_size = -4000;
PRAGMA query_only = 1;
"""
# No record or text is nearly as long; a row that says so would fill the memory.
_LONGEST_VALUE_BYTES = 128 * 1024 * 1024
_LOOK_EVERY_SECONDS = 0.05
# How often a manifest may be replaced while its segments are being opened.
_OPENING_TRIES = 20


class SegmentGoneError(Exception):
    """The file of a segment is not there any more; a newer manifest does not list it."""


class SegmentFile:
    """The records of one segment with its connections, open as long as a version lists it."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.folder = segment_folder(folder, name)
        self._lock = threading.Lock()
        self._users = 0
        self._idle = [self._open()]
        # Facets of deleted rows, added up once for all versions that list the segment.
        self.counting = threading.Lock()
        self.facet_sizes: dict[str, int] = {}
        self.deleted_facets: tuple[frozenset[int], Counter[Any]] = (frozenset(), Counter())
        with self.reading() as reader:
            self.meta: Mapping[str, str] = dict(reader.all("SELECT name, value FROM segment_meta"))

    def take(self) -> None:
        with self._lock:
            self._users += 1

    def release(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._close_idle()

    @contextmanager
    def reading(self) -> Iterator[SegmentReader]:
        """A reader not shared meanwhile."""
        connection = self.borrow()
        try:
            yield SegmentReader(self, connection)
        finally:
            self.give_back(connection)

    def borrow(self) -> sqlite3.Connection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._open()

    def give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            self._idle.append(connection)
            if self._users < 0:
                self._close_idle()

    def check_present(self) -> None:
        """Raises SegmentGoneError where the segment is not on disk any more."""
        if not (self.folder / RECORDS_NAME).is_file():
            raise SegmentGoneError(self.name)

    def damaged(self) -> SnapshotUnavailableError:
        return SnapshotUnavailableError(
            f"its segment {self.name[:16]} is damaged", next_step=MEND_SEGMENT
        )

    def _close_idle(self) -> None:
        # Below zero: whatever is still borrowed is closed when it comes back.
        self._users = -1
        while self._idle:
            self._idle.pop().close()

    def _open(self) -> sqlite3.Connection:
        self.check_present()
        try:
            connection = connect(self.folder / RECORDS_NAME, "immutable")
        except sqlite3.Error as error:
            raise self.damaged() from error
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE_BYTES)
        try:
            connection.executescript(_SETTINGS)
            connection.execute("SELECT count(*) FROM segment_meta").fetchone()
        except sqlite3.Error as error:
            connection.close()
            raise self.damaged() from error
        return connection


MEND_INDEX = "The operator makes the index again with `carrel doctor --fix`."
MEND_SEGMENT = (
    "Restore a backup with `carrel restore`, or move the folder aside and make the corpus again "
    "with `carrel papers build FOLDER`."
)


class SegmentReader:
    """Questions to one segment on one connection."""

    def __init__(self, file: SegmentFile, connection: sqlite3.Connection) -> None:
        self.file = file
        self.connection = connection

    def all(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        try:
            return self.connection.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._translate(error) from error

    def one(self, sql: str, values: Sequence[object] = ()) -> Row | None:
        try:
            found: Row | None = self.connection.execute(sql, values).fetchone()
        except sqlite3.DatabaseError as error:
            raise self._translate(error) from error
        return found

    def each(self, sql: str, values: Sequence[object] = ()) -> Iterator[Row]:
        try:
            # Through `iter`: a generator that ends early must not close the cursor of a connection
            # that may be closed already.
            yield from iter(self.connection.execute(sql, values).fetchone, None)
        except sqlite3.DatabaseError as error:
            raise self._translate(error) from error

    def _translate(self, error: sqlite3.DatabaseError) -> Exception:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
            return SnapshotUnavailableError("the question was given up")
        return self.file.damaged()


class LiveSegment:
    """A segment as one manifest lists it: its file, and the rows that do not count any more."""

    def __init__(self, file: SegmentFile, entry: SegmentEntry) -> None:
        self.file = file
        self.name = entry.name
        self.papers = entry.papers
        self.deleted = frozenset(entry.deleted)
        self._first_row, self._last_row = entry.first_row, entry.last_row

    @property
    def live_papers(self) -> int:
        return self.papers - len(self.deleted)

    def may_have(self, row: int) -> bool:
        return self._first_row <= row <= self._last_row and row not in self.deleted


class CorpusVersion:
    """One manifest with its segments, open until a newer one replaces it and nobody reads it."""

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        signature: Signature,
        files: Sequence[SegmentFile],
        shared: dict[Any, Any],
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.signature = signature
        self.build_id = manifest.build_id
        self.segments = tuple(
            LiveSegment(file, entry) for file, entry in zip(files, manifest.segments, strict=True)
        )
        # Answers that hold for this manifest, by whoever computes them.
        self.answers: dict[object, Any] = {}
        # What is known of segments by their names, which holds for every version.
        self.shared = shared
        self._lock = threading.Lock()
        self._sessions = 0
        self._is_retired = False
        for file in files:
            file.take()

    @property
    def papers(self) -> int:
        return sum(segment.live_papers for segment in self.segments)

    @contextmanager
    def session(self) -> Iterator[CorpusSession]:
        """Reads of this version by one thread."""
        with self._lock:
            self._sessions += 1
        session = CorpusSession(self)
        try:
            yield session
        finally:
            session.close()
            with self._lock:
                self._sessions -= 1
                is_last = self._is_retired and not self._sessions
            if is_last:
                self._release()

    def retire(self) -> None:
        """Closes the segments now, or when the last session ends."""
        with self._lock:
            self._is_retired = True
            is_idle = not self._sessions
        if is_idle:
            self._release()

    def _release(self) -> None:
        for segment in self.segments:
            segment.file.release()


class CorpusSession:
    """One connection for each segment of a version, borrowed when first asked for."""

    def __init__(self, version: CorpusVersion) -> None:
        self.version = version
        self._readers: dict[str, SegmentReader] = {}

    def readers(self) -> Iterator[tuple[LiveSegment, SegmentReader]]:
        """Every segment, oldest first."""
        for segment in self.version.segments:
            yield segment, self.reader(segment)

    def reader(self, segment: LiveSegment) -> SegmentReader:
        known = self._readers.get(segment.name)
        if known is None:
            known = SegmentReader(segment.file, segment.file.borrow())
            self._readers[segment.name] = known
        return known

    def interrupt(self) -> None:
        """Stops what runs; whoever asked has given up."""
        for reader in tuple(self._readers.values()):
            reader.connection.interrupt()

    def close(self) -> None:
        while self._readers:
            _, reader = self._readers.popitem()
            reader.file.give_back(reader.connection)


class CorpusFolder:
    """A corpus folder by its name, always in its present version."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._manifest = self._path / MANIFEST_NAME
        # Every question looks at it: a path of text takes half the time of a Path.
        self._manifest_name = str(self._manifest)
        self._lock = threading.Lock()
        self._version: CorpusVersion | None = None
        self._seen: Signature = ()
        self._looked_at = float("-inf")
        self._shared: dict[Any, Any] = {}

    @property
    def path(self) -> Path:
        return self._path

    def exists(self) -> bool:
        """Whether there is a manifest; one that cannot be looked at counts, opening says why."""
        try:
            self._manifest.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
        return True

    def signature(self) -> Signature:
        """Changes when the manifest is replaced."""
        try:
            state = os.stat(self._manifest_name)  # noqa: PTH116 (every question asks it; a Path costs twice as much)
        except OSError as error:
            raise SnapshotUnavailableError("its manifest is missing or not readable") from error
        return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)

    def recent_signature(self) -> Signature:
        """The signature of a moment ago, for cached answers cheaper than a look at the file."""
        now = time.monotonic()
        if now - self._looked_at > _LOOK_EVERY_SECONDS:
            self._seen = self.signature()
            self._looked_at = now
        return self._seen

    def current(self) -> CorpusVersion:
        signature = self._seen = self.signature()
        version = self._version
        if version is not None and version.signature == signature:
            return version
        with self._lock:
            if self._version is None or self._version.signature != self.signature():
                fresh = self._open()
                old, self._version = self._version, fresh
                if old is not None:
                    old.retire()
            return self._version

    def remembered(self, key: object) -> Any:
        """What was computed for the present version under `key`; None where that is not known.

        It only looks at the manifest's file, so that it may be asked on the event loop.
        """
        version = self._version
        if version is None or version.signature != self.signature():
            return None
        return version.answers.get(key)

    def close(self) -> None:
        with self._lock:
            version, self._version = self._version, None
        if version is not None:
            version.retire()

    def _open(self) -> CorpusVersion:
        """Opens the manifest; again where it was replaced and its segments removed meanwhile."""
        for _ in range(_OPENING_TRIES):
            signature = self.signature()
            manifest = read_manifest(self._path)
            if manifest is None:
                continue
            known = (
                {segment.name: segment.file for segment in self._version.segments}
                if self._version is not None
                else {}
            )
            try:
                files = [
                    known.get(entry.name) or SegmentFile(self._path, entry.name)
                    for entry in manifest.segments
                ]
            except SegmentGoneError as error:
                if self.signature() == signature:
                    raise missing_segment(str(error)) from error
                continue
            if self.signature() == signature:
                return CorpusVersion(self._path, manifest, signature, files, self._shared)
        raise SnapshotUnavailableError("its manifest is replaced faster than it can be read")


def retry_if_swept(
    folder: CorpusFolder,
    work: Callable[[CorpusSession], ResultT],
    on_start: Callable[[CorpusSession], None] | None = None,
) -> ResultT:
    """Runs `work` on the present version; again where that was replaced and swept meanwhile."""
    for _ in range(_OPENING_TRIES):
        version = folder.current()
        try:
            with version.session() as session:
                if on_start is not None:
                    on_start(session)
                return work(session)
        except SegmentGoneError as error:
            if folder.signature() == version.signature:
                raise missing_segment(str(error)) from error
    raise SnapshotUnavailableError("its manifest is replaced faster than it can be read")


def missing_segment(name: str) -> SnapshotUnavailableError:
    return SnapshotUnavailableError(f"its segment {name[:16]} is missing", next_step=MEND_SEGMENT)
