"""A true work as PubMed and arXiv would send it, in XML, read by the readers of the services."""

from __future__ import annotations

import random
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from benchmarks.literature.service_faults import (
    full_name,
    write_authors,
    write_place,
    write_title,
    write_year,
)
from benchmarks.literature.service_identifiers import (
    keep_some,
    write_abstract,
    write_doi,
)
from benchmarks.literature.true_works import TrueWork
from carrel.libraries.literature import arxiv, pubmed
from carrel.libraries.literature.records import Author, ServiceRecord


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
    doi = write_doi(work, "pubmed", rng)
    pmcid = keep_some(ids.pmcid, 0.2, rng)
    listed = [("pubmed", ids.pmid), ("doi", doi), ("pmc", pmcid)]
    names = "".join(
        f'<ArticleId IdType="{kind}">{escape(value)}</ArticleId>' for kind, value in listed if value
    )
    abstract = write_abstract(work, rng)
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
