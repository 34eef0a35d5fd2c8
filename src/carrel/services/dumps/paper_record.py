"""A work of a dump as the record of a paper."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from carrel.libraries.literature.records import Author, CitedWorkRecord, WorkRecord
from carrel.libraries.works.cited_works import CitedWork, encode_cited_works
from carrel.rooms.papers.building.paper_records import Origin, PaperRecord, RelatedWork
from carrel.rooms.papers.loading.models import DumpService

_MARKS = re.compile(r"</?(?:i|b|sub|sup)>")
# Crossref has what publishers deposited, PubMed what they sent; the others collect.
_ORIGINS: dict[DumpService, Origin] = {"crossref": "publisher", "pubmed": "publisher"}
# The tag of a work that was retracted, withdrawn or removed.
RETRACTED = "retracted"


def make_record(service: DumpService, work: WorkRecord) -> tuple[PaperRecord, bytes | None]:
    """The record of a work and its reference list as an asset; None where no list is known."""
    references = None
    if work.references is not None:
        references = encode_cited_works(_cited_work(each) for each in work.references)
    ids = work.ids
    subjects = [RETRACTED] if work.is_retracted else []
    record = PaperRecord(
        title=_MARKS.sub("", work.title),
        authors=tuple(name for each in work.authors if (name := _name(each))),
        institutions=work.institutions,
        venue=work.venue.name or work.venue.abbreviation or None,
        publication_date=work.issued,
        abstract=_MARKS.sub("", work.abstract) or None,
        keywords=work.keywords,
        tags=(*subjects, *work.subjects),
        doi=ids.doi,
        arxiv_id=ids.arxiv,
        language=work.language,
        kind=work.kind,
        volume=work.volume or None,
        issue=work.issue or None,
        pages=work.pages or None,
        publisher=work.venue.publisher or None,
        pmid=ids.pmid,
        pmcid=ids.pmcid,
        isbn=ids.isbn,
        issn=next(iter(work.venue.issn), None),
        url=_landing_page(work),
        related=tuple(_related(work)),
        references_sha256=hashlib.sha256(references).hexdigest() if references else None,
        origin=_ORIGINS.get(service, "list"),
        license=work.licence,
        openalex_id=ids.openalex,
    )
    return record, references


def _name(author: Author) -> str:
    if not author.family:
        return author.literal
    return " ".join(part for part in (author.given, author.family, author.suffix) if part)


def _landing_page(work: WorkRecord) -> str | None:
    """Where the work stands on the web; a DOI says so already."""
    if work.ids.doi:
        return None
    pages = (each.url for each in work.locations if each.format == "landing_page")
    return next(pages, None)


def _related(work: WorkRecord) -> Iterable[RelatedWork]:
    found: dict[RelatedWork, None] = {}
    for version in work.versions:
        if version.ids.doi and version.ids.doi != work.ids.doi:
            found[RelatedWork(version.relation, version.ids.doi)] = None
    return found


def _cited_work(cited: CitedWorkRecord) -> CitedWork:
    return CitedWork(
        text=cited.unstructured,
        title=cited.title or None,
        authors=cited.authors,
        year=cited.year,
        container=cited.venue or None,
        doi=cited.ids.doi,
        arxiv_id=cited.ids.arxiv,
        pmid=cited.ids.pmid,
        isbn=cited.ids.isbn,
        openalex_id=cited.ids.openalex,
    )
