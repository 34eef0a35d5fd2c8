"""The snapshot file: read-only, shared by all readers, opened again when somebody replaces it."""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from carrel.libraries.query.papers import FacetCategory
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import split_cjk
from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.sqlite.connection import OpenMode, connect
from carrel.stores.sqlite.papers.index_manifest import manifest_file
from carrel.stores.sqlite.papers.snapshot_schema import refuse_computed_tables

_MAX_VALUES = 5_000
_BATCH = 10_000


class FacetValues:
    """Finds facet values by their words, in an index in memory that all threads share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memory = sqlite3.connect(":memory:", check_same_thread=False)
        self._made: set[FacetCategory] = set()

    def with_phrase(
        self,
        snapshot: sqlite3.Connection,
        category: FacetCategory,
        words: Iterable[str],
        *,
        is_prefix: bool,
    ) -> list[int]:
        """Ids of the values in which these words stand next to each other."""
        folded = " ".join(fold_text(word) for word in words)
        return self._matching(snapshot, category, f'"{folded}"{"*" if is_prefix else ""}')

    def with_words(
        self, snapshot: sqlite3.Connection, category: FacetCategory, words: Iterable[str]
    ) -> list[int]:
        """Ids of the values that contain every one of these words."""
        return self._matching(
            snapshot, category, " AND ".join(f'"{fold_text(word)}"' for word in words)
        )

    def close(self) -> None:
        with self._lock:
            self._memory.close()

    def _matching(
        self, snapshot: sqlite3.Connection, category: FacetCategory, expression: str
    ) -> list[int]:
        with self._lock:
            if category not in self._made:
                self._make(snapshot, category)
            rows = self._memory.execute(
                f"SELECT rowid FROM {category} WHERE {category} MATCH ? LIMIT {_MAX_VALUES}",
                (expression,),
            )
            return [row[0] for row in rows]

    def _make(self, snapshot: sqlite3.Connection, category: FacetCategory) -> None:
        values = snapshot.execute(f"SELECT {category}_id, value FROM {category}")
        with self._memory:
            self._memory.execute(f"DROP TABLE IF EXISTS {category}")
            self._memory.execute(
                f"CREATE VIRTUAL TABLE {category} USING fts5(value, content='', columnsize=0)"
            )
            while batch := values.fetchmany(_BATCH):
                rows = [(number, split_cjk(fold_text(value))) for number, value in batch]
                self._memory.executemany(
                    f"INSERT INTO {category}(rowid, value) VALUES (?, ?)", rows
                )
        self._made.add(category)


_MISSING = re.compile(r"no such (?:table|column): (?:\w+\.)?(\w+)")
_SETTINGS = """
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
PRAGMA temp_store = MEMORY;
PRAGMA mmap_size = 2147418112;
PRAGMA cache_size = -16000;
CREATE VIRTUAL TABLE temp.paper_words USING fts5vocab(main, paper_fts, row);
PRAGMA query_only = 1;
"""

# No text of a paper is nearly as long; a row that says so would fill the memory.
_LONGEST_VALUE_BYTES = 128 * 1024 * 1024

Signature = tuple[int, ...]

_LOOK_EVERY_SECONDS = 0.05


class SnapshotVersion:
    """One version of the file with its connections; retired when the file is replaced."""

    def __init__(self, path: Path, signature: Signature) -> None:
        self.path = path
        self.signature = signature
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._borrowed = 0
        self._is_retired = False
        self.facet_values = FacetValues()
        self._modes = _open_modes(path)
        first = self._open()
        try:
            with translated_errors():
                self.columns = frozenset(
                    row[1] for row in first.execute("PRAGMA table_info(paper)")
                )
                self.tables = frozenset(
                    row[0]
                    for row in first.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                )
                if "paper" not in self.tables:
                    raise SnapshotUnavailableError("it has no table 'paper'", missing="paper")
                refuse_computed_tables(first)
                self.build_id = (
                    _build_id(first) if "snapshot_meta" in self.tables else ""
                ) or _state_id(signature)
        except SnapshotUnavailableError:
            first.close()
            self.facet_values.close()
            raise
        self._idle.append(first)

    @property
    def has_doi(self) -> bool:
        return "doi" in self.columns

    @property
    def has_bibtex(self) -> bool:
        return "paper_bibtex" in self.tables

    @property
    def has_inferred(self) -> bool:
        return "paper_inferred" in self.tables

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """A connection not shared meanwhile; SnapshotUnavailableError where it is damaged."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
            self._borrowed += 1
        try:
            if connection is None:
                connection = self._open()
            with translated_errors():
                yield connection
        finally:
            with self._lock:
                self._borrowed -= 1
                if connection is not None:
                    self._idle.append(connection)
                if self._is_retired:
                    self._close_idle()

    def retire(self) -> None:
        """Closes what is idle now, and the rest as it comes back."""
        with self._lock:
            self._is_retired = True
            self._close_idle()

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()
        if not self._borrowed:
            self.facet_values.close()

    def _open(self) -> sqlite3.Connection:
        """A log must be read; where its shared memory cannot be made, the file alone is."""
        for mode in self._modes:
            try:
                return self._connect(mode)
            except sqlite3.OperationalError as error:
                trouble: sqlite3.Error = error
            except sqlite3.DatabaseError as error:
                raise SnapshotUnavailableError(
                    "the file is not a SQLite database, or is damaged"
                ) from error
        raise SnapshotUnavailableError("the file cannot be opened") from trouble

    def _connect(self, mode: OpenMode) -> sqlite3.Connection:
        connection = connect(self.path, mode, busy_seconds=5.0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE_BYTES)
        try:
            connection.executescript(_SETTINGS)
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error:
            connection.close()
            raise
        return connection


