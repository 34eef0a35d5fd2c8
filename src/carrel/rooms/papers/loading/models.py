"""Dumps of literature services: their files, what is read of them, and how far they reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from carrel.rooms.papers.building.paper_records import PaperRecord

DumpService = Literal["openalex", "pubmed", "arxiv", "crossref"]
DUMP_SERVICES: tuple[DumpService, ...] = get_args(DumpService)
# Sources of dumps are named so in the build state; no file has such a name.
DUMP_SOURCE = "dump:"


def source_name(service: str) -> str:
    """The source under which a build state keeps the records of a dump."""
    return f"{DUMP_SOURCE}{service}"


def reader_name(service: str) -> str:
    """The reader of a dump's records, which says how much their word counts."""
    return f"{service}_dump"


@dataclass(frozen=True, slots=True)
class DumpFile:
    """One file of a dump: its name below the dump's folder, and what it was when it was found.

    `order` is the version of records that say none themselves; it grows with later files.
    """

    path: Path
    name: str
    size_bytes: int
    modified_ns: int
    order: str = ""

    @property
    def stamp(self) -> str:
        return f"{self.size_bytes} {self.modified_ns}"


@dataclass(frozen=True, slots=True)
class FoundDump:
    """The files of a dump in the order they are read, and remarks about what is missing."""

    files: tuple[DumpFile, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RawRecords:
    """Records of one file as they stand there; `first` is the number of the first one from 1."""

    file: DumpFile
    first: int
    records: tuple[bytes, ...]
    # How much of the file was read for them, packed as it lies there.
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class FileEnd:
    """A file is read; `problem` says why its rest could not be."""

    file: DumpFile
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record that a dump has: `name` is its name there, `version` grows when it is changed.

    `number` is its place in the file, from 1.
    """

    number: int
    name: str
    version: str
    record: PaperRecord
    # The list of references as an asset; None where the dump has none.
    references: bytes | None = None


@dataclass(frozen=True, slots=True)
class GoneRecord:
    """A record that a dump withdraws from this version on."""

    number: int
    name: str
    version: str


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that could not be read: its number in the file, why, and how it begins."""

    number: int
    reason: str
    beginning: str


@dataclass(slots=True)
class ReadRecords:
    """What was read of some records of a file."""

    entries: list[NewRecord | GoneRecord] = field(default_factory=list)
    bad: list[BadRecord] = field(default_factory=list)
    # By the name of the filter, or `no_title` and `no_work`.
    left_out: Counter[str] = field(default_factory=Counter)
    # The newest date that a record states about itself.
    newest: str = ""


@dataclass(frozen=True, slots=True)
class FileProgress:
    """How much of a file is in the corpus: the records counted from its beginning."""

    stamp: str
    filters: str
    records: int
    is_complete: bool
    problem: str | None = None


@dataclass(slots=True)
class LoadCounts:
    """Figures of a load; they add up over interrupted ones."""

    records: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    older: int = 0
    deleted: int = 0
    bad: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class DumpReach:
    """How far a loaded dump reaches: live services need only be asked for what is newer.

    `newest` is the newest date that the dump states about its records (OpenAlex: updated, PubMed:
    revised, arXiv: updated, Crossref: indexed), an ISO date. `is_complete` is false while a load is
    unfinished or was limited. With `filters`, the dump says nothing about what they left out.
    """

    service: str
    newest: str
    loaded_at: str
    folder: str
    papers: int
    is_complete: bool
    filters: Mapping[str, object] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The end of a load in figures, with every line that a person should see."""

    service: str
    counts: LoadCounts
    papers: int
    papers_added: int
    papers_changed: int
    papers_removed: int
    files: int
    files_read: int
    newest: str
    seconds: float
    quarantine: str | None
    lines: tuple[str, ...] = ()
    is_limited: bool = False

    def to_facts(self) -> dict[str, object]:
        counts = self.counts
        return {
            "service": self.service,
            "papers": self.papers,
            "papers_added": self.papers_added,
            "papers_changed": self.papers_changed,
            "papers_removed": self.papers_removed,
            "records": counts.records,
            "new": counts.new,
            "changed": counts.changed,
            "unchanged": counts.unchanged,
            "older": counts.older,
            "deleted": counts.deleted,
            "bad": counts.bad,
            "left_out": dict(sorted(counts.left_out.items())),
            "files": self.files,
            "files_read": self.files_read,
            "newest": self.newest,
            "seconds": round(self.seconds, 1),
            "quarantine": self.quarantine,
            "is_limited": self.is_limited,
            "notes": list(self.lines),
        }

    def to_text(self) -> str:
        """The summary for people, a fact a line."""
        counts = self.counts
        rate = counts.records / self.seconds if self.seconds else 0.0
        read = (
            f"{counts.records:,} records of {self.files_read:,} of {self.files:,} files read in "
            f"{self.seconds:,.0f} s ({rate:,.0f} a second)."
        )
        if not self.files_read:
            read = f"Nothing to read: all {self.files:,} files were loaded before, as they are."
        lines = [
            read,
            f"The corpus has {self.papers:,} papers: {self.papers_added:,} new, "
            f"{self.papers_changed:,} changed, {self.papers_removed:,} gone.",
        ]
        if skipped := _describe_skipped(counts):
            lines.append(skipped)
        if counts.bad:
            lines.append(f"{counts.bad:,} records could not be read and stand in {self.quarantine}")
        if self.newest:
            lines.append(f"The dump reaches {self.newest}; services are asked for what is newer.")
        return "\n".join([*lines, *self.lines])


_SAID = {
    "years": "by year",
    "types": "by type",
    "languages": "by language",
    "subjects": "by subject",
    "no_title": "without a title",
    "no_work": "that are no works of their own (journals, issues, components, grants)",
}


def _describe_skipped(counts: LoadCounts) -> str:
    parts = [
        f"{count:,} {_SAID.get(name, name)}" for name, count in counts.left_out.items() if count
    ]
    text = f"Left out: {', '.join(parts)}." if parts else ""
    known = [
        f"{count:,} {word}"
        for count, word in (
            (counts.unchanged, "as they were"),
            (counts.older, "older than what the corpus has"),
            (counts.deleted, "withdrawn by the dump"),
        )
        if count
    ]
    return " ".join(each for each in (text, f"{', '.join(known)}." if known else "") if each)
