"""Europe PMC's JSON, `core` and `lite`, to records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from carrel.libraries.bibliography.titles import strip_brackets, strip_final_stop
from carrel.libraries.identifiers import Doi, Isbn, Pmcid, Pmid
from carrel.libraries.literature.dates import iso_date, read_date_text
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.europepmc_links import (
    ids_of,
    read_locations,
    read_notices,
    read_versions,
)
from carrel.libraries.literature.languages import read_language
from carrel.libraries.literature.licences import read_licence
from carrel.libraries.literature.markup import read_abstract, read_plain_line, read_title
from carrel.libraries.literature.medline_kinds import read_kind
from carrel.libraries.literature.medline_sources import remove_addresses
from carrel.libraries.literature.people import make_author, read_author_with_initials
from carrel.libraries.literature.raw_fields import (
    count_of,
    id_of,
    issns_of,
    map_of,
    maps_of,
    text_of,
    texts_of,
)
from carrel.libraries.literature.records import (
    Author,
    CitedWorkRecord,
    ServiceRecord,
    Venue,
    WorkIds,
    WorkKind,
    WorkRecord,
)

SERVICE = "europepmc"
REST_URL = "https://www.ebi.ac.uk/europepmc/webservices/rest"
# Kinds of whole sources: preprints, theses of the UK, patents.
_SOURCE_KINDS: dict[str, WorkKind] = {"PPR": "preprint", "ETH": "thesis", "PAT": "other"}
_NAMES_APART = re.compile(r",\s+(?!(?:Jr|Sr|2nd|3rd|II|III|IV)\b)")


def read_work(raw: Mapping[str, Any], rest_url: str = REST_URL) -> ServiceRecord:
    """One result. Raises UnreadableRecordError where it has no title or no name there."""
    source, name = text_of(raw.get("source")), text_of(raw.get("id"))
    title = strip_brackets(strip_final_stop(read_title(raw.get("title"))))
    if not title or not source or not name:
        raise UnreadableRecordError(SERVICE, "it has no title or no identifier")
    types = set(_publication_types(raw))
    journal_info = map_of(raw.get("journalInfo"))
    authors = _read_authors(raw)
    ids = _read_ids(raw, source, name)
    work = WorkRecord(
        ids=ids,
        title=title,
        abstract=read_abstract(raw.get("abstractText")),
        authors=authors,
        issued=_read_date(raw, journal_info),
        kind=_SOURCE_KINDS.get(source) or read_kind(types),
        venue=_read_venue(raw, journal_info, source),
        volume=text_of(journal_info.get("volume") or raw.get("journalVolume")),
        issue=text_of(journal_info.get("issue") or raw.get("issue")),
        pages=text_of(raw.get("pageInfo")),
        language=read_language(raw.get("language")),
        keywords=texts_of(map_of(raw.get("keywordList")).get("keyword")),
        subjects=texts_of(
            [
                each.get("descriptorName")
                for each in maps_of(map_of(raw.get("meshHeadingList")).get("meshHeading"))
            ]
        ),
        institutions=_read_institutions(raw),
        locations=read_locations(raw, ids, rest_url),
        licence=read_licence(raw.get("license")),
        notices=read_notices(raw, types),
        versions=read_versions(raw),
    )
    count = count_of(raw.get("citedByCount"))
    return ServiceRecord(SERVICE, f"{source}/{name}", work, citation_count=count)


def read_cited_work(raw: Mapping[str, Any]) -> CitedWorkRecord:
    """An entry of a list of citations or references (references unproved live)."""
    ids = ids_of(text_of(raw.get("source")), text_of(raw.get("id")))
    doi = id_of(Doi, raw.get("doi"))
    year = iso_date(raw.get("pubYear"))
    return CitedWorkRecord(
        ids=WorkIds(doi=doi, pmid=ids.pmid, pmcid=ids.pmcid, europepmc=ids.europepmc),
        title=strip_brackets(strip_final_stop(read_title(raw.get("title")))),
        authors=tuple(split_names(raw.get("authorString"))),
        year=int(year) if year else None,
        venue=read_plain_line(
            raw.get("journalAbbreviation") or raw.get("journalTitle") or raw.get("publicationTitle")
        ),
        unstructured=read_plain_line(raw.get("unstructuredInformation")),
    )


def split_names(value: object) -> Iterator[str]:
    """The names of `Matranga C, Tomari Y, Shin C.`, without the final stop."""
    written = text_of(value).rstrip(".").rstrip()
    yield from (name for name in _NAMES_APART.split(written) if name)


def _publication_types(raw: Mapping[str, Any]) -> Iterator[str]:
    for each in texts_of(map_of(raw.get("pubTypeList")).get("pubType")):
        yield each.lower()
    for each in text_of(raw.get("pubType")).split(";"):
        yield each.strip().lower()


def _read_ids(raw: Mapping[str, Any], source: str, name: str) -> WorkIds:
    doi = id_of(Doi, raw.get("doi"))
    own = ids_of(source, name)
    registered = Doi(doi).arxiv if doi else None
    book = map_of(raw.get("bookOrReportDetails"))
    return WorkIds(
        doi=doi,
        pmid=id_of(Pmid, raw.get("pmid")) or own.pmid,
        pmcid=id_of(Pmcid, raw.get("pmcid")) or own.pmcid,
        arxiv=registered.value if registered else None,
        europepmc=f"{source}/{name}",
        isbn=id_of(Isbn, book.get("isbn13")) or id_of(Isbn, book.get("isbn10")),
    )


def _read_authors(raw: Mapping[str, Any]) -> tuple[Author, ...]:
    listed = list(maps_of(map_of(raw.get("authorList")).get("author")))
    found = (
        make_author(
            each.get("lastName"),
            each.get("firstName") or each.get("initials"),
            literal=each.get("collectiveName") or each.get("fullName"),
            suffix=each.get("suffix"),
            orcid=map_of(each.get("authorId")).get("value"),
        )
        for each in listed
    )
    authors = tuple(author for author in found if author is not None)
    if authors:
        return authors
    named = (read_author_with_initials(name) for name in split_names(raw.get("authorString")))
    return tuple(author for author in named if author is not None)


def _read_date(raw: Mapping[str, Any], journal_info: Mapping[str, Any]) -> str | None:
    """The date of the issue, more precise where the electronic one agrees; else the first one."""
    written = text_of(journal_info.get("dateOfPublication"))
    issue = (read_date_text(written) if written else None) or iso_date(
        journal_info.get("yearOfPublication"), journal_info.get("monthOfPublication")
    )
    electronic = read_date_text(raw.get("electronicPublicationDate"))
    if issue is not None:
        return electronic if electronic and electronic.startswith(issue) else issue
    first = electronic or read_date_text(raw.get("firstPublicationDate"))
    year = iso_date(raw.get("pubYear"))
    if text_of(raw.get("source")) == "PPR" and first is not None:
        return first
    if first is None or (year is not None and not first.startswith(year)):
        return year
    # Europe PMC fills unknown days and months with 01.
    return first.removesuffix("-01").removesuffix("-01") if len(first) == 10 else first


def _read_venue(raw: Mapping[str, Any], journal_info: Mapping[str, Any], source: str) -> Venue:
    """The journal; for preprints the server, which stands as a publisher; for books theirs."""
    journal = map_of(journal_info.get("journal"))
    publisher = read_plain_line(map_of(raw.get("bookOrReportDetails")).get("publisher"))
    short = read_plain_line(journal.get("isoabbreviation") or journal.get("medlineAbbreviation"))
    name = read_plain_line(journal.get("title") or raw.get("journalTitle")) or short
    numbers = [
        journal.get("issn"),
        journal.get("essn"),
        *text_of(raw.get("journalIssn")).split(";"),
    ]
    return Venue(
        name=name or (publisher if source == "PPR" else ""),
        abbreviation=short if short != name else "",
        issn=issns_of([text_of(number) for number in numbers]),
        publisher=publisher,
    )


def _read_institutions(raw: Mapping[str, Any]) -> tuple[str, ...]:
    written: list[object] = [
        place.get("affiliation")
        for author in maps_of(map_of(raw.get("authorList")).get("author"))
        for place in maps_of(
            map_of(author.get("authorAffiliationDetailsList")).get("authorAffiliation")
        )
    ]
    return remove_addresses(texts_of(written or [raw.get("affiliation")]))
