"""Articles of DOAJ to records; version 2 of its interface is recorded, version 4 is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.libraries.bibliography.items import page_range
from carrel.libraries.identifiers import Doi
from carrel.libraries.literature.dates import iso_date
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.languages import read_language
from carrel.libraries.literature.licences import read_licence
from carrel.libraries.literature.markup import read_abstract, read_plain_line, read_title
from carrel.libraries.literature.people import read_author
from carrel.libraries.literature.raw_fields import (
    id_of,
    issns_of,
    map_of,
    maps_of,
    text_of,
    texts_of,
    url_of,
)
from carrel.libraries.literature.records import (
    Author,
    ServiceRecord,
    TextLocation,
    Venue,
    WorkIds,
    WorkRecord,
)

SERVICE = "doaj"


def read_work(raw: Mapping[str, Any]) -> ServiceRecord:
    """One article. Raises UnreadableRecordError for journals, which DOAJ lists as well.

    The licence is the article's, else the only one of its journal.
    """
    bibjson = map_of(raw.get("bibjson"))
    title = read_title(bibjson.get("title"))
    name = text_of(raw.get("id"))
    journal = map_of(bibjson.get("journal"))
    if not title or text_of(raw.get("es_type")) == "journal" or not journal:
        raise UnreadableRecordError(SERVICE, "it is no article or has no title")
    identifiers = list(maps_of(bibjson.get("identifier")))
    doi = next(
        (
            found
            for each in identifiers
            if text_of(each.get("type")).lower() == "doi" and (found := id_of(Doi, each.get("id")))
        ),
        None,
    )
    if doi is None and not name:
        raise UnreadableRecordError(SERVICE, "it has no identifier")
    numbers = [
        each.get("id")
        for each in identifiers
        if text_of(each.get("type")).lower() in {"pissn", "eissn", "issn"}
    ]
    people = list(maps_of(bibjson.get("author")))
    licence = _read_licence(bibjson, journal)
    work = WorkRecord(
        ids=WorkIds(doi=doi),
        title=title,
        abstract=read_abstract(bibjson.get("abstract")),
        authors=_read_authors(people),
        issued=iso_date(bibjson.get("year"), bibjson.get("month")),
        kind="article-journal",
        venue=Venue(
            name=read_plain_line(journal.get("title")),
            issn=issns_of([*texts_of(journal.get("issns")), *map(text_of, numbers)]),
            publisher=read_plain_line(journal.get("publisher")),
        ),
        volume=text_of(journal.get("volume")),
        issue=text_of(journal.get("number")),
        pages=page_range(text_of(bibjson.get("start_page")), text_of(bibjson.get("end_page"))),
        language=_read_language(journal),
        keywords=texts_of(bibjson.get("keywords")),
        subjects=texts_of([each.get("term") for each in maps_of(bibjson.get("subject"))]),
        institutions=texts_of([each.get("affiliation") for each in people]),
        open_access="gold",
        locations=_read_locations(bibjson, licence),
        licence=licence,
    )
    return ServiceRecord(SERVICE, name or f"doi:{doi}", work)


def _read_authors(people: list[Mapping[str, Any]]) -> tuple[Author, ...]:
    found = (read_author(each.get("name"), each.get("orcid_id")) for each in people)
    return tuple(author for author in found if author is not None)


def _read_licence(bibjson: Mapping[str, Any], journal: Mapping[str, Any]) -> str | None:
    for place in (bibjson, journal):
        kinds = {
            found
            for each in maps_of(place.get("license"))
            if (found := read_licence(each.get("type") or each.get("title")))
        }
        if len(kinds) == 1:
            return kinds.pop()
    return None


def _read_language(journal: Mapping[str, Any]) -> str | None:
    """The language, where the journal has only one."""
    codes = texts_of(journal.get("language"))
    return read_language(codes[0]) if len(codes) == 1 else None


def _read_locations(bibjson: Mapping[str, Any], licence: str | None) -> tuple[TextLocation, ...]:
    found: dict[str, TextLocation] = {}
    for each in maps_of(bibjson.get("link")):
        url = url_of(each.get("url"))
        if url and text_of(each.get("type")) == "fulltext":
            is_pdf = "pdf" in text_of(each.get("content_type")).lower() or url.endswith(".pdf")
            found[url] = TextLocation(
                url,
                "pdf" if is_pdf else "landing_page",
                version="published",
                licence=licence,
                host="publisher",
                service=SERVICE,
            )
    return tuple(found.values())
