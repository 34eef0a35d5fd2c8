"""A true work as the smaller services would send it, read by the readers of the services."""

from __future__ import annotations

import random

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
    own_doi,
    write_doi,
)
from benchmarks.literature.true_works import TrueWork
from carrel.libraries.literature import biorxiv, datacite, dblp, doaj, unpaywall
from carrel.libraries.literature.records import ServiceRecord


def write_datacite(true: TrueWork, rng: random.Random) -> ServiceRecord:
    work = true.work
    raw = {
        "id": own_doi(work),
        "type": "dois",
        "attributes": {
            "doi": (own_doi(work) or "").upper() if rng.random() < 0.5 else own_doi(work),
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
        "doi": write_doi(work, "dblp", rng),
    }
    return dblp.read_work({"info": {name: value for name, value in info.items() if value}})


def write_doaj(true: TrueWork, rng: random.Random) -> ServiceRecord:
    work = true.work
    volume, issue, pages = write_place(work, rng)
    first, _, last = pages.partition("-")
    doi = write_doi(work, "doaj", rng)
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
