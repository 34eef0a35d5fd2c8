"""Hits of dblp's publication search to records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element

from carrel.libraries.bibliography.titles import strip_final_stop
from carrel.libraries.identifiers import ArxivId, Doi
from carrel.libraries.literature.dates import iso_date
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.markup import read_plain_line, read_title
from carrel.libraries.literature.people import read_author
from carrel.libraries.literature.raw_fields import id_of, map_of, text_of, texts_of, url_of
from carrel.libraries.literature.records import (
    Author,
    ServiceRecord,
    TextLocation,
    Venue,
    WorkIds,
    WorkKind,
    WorkRecord,
)
from carrel.libraries.literature.xml_text import (
    child,
    children,
    local_name,
    marked_text,
    plain_text,
    text_at,
)

SERVICE = "dblp"
_KINDS: dict[str, WorkKind] = {
    "journal articles": "article-journal",
    "conference and workshop papers": "paper-conference",
    "informal publications": "preprint",
    "informal and other publications": "preprint",
    "books and theses": "book",
    "editorship": "book",
    "parts in books or collections": "chapter",
    "reference works": "reference-entry",
    "data and artifacts": "dataset",
}
# Elements of dblp's own XML, with the words of its search for them.
_ELEMENTS = {
    "article": "Journal Articles",
    "inproceedings": "Conference and Workshop Papers",
    "proceedings": "Editorship",
    "book": "Books and Theses",
    "phdthesis": "Books and Theses",
    "mastersthesis": "Books and Theses",
    "incollection": "Parts in Books or Collections",
    "data": "Data and Artifacts",
}
# dblp tells people of one name apart: `Xiaopeng Zhang 0009`.
_HOMONYM_NUMBER = re.compile(r"\s+\d{4}$")
_PREPRINT_VOLUME = re.compile(r"abs/(\S+)")


def read_work(raw: Mapping[str, Any]) -> ServiceRecord:
    """One hit, or its `info`; authors as objects, as one object, or as strings of older answers.

    Raises UnreadableRecordError where it has no title or no key.
    """
    info = map_of(raw.get("info")) or raw
    title, key = strip_final_stop(read_title(info.get("title"))), text_of(info.get("key"))
    if not title or not key:
        raise UnreadableRecordError(SERVICE, "it has no title or no key")
    kind = _KINDS.get(text_of(info.get("type")).lower(), "other")
    if kind == "book" and key.startswith(("phd/", "ms/", "masters/")):
        kind = "thesis"
    links = tuple(filter(None, (url_of(each) for each in texts_of(info.get("ee")))))
    arxiv = _read_arxiv_id(info, links)
    doi = id_of(Doi, info.get("doi")) or next(
        (found for link in links if "doi.org/" in link and (found := id_of(Doi, link))), None
    )
    is_open = text_of(info.get("access")) == "open"
    work = WorkRecord(
        ids=WorkIds(doi=doi, arxiv=arxiv, dblp=key),
        title=title,
        authors=_read_authors(info.get("authors")),
        issued=iso_date(info.get("year")),
        kind=kind,
        venue=Venue(
            name=next(iter(read_venues(info)), ""), publisher=read_plain_line(info.get("publisher"))
        ),
        volume="" if arxiv else text_of(info.get("volume")),
        issue=text_of(info.get("number")),
        pages=text_of(info.get("pages")),
        locations=tuple(
            TextLocation(link, "pdf" if link.endswith(".pdf") else "landing_page", service=SERVICE)
            for link in links
            if is_open
        ),
    )
    return ServiceRecord(SERVICE, key, work)


def read_venues(info: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the place of publication; a volume in a series has two."""
    return tuple(filter(None, map(read_plain_line, texts_of(info.get("venue")))))


def _read_authors(value: object) -> tuple[Author, ...]:
    listed = map_of(value).get("author")
    people = listed if isinstance(listed, list) else [listed]
    names = (text_of(map_of(each).get("text") or each) for each in people)
    found = (read_author(_HOMONYM_NUMBER.sub("", name)) for name in names)
    return tuple(author for author in found if author is not None)


def _read_arxiv_id(info: Mapping[str, Any], links: tuple[str, ...]) -> str | None:
    """The identifier of a preprint: `CoRR`, volume `abs/1706.03762`, or a link to arXiv."""
    volume = _PREPRINT_VOLUME.fullmatch(text_of(info.get("volume")))
    if volume is not None and (found := id_of(ArxivId, volume.group(1))):
        return found
    doi = id_of(Doi, info.get("doi"))
    if doi is not None and (registered := Doi(doi).arxiv) is not None:
        return registered.value
    if "CoRR" not in read_venues(info):
        return None
    return next((found for link in links if (found := id_of(ArxivId, link))), None)


def read_element(element: Element) -> ServiceRecord:
    """A record of dblp's XML (`/rec/<key>.xml`), which holds one element (unproved live)."""
    name = local_name(element)
    is_informal = element.get("publtype", "").startswith("informal")
    info = {
        "key": element.get("key"),
        "title": marked_text(child(element, "title")),
        "authors": {"author": [plain_text(each) for each in children(element, "author")]},
        "venue": text_at(element, "journal") or text_at(element, "booktitle"),
        "ee": [plain_text(each) for each in children(element, "ee")],
        "type": "Informal Publications" if is_informal else _ELEMENTS.get(name, ""),
        **{
            each: text_at(element, each)
            for each in ("year", "volume", "number", "pages", "publisher")
        },
    }
    return read_work({"info": info})
