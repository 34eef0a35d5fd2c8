"""A true work as each service would send it: raw JSON or XML, with the faults of that service.

What a writer returns goes through the reader of the service, so that reading is judged as well.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import escape

from benchmarks.literature.service_faults import (
    full_name,
    shorten_given,
    write_authors,
    write_place,
    write_title,
    write_venue,
    write_year,
)
from benchmarks.literature.service_identifiers import (
    DOI_MISSING,
    PMID_MISSING,
    count_citations,
    keep_some,
    own_doi,
    write_abstract,
    write_doi,
)
from benchmarks.literature.small_writers import (
    write_biorxiv,
    write_datacite,
    write_dblp,
    write_doaj,
    write_unpaywall,
)
from benchmarks.literature.true_works import TrueWork
from benchmarks.literature.xml_writers import write_arxiv, write_pubmed
from carrel.libraries.literature import (
    crossref,
    europepmc,
    openalex,
    semantic_scholar,
)
from carrel.libraries.literature.records import ServiceRecord


def write_crossref(true: TrueWork, rng: random.Random) -> ServiceRecord:
    work = true.work
    volume, issue, pages = write_place(work, rng)
    year = write_year(work, rng)
    rest = [int(part) for part in (work.issued or "").split("-")[1:]]
    parts: list[list[int | None]] = [[year, *rest]] if year else [[None]]
    title = write_title(work.title, rng, has_markup=True)
    head, _, tail = title.partition(": ")
    raw: dict[str, Any] = {
        "DOI": work.ids.doi,
        "type": "posted-content"
        if work.kind == "preprint"
        else "proceedings-article"
        if work.kind == "paper-conference"
        else "journal-article",
        "subtype": "preprint" if work.kind == "preprint" else None,
        "title": [head] if tail and rng.random() < 0.3 else [title],
        "subtitle": [tail] if tail and rng.random() < 0.9 else [],
        "author": [
            {"given": each.given, "family": each.family, "affiliation": []}
            if each.family
            else {"name": each.literal}
            for each in write_authors(work, rng)
        ],
        "issued": {"date-parts": parts},
        "container-title": [] if work.kind == "preprint" else [work.venue.name],
        "publisher": work.venue.publisher,
        "ISSN": list(work.venue.issn),
        "volume": volume,
        "issue": issue,
        "page": pages,
        "is-referenced-by-count": count_citations(true, rng),
    }
    if raw["title"] == [title]:
        raw["subtitle"] = []
    if work.abstract and rng.random() < 0.45:
        heading = "<jats:title>Abstract</jats:title>"
        raw["abstract"] = f"{heading}<jats:p>{escape(work.abstract)}</jats:p>"
    return crossref.read_work(raw)


def write_openalex(true: TrueWork, rng: random.Random) -> ServiceRecord:
    work, ids = true.work, true.work.ids
    volume, issue, pages = write_place(work, rng)
    doi = keep_some(own_doi(work), DOI_MISSING["openalex"], rng)
    first, _, last = pages.partition("-")
    is_preprint = work.kind == "preprint"
    year = write_year(work, rng)
    raw = {
        "id": f"https://openalex.org/{ids.openalex}",
        "doi": f"https://doi.org/{doi}" if doi else None,
        "ids": {
            "openalex": f"https://openalex.org/{ids.openalex}",
            "pmid": f"https://pubmed.ncbi.nlm.nih.gov/{pmid}"
            if (pmid := keep_some(ids.pmid, PMID_MISSING, rng))
            else None,
        },
        "title": write_title(work.title, rng, has_markup=True),
        "publication_year": year,
        "publication_date": f"{year}-01-01" if year else None,
        "type": "preprint" if is_preprint else "article",
        "primary_location": {
            "source": {
                "display_name": "arXiv (Cornell University)" if ids.arxiv else work.venue.name,
                "issn": list(work.venue.issn),
                "type": "repository" if is_preprint else "journal",
            }
            if rng.random() > 0.08
            else None,
            "landing_page_url": None,
            "pdf_url": None,
        },
        "authorships": [
            {"author": {"display_name": full_name(each, rng, shortens=0.15)}}
            for each in write_authors(work, rng)
        ],
        "biblio": {
            "volume": volume,
            "issue": issue,
            "first_page": first,
            "last_page": last or first,
        },
        "cited_by_count": count_citations(true, rng),
        "abstract_inverted_index": _invert(write_abstract(work, rng)),
    }
    return openalex.read_work(raw)


def _invert(text: str) -> dict[str, list[int]] | None:
    places: dict[str, list[int]] = {}
    for at, word in enumerate(text.split()):
        places.setdefault(word, []).append(at)
    return places or None


def write_semantic_scholar(true: TrueWork, rng: random.Random) -> ServiceRecord:
    work, ids = true.work, true.work.ids
    volume, _, pages = write_place(work, rng)
    external: dict[str, Any] = {"CorpusId": int(ids.corpus_id or 0)}
    if doi := write_doi(work, "semantic_scholar", rng):
        external["DOI"] = doi.removeprefix("https://doi.org/")
    if pmid := keep_some(ids.pmid, PMID_MISSING, rng):
        external["PubMed"] = pmid
    if pmcid := keep_some(ids.pmcid, 0.5, rng):
        # As Semantic Scholar writes it.
        external["PubMedCentral"] = pmcid.removeprefix("PMC")
    if ids.arxiv and rng.random() < 0.9:
        external["ArXiv"] = ids.arxiv
    year = write_year(work, rng)
    venue = write_venue(work, rng)
    raw = {
        "paperId": ids.semantic_scholar,
        "externalIds": external,
        "title": write_title(work.title, rng),
        "abstract": write_abstract(work, rng) or None,
        "year": year,
        "publicationDate": None,
        "venue": "arXiv.org" if ids.arxiv else venue,
        "journal": {
            "name": "ArXiv" if ids.arxiv else venue,
            "volume": volume,
            "pages": f"\n   {pages.replace('-', ' - ')}\n " if pages else None,
        },
        "authors": [
            {"authorId": "1", "name": full_name(each, rng, shortens=0.6)}
            for each in write_authors(work, rng)
        ],
        "citationCount": count_citations(true, rng),
        "publicationTypes": None if work.kind == "preprint" else ["JournalArticle"],
    }
    return semantic_scholar.read_work(raw)


def write_europepmc(true: TrueWork, rng: random.Random) -> ServiceRecord:
    work, ids = true.work, true.work.ids
    volume, issue, pages = write_place(work, rng)
    is_preprint = work.kind == "preprint"
    made_up = int(ids.corpus_id or 0) % 10**6
    source, number = "AGR", f"IND{made_up}"
    if is_preprint:
        source, number = "PPR", f"PPR{made_up}"
    elif ids.pmid:
        source, number = "MED", ids.pmid
    kind = {"preprint": "preprint", "erratum": "published erratum"}.get(work.kind or "", "")
    names = [
        f"{each.family} {shorten_given(each, rng).replace('.', '').replace(' ', '')}".strip()
        if each.family
        else each.literal
        for each in write_authors(work, rng)
    ]
    year = write_year(work, rng)
    raw = {
        "id": number,
        "source": source,
        "pmid": number if source == "MED" else None,
        "pmcid": keep_some(ids.pmcid, 0.3, rng),
        "doi": keep_some(own_doi(work), DOI_MISSING["europepmc"], rng),
        "title": write_title(work.title, rng, has_markup=True).rstrip(".") + ".",
        "authorString": f"{', '.join(names)}." if names else None,
        "pubYear": str(year) if year else None,
        "journalTitle": None if is_preprint else write_venue(work, rng),
        "journalVolume": volume,
        "issue": issue,
        "pageInfo": pages,
        "pubType": kind or "journal article",
        "bookOrReportDetails": {"publisher": "bioRxiv"} if is_preprint else None,
        "abstractText": write_abstract(work, rng) or None,
        "citedByCount": 0,
    }
    return europepmc.read_work({name: value for name, value in raw.items() if value is not None})


Writer = Callable[[TrueWork, random.Random], ServiceRecord]


def choose_writers(true: TrueWork, rng: random.Random) -> list[Writer]:
    """The services that have the work: about four of those that could."""
    work = true.work
    ids = work.ids
    likely: list[tuple[float, Writer]] = [(0.75, write_openalex), (0.65, write_semantic_scholar)]
    if work.kind == "preprint":
        if ids.arxiv:
            likely += [(0.9, write_arxiv), (0.3, write_datacite), (0.4, write_dblp)]
        elif ids.doi:
            likely += [(0.8, write_crossref), (0.5, write_biorxiv)]
        likely.append((0.5, write_europepmc))
    else:
        if ids.doi:
            likely += [(0.9, write_crossref), (0.2, write_unpaywall)]
        likely += [(0.2, write_dblp), (0.2, write_doaj)]
        if ids.pmid:
            likely += [(0.85, write_pubmed), (0.75, write_europepmc)]
    return [write for share, write in likely if rng.random() < share]
