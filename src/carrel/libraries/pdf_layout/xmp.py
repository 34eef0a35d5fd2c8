"""What a publisher wrote into a PDF's XMP packet: title, DOI, journal, date and people."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

from carrel.libraries.identifiers import Doi, NotAnIdentifierError

_LONGEST_PACKET = 1_000_000
_MOST_PEOPLE = 1_000


@dataclass(frozen=True, slots=True)
class PublisherFields:
    """Fields of XMP; those of `dc:` are also written by programs that no publisher uses."""

    doi: str | None = None
    venue: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    date: str | None = None
    publisher: str | None = None
    title: str | None = None
    authors: tuple[str, ...] = ()

    @property
    def has_journal(self) -> bool:
        """Whether a publishing system wrote it, so that its title and people count as well."""
        return self.doi is not None or self.venue is not None


def read_xmp(packet: str) -> PublisherFields:
    """The fields of a packet, whether they are written as attributes or as elements."""
    packet = packet[:_LONGEST_PACKET]
    if "prism" not in packet and "doi" not in packet.lower():
        return PublisherFields()
    first = _value(packet, "prism:startingPage")
    last = _value(packet, "prism:endingPage")
    pages = _value(packet, "prism:pageRange") or (f"{first}-{last}" if first and last else first)
    return PublisherFields(
        doi=_read_doi(packet),
        venue=_value(packet, "prism:publicationName"),
        volume=_value(packet, "prism:volume"),
        issue=_value(packet, "prism:number") or _value(packet, "prism:issueIdentifier"),
        pages=pages,
        date=_read_date(packet),
        publisher=_list(packet, "dc:publisher")[0] if _list(packet, "dc:publisher") else None,
        title=_list(packet, "dc:title")[0] if _list(packet, "dc:title") else None,
        authors=tuple(_list(packet, "dc:creator")),
    )


def _value(packet: str, name: str) -> str | None:
    found = re.search(
        rf"<{name}(?:\s[^<>]{{0,200}})?>([^<]{{1,500}})</{name}>"
        rf"|\b{name}\s?=\s?(?:\"([^\"<>]{{1,500}})\"|'([^'<>]{{1,500}})')",
        packet,
        re.IGNORECASE,
    )
    if not found:
        return None
    text = " ".join(unescape(next(group for group in found.groups() if group)).split())
    return text or None


def _list(packet: str, name: str) -> list[str]:
    """The values of an element that holds a list, or the one value of a plain element."""
    start = packet.find(f"<{name}>")
    end = packet.find(f"</{name}>", start)
    if start < 0 or end < 0:
        single = _value(packet, name)
        return [single] if single else []
    inside = packet[start:end]
    items = re.findall(r"<rdf:li(?:\s[^<>]{0,200})?>([^<]{1,1000})</rdf:li>", inside)
    values = items or [inside[len(name) + 2 :]]
    tidy = (" ".join(unescape(value).split()) for value in values[:_MOST_PEOPLE])
    return [value for value in tidy if value and "<" not in value]


def _read_doi(packet: str) -> str | None:
    names = ("prism:doi", "pdfx:doi", "crossmark:doi", "pdfx:wps-articledoi", "jav:doi", "xmp:doi")
    values = [_value(packet, name) for name in names]
    values += [
        value
        for value in _list(packet, "dc:identifier")
        if re.match(r"doi:|https?://(?:dx\.)?doi\.org/|10\.\d{4}", value, re.IGNORECASE)
    ]
    for value in values:
        try:
            if value:
                return Doi.parse(value).value
        except NotAnIdentifierError:
            continue
    return None


def _read_date(packet: str) -> str | None:
    for name in ("prism:publicationDate", "prism:coverDate", "prism:coverDisplayDate"):
        found = re.search(r"(?:19|20)\d{2}(?:-\d{2}(?:-\d{2})?)?", _value(packet, name) or "")
        if found:
            return found.group()
    return None
