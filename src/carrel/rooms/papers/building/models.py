"""Sources of a build: files that are found, their parts, what was read of them, and options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from carrel.rooms.papers.building.paper_records import PaperRecord


@dataclass(frozen=True, slots=True)
class ReadProblem:
    """Something in a source that is unusable; `is_fatal` if it cost a paper."""

    code: str
    message: str
    line: int | None = None
    is_fatal: bool = True


@dataclass(frozen=True, slots=True)
class SourcePart:
    """An independently readable part of a source: a whole file, or lines of a long one."""

    path: Path
    number: int = 0
    first_line: int = 1
    content: bytes | None = None
    companions: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What came out of one part. `also_read` names further files that the answer depends on."""

    records: tuple[PaperRecord, ...] = ()
    problems: tuple[ReadProblem, ...] = ()
    also_read: tuple[Path, ...] = ()

    @classmethod
    def failed(cls, code: str, message: str, line: int | None = None) -> Reading:
        """A part that gave no paper, and why."""
        return cls(problems=(ReadProblem(code, message, line),))


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Size and time of a file when it was read; size -1 if there is no file."""

    path: str
    size_bytes: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class FoundSource:
    """A readable file, its reader, and the files that belong to it."""

    path: Path
    reader: str
    reader_version: int
    companions: tuple[Path, ...]
    stamps: tuple[FileStamp, ...]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was not read, and why."""

    path: Path
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A source as the build state remembers it; `content` is the SHA-256 of its bytes."""

    path: str
    reader: str
    reader_version: int
    stamps: tuple[FileStamp, ...]
    further: tuple[FileStamp, ...]
    is_complete: bool
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class PartJob:
    """One part to read, the name of its reader, and its size for the progress bar."""

    reader: str
    part: SourcePart
    size_bytes: int


@dataclass(frozen=True, slots=True)
class PartRead:
    """The result of reading one part."""

    source: str
    number: int
    size_bytes: int
    records: tuple[PaperRecord, ...]
    problems: tuple[ReadProblem, ...]
    further: tuple[FileStamp, ...]


@dataclass(frozen=True, slots=True)
class PaperToRead:
    """A model's input for a paper: its text, or its abstract if there is no text."""

    paper_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelText:
    """A model's output, with the input and output tokens it took."""

    text: str
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """None for `workers` uses all cores; `has_edges` is for exported snapshots.

    `before_swap` gets the folder when all is written, before the new manifest replaces the old.
    """

    workers: int | None = None
    size_limit_bytes: int = 200 * 1024 * 1024
    has_edges: bool | None = None
    before_swap: Callable[[Path], None] | None = None
