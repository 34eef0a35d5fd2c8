"""Unpaywall's JSON: open copies of a work, for answers of the service and lines of its snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from carrel.libraries.identifiers import Doi
from carrel.libraries.literature.crossref import REGISTERED_KINDS, read_people
from carrel.libraries.literature.dates import iso_date, read_date_text, without_first_day
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.licences import read_licence
from carrel.libraries.literature.markup import read_plain_line, read_title
from carrel.libraries.literature.people import read_author
from carrel.libraries.literature.raw_fields import id_of, issns_of, map_of, maps_of, text_of, url_of
from carrel.libraries.literature.records import (
    Author,
    ServiceRecord,
    TextLocation,
    Venue,
    WorkIds,
    WorkRecord,
)
from carrel.libraries.literature.statuses import read_open_access, read_text_version

SERVICE = "unpaywall"
_HOSTS: dict[str, Literal["publisher", "repository"]] = {
    "publisher": "publisher",
    "repository": "repository",
}


def read_work(raw: Mapping[str, Any]) -> ServiceRecord:
    """One work, bare or as a result of the search (`response`).

    Raises UnreadableRecordError where it has neither title nor DOI, as the answer for an unknown
    DOI has not.
    """
    raw = map_of(map_of(raw).get("response")) or map_of(raw)
    doi = id_of(Doi, raw.get("doi"))
    title = read_title(raw.get("title"))
    if doi is None and not title:
        raise UnreadableRecordError(SERVICE, "it has neither title nor DOI")
    arxiv = Doi(doi).arxiv if doi else None
    date = without_first_day(read_date_text(raw.get("published_date")))
    genre = text_of(raw.get("genre"))
    locations = read_locations(raw)
    work = WorkRecord(
        ids=WorkIds(doi=doi, arxiv=arxiv.value if arxiv else None),
        title=title,
        authors=tuple(_read_authors(raw.get("z_authors"))),
        issued=date or iso_date(raw.get("year")),
        kind=REGISTERED_KINDS.get(genre, "other") if genre else None,
        venue=Venue(
            name=read_plain_line(text_of(raw.get("journal_name"))),
            issn=issns_of(text_of(raw.get("journal_issns")).replace(" ", "").split(",")),
            publisher=read_plain_line(text_of(raw.get("publisher"))),
        ),
        open_access=read_open_access(raw.get("oa_status")),
        locations=locations,
        licence=next((place.licence for place in locations if place.licence), None),
    )
    return ServiceRecord(SERVICE, doi or "", work)


def _read_authors(people: object) -> Iterator[Author]:
    """Crossref's form of names, or those as printed, which newer answers have."""
    for each in maps_of(people):
        printed = read_author(each.get("raw_author_name"))
        if printed is not None:
            yield printed
        else:
            yield from read_people([each])


def read_locations(raw: Mapping[str, Any]) -> tuple[TextLocation, ...]:
    """Open copies, the best first, each address once: the file if there is one, else the page."""
    record = map_of(raw)
    found: dict[str, TextLocation] = {}
    places = [record.get("best_oa_location"), *maps_of(record.get("oa_locations"))]
    for place in map(map_of, places):
        pdf = url_of(place.get("url_for_pdf"))
        page = url_of(place.get("url_for_landing_page")) or url_of(place.get("url"))
        url = pdf or page
        if not url:
            continue
        location = TextLocation(
            url=url,
            format="pdf" if pdf else "landing_page",
            version=read_text_version(place.get("version")),
            licence=read_licence(place.get("license")),
            host=_HOSTS.get(text_of(place.get("host_type"))),
            service=SERVICE,
        )
        found.setdefault(url, location)
    return tuple(found.values())
