"""A work as literature services describe it, in one form for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal

# The names of services in settings, answers and origins.
ServiceName = Literal[
    "openalex",
    "crossref",
    "pubmed",
    "europepmc",
    "arxiv",
    "semantic_scholar",
    "dblp",
    "datacite",
    "doaj",
    "unpaywall",
    "opencitations",
    "biorxiv",
    "retraction_watch",
]
# What a record is, in the words of CSL where it has one.
WorkKind = Literal[
    "article-journal",
    "paper-conference",
    "preprint",
    "chapter",
    "book",
    "thesis",
    "report",
    "review",
    "dataset",
    "software",
    "editorial",
    "letter",
    "erratum",
    "retraction",
    "peer-review",
    "reference-entry",
    "other",
]
TextFormat = Literal["jats", "html", "tex", "pdf", "landing_page"]
TextVersion = Literal["published", "accepted", "submitted"]
NoticeKind = Literal["retraction", "correction", "expression_of_concern", "withdrawal", "removal"]
VersionRelation = Literal["preprint_of", "published_as", "version_of"]


@dataclass(frozen=True, slots=True)
class WorkIds:
    """Identifiers of one work, each in its normal form; None where not known.

    `doi` is in lower case without a resolver, `pmcid` has its PMC, `arxiv` has no version,
    `openalex` is `W…`, `semantic_scholar` the 40 hexadecimal digits, `corpus_id` its number there,
    `europepmc` is `SRC/id` such as `PPR/PPR123`.
    """

    doi: str | None = None
    pmid: str | None = None
    pmcid: str | None = None
    arxiv: str | None = None
    openalex: str | None = None
    semantic_scholar: str | None = None
    corpus_id: str | None = None
    dblp: str | None = None
    europepmc: str | None = None
    mag: str | None = None
    acl: str | None = None
    isbn: str | None = None

    def keys(self) -> tuple[str, ...]:
        """Each identifier as `kind:value`, in the order above."""
        return tuple(
            f"{each.name}:{value}"
            for each in fields(self)
            if (value := getattr(self, each.name)) is not None
        )


@dataclass(frozen=True, slots=True)
class Author:
    """A person with `family`, or a group or unparsed name with `literal` alone."""

    family: str = ""
    given: str = ""
    literal: str = ""
    suffix: str = ""
    orcid: str | None = None


@dataclass(frozen=True, slots=True)
class Venue:
    """Where a work appeared."""

    name: str = ""
    abbreviation: str = ""
    issn: tuple[str, ...] = ()
    publisher: str = ""


@dataclass(frozen=True, slots=True)
class TextLocation:
    """A place where the text of a work may be had, as its metadata says."""

    url: str
    format: TextFormat
    version: TextVersion | None = None
    licence: str | None = None
    host: Literal["publisher", "repository"] | None = None
    # Who said so.
    service: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """A retraction, correction or concern about a work."""

    kind: NoticeKind
    # ISO date as precise as it is known.
    date: str | None = None
    doi: str | None = None
    pmid: str | None = None
    reasons: tuple[str, ...] = ()
    # Who said so: a service's name, or `retraction_watch`.
    service: str = ""


@dataclass(frozen=True, slots=True)
class VersionPointer:
    """Another version of a work, named by an identifier: a preprint, the published article.

    `published_as` leads from a preprint to its article, `preprint_of` from an article to its
    preprint.
    """

    relation: VersionRelation
    ids: WorkIds
    service: str = ""


@dataclass(frozen=True, slots=True)
class CitedWorkRecord:
    """An entry of a reference list, or a work that cites: what a service says about it."""

    ids: WorkIds = WorkIds()
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    # The entry as printed, where a service has only that.
    unstructured: str = ""


@dataclass(frozen=True, slots=True)
class WorkRecord:
    """All that is known of one work; empty or None means not known, never invented.

    `title` and `abstract` are plain text with `<i>`, `<b>`, `<sub>` and `<sup>` at most. `issued`
    is an ISO date as precise as it is known: `2019`, `2019-05`, `2019-05-17`.
    """

    ids: WorkIds = WorkIds()
    title: str = ""
    abstract: str = ""
    authors: tuple[Author, ...] = ()
    # Whether the service cut the list of authors.
    is_authors_cut: bool = False
    issued: str | None = None
    kind: WorkKind | None = None
    venue: Venue = Venue()
    volume: str = ""
    issue: str = ""
    pages: str = ""
    # An ISO 639-1 code.
    language: str | None = None
    keywords: tuple[str, ...] = ()
    # Subjects by the service's own scheme: fields of study, categories, MeSH headings, topics.
    subjects: tuple[str, ...] = ()
    institutions: tuple[str, ...] = ()
    open_access: Literal["gold", "green", "hybrid", "bronze", "diamond", "closed"] | None = None
    locations: tuple[TextLocation, ...] = ()
    licence: str | None = None
    notices: tuple[Notice, ...] = ()
    versions: tuple[VersionPointer, ...] = ()
    # None where the service gives no list, which is not the same as an empty one.
    references: tuple[CitedWorkRecord, ...] | None = None

    @property
    def year(self) -> int | None:
        return int(self.issued[:4]) if self.issued else None

    @property
    def is_retracted(self) -> bool:
        gone = {"retraction", "withdrawal", "removal"}
        return any(notice.kind in gone for notice in self.notices)


@dataclass(frozen=True, slots=True)
class ServiceRecord:
    """A work as one service gave it, at one place of its list."""

    service: str
    # The name of the record at the service.
    service_id: str
    work: WorkRecord
    # Its place in the answer, from 1; None where it was asked for by identifier.
    rank: int | None = None
    citation_count: int | None = None


@dataclass(frozen=True, slots=True)
class LinkedVersion:
    """Another version of a found work that stays a work of its own.

    `published_as` leads from a preprint to its article, `preprint_of` from an article to its
    preprint.
    """

    relation: VersionRelation
    ids: WorkIds
    title: str
    # Which service, or `likeness` where title, authors and years say so.
    origin: str


@dataclass(frozen=True, slots=True)
class MergedWork:
    """One work of several records, field by field, with the service each field came from."""

    work: WorkRecord
    # Field of WorkRecord -> service; identifiers as `ids.doi`. Fields that nobody gave are absent.
    origins: Mapping[str, str]
    records: tuple[ServiceRecord, ...]
    versions: tuple[LinkedVersion, ...] = ()
    # Citations counted by each service; never added up.
    citation_counts: Mapping[str, int] = field(default_factory=dict)
    # What services say differently and a person may want to know, in plain words.
    conflicts: tuple[str, ...] = ()
    # The work that this one looks like a false copy of; without identifiers where nobody gave it.
    copy_of: WorkIds | None = None
    score: float = 0.0
