"""Crossref's JSON: works to records, for answers of the service and for its dumps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from carrel.libraries.identifiers import Doi, Isbn
from carrel.libraries.literature.crossref_links import (
    read_locations,
    read_notices,
    read_own_kind,
    read_references,
    read_versions,
)
from carrel.libraries.literature.dates import earliest_date, read_date_parts
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.languages import read_language
from carrel.libraries.literature.licences import read_licence
from carrel.libraries.literature.markup import read_abstract, read_plain_line, read_title
from carrel.libraries.literature.people import make_author
from carrel.libraries.literature.raw_fields import (
    count_of,
    first_text,
    id_of,
    issns_of,
    list_of,
    map_of,
    maps_of,
    text_of,
    texts_of,
)
from carrel.libraries.literature.records import (
    Author,
    ServiceRecord,
    Venue,
    WorkIds,
    WorkKind,
    WorkRecord,
)

SERVICE = "crossref"
# Types as agencies register them, which others repeat.
REGISTERED_KINDS: dict[str, WorkKind] = {
    "journal-article": "article-journal",
    "proceedings-article": "paper-conference",
    "posted-content": "preprint",
    "book-chapter": "chapter",
    "book-section": "chapter",
    "book-part": "chapter",
    "book-track": "chapter",
    "book": "book",
    "monograph": "book",
    "edited-book": "book",
    "reference-book": "book",
    "book-set": "book",
    "dissertation": "thesis",
    "report": "report",
    "report-component": "report",
    "standard": "report",
    "dataset": "dataset",
    "peer-review": "peer-review",
    "reference-entry": "reference-entry",
}
_POSTED_KINDS: dict[str, WorkKind] = {
    "letter": "letter",
    "dissertation": "thesis",
    "report": "report",
    "other": "other",
}
# An ISBN names a whole book, so that the chapters of one book do not share it.
_WHOLE_BOOKS = frozenset({"book", "thesis", "report"})
# What is no work of its own; left out of searches unless a caller asks for it.
PART_TYPES = frozenset({
    "component", "peer-review", "grant", "journal-issue", "journal-volume", "journal", "dataset",
    "database", "proceedings", "proceedings-series", "book-series", "report-series",
})  # fmt: skip
_PUBLISHED = ("published-online", "published-print", "published", "issued", "published-other")


def read_work(raw: Mapping[str, Any]) -> ServiceRecord:
    """One work; raises UnreadableRecordError where it has neither title nor DOI."""
    raw = map_of(raw)
    doi = id_of(Doi, raw.get("DOI"))
    title = _read_title(raw)
    if doi is None and not title:
        raise UnreadableRecordError(SERVICE, "it has neither title nor DOI")
    kind = _read_kind(raw)
    licence = _read_licence(raw)
    work = WorkRecord(
        ids=_read_ids(raw, doi, kind),
        title=title,
        abstract=read_abstract(raw.get("abstract")),
        authors=tuple(read_people(raw.get("author"))),
        issued=_read_date(raw),
        kind=kind,
        venue=_read_venue(raw),
        volume=text_of(raw.get("volume")),
        issue=text_of(raw.get("issue")) or text_of(map_of(raw.get("journal-issue")).get("issue")),
        pages=text_of(raw.get("page")) or text_of(raw.get("article-number")),
        language=read_language(raw.get("language")),
        subjects=texts_of(raw.get("subject")),
        institutions=tuple(dict.fromkeys(_read_institutions(raw))),
        locations=read_locations(raw, licence),
        licence=licence,
        notices=read_notices(raw, doi, title),
        versions=read_versions(raw),
        references=read_references(raw),
    )
    count = count_of(raw.get("is-referenced-by-count"))
    return ServiceRecord(SERVICE, doi or "", work, citation_count=count)


def is_part(raw: Mapping[str, Any]) -> bool:
    """Whether a record is of a type that a search for literature leaves out."""
    return text_of(map_of(raw).get("type")) in PART_TYPES


def _read_ids(raw: Mapping[str, Any], doi: str | None, kind: WorkKind | None) -> WorkIds:
    arxiv = Doi(doi).arxiv if doi else None
    isbns = texts_of(raw.get("ISBN")) if kind in _WHOLE_BOOKS else ()
    isbn = next((found for each in isbns if (found := id_of(Isbn, each.split("/")[-1]))), None)
    return WorkIds(doi=doi, arxiv=arxiv.value if arxiv else None, isbn=isbn)


def _read_title(raw: Mapping[str, Any]) -> str:
    """The first title with its subtitle; the title in the original language where it is alone."""
    title, subtitle, original = (
        next((text for each in _listed(raw.get(name)) if (text := read_title(each))), "")
        for name in ("title", "subtitle", "original-title")
    )
    if title and subtitle and subtitle.lower() not in title.lower():
        return f"{title}{' ' if title[-1] in ':.?!–—' else ': '}{subtitle}"
    return title or original


def _listed(value: object) -> list[Any]:
    return [value] if isinstance(value, str) else list_of(value)


def _read_kind(raw: Mapping[str, Any]) -> WorkKind | None:
    written = text_of(raw.get("type"))
    if not written:
        return None
    notice_kind = read_own_kind(raw)
    if notice_kind is not None:
        return notice_kind
    if written == "posted-content":
        return _POSTED_KINDS.get(text_of(raw.get("subtype")), "preprint")
    return REGISTERED_KINDS.get(written, "other")


def _read_date(raw: Mapping[str, Any]) -> str | None:
    """The earliest day it was public, in print or on line; `posted` of a preprint likewise."""
    names = (*_PUBLISHED, "posted") if raw.get("type") == "posted-content" else _PUBLISHED
    return earliest_date(read_date_parts(raw.get(name)) for name in names)


def read_people(people: object) -> Iterator[Author]:
    """Authors with family and given name, or a name alone: an organisation."""
    for each in maps_of(people):
        author = make_author(
            each.get("family"),
            each.get("given"),
            literal=each.get("name") or each.get("literal"),
            suffix=each.get("suffix"),
            orcid=each.get("ORCID"),
        )
        if author is not None:
            yield author


def _read_institutions(raw: Mapping[str, Any]) -> Iterator[str]:
    """Affiliations of authors; some publishers send blanks."""
    for author in maps_of(raw.get("author")):
        for affiliation in maps_of(author.get("affiliation")):
            if name := read_plain_line(affiliation.get("name")):
                yield name


def _read_venue(raw: Mapping[str, Any]) -> Venue:
    names = [read_plain_line(name) for name in texts_of(raw.get("container-title"))]
    name = next((name for name in names if name), "")
    if not name and raw.get("type") == "posted-content":
        # The server: older records have one object, newer ones a list.
        institution = raw.get("institution")
        servers = [institution] if isinstance(institution, Mapping) else list_of(institution)
        name = next((text for each in maps_of(servers) if (text := text_of(each.get("name")))), "")
    return Venue(
        name=name,
        abbreviation=read_plain_line(first_text(raw.get("short-container-title"))),
        issn=issns_of(raw.get("ISSN")),
        publisher=read_plain_line(text_of(raw.get("publisher"))),
    )


def _read_licence(raw: Mapping[str, Any]) -> str | None:
    """An open licence before others; the licence for text mining is none for reading."""
    found = {
        licence: text_of(each.get("content-version"))
        for each in maps_of(raw.get("license"))
        if (licence := read_licence(each.get("URL")))
    }
    opened = [licence for licence in found if licence.startswith(("cc", "public-domain"))]
    others = [licence for licence, version in found.items() if version in ("vor", "am")]
    return next(iter((*opened, *others)), None)
