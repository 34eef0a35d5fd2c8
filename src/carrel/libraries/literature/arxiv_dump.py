"""Lines of arXiv's metadata dump (as Kaggle has it) to records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError
from carrel.libraries.literature.arxiv import SERVICE, find_locations, is_withdrawn
from carrel.libraries.literature.dates import read_date_text
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.licences import read_licence
from carrel.libraries.literature.markup import read_abstract, read_title
from carrel.libraries.literature.people import make_author, read_author
from carrel.libraries.literature.raw_fields import id_of, list_of, map_of, maps_of, text_of
from carrel.libraries.literature.records import (
    Author,
    Notice,
    ServiceRecord,
    Venue,
    VersionPointer,
    WorkIds,
    WorkRecord,
)

_VERSION = re.compile(r"v([1-9]\d{0,3})")
_BETWEEN_AUTHORS = re.compile(r",\s*(?:and\s+)?|\s+and\s+")


def read_work(raw: Mapping[str, Any]) -> ServiceRecord:
    """One line. Its `doi` names the published article, another work, as in the feed of arXiv.

    Raises UnreadableRecordError where there is no title or no identifier.
    """
    raw = map_of(raw)
    title = read_title(raw.get("title"))
    try:
        identifier = ArxivId.parse(text_of(raw.get("id")))
    except NotAnIdentifierError:
        raise UnreadableRecordError(SERVICE, "it has no arXiv identifier") from None
    if not title:
        raise UnreadableRecordError(SERVICE, "it has no title")
    versions = list(maps_of(raw.get("versions")))
    newest = f"{identifier.value}v{_last_version(versions)}"
    updated = read_date_text(raw.get("update_date"))
    published = id_of(Doi, raw.get("doi"))
    work = WorkRecord(
        ids=WorkIds(doi=identifier.doi, arxiv=identifier.value),
        title=title,
        abstract=read_abstract(raw.get("abstract")),
        authors=tuple(_read_authors(raw)),
        issued=_first_date(versions) or updated,
        kind="preprint",
        venue=Venue(name="arXiv"),
        subjects=tuple(dict.fromkeys(text_of(raw.get("categories")).split())),
        open_access="green",
        locations=find_locations(ArxivId.parse(newest), updated or ""),
        licence=read_licence(raw.get("license")),
        notices=(Notice("withdrawal", updated, service=SERVICE),)
        if is_withdrawn(text_of(raw.get("comments")))
        else (),
        versions=(VersionPointer("published_as", WorkIds(doi=published), SERVICE),)
        if published and published != identifier.doi
        else (),
    )
    return ServiceRecord(SERVICE, identifier.value, work)


def read_version(raw: Mapping[str, Any]) -> str:
    """A text that grows when a record is changed: the day, and the number of versions."""
    raw = map_of(raw)
    last = _last_version(list(maps_of(raw.get("versions"))))
    return f"{read_date_text(raw.get('update_date')) or ''} v{last:04d}"


def _last_version(versions: list[Mapping[str, Any]]) -> int:
    numbers = (_VERSION.fullmatch(text_of(each.get("version"))) for each in versions)
    return max((int(found[1]) for found in numbers if found), default=1)


def _first_date(versions: list[Mapping[str, Any]]) -> str | None:
    """The day of the first version; its date is written as in mails."""
    for each in versions[:1]:
        try:
            created = parsedate_to_datetime(text_of(each.get("created")))
        except (ValueError, TypeError, IndexError):
            return None
        return (created.astimezone(UTC) if created.tzinfo else created).date().isoformat()
    return None


def _read_authors(raw: Mapping[str, Any]) -> Iterator[Author]:
    parsed = [each for each in list_of(raw.get("authors_parsed")) if isinstance(each, list)]
    if parsed:
        for family, given, suffix, *_ in ([*each, "", "", ""] for each in parsed):
            if author := make_author(family, given, suffix=suffix):
                yield author
        return
    for name in _BETWEEN_AUTHORS.split(text_of(raw.get("authors"))):
        if author := read_author(name):
            yield author