class PaperSnapshot:
    """The file by its name, always in its present version."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._beside = (self._path.with_name(f"{self._path.name}-wal"), manifest_file(self._path))
        self._lock = threading.Lock()
        self._generation: SnapshotVersion | None = None
        self._seen: Signature = ()
        self._looked_at = float("-inf")

    def exists(self) -> bool:
        """Whether there is a file; one that cannot be looked at counts, since opening says why."""
        try:
            self._path.lstat()
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return True

    @property
    def path(self) -> Path:
        return self._path

    def signature(self) -> Signature:
        """Changes when the file is replaced or written, or gets another index beside it."""
        try:
            state = self._path.stat()
        except OSError as error:
            raise SnapshotUnavailableError("the file is missing or not readable") from error
        return (
            state.st_dev,
            state.st_ino,
            state.st_size,
            state.st_mtime_ns,
            *(_state(path) for path in self._beside),
        )

    def recent_signature(self) -> Signature:
        """The signature of a moment ago, for cached answers cheaper than a look at the file."""
        now = time.monotonic()
        if now - self._looked_at > _LOOK_EVERY_SECONDS:
            self._seen = self.signature()
            self._looked_at = now
        return self._seen

    def current(self) -> SnapshotVersion:
        signature = self._seen = self.signature()
        generation = self._generation
        if generation is not None and generation.signature == signature:
            return generation
        with self._lock:
            if self._generation is None or self._generation.signature != signature:
                fresh = SnapshotVersion(self._path, signature)
                old, self._generation = self._generation, fresh
                if old is not None:
                    old.retire()
            return self._generation

    def close(self) -> None:
        with self._lock:
            generation, self._generation = self._generation, None
        if generation is not None:
            generation.retire()


def _state(path: Path) -> int:
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as error:
        raise SnapshotUnavailableError(f"{path.name} beside it cannot be looked at") from error
    return state.st_mtime_ns if state.st_size else 0


@contextmanager
def translated_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        found = _MISSING.search(str(error))
        if found:
            raise SnapshotUnavailableError(
                f"it has no '{found.group(1)}'", missing=found.group(1)
            ) from error
        raise SnapshotUnavailableError("the file is damaged or not a paper snapshot") from error


def _open_modes(path: Path) -> tuple[OpenMode, ...]:
    """Modes to try; with a log, `read` leaves files beside it or fails in a read-only folder."""
    try:
        with path.open("rb") as file:
            is_wal = file.read(20)[18:20] == b"\x02\x02"
    except OSError as error:
        raise SnapshotUnavailableError("the file is missing or not readable") from error
    try:
        has_log = path.with_name(f"{path.name}-wal").stat().st_size > 0
    except FileNotFoundError:
        has_log = False
    except OSError as error:
        # Without its log the file would answer with what it held long ago.
        raise SnapshotUnavailableError("the log beside it cannot be looked at") from error
    return ("immutable",) if is_wal and not has_log else ("read", "immutable")


def _state_id(signature: Signature) -> str:
    """A name for a version that nobody named: its size and the time it was written."""
    return f"file-{signature[2]}-{signature[3]}"


def _build_id(connection: sqlite3.Connection) -> str:
    row = connection.execute(
        "SELECT value FROM snapshot_meta WHERE key = 'snapshot_build_id'"
    ).fetchone()
    return str(row[0]) if row else ""
