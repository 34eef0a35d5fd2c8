"""Preprints of bioRxiv and medRxiv to records. Built from the facts: no recording shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from carrel.libraries.identifiers import Doi
from carrel.libraries.literature.dates import read_date_text
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.licences import read_licence
from carrel.libraries.literature.markup import read_abstract, read_plain_line, read_title
from carrel.libraries.literature.people import read_author
from carrel.libraries.literature.raw_fields import count_of, id_of, text_of, url_of
from carrel.libraries.literature.records import (
    Author,
    Notice,
    ServiceRecord,
    TextLocation,
    Venue,
    VersionPointer,
    WorkIds,
    WorkRecord,
)

SERVICE = "biorxiv"
_SERVERS = {"biorxiv": "bioRxiv", "medrxiv": "medRxiv"}
_VERSION_IN_DOI = re.compile(r"v\d+$")


def read_work(raw: Mapping[str, Any]) -> ServiceRecord:
    """One version of a preprint as `details` gives it, or one row of `pubs` (unproved live).

    `NA` stands for what is not known, numbers are texts. Raises UnreadableRecordError where there
    is no DOI or no title.
    """
    doi = id_of(Doi, _known(raw, "doi", "preprint_doi", "biorxiv_doi"))
    title = read_title(_known(raw, "title", "preprint_title"))
    if doi is None or not title:
        raise UnreadableRecordError(SERVICE, "it has no title or no DOI")
    server = _known(raw, "server", "preprint_platform").lower()
    day = read_date_text(_known(raw, "date", "preprint_date"))
    licence = read_licence(_known(raw, "license"))
    work = WorkRecord(
        ids=WorkIds(doi=doi),
        title=title,
        abstract=read_abstract(_known(raw, "abstract", "preprint_abstract")),
        authors=_read_authors(_known(raw, "authors", "preprint_authors")),
        issued=day,
        kind="preprint",
        venue=Venue(name=_SERVERS.get(server, read_plain_line(_known(raw, "server")))),
        subjects=tuple(filter(None, [_known(raw, "category", "preprint_category")])),
        institutions=tuple(
            filter(None, [read_plain_line(_known(raw, "author_corresponding_institution"))])
        ),
        open_access="green",
        locations=_read_locations(raw, doi, server, licence),
        licence=licence,
        notices=_read_notices(raw, day),
        versions=_read_versions(raw),
    )
    return ServiceRecord(SERVICE, doi, work)


def version_of(raw: Mapping[str, Any]) -> int:
    """The number of the version that a row of `details` is; 1 where it does not say."""
    return count_of(_known(raw, "version")) or 1


def _known(raw: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that says something."""
    for name in names:
        text = text_of(raw.get(name))
        if text and text.upper() not in {"NA", "N/A", "NULL", "NONE"}:
            return text
    return ""


def _read_authors(written: str) -> tuple[Author, ...]:
    """The people of `Smith, J.; Doe, A. B.; The X Consortium`."""
    found = (read_author(name) for name in written.split(";"))
    return tuple(author for author in found if author is not None)


def _read_locations(
    raw: Mapping[str, Any], doi: str, server: str, licence: str | None
) -> tuple[TextLocation, ...]:
    """JATS, which the server may refuse to robots, and the PDF of this version."""
    found: list[TextLocation] = []
    if jats := url_of(_known(raw, "jatsxml")):
        found.append(TextLocation(jats, "jats", "submitted", licence, "repository", SERVICE))
    if server in _SERVERS:
        version = "" if _VERSION_IN_DOI.search(doi) else f"v{version_of(raw)}"
        pdf = f"https://www.{server}.org/content/{doi}{version}.full.pdf"
        found.append(TextLocation(pdf, "pdf", "submitted", licence, "repository", SERVICE))
    return tuple(found)


def _read_versions(raw: Mapping[str, Any]) -> tuple[VersionPointer, ...]:
    article = id_of(Doi, _known(raw, "published", "published_doi"))
    if article is None:
        return ()
    return (VersionPointer("published_as", WorkIds(doi=article), SERVICE),)


def _read_notices(raw: Mapping[str, Any], day: str | None) -> tuple[Notice, ...]:
    """A version of the type `withdrawn` is the notice of it."""
    if "withdrawn" not in _known(raw, "type").lower():
        return ()
    return (Notice("withdrawal", day, service=SERVICE),)
