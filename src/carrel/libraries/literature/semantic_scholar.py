"""Semantic Scholar's JSON: papers to records, and the entries of its citation lists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from carrel.libraries.identifiers import ArxivId, Doi, Pmcid, Pmid
from carrel.libraries.literature.dates import iso_date, read_date_text, without_first_day
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.licences import read_licence
from carrel.libraries.literature.markup import read_abstract, read_plain_line, read_title
from carrel.libraries.literature.people import read_author
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
    ServiceRecord,
    TextLocation,
    Venue,
    WorkIds,
    WorkKind,
    WorkRecord,
)
from carrel.libraries.literature.statuses import read_open_access

SERVICE = "semantic_scholar"
_PAPER_ID = re.compile(r"[0-9a-f]{40}")
_NUMBER = re.compile(r"[1-9]\d{0,14}", re.ASCII)
_PDF_ADDRESS = re.compile(
    r"\.pdf(?:$|[?#])|/pdf/|/pdf$|/e?pdf(?:direct)?/|format=pdf|download", re.IGNORECASE
)
_OPEN_CODE = re.compile(r"CC(BY|0)(NC)?(ND)?(SA)?", re.IGNORECASE)
# The first that a paper has counts.
_KINDS: tuple[tuple[str, WorkKind], ...] = (
    ("Review", "review"),
    ("Conference", "paper-conference"),
    ("Editorial", "editorial"),
    ("LettersAndComments", "letter"),
    ("BookSection", "chapter"),
    ("Book", "book"),
    ("Dataset", "dataset"),
    ("JournalArticle", "article-journal"),
)
_PREPRINT_VENUES = frozenset({
    "arxiv", "arxiv.org", "arxiv preprint", "corr", "biorxiv", "medrxiv", "chemrxiv", "ssrn",
    "ssrn electronic journal", "research square", "psyarxiv", "osf preprints", "preprints.org",
})  # fmt: skip


def read_work(raw: Mapping[str, Any]) -> ServiceRecord:
    """One paper; raises UnreadableRecordError where it has neither title nor identifier.

    Fields that were not asked for are absent. There is no sign of retractions.
    """
    raw = map_of(raw)
    ids = _read_ids(raw)
    title = read_title(raw.get("title"))
    if not title and ids == WorkIds():
        raise UnreadableRecordError(SERVICE, "it has neither title nor identifier")
    journal = map_of(raw.get("journal"))
    venue = _read_venue(raw, journal)
    opened = map_of(raw.get("openAccessPdf"))
    volume = text_of(journal.get("volume"))
    work = WorkRecord(
        ids=ids,
        title=title,
        abstract=read_abstract(raw.get("abstract")),
        authors=_read_authors(raw.get("authors")),
        issued=_read_date(raw),
        kind=_read_kind(raw, venue),
        venue=venue,
        # Of a preprint the volume is its arXiv number.
        volume="" if volume.startswith("abs/") else volume,
        pages=re.sub(r"\s*([-–])\s*", r"\1", text_of(journal.get("pages"))).strip("-– "),
        subjects=_read_subjects(raw),
        open_access=read_open_access(opened.get("status")),
        locations=_read_locations(opened),
        licence=_read_licence(opened.get("license")),
        references=_read_references(raw.get("references")),
    )
    count = count_of(raw.get("citationCount"))
    return ServiceRecord(SERVICE, ids.semantic_scholar or "", work, citation_count=count)


def read_cited_work(
    entry: object, end: Literal["citingPaper", "citedPaper"]
) -> CitedWorkRecord | None:
    """The paper at an end of a citation; None where the entry is null or has nothing in it."""
    paper = map_of(map_of(entry).get(end))
    return _read_cited(paper)


def _read_cited(paper: Mapping[str, Any]) -> CitedWorkRecord | None:
    try:
        work = read_work(paper).work
    except UnreadableRecordError:
        return None
    names = (author.literal or f"{author.given} {author.family}".strip() for author in work.authors)
    return CitedWorkRecord(work.ids, work.title, tuple(names), work.year, work.venue.name)


def _read_ids(raw: Mapping[str, Any]) -> WorkIds:
    ids = map_of(raw.get("externalIds"))
    paper = text_of(raw.get("paperId")).lower()
    doi = id_of(Doi, ids.get("DOI"))
    registered = Doi(doi).arxiv if doi else None
    pmcid = text_of(ids.get("PubMedCentral"))
    return WorkIds(
        doi=doi,
        pmid=id_of(Pmid, ids.get("PubMed")),
        pmcid=id_of(Pmcid, pmcid if pmcid.upper().startswith("PMC") else f"PMC{pmcid}"),
        arxiv=id_of(ArxivId, ids.get("ArXiv")) or (registered.value if registered else None),
        semantic_scholar=paper if _PAPER_ID.fullmatch(paper) else None,
        corpus_id=_number(ids.get("CorpusId")) or _number(raw.get("corpusId")),
        dblp=text_of(ids.get("DBLP")) or None,
        mag=_number(ids.get("MAG")),
        acl=text_of(ids.get("ACL")) or None,
    )


def _number(value: object) -> str | None:
    text = text_of(value)
    return text if _NUMBER.fullmatch(text) else None


def _read_authors(people: object) -> tuple[Author, ...]:
    found = (read_author(each.get("name")) for each in maps_of(people))
    return tuple(author for author in found if author is not None)


def _read_date(raw: Mapping[str, Any]) -> str | None:
    """The day; where the year contradicts it, the year alone, which papers carry themselves."""
    year = iso_date(raw.get("year"))
    date = without_first_day(read_date_text(raw.get("publicationDate")))
    is_of_year = date is not None and (year is None or date.startswith(year))
    return date if is_of_year else year


def _read_kind(raw: Mapping[str, Any], venue: Venue) -> WorkKind | None:
    kinds = texts_of(raw.get("publicationTypes"))
    if venue.name.lower() in _PREPRINT_VENUES:
        return "preprint"
    found = next((kind for name, kind in _KINDS if name in kinds), None)
    return found or ("article-journal" if kinds else None)


def _read_venue(raw: Mapping[str, Any], journal: Mapping[str, Any]) -> Venue:
    place = map_of(raw.get("publicationVenue"))
    names = (place.get("name"), journal.get("name"), raw.get("venue"))
    name = next((text for each in names if (text := read_plain_line(text_of(each)))), "")
    return Venue(
        name=name, issn=issns_of([place.get("issn"), *list_of(place.get("alternate_issns"))])
    )


def _read_subjects(raw: Mapping[str, Any]) -> tuple[str, ...]:
    fields = [each.get("category") for each in maps_of(raw.get("s2FieldsOfStudy"))]
    return texts_of([*list_of(raw.get("fieldsOfStudy")), *fields])


def _read_licence(value: object) -> str | None:
    """`CCBYNC` is `cc-by-nc`."""
    found = _OPEN_CODE.fullmatch(text_of(value))
    if found is None:
        return read_licence(value)
    parts = [part.lower() for part in found.groups() if part]
    return "cc0" if parts == ["0"] else "-".join(("cc", *parts))


def _read_locations(opened: Mapping[str, Any]) -> tuple[TextLocation, ...]:
    """The open text; the address may be empty, or that of a page rather than of a file."""
    url = url_of(opened.get("url"))
    if not url:
        return ()
    is_resolver = "doi.org/" in url.lower()
    is_file = _PDF_ADDRESS.search(url) is not None and not is_resolver
    return (
        TextLocation(
            url,
            "pdf" if is_file else "landing_page",
            licence=_read_licence(opened.get("license")),
            host="repository" if text_of(opened.get("status")).upper() == "GREEN" else None,
            service=SERVICE,
        ),
    )


def _read_references(papers: object) -> tuple[CitedWorkRecord, ...] | None:
    found = tuple(cited for each in maps_of(papers) if (cited := _read_cited(each)) is not None)
    return found or None
