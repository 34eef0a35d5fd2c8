"""Ports of a load: the files of a dump, and the state that remembers what was loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from carrel.rooms.papers.building.ports import BuildLock, BuildState, CorpusWriter
from carrel.rooms.papers.building.publisher import CorpusPublisher
from carrel.rooms.papers.loading.models import (
    BadRecord,
    DumpFile,
    DumpReach,
    FileEnd,
    FileProgress,
    FoundDump,
    LoadCounts,
)


@dataclass(frozen=True, slots=True)
class PackedRecords:
    """Records of one file as the state takes them, with what was not taken.

    `entries` are of the state's own making; `references` are assets by name.
    """

    file: DumpFile
    first: int
    count: int
    entries: Sequence[Any]
    references: Sequence[tuple[str, bytes]]
    bad: Sequence[BadRecord]
    left_out: dict[str, int]
    newest: str
    # How much of the file was read for them, packed as it lies there.
    size_bytes: int = 0


class DumpFiles(Protocol):
    """The files of one dump; one bad file or record is told, never an error."""

    def find(self) -> FoundDump: ...

    def read(self, files: Iterable[tuple[DumpFile, int]]) -> Iterator[PackedRecords | FileEnd]:
        """The records of files in order, each from behind a number of records on, and its end."""
        ...

    def close(self) -> None: ...


class DumpState(Protocol):
    """What was loaded of dumps, kept with the build state of the corpus.

    Nothing is committed here: it counts with the next publication, or with `commit` of the state.
    """

    def progress(self, service: str) -> dict[str, FileProgress]: ...

    def keep_progress(self, service: str, name: str, progress: FileProgress) -> None: ...

    def add(
        self, service: str, packed: PackedRecords, counts: LoadCounts, room: int | None
    ) -> tuple[int, int]:
        """Take records, newest wins; returns how many were touched, and how many were looked at.

        With `room`, no record is looked at behind so many new ones.
        """
        ...

    def keep_reach(self, reach: DumpReach, quarantine_bytes: int) -> None: ...

    def reach(self, service: str) -> tuple[DumpReach, int] | None:
        """How far a dump reaches, and the length of its quarantine file."""
        ...

    def record_count(self, service: str) -> int: ...


class Quarantine(Protocol):
    """The records of one dump that could not be read."""

    @property
    def name(self) -> str: ...

    def cut(self, size_bytes: int) -> None:
        """Forget what was set aside behind the last batch that counts."""
        ...

    def add(self, file: str, bad: Sequence[BadRecord]) -> None: ...

    def flush(self) -> int:
        """Make it last; returns the size."""
        ...


class StagedReferences(Protocol):
    """Lists of references that wait for the segment of their papers."""

    def add(self, references: Sequence[tuple[str, bytes]]) -> None: ...

    def commit(self) -> None:
        """Make them last; whoever publishes reads them."""
        ...

    def roll_back(self) -> None: ...


@dataclass(frozen=True, slots=True)
class LoadStores:
    """All that a load of one dump reads and writes."""

    files: DumpFiles
    state: BuildState
    dumps: DumpState
    corpus: CorpusWriter
    publisher: CorpusPublisher
    references: StagedReferences
    quarantine: Quarantine
    lock: BuildLock
    # One addition after another, as for servers that share the home.
    take_turn: Callable[[], AbstractContextManager[None]]
    # Gives back what the last batch took.
    release_memory: Callable[[], None]
