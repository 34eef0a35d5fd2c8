"""DataCite's JSON: records of its service and lines of its public data file to records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from carrel.libraries.bibliography.items import page_range
from carrel.libraries.identifiers import ArxivId, Doi, Isbn, Pmid
from carrel.libraries.literature.dates import earliest_date, iso_date, read_date_text
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.languages import read_language
from carrel.libraries.literature.licences import read_licence
from carrel.libraries.literature.markup import read_abstract, read_plain_line, read_title
from carrel.libraries.literature.people import make_author, read_author
from carrel.libraries.literature.raw_fields import (
    count_of,
    id_of,
    issns_of,
    list_of,
    map_of,
    maps_of,
    text_of,
    url_of,
)
from carrel.libraries.literature.records import (
    Author,
    CitedWorkRecord,
    ServiceRecord,
    TextLocation,
    Venue,
    VersionPointer,
    VersionRelation,
    WorkIds,
    WorkKind,
    WorkRecord,
)

SERVICE = "datacite"
_GENERAL_KINDS: dict[str, WorkKind] = {
    "dataset": "dataset",
    "datapaper": "article-journal",
    "software": "software",
    "preprint": "preprint",
    "journalarticle": "article-journal",
    "conferencepaper": "paper-conference",
    "conferenceproceeding": "book",
    "book": "book",
    "bookchapter": "chapter",
    "dissertation": "thesis",
    "report": "report",
    "standard": "report",
    "peerreview": "peer-review",
}
# Words of the free resource type and of CSL, for records that only say "Text".
_WRITTEN_KINDS: tuple[tuple[str, WorkKind], ...] = (
    ("preprint", "preprint"),
    ("thesis", "thesis"),
    ("dissertation", "thesis"),
    ("conference", "paper-conference"),
    ("proceeding", "paper-conference"),
    ("chapter", "chapter"),
    ("journal", "article-journal"),
    ("article", "article-journal"),
    ("report", "report"),
    ("working paper", "report"),
    ("book", "book"),
)
# What the other work is to this one.
_RELATIONS: dict[str, VersionRelation] = {
    "isversionof": "version_of",
    "hasversion": "version_of",
    "isnewversionof": "version_of",
    "ispreviousversionof": "version_of",
    "isidenticalto": "version_of",
    "isvariantformof": "version_of",
    "isoriginalformof": "version_of",
    "ispreprintof": "published_as",
    "haspreprint": "preprint_of",
}
_CITATIONS = frozenset({"references", "cites"})
_WHOLE_BOOKS = frozenset({"book", "thesis", "report"})
_ARXIV_PREFIX = "10.48550/"


def read_work(raw: Mapping[str, Any]) -> ServiceRecord:
    """One record, with or without the envelope `data`; of a bare one the attributes alone.

    Raises UnreadableRecordError where it has neither title nor DOI.
    """
    raw = map_of(map_of(raw).get("data")) or map_of(raw)
    record = map_of(raw.get("attributes")) or raw
    doi = id_of(Doi, record.get("doi")) or id_of(Doi, raw.get("id"))
    title = _read_title(record.get("titles"))
    if doi is None and not title:
        raise UnreadableRecordError(SERVICE, "it has neither title nor DOI")
    kind = _read_kind(record, doi)
    container = map_of(record.get("container"))
    licence = _read_licence(record.get("rightsList"))
    work = WorkRecord(
        ids=_read_ids(record, doi, kind),
        title=title,
        abstract=_read_abstract(record.get("descriptions")),
        authors=tuple(_read_creators(record.get("creators"))),
        issued=_read_date(record),
        kind=kind,
        venue=_read_venue(record, container),
        volume=text_of(container.get("volume")),
        issue=text_of(container.get("issue")),
        pages=_read_pages(container),
        language=read_language(record.get("language")),
        keywords=_read_subjects(record.get("subjects")),
        institutions=tuple(dict.fromkeys(_read_institutions(record.get("creators")))),
        locations=_read_locations(record, licence),
        licence=licence,
        versions=tuple(_read_versions(record, doi)),
        references=_read_references(record.get("relatedIdentifiers")),
    )
    count = count_of(record.get("citationCount"))
    return ServiceRecord(SERVICE, doi or "", work, citation_count=count)


def _read_title(titles: object) -> str:
    """The main title with its subtitle; others are translations and alternatives."""
    found: dict[str, str] = {}
    for each in maps_of(titles):
        found.setdefault(text_of(each.get("titleType")), read_title(each.get("title")))
    main = found.get("") or next((title for title in found.values() if title), "")
    subtitle = found.get("Subtitle", "")
    is_missing = bool(subtitle) and main != subtitle and subtitle.lower() not in main.lower()
    return f"{main}: {subtitle}" if is_missing else main


def _read_abstract(descriptions: object) -> str:
    texts = (
        read_abstract(each.get("description"))
        for each in maps_of(descriptions)
        if text_of(each.get("descriptionType")) == "Abstract"
    )
    return next((text for text in texts if text), "")


def _read_kind(record: Mapping[str, Any], doi: str | None) -> WorkKind | None:
    types = map_of(record.get("types"))
    if not types:
        return None
    if (doi or "").startswith(_ARXIV_PREFIX):
        return "preprint"
    general = text_of(types.get("resourceTypeGeneral")).lower()
    if general in _GENERAL_KINDS:
        return _GENERAL_KINDS[general]
    if general not in ("text", ""):
        return "other"
    written = text_of(types.get("resourceType")).lower()
    named = next((kind for word, kind in _WRITTEN_KINDS if word in written), None)
    if named is not None:
        return named
    csl = text_of(types.get("citeproc")).lower()
    return next(
        (kind for word, kind in _WRITTEN_KINDS if word in csl and csl != "article"), "other"
    )


def _read_ids(record: Mapping[str, Any], doi: str | None, kind: WorkKind | None) -> WorkIds:
    arxiv = Doi(doi).arxiv if doi else None
    named = {
        text_of(each.get(f"{name}Type")).lower(): text_of(each.get(name))
        for name in ("alternateIdentifier", "identifier")
        for each in maps_of(record.get(f"{name}s"))
    }
    return WorkIds(
        doi=doi,
        pmid=id_of(Pmid, named.get("pmid")),
        arxiv=arxiv.value if arxiv else id_of(ArxivId, named.get("arxiv")),
        isbn=id_of(Isbn, named.get("isbn")) if kind in _WHOLE_BOOKS else None,
    )


def _read_creators(creators: object) -> Iterator[Author]:
    for each in maps_of(creators):
        orcid = next(
            (
                name.get("nameIdentifier")
                for name in maps_of(each.get("nameIdentifiers"))
                if "orcid" in text_of(name.get("nameIdentifierScheme")).lower()
            ),
            None,
        )
        name = each.get("name")
        if text_of(each.get("nameType")) == "Organizational":
            author = make_author(literal=name, orcid=orcid)
        elif text_of(each.get("familyName")):
            author = make_author(each.get("familyName"), each.get("givenName"), orcid=orcid)
        else:
            author = read_author(name, orcid)
        if author is not None:
            yield author


def _read_institutions(creators: object) -> Iterator[str]:
    """Affiliations, which are texts or, where asked for, objects with a name."""
    for each in maps_of(creators):
        for place in list_of(each.get("affiliation")):
            name = map_of(place).get("name") if isinstance(place, Mapping) else place
            if text := read_plain_line(text_of(name)):
                yield text


def _read_date(record: Mapping[str, Any]) -> str | None:
    dates = [
        (text_of(each.get("dateType")), read_date_text(each.get("date")))
        for each in maps_of(record.get("dates"))
    ]
    issued = earliest_date(date for kind, date in dates if kind == "Issued")
    year = iso_date(record.get("publicationYear")) or read_date_text(record.get("published"))
    # Of arXiv's preprints the first submission is what readers date them by.
    submitted = earliest_date(date for kind, date in dates if kind in ("Submitted", "Available"))
    return issued or (submitted if year and (submitted or "").startswith(year) else year)


def _read_venue(record: Mapping[str, Any], container: Mapping[str, Any]) -> Venue:
    publisher = record.get("publisher")
    name = map_of(publisher).get("name") if isinstance(publisher, Mapping) else publisher
    is_issn = text_of(container.get("identifierType")).upper() == "ISSN"
    return Venue(
        name=read_plain_line(text_of(container.get("title"))),
        issn=issns_of(container.get("identifier")) if is_issn else (),
        publisher=read_plain_line(text_of(name)),
    )


def _read_pages(container: Mapping[str, Any]) -> str:
    """Pages or a number; some conferences put their place there."""
    pages = page_range(text_of(container.get("firstPage")), text_of(container.get("lastPage")))
    return pages if any(letter.isdigit() for letter in pages) else ""


def _read_subjects(subjects: object) -> tuple[str, ...]:
    texts = (read_plain_line(text_of(each.get("subject"))) for each in maps_of(subjects))
    return tuple(dict.fromkeys(text for text in texts if text))


def _read_licence(rights: object) -> str | None:
    for each in maps_of(rights):
        for name in ("rightsIdentifier", "rightsUri", "rights"):
            licence = read_licence(each.get(name))
            if licence and licence.startswith("cc"):
                return licence
    return None


def _read_locations(record: Mapping[str, Any], licence: str | None) -> tuple[TextLocation, ...]:
    """The page of a record that is open by its licence or says so, and its file where it is one."""
    rights = " ".join(text_of(each.get("rightsUri")) for each in maps_of(record.get("rightsList")))
    if licence is None and "openaccess" not in rights.lower():
        return ()
    files = [record.get("contentUrl")]
    if isinstance(files[0], list):
        files = files[0]
    pdf = next((url for each in files if (url := url_of(each)).lower().endswith(".pdf")), "")
    page = url_of(record.get("url"))
    found = []
    if pdf:
        found.append(TextLocation(pdf, "pdf", None, licence, "repository", SERVICE))
    if page and page != pdf:
        found.append(TextLocation(page, "landing_page", None, licence, "repository", SERVICE))
    return tuple(found)


def _related(record: Mapping[str, Any]) -> Iterator[tuple[str, WorkIds]]:
    for each in maps_of(record.get("relatedIdentifiers")):
        kind = text_of(each.get("relatedIdentifierType")).lower()
        value = each.get("relatedIdentifier")
        doi = id_of(Doi, value) if kind == "doi" else None
        registered = Doi(doi).arxiv if doi else None
        arxiv = id_of(ArxivId, value) if kind == "arxiv" else None
        ids = WorkIds(
            doi=doi,
            pmid=id_of(Pmid, value) if kind == "pmid" else None,
            arxiv=registered.value if registered else arxiv,
        )
        if ids != WorkIds():
            yield text_of(each.get("relationType")).lower(), ids


def _read_versions(record: Mapping[str, Any], doi: str | None) -> Iterator[VersionPointer]:
    """Other versions; a preprint of arXiv names the article that it became as a version.

    Unproved live: no recording shows a preprint.
    """
    for relation, ids in _related(record):
        known = _RELATIONS.get(relation)
        if known is None or ids.doi == doi:
            continue
        is_article = (doi or "").startswith(_ARXIV_PREFIX) and ids.arxiv is None
        yield VersionPointer("published_as" if is_article else known, ids, SERVICE)


def _read_references(related: object) -> tuple[CitedWorkRecord, ...] | None:
    found = [
        CitedWorkRecord(ids)
        for relation, ids in _related({"relatedIdentifiers": related})
        if relation in _CITATIONS
    ]
    return tuple(found) or None
