"""A paper as one source tells it, before anybody decided which papers are the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Heading:
    """One section heading of a text; level 1 is the title's."""

    level: int
    title: str


@dataclass(frozen=True, slots=True)
class BibtexEntry:
    """A BibTeX entry as it was written."""

    raw: str
    key: str
    kind: str


@dataclass(frozen=True, slots=True)
class FiledSummary:
    """A summary that somebody wrote earlier, under a template's name."""

    template: str
    markdown: str
    language: str | None = None
    provider: str | None = None
    model: str | None = None
    prompt_template: str | None = None
    extracted_at: str | None = None


@dataclass(frozen=True, slots=True)
class KeptImage:
    """An image that a text shows. `sha256` is None when the file was not there."""

    static_path: str
    extension: str
    sha256: str | None


@dataclass(frozen=True, slots=True)
class PaperRecord:
    """What one source says of one paper. Long texts are kept as assets and named here by their
    SHA-256.

    `inferred` names the fields whose value the source does not state: it was worked out from the
    layout or a file's name.
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
    inferred: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadProblem:
    """Something in a source that could not be used, or not fully. `is_fatal` when a paper was left
    out because of it.
    """

    code: str
    message: str
    line: int | None = None
    is_fatal: bool = True


@dataclass(frozen=True, slots=True)
class SourcePart:
    """A piece of a source that can be read on its own: the whole file, or some lines of a long
    one.
    """

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


class AssetKeeper(Protocol):
    """Keeps long texts and files under the hash of their content, and answers with that hash."""

    def keep_markdown(self, text: str) -> str: ...

    def keep_translation(self, text: str, language: str) -> str: ...

    def keep_pdf(self, path: Path) -> str: ...

    def keep_image(self, path: Path) -> str: ...


class SourceReader(Protocol):
    """Reads one kind of source. A higher `version` makes earlier readings of the same file
    stale.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...

    def accepts(self, path: Path, head: bytes) -> bool:
        """Whether a file of this name that begins with these bytes is of this kind."""
        ...

    def parts(self, path: Path, companions: tuple[Path, ...]) -> Iterator[SourcePart]: ...

    def read(self, part: SourcePart, keeper: AssetKeeper) -> Reading: ...
