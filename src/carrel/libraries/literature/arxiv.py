"""Entries of arXiv's Atom feed to records."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError
from carrel.libraries.literature.dates import read_date_text
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.markup import read_abstract, read_title
from carrel.libraries.literature.people import read_author
from carrel.libraries.literature.raw_fields import id_of, texts_of
from carrel.libraries.literature.records import (
    Notice,
    ServiceRecord,
    TextFormat,
    TextLocation,
    Venue,
    VersionPointer,
    WorkIds,
    WorkRecord,
)
from carrel.libraries.literature.xml_text import children, descendants, plain_text, text_at

SERVICE = "arxiv"
TEXTS_URL = "https://arxiv.org"
# arXiv makes HTML of what was submitted since.
_FIRST_HTML = "2023-12"
_WITHDRAWN = re.compile(
    r"\b(?:paper|article|submission|manuscript|work|preprint|it)\s+"
    r"(?:has been|is|was)\s+(?:now\s+)?withdrawn\b|^withdrawn\b",
    re.IGNORECASE,
)


def is_error_entry(entry: Element) -> bool:
    """Whether an entry of a feed tells of an error, which may come with status 200."""
    return "/api/errors" in text_at(entry, "id")


def read_identifier(entry: Element) -> ArxivId | None:
    """The identifier of an entry with its version."""
    try:
        return ArxivId.parse(text_at(entry, "id"))
    except NotAnIdentifierError:
        return None


def read_work(entry: Element, texts_url: str = TEXTS_URL) -> ServiceRecord:
    """One entry. Its identity has no version; the record's name at arXiv and its texts have.

    The DOI is the one that arXiv registers; `arxiv:doi` names the published article, another
    work. `published` is the date of the first version. Raises UnreadableRecordError for an error
    entry and where there is no title or no identifier.
    """
    identifier = read_identifier(entry)
    title = read_title(text_at(entry, "title"))
    if identifier is None or not title or is_error_entry(entry):
        raise UnreadableRecordError(SERVICE, "it has no title or no arXiv identifier")
    updated = read_date_text(text_at(entry, "updated"))
    work = WorkRecord(
        ids=WorkIds(doi=identifier.doi, arxiv=identifier.value),
        title=title,
        abstract=read_abstract(text_at(entry, "summary")),
        authors=tuple(
            author
            for each in children(entry, "author")
            if (author := read_author(text_at(each, "name"))) is not None
        ),
        issued=read_date_text(text_at(entry, "published")) or updated,
        kind="preprint",
        venue=Venue(name="arXiv"),
        subjects=texts_of([each.get("term") for each in children(entry, "category")]),
        institutions=texts_of([plain_text(each) for each in descendants(entry, "affiliation")]),
        open_access="green",
        locations=find_locations(identifier, updated or "", texts_url),
        notices=_read_notices(entry, updated),
        versions=_read_versions(entry),
    )
    return ServiceRecord(SERVICE, str(identifier), work)


def find_locations(
    identifier: ArxivId, updated: str, texts_url: str = TEXTS_URL
) -> tuple[TextLocation, ...]:
    """HTML of newer papers, then the source, then the PDF, of this version."""
    formats: tuple[tuple[str, TextFormat], ...] = (
        ("html", "html"),
        ("e-print", "tex"),
        ("pdf", "pdf"),
    )
    base = texts_url.rstrip("/")
    return tuple(
        TextLocation(
            f"{base}/{path}/{identifier}",
            kind,
            version="submitted",
            host="repository",
            service=SERVICE,
        )
        for path, kind in formats
        if kind != "html" or updated >= _FIRST_HTML
    )


def _read_versions(entry: Element) -> tuple[VersionPointer, ...]:
    """The published article, where the DOI is not arXiv's own."""
    doi = id_of(Doi, text_at(entry, "doi"))
    if doi is None or Doi(doi).arxiv is not None:
        return ()
    return (VersionPointer("published_as", WorkIds(doi=doi), SERVICE),)


def is_withdrawn(comment: str) -> bool:
    """Whether a comment of arXiv says that the authors withdrew the paper."""
    return _WITHDRAWN.search(comment[:300]) is not None


def _read_notices(entry: Element, updated: str | None) -> tuple[Notice, ...]:
    """Withdrawn by its authors, as arXiv tells in the comment (unproved live)."""
    if not is_withdrawn(text_at(entry, "comment")):
        return ()
    return (Notice("withdrawal", updated, service=SERVICE),)
