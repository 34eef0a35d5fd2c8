"""A paper according to one source, and where each of its fields comes from."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class TextOrigin:
    """Where the text of a paper was fetched: the file's address and SHA-256, and what it is.

    `version` is `published`, `accepted` or `submitted`; `licence` is that of this very text.
    """

    url: str
    format: str
    sha256: str
    retrieved_at: str
    version: str | None = None
    licence: str | None = None
    service: str | None = None


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
    # `W` and digits.
    openalex_id: str | None = None
    text_origin: TextOrigin | None = None

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


def mark_guesses(*names: str, confidence: float = 0.3) -> tuple[FieldOrigin, ...]:
    """Origins of fields that no source states."""
    return tuple(FieldOrigin(name, "guess", confidence) for name in names)
