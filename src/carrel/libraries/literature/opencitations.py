"""OpenCitations: citations of its index (both versions) and records of its Meta, to our records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from carrel.libraries.identifiers import Doi, Isbn, Pmcid, Pmid
from carrel.libraries.literature.dates import read_date_text
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.markup import read_plain_line, read_title
from carrel.libraries.literature.openalex import read_work_id
from carrel.libraries.literature.people import read_author
from carrel.libraries.literature.raw_fields import (
    count_of,
    id_of,
    issns_of,
    map_of,
    text_of,
    url_of,
)
from carrel.libraries.literature.records import (
    Author,
    CitedWorkRecord,
    ServiceRecord,
    TextLocation,
    Venue,
    WorkIds,
    WorkKind,
    WorkRecord,
)

SERVICE = "opencitations"
_IN_BRACKETS = re.compile(r"\s*\[([^\[\]]*)\]\s*$")
_OMID = re.compile(r"(?:^|\s)omid:(br/\d+)")
_ISSN = re.compile(r"issn:(\S+)", re.IGNORECASE)
# People are parted by a semicolon; older rows have some within brackets.
_BETWEEN_PEOPLE = re.compile(r";(?![^\[\]]*\])")
_KINDS: dict[str, WorkKind] = {
    "journal article": "article-journal",
    "proceedings article": "paper-conference",
    "book chapter": "chapter",
    "book section": "chapter",
    "book part": "chapter",
    "book": "book",
    "edited book": "book",
    "monograph": "book",
    "reference book": "book",
    "dissertation": "thesis",
    "report": "report",
    "dataset": "dataset",
    "data file": "dataset",
    "peer review": "peer-review",
    "reference entry": "reference-entry",
    "web content": "preprint",
    "preprint": "preprint",
}


def read_ids(text: object) -> WorkIds:
    """`omid:… doi:… pmid:…` of version 2 and Meta; a bare DOI of version 1.

    DOIs hold no blanks, so the parts are told by them.
    """
    written = text_of(text)
    if not written:
        return WorkIds()
    found: dict[str, str] = {}
    for part in written.split(" "):
        kind, colon, value = part.partition(":")
        if colon and not kind.startswith("10."):
            found.setdefault(kind.lower(), value)
    doi = id_of(Doi, found.get("doi")) if found else id_of(Doi, written)
    registered = Doi(doi).arxiv if doi else None
    pmcid = found.get("pmcid", "")
    return WorkIds(
        doi=doi,
        pmid=id_of(Pmid, found.get("pmid")),
        pmcid=id_of(Pmcid, pmcid if pmcid.upper().startswith("PMC") else f"PMC{pmcid}"),
        arxiv=registered.value if registered else None,
        openalex=read_work_id(found.get("openalex")),
        isbn=id_of(Isbn, found.get("isbn")),
    )


def read_edge(row: object, end: Literal["citing", "cited"]) -> CitedWorkRecord | None:
    """The work at an end of a citation; None where nothing names it.

    `creation` is the date of the citing work, so only that end has a year.
    """
    record = map_of(row)
    ids = read_ids(record.get(end))
    if ids == WorkIds():
        return None
    date = read_date_text(record.get("creation")) if end == "citing" else None
    return CitedWorkRecord(ids, year=int(date[:4]) if date else None)


def read_work(raw: Mapping[str, Any]) -> ServiceRecord:
    """A record of Meta, or of the metadata of version 1 of the index.

    Raises UnreadableRecordError where it has neither title nor identifier.
    """
    raw = map_of(raw)
    ids = read_ids(raw.get("id") or raw.get("doi"))
    title = read_title(raw.get("title"))
    if not title and ids == WorkIds():
        raise UnreadableRecordError(SERVICE, "it has neither title nor identifier")
    venue = text_of(raw.get("venue")) or text_of(raw.get("source_title"))
    numbers = f"{venue} {text_of(raw.get('source_id'))}".replace("]", " ")
    open_text = url_of(raw.get("oa_link"))
    omid = _OMID.search(text_of(raw.get("id")))
    kind = _KINDS.get(text_of(raw.get("type")).lower())
    work = WorkRecord(
        ids=ids,
        title=title,
        authors=_read_people(raw.get("author")),
        issued=read_date_text(raw.get("pub_date")) or read_date_text(raw.get("year")),
        kind=kind or ("other" if text_of(raw.get("type")) else None),
        venue=Venue(
            name=read_plain_line(_IN_BRACKETS.sub("", venue)),
            issn=issns_of(_ISSN.findall(numbers)),
            publisher=read_plain_line(_IN_BRACKETS.sub("", text_of(raw.get("publisher")))),
        ),
        volume=text_of(raw.get("volume")),
        issue=text_of(raw.get("issue")),
        pages=text_of(raw.get("page")),
        locations=(
            (
                TextLocation(
                    open_text, "pdf" if ".pdf" in open_text else "landing_page", service=SERVICE
                ),
            )
            if open_text
            else ()
        ),
        references=_read_references(raw.get("reference")),
    )
    return ServiceRecord(
        SERVICE,
        omid.group(1) if omid else ids.doi or "",
        work,
        citation_count=count_of(raw.get("citation_count")),
    )


def _read_people(people: object) -> tuple[Author, ...]:
    """`Family, Given [orcid:… omid:…]; …`."""
    found: list[Author] = []
    for part in _BETWEEN_PEOPLE.split(text_of(people)):
        numbers = _IN_BRACKETS.search(part)
        orcid = numbers.group(1) if numbers and "orcid:" in numbers.group(1) else None
        orcid = orcid.partition("orcid:")[2].split(" ")[0] if orcid else None
        author = read_author(_IN_BRACKETS.sub("", part).strip(" ,"), orcid)
        if author is not None:
            found.append(author)
    return tuple(found)


def _read_references(text: object) -> tuple[CitedWorkRecord, ...] | None:
    """DOIs parted by a semicolon, as version 1 has them."""
    dois = (id_of(Doi, part) for part in text_of(text).split("; "))
    found = tuple(CitedWorkRecord(WorkIds(doi=doi)) for doi in dois if doi)
    return found or None
