"""Data of a build: records of papers, sources, parts and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Heading:
    """One section heading of a text; level 1 is the title's."""

    level: int
    title: str


@dataclass(frozen=True, slots=True)
class BibtexEntry:
    """A verbatim BibTeX entry."""

    raw: str
    key: str
    kind: str


@dataclass(frozen=True, slots=True)
class FiledSummary:
    """An existing summary, under a template's name."""

    template: str
    markdown: str
    language: str | None = None
    provider: str | None = None
    model: str | None = None
    prompt_template: str | None = None
    extracted_at: str | None = None


@dataclass(frozen=True, slots=True)
class KeptImage:
    """An image in a text; `sha256` is None if the file was missing."""

    static_path: str
    extension: str
    sha256: str | None


# Where a field's value comes from: somebody set it here; the publisher's own data (JATS, XMP, a
# service's answer for the identifier); somebody's list or front matter; the printed page; neither.
Origin = Literal["person", "publisher", "list", "layout", "guess"]


@dataclass(frozen=True, slots=True)
class FieldOrigin:
    """Where the value of one field of a record comes from, and how sure it is (0 to 1)."""

    field: str
    origin: Origin
    confidence: float


@dataclass(frozen=True, slots=True)
class RelatedWork:
    """Another work that the source says the paper is related to.

    `relation` is `preprint_of`, `published_as`, `version_of`, `correction_of`, `retraction_of` or
    `comment_on`.
    """

    relation: str
    doi: str
    # A paper of this corpus; then there is no DOI, which its own record has.
    paper_id: str | None = None


@dataclass(frozen=True, slots=True)
class OtherValue:
    """What another source of the paper says of a field, where it differs; authors are joined by
    `; `.
    """

    field: str
    value: str
    origin: Origin
    confidence: float


@dataclass(frozen=True, slots=True)
class PossibleTwin:
    """Another paper that may be the same work, the name of its file, and why."""

    paper_id: str
    source: str
    reason: str


# A field from the printed page below this confidence is shown as inferred and not cited.
MIN_CITED_CONFIDENCE = 0.5


@dataclass(frozen=True, slots=True)
class PaperRecord:
    """One paper according to one source; long texts are stored as assets under their SHA-256.

    `origins` has an entry for each field whose origin or confidence is not that of the whole record
    (`origin`, `confidence`). `references_sha256` and `figures_sha256` name lists of
    `libraries.works`. `affiliations` are pairs of an author and an institution. `other_values` has
    only a merged record.
    """

    title: str
    authors: tuple[str, ...] = ()
    institutions: tuple[str, ...] = ()
    venue: str | None = None
    publication_date: str | None = None
    abstract: str | None = None
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    doi: str | None = None
    arxiv_id: str | None = None
    citation_key: str | None = None
    bibtex: BibtexEntry | None = None
    language: str | None = None
    headings: tuple[Heading, ...] = ()
    summaries: tuple[FiledSummary, ...] = ()
    source_hash: str | None = None
    markdown_sha256: str | None = None
    pdf_sha256: str | None = None
    translations: tuple[tuple[str, str], ...] = ()
    images: tuple[KeptImage, ...] = ()
    kind: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    publisher: str | None = None
    pmid: str | None = None
    pmcid: str | None = None
    isbn: str | None = None
    issn: str | None = None
    url: str | None = None
    affiliations: tuple[tuple[str, str], ...] = ()
    related: tuple[RelatedWork, ...] = ()
    # Absolute names of files that the record names as its text; only compared, never opened.
    files: tuple[str, ...] = ()
    references_sha256: str | None = None
    figures_sha256: str | None = None
    origin: Origin = "list"
    confidence: float = 1.0
    origins: tuple[FieldOrigin, ...] = ()
    editors: tuple[str, ...] = ()
    license: str | None = None
    other_values: tuple[OtherValue, ...] = ()
    # Fields of a merged record that a better source than that of the BibTeX entry says otherwise.
    overruled: tuple[str, ...] = ()

    def origin_of(self, name: str) -> FieldOrigin:
        """Where the value of a field comes from, and how sure it is."""
        for found in self.origins:
            if found.field == name:
                return found
        return FieldOrigin(name, self.origin, self.confidence)

    @property
    def inferred(self) -> tuple[str, ...]:
        """The fields that are guesses: shown as such, and left out of citations."""
        if self.origin == "guess" or self.confidence < MIN_CITED_CONFIDENCE:
            return tuple(
                name
                for name in CITED_FIELDS
                if getattr(self, name) and is_guess(self.origin_of(name))
            )
        return tuple(found.field for found in self.origins if is_guess(found))


