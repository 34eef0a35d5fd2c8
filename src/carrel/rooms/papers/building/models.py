"""What a build passes along: sources as found, parts as read, papers as they will be published."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from carrel.core.paper_record import PaperRecord, ReadProblem, SourcePart
from carrel.rooms.papers.building.identity import (
    UNKNOWN,
    Conflict,
    PaperKey,
    facet_value,
    month_of,
    year_of,
)
from carrel.rooms.papers.building.summaries import SummaryShelf, shelve


@dataclass(frozen=True, slots=True)
class FileStamp:
    """How a file looked when it was read; one that looks the same is not read again. Size -1 is a
    file that is not there.
    """

    path: str
    size_bytes: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class FoundSource:
    """A file that can be read, by which reader, and the files that belong to it."""

    path: Path
    reader: str
    reader_version: int
    companions: tuple[Path, ...]
    stamps: tuple[FileStamp, ...]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that no reader was asked to read, and why."""

    path: Path
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A source as the build state remembers it."""

    path: str
    reader: str
    reader_version: int
    stamps: tuple[FileStamp, ...]
    further: tuple[FileStamp, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class PartJob:
    """One part for a reader to read, and how many bytes that is for the progress bar."""

    source: FoundSource
    part: SourcePart
    size_bytes: int


@dataclass(frozen=True, slots=True)
class PartRead:
    """What became of one part."""

    source: str
    number: int
    size_bytes: int
    records: tuple[PaperRecord, ...]
    problems: tuple[ReadProblem, ...]
    further: tuple[FileStamp, ...]


@dataclass(frozen=True, slots=True)
class PublishedPaper:
    """One paper as the snapshot and the static folder will show it."""

    paper_id: str
    paper_index: int
    keys: tuple[PaperKey, ...]
    record: PaperRecord
    shelf: SummaryShelf
    conflicts: tuple[Conflict, ...] = ()

    @classmethod
    def of(
        cls,
        paper_id: str,
        paper_index: int,
        keys: tuple[PaperKey, ...],
        record: PaperRecord,
        conflicts: tuple[Conflict, ...],
    ) -> PublishedPaper:
        return cls(paper_id, paper_index, keys, record, shelve(record), conflicts)

    @property
    def year(self) -> str:
        return year_of(self.record.publication_date)

    @property
    def month(self) -> str:
        return month_of(self.record.publication_date)

    @property
    def publication_date(self) -> str:
        return self.record.publication_date or UNKNOWN

    @property
    def inferred(self) -> tuple[str, ...]:
        """The fields, by the names they are shown under, that no source states."""
        fields = self.record.inferred
        return (*fields, "year") if "publication_date" in fields else fields

    @property
    def venue(self) -> str:
        return self.record.venue or ""

    def facets(self) -> list[tuple[str, str]]:
        """Everything the paper can be filtered by, each pair of facet and value once."""
        record, shown = self.record, self.shelf.named(self.shelf.preferred)
        pairs: list[tuple[str, str | None]] = [
            *(("author", name) for name in record.authors),
            *(("keyword", name) for name in record.keywords),
            *(("institution", name) for name in record.institutions),
            *(("tag", name) for name in record.tags),
            ("venue", record.venue),
            ("year", self.year),
            ("month", self.month),
            *(("summary_template", tag) for tag in self.shelf.templates),
            ("output_language", shown.language),
            ("provider", shown.provider),
            ("model", shown.model),
            ("prompt_template", shown.prompt_template),
            *(("translation_lang", language) for language, _ in record.translations),
        ]
        return list(
            dict.fromkeys((facet, value) for facet, text in pairs if (value := facet_value(text)))
        )


@dataclass(frozen=True, slots=True)
class RememberedPaper:
    """A paper of the last snapshot: where it stood, what it was made of, and the names it was known
    by.
    """

    paper_id: str
    paper_index: int
    digest: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddedPaper:
    """What became of one paper that was handed in. `is_new` is false when the corpus had it already
    and now knows more of it.
    """

    paper_id: str
    title: str
    is_new: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PaperToRead:
    """What a model is given of a paper: its text, or its abstract where there is no text."""

    paper_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote, and the tokens it took and gave."""

    text: str
    tokens_in: int
    tokens_out: int
