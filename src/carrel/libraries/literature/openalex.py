"""OpenAlex's JSON: works to records, for answers of the service and for its snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from carrel.libraries.bibliography.items import page_range
from carrel.libraries.identifiers import ArxivId, Doi, Pmcid, Pmid
from carrel.libraries.literature.dates import iso_date, read_date_text, without_first_day
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.languages import read_language
from carrel.libraries.literature.licences import read_licence
from carrel.libraries.literature.markup import read_abstract, read_plain_line, read_title
from carrel.libraries.literature.people import read_author, read_orcid
from carrel.libraries.literature.raw_fields import (
    count_of,
    id_of,
    issns_of,
    list_of,
    map_of,
    maps_of,
    text_of,
    texts_of,
    url_of,
)
from carrel.libraries.literature.records import (
    Author,
    CitedWorkRecord,
    Notice,
    ServiceRecord,
    TextLocation,
    Venue,
    VersionPointer,
    WorkIds,
    WorkKind,
    WorkRecord,
)
from carrel.libraries.literature.statuses import read_open_access, read_text_version
from carrel.libraries.works.people import read_person as read_comparable_name

SERVICE = "openalex"
_WORK_ID = re.compile(r"(?:^|/)(W[1-9]\d{0,14})$", re.IGNORECASE | re.ASCII)
_PMC_NUMBER = re.compile(r"(?:^|/)(?:PMC)?([1-9]\d{0,8})/?$", re.IGNORECASE | re.ASCII)
# An abstract has thousands of words at most; positions beyond are a damaged index.
_MOST_WORDS = 100_000
_KINDS: dict[str, WorkKind] = {
    "article": "article-journal",
    "journal-article": "article-journal",
    "review": "review",
    "preprint": "preprint",
    "posted-content": "preprint",
    "book-chapter": "chapter",
    "book-section": "chapter",
    "book": "book",
    "monograph": "book",
    "dissertation": "thesis",
    "report": "report",
    "standard": "report",
    "dataset": "dataset",
    "software": "software",
    "editorial": "editorial",
    "letter": "letter",
    "erratum": "erratum",
    "retraction": "retraction",
    "peer-review": "peer-review",
    "reference-entry": "reference-entry",
    "proceedings-article": "paper-conference",
    "conference-paper": "paper-conference",
}


def read_work(raw: Mapping[str, Any]) -> ServiceRecord:
    """One work; raises UnreadableRecordError where it has neither title nor identifier.

    The title may be missing. An empty list of references counts as no list: famous papers have it.
    """
    raw = map_of(raw)
    ids = _read_ids(raw)
    title = read_title(raw.get("title")) or read_title(raw.get("display_name"))
    if not title and ids == WorkIds():
        raise UnreadableRecordError(SERVICE, "it has neither title nor identifier")
    kind = _read_kind(raw)
    opened = map_of(raw.get("open_access"))
    primary, biblio = map_of(raw.get("primary_location")), map_of(raw.get("biblio"))
    work = WorkRecord(
        ids=ids,
        title=title,
        abstract=read_abstract(rebuild_abstract(raw.get("abstract_inverted_index"))),
        authors=tuple(_read_authors(raw.get("authorships"))),
        is_authors_cut=raw.get("is_authors_truncated") is True,
        issued=_read_date(raw),
        kind=kind,
        venue=_read_venue(primary, kind),
        volume=text_of(biblio.get("volume")),
        issue=text_of(biblio.get("issue")),
        pages=page_range(text_of(biblio.get("first_page")), text_of(biblio.get("last_page"))),
        language=read_language(raw.get("language")),
        keywords=_read_names(raw.get("keywords")),
        subjects=_read_names(raw.get("topics")) or _read_names(raw.get("concepts")),
        institutions=_read_institutions(raw.get("authorships")),
        open_access=read_open_access(opened.get("oa_status")),
        locations=_read_locations(raw),
        licence=read_licence(primary.get("license")),
        notices=(Notice("retraction", service=SERVICE),) if raw.get("is_retracted") is True else (),
        versions=_read_versions(raw, ids),
        references=_read_references(raw.get("referenced_works")),
    )
    return ServiceRecord(
        SERVICE, ids.openalex or "", work, citation_count=count_of(raw.get("cited_by_count"))
    )


def read_cited_work(raw: Mapping[str, Any]) -> CitedWorkRecord:
    """A work at the other end of a citation."""
    work = read_work(raw).work
    names = (author.literal or f"{author.given} {author.family}".strip() for author in work.authors)
    return CitedWorkRecord(work.ids, work.title, tuple(names), work.year, work.venue.name)


def read_work_id(value: object) -> str | None:
    """`W…` of an address or an id of OpenAlex."""
    found = _WORK_ID.search(text_of(value))
    return found.group(1).upper() if found else None


def rebuild_abstract(index: object) -> str:
    """The words of an inverted index in their order; a gap leaves its place out and moves nothing.

    Two words at one place stay both, in the order of the index.
    """
    places: list[tuple[int, str]] = []
    for word, positions in map_of(index).items():
        # `type` and not `isinstance`: true is no place, and this runs for every word of a dump.
        places += [(each, word) for each in list_of(positions) if type(each) is int and each >= 0]
        if len(places) > _MOST_WORDS:
            break
    places.sort(key=itemgetter(0))
    return " ".join([word for _, word in places])


def _read_ids(raw: Mapping[str, Any]) -> WorkIds:
    ids = map_of(raw.get("ids"))
    doi = id_of(Doi, raw.get("doi")) or id_of(Doi, ids.get("doi"))
    arxiv = Doi(doi).arxiv if doi else None
    # A PMCID comes as an address that ends in its number, often without PMC.
    number = _PMC_NUMBER.search(text_of(ids.get("pmcid")))
    return WorkIds(
        doi=doi,
        pmid=id_of(Pmid, ids.get("pmid")),
        pmcid=id_of(Pmcid, f"PMC{number.group(1)}") if number else None,
        arxiv=arxiv.value if arxiv else None,
        openalex=read_work_id(raw.get("id")) or read_work_id(ids.get("openalex")),
        mag=mag if (mag := text_of(ids.get("mag"))).isdecimal() else None,
    )


def _read_kind(raw: Mapping[str, Any]) -> WorkKind | None:
    written = text_of(raw.get("type"))
    if not written:
        return None
    primary = map_of(raw.get("primary_location"))
    registered = text_of(raw.get("type_crossref")) or text_of(primary.get("raw_type"))
    if written == "article":
        place = text_of(map_of(primary.get("source")).get("type"))
        if registered == "proceedings-article" or place == "conference":
            return "paper-conference"
    return _KINDS.get(written, "other")


def _read_date(raw: Mapping[str, Any]) -> str | None:
    """OpenAlex writes the first day of a year or a month where it knows no day."""
    date = without_first_day(read_date_text(raw.get("publication_date")))
    return date or iso_date(raw.get("publication_year"))


def _read_authors(authorships: object) -> Iterator[Author]:
    for each in maps_of(authorships):
        profile = map_of(each.get("author"))
        name = _choose_name(
            text_of(each.get("raw_author_name")), text_of(profile.get("display_name"))
        )
        author = read_author(name, read_orcid(profile.get("orcid")) if name else None)
        if author is not None:
            yield author


def _choose_name(printed: str, profile: str) -> str:
    """The name of the author's profile where it is the printed one, which is often shorter.

    OpenAlex assigns some works to a namesake's or a wrong profile; then the printed name counts.
    """
    if not printed or not profile:
        return printed or profile
    one, other = read_comparable_name(printed), read_comparable_name(profile)
    is_same = one is not None and other is not None and one.is_same_person(other)
    return profile if is_same and "," not in printed else printed


def _read_institutions(authorships: object) -> tuple[str, ...]:
    names = (
        read_plain_line(text_of(place.get("display_name")))
        for each in maps_of(authorships)
        for place in maps_of(each.get("institutions"))
    )
    return tuple(dict.fromkeys(name for name in names if name))


def _read_venue(primary: Mapping[str, Any], kind: WorkKind | None) -> Venue:
    """Where it appeared; a repository is the venue of preprints and the like alone."""
    source = map_of(primary.get("source"))
    is_copy = text_of(source.get("type")) == "repository" and kind in ("article-journal", "review")
    name = "" if is_copy else read_plain_line(text_of(source.get("display_name")))
    issns = [*list_of(source.get("issn")), source.get("issn_l")]
    return Venue(
        name=name or ("" if is_copy else read_plain_line(text_of(primary.get("raw_source_name")))),
        issn=() if is_copy else issns_of(issns),
        publisher="" if is_copy else read_plain_line(text_of(source.get("host_organization_name"))),
    )


def _read_names(values: object) -> tuple[str, ...]:
    names = (text_of(each.get("display_name") or each.get("keyword")) for each in maps_of(values))
    return tuple(dict.fromkeys(name for name in names if name))


def _all_locations(raw: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield map_of(raw.get("best_oa_location"))
    yield map_of(raw.get("primary_location"))
    yield from maps_of(raw.get("locations"))


def _read_locations(raw: Mapping[str, Any]) -> tuple[TextLocation, ...]:
    """Open places of the text, the best first, each address once."""
    found: dict[str, TextLocation] = {}
    for place in _all_locations(raw):
        pdf = url_of(place.get("pdf_url"))
        url = pdf or url_of(place.get("landing_page_url"))
        if not url or place.get("is_oa") is not True:
            continue
        is_repository = text_of(map_of(place.get("source")).get("type")) == "repository"
        location = TextLocation(
            url=url,
            format="pdf" if pdf else "landing_page",
            version=read_text_version(place.get("version")),
            licence=read_licence(place.get("license")),
            host="repository" if is_repository else "publisher",
            service=SERVICE,
        )
        found.setdefault(url, location)
    return tuple(found.values())


def _read_versions(raw: Mapping[str, Any], ids: WorkIds) -> tuple[VersionPointer, ...]:
    """The arXiv preprint among the places of a work that has a DOI of its own elsewhere."""
    if ids.arxiv is not None or ids.doi is None:
        return ()
    found: dict[str, None] = {}
    for place in _all_locations(raw):
        for name in ("landing_page_url", "pdf_url"):
            url = text_of(place.get(name)).replace("http://", "https://")
            if "arxiv" not in url.lower():
                continue
            doi = id_of(Doi, url)
            registered = Doi(doi).arxiv if doi else None
            preprint = registered.value if registered else id_of(ArxivId, url)
            if preprint:
                found[preprint] = None
    return tuple(VersionPointer("preprint_of", WorkIds(arxiv=each), SERVICE) for each in found)


def _read_references(works: object) -> tuple[CitedWorkRecord, ...] | None:
    ids = (read_work_id(each) for each in texts_of(works))
    found = tuple(CitedWorkRecord(WorkIds(openalex=each)) for each in ids if each)
    return found or None