# The fields of a record that a citation may show, in the order of interest.
CITED_FIELDS = (
    "title",
    "authors",
    "publication_date",
    "doi",
    "venue",
    "volume",
    "issue",
    "pages",
    "arxiv_id",
    "pmid",
    "pmcid",
    "kind",
    "publisher",
    "editors",
    "isbn",
    "issn",
    "url",
    "abstract",
    "keywords",
    "institutions",
    "affiliations",
    "language",
    "license",
)


def is_guess(found: FieldOrigin) -> bool:
    """Whether a value is shown as inferred and never cited."""
    return found.origin == "guess" or found.confidence < MIN_CITED_CONFIDENCE


def guessed(*names: str, confidence: float = 0.3) -> tuple[FieldOrigin, ...]:
    """Origins of fields that no source states."""
    return tuple(FieldOrigin(name, "guess", confidence) for name in names)


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


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A problem with one source; `is_skipped` if it cost a paper or file."""

    source: str
    code: str
    message: str
    is_skipped: bool
    line: int | None = None

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{'skipped' if self.is_skipped else 'note'}  {place}: {self.message} [{self.code}]"

    def to_facts(self) -> dict[str, object]:
        facts: dict[str, object] = {
            "source": self.source,
            "code": self.code,
            "message": self.message,
            "skipped": self.is_skipped,
        }
        return facts if self.line is None else {**facts, "line": self.line}


ChangeKind = Literal["new", "changed", "renamed", "removed"]


@dataclass(frozen=True, slots=True)
class SourceChange:
    """One file that came, changed, moved (from `before`) or left."""

    kind: ChangeKind
    path: str
    before: str | None = None

    def __str__(self) -> str:
        return f"{self.kind:8} {self.path}" + (f" (was {self.before})" if self.before else "")


@dataclass(frozen=True, slots=True)
class BuildReport:
    """The end of a build in figures, with every line that a person should see."""

    build_id: str
    papers: int
    papers_added: int
    papers_changed: int
    papers_removed: int
    sources_read: int
    sources_unchanged: int
    sources_removed: int
    records: int
    seconds_reading: float
    seconds_writing: float
    is_changed: bool
    lines: tuple[ReportLine, ...] = field(default=())
    changes: tuple[SourceChange, ...] = field(default=())
    papers_in_doubt: int = 0

    @property
    def skipped(self) -> tuple[ReportLine, ...]:
        return tuple(line for line in self.lines if line.is_skipped)

    def to_facts(self) -> dict[str, object]:
        return {
            "build_id": self.build_id,
            "papers": {
                "total": self.papers,
                "added": self.papers_added,
                "changed": self.papers_changed,
                "removed": self.papers_removed,
                "in_doubt": self.papers_in_doubt,
            },
            "sources": {
                "read": self.sources_read,
                "unchanged": self.sources_unchanged,
                "removed": self.sources_removed,
            },
            "records": self.records,
            "seconds": {
                "reading": round(self.seconds_reading, 3),
                "writing": round(self.seconds_writing, 3),
            },
            "changed": self.is_changed,
            "skipped": len(self.skipped),
            "lines": [line.to_facts() for line in self.lines],
        }

    def to_text(self, longest: int = 50) -> str:
        """Lines for a person: at most `longest` problems, the rest counted by code."""
        head = [
            f"{self.papers:,} papers: {self.papers_added:,} new, {self.papers_changed:,} changed, "
            f"{self.papers_removed:,} gone.",
            f"Sources: {self.sources_read:,} read, {self.sources_unchanged:,} unchanged, "
            f"{self.sources_removed:,} gone; "
            f"{self.records:,} records in all.",
            f"Reading took {self.seconds_reading:.1f} s, writing {self.seconds_writing:.1f} s.",
        ]
        ordered = sorted(self.lines, key=lambda line: not line.is_skipped)
        shown, rest = ordered[:longest], ordered[longest:]
        if not ordered:
            head.append("Nothing was skipped.")
        more = [
            f"and {count:,} more: {code}"
            for code, count in Counter(line.code for line in rest).most_common()
        ]
        doubts = (
            [
                f"{_count(self.papers_in_doubt, 'paper has', 'papers have')} doubtful fields: "
                f"carrel papers review"
            ]
            if self.papers_in_doubt
            else []
        )
        return "\n".join([*head, *(str(line) for line in shown), *more, *doubts])


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
