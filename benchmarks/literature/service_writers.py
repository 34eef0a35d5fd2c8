"""A true work as each service would send it: raw JSON or XML, with the faults of that service.

What a writer returns goes through the reader of the service, so that reading is judged as well.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree
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
from benchmarks.literature.true_works import TrueWork
from carrel.libraries.literature import (
    arxiv,
    biorxiv,
    crossref,
    datacite,
    dblp,
    doaj,
    europepmc,
    openalex,
    pubmed,
    semantic_scholar,
    unpaywall,
)
from carrel.libraries.literature.records import Author, ServiceRecord, WorkRecord

# How often a service that is not the home of an identifier leaves it out.
DOI_MISSING = {
    "openalex": 0.15,
    "semantic_scholar": 0.3,
    "pubmed": 0.15,
    "europepmc": 0.2,
    "dblp": 0.3,
    "doaj": 0.15,
}
PMID_MISSING = 0.4
ABSTRACT_MISSING = 0.5
# Citations that the generator gives to the true works which have copies.
FAMOUS = 20_000


def _keep(value: str | None, missing: float, rng: random.Random) -> str | None:
    return None if value is None or rng.random() < missing else value


def _write_doi(work: WorkRecord, service: str, rng: random.Random) -> str | None:
    """The DOI as the service has it: in capitals, as an address, or not."""
    doi = _own_doi(work)
    doi = _keep(doi, DOI_MISSING.get(service, 0.0), rng)
    if doi is None:
        return None
    drawn = rng.random()
    if drawn < 0.2:
        return doi.upper()
    return f"https://doi.org/{doi}" if drawn < 0.35 else doi


def _own_doi(work: WorkRecord) -> str | None:
    if work.ids.arxiv and work.kind == "preprint":
        return f"10.48550/arxiv.{work.ids.arxiv}"
    return work.ids.doi


def _abstract(work: WorkRecord, rng: random.Random) -> str:
    return "" if rng.random() < ABSTRACT_MISSING else work.abstract


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
        "is-referenced-by-count": _count_citations(true, rng),
    }
    if raw["title"] == [title]:
        raw["subtitle"] = []
    if work.abstract and rng.random() < 0.45:
        heading = "<jats:title>Abstract</jats:title>"
        raw["abstract"] = f"{heading}<jats:p>{escape(work.abstract)}</jats:p>"
    return crossref.read_work(raw)


def _count_citations(true: TrueWork, rng: random.Random) -> int:
    if "copy" in true.relation:
        return rng.randrange(3)
    return rng.randrange(200, FAMOUS) if not true.relation else rng.randrange(50)


def write_openalex(true: TrueWork, rng: random.Random) -> ServiceRecord:
    work, ids = true.work, true.work.ids
    volume, issue, pages = write_place(work, rng)
    doi = _keep(_own_doi(work), DOI_MISSING["openalex"], rng)
    first, _, last = pages.partition("-")
    is_preprint = work.kind == "preprint"
    year = write_year(work, rng)
    raw = {
        "id": f"https://openalex.org/{ids.openalex}",
        "doi": f"https://doi.org/{doi}" if doi else None,
        "ids": {
            "openalex": f"https://openalex.org/{ids.openalex}",
            "pmid": f"https://pubmed.ncbi.nlm.nih.gov/{pmid}"
            if (pmid := _keep(ids.pmid, PMID_MISSING, rng))
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
        "cited_by_count": _count_citations(true, rng),
        "abstract_inverted_index": _invert(_abstract(work, rng)),
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
    if doi := _write_doi(work, "semantic_scholar", rng):
        external["DOI"] = doi.removeprefix("https://doi.org/")
    if pmid := _keep(ids.pmid, PMID_MISSING, rng):
        external["PubMed"] = pmid
    if pmcid := _keep(ids.pmcid, 0.5, rng):
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
        "abstract": _abstract(work, rng) or None,
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
        "citationCount": _count_citations(true, rng),
        "publicationTypes": None if work.kind == "preprint" else ["JournalArticle"],
    }
    return semantic_scholar.read_work(raw)


def write_pubmed(true: TrueWork, rng: random.Random) -> ServiceRecord:
    work, ids = true.work, true.work.ids
    volume, issue, pages = write_place(work, rng)
    title = write_title(work.title, rng).rstrip(".") + "."
    if rng.random() < 0.04:
        title = f"[{title}]"
    people = "".join(_pubmed_author(each, rng) for each in write_authors(work, rng))
    year = write_year(work, rng)
    date = f"<Year>{year}</Year><Month>Mar</Month>"
    if rng.random() < 0.1:
        date = f"<MedlineDate>{year} Spring</MedlineDate>"
    doi = _write_doi(work, "pubmed", rng)
    pmcid = _keep(ids.pmcid, 0.2, rng)
    listed = [("pubmed", ids.pmid), ("doi", doi), ("pmc", pmcid)]
    names = "".join(
        f'<ArticleId IdType="{kind}">{escape(value)}</ArticleId>' for kind, value in listed if value
    )
    abstract = _abstract(work, rng)
    kinds = {"erratum": "Published Erratum", "letter": "Letter"}
    kind = kinds.get(work.kind or "", "Journal Article")
    issn = f"<ISSN>{work.venue.issn[0]}</ISSN>" if work.venue.issn else ""
    text = (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{ids.pmid}</PMID><Article>'
        f"<Journal>{issn}<JournalIssue><Volume>{escape(volume)}</Volume>"
        f"<Issue>{escape(issue)}</Issue><PubDate>{date if year else ''}</PubDate></JournalIssue>"
        f"<Title>{escape(work.venue.name)}</Title></Journal>"
        f"<ArticleTitle>{escape(title)}</ArticleTitle>"
        f"<Pagination><MedlinePgn>{escape(pages)}</MedlinePgn></Pagination>"
        f"<Abstract><AbstractText>{escape(abstract)}</AbstractText></Abstract>"
        f"<AuthorList>{people}</AuthorList><PublicationTypeList>"
        f"<PublicationType>{kind}</PublicationType></PublicationTypeList>"
        "</Article></MedlineCitation>"
        f"<PubmedData><ArticleIdList>{names}</ArticleIdList></PubmedData></PubmedArticle>"
    )
    return pubmed.read_work(ElementTree.fromstring(text))


def _pubmed_author(author: Author, rng: random.Random) -> str:
    if not author.family:
        return f"<Author><CollectiveName>{escape(author.literal)}</CollectiveName></Author>"
    parts = author.given.replace("-", " ").split()
    initials = "".join(part[0] for part in parts if part[0].isalpha())
    fore = "" if rng.random() < 0.25 else f"<ForeName>{escape(author.given)}</ForeName>"
    return (
        f"<Author><LastName>{escape(author.family)}</LastName>{fore}"
        f"<Initials>{escape(initials)}</Initials></Author>"
    )


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
        "pmcid": _keep(ids.pmcid, 0.3, rng),
        "doi": _keep(_own_doi(work), DOI_MISSING["europepmc"], rng),
        "title": write_title(work.title, rng, has_markup=True).rstrip(".") + ".",
        "authorString": f"{', '.join(names)}." if names else None,
        "pubYear": str(year) if year else None,
        "journalTitle": None if is_preprint else write_venue(work, rng),
        "journalVolume": volume,
        "issue": issue,
        "pageInfo": pages,
        "pubType": kind or "journal article",
        "bookOrReportDetails": {"publisher": "bioRxiv"} if is_preprint else None,
        "abstractText": _abstract(work, rng) or None,
        "citedByCount": 0,
    }
    return europepmc.read_work({name: value for name, value in raw.items() if value is not None})


def write_arxiv(true: TrueWork, rng: random.Random) -> ServiceRecord:
    work = true.work
    people = "".join(
        f"<author><name>{escape(full_name(each, rng))}</name></author>" for each in work.authors
    )
    title = escape(work.title.replace(" ", rng.choice((" ", "\n  ")), 3))
    date = f"{work.year}-03-04T10:00:00Z"
    text = (
        '<entry xmlns="http://www.w3.org/2005/Atom">'
        f"<id>http://arxiv.org/abs/{work.ids.arxiv}v{rng.randint(1, 4)}</id>"
        f"<title>{title}</title><updated>{date}</updated><published>{date}</published>"
        f'<summary>{escape(work.abstract)}</summary>{people}<category term="cs.LG"/></entry>'
    )
    return arxiv.read_work(ElementTree.fromstring(text))


def write_datacite(true: TrueWork, rng: random.Random) -> ServiceRecord:
    work = true.work
    raw = {
        "id": _own_doi(work),
        "type": "dois",
        "attributes": {
            "doi": (_own_doi(work) or "").upper() if rng.random() < 0.5 else _own_doi(work),
            "titles": [{"title": write_title(work.title, rng)}],
            "creators": [
                {
                    "name": f"{each.family}, {each.given}",
                    "givenName": each.given,
                    "familyName": each.family,
                }
                for each in write_authors(work, rng)
                if each.family
            ],
            "publicationYear": write_year(work, rng),
            "publisher": "arXiv",
            "types": {"resourceTypeGeneral": "Preprint"},
            "descriptions": [],
        },
    }
    return datacite.read_work(raw)


def write_dblp(true: TrueWork, rng: random.Random) -> ServiceRecord:
    work = true.work
    names = [
        {"@pid": "1/1", "text": full_name(each, rng) + (" 0003" if rng.random() < 0.1 else "")}
        for each in write_authors(work, rng)
    ]
    volume, issue, pages = write_place(work, rng)
    is_arxiv = work.ids.arxiv is not None
    info = {
        "key": f"journals/x/{work.ids.corpus_id}",
        "title": write_title(work.title, rng).rstrip(".").replace("&", "&amp;") + ".",
        "authors": {"author": names[0] if len(names) == 1 else names},
        "venue": "CoRR" if is_arxiv else write_venue(work, rng),
        "volume": f"abs/{work.ids.arxiv}" if is_arxiv else volume,
        "number": issue,
        "pages": pages,
        "year": str(write_year(work, rng) or ""),
        "type": "Informal and Other Publications"
        if is_arxiv
        else "Conference and Workshop Papers"
        if work.kind == "paper-conference"
        else "Journal Articles",
        "doi": _write_doi(work, "dblp", rng),
    }
    return dblp.read_work({"info": {name: value for name, value in info.items() if value}})


def write_doaj(true: TrueWork, rng: random.Random) -> ServiceRecord:
    work = true.work
    volume, issue, pages = write_place(work, rng)
    first, _, last = pages.partition("-")
    doi = _write_doi(work, "doaj", rng)
    year = write_year(work, rng)
    raw = {
        "id": f"doaj{work.ids.corpus_id}",
        "bibjson": {
            "title": write_title(work.title, rng),
            "identifier": [{"type": "doi", "id": doi}] if doi else [],
            "author": [
                {"name": full_name(each, rng, shortens=0.2)} for each in write_authors(work, rng)
            ],
            "year": str(year) if year else None,
            "month": "3",
            "journal": {
                "title": work.venue.name or "x",
                "volume": volume,
                "number": issue,
                "issns": list(work.venue.issn),
            },
            "start_page": first,
            "end_page": last,
        },
    }
    return doaj.read_work(raw)


def write_unpaywall(true: TrueWork, rng: random.Random) -> ServiceRecord:
    work = true.work
    raw = {
        "doi": work.ids.doi,
        "title": write_title(work.title, rng, has_markup=True),
        "year": write_year(work, rng),
        "genre": "journal-article",
        "journal_name": work.venue.name,
        "publisher": work.venue.publisher,
        "z_authors": [
            {"given": each.given, "family": each.family}
            for each in write_authors(work, rng)
            if each.family
        ],
        "oa_locations": [],
    }
    return unpaywall.read_work(raw)


def write_biorxiv(true: TrueWork, rng: random.Random) -> ServiceRecord:
    work = true.work
    names = "; ".join(
        f"{each.family}, {shorten_given(each, rng)}" for each in work.authors if each.family
    )
    raw = {
        "doi": work.ids.doi,
        "title": write_title(work.title, rng),
        "authors": names,
        "date": f"{work.year}-02-03",
        "server": "biorxiv",
        "version": "1",
        "published": "NA",
        "abstract": work.abstract or "NA",
    }
    return biorxiv.read_work(raw)


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
