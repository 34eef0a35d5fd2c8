"""Real works of the dumps, each with the identifiers that services would know it by."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from carrel.libraries.identifiers import ArxivId, Doi, Pmcid, Pmid, identifier_value
from carrel.libraries.literature import crossref, openalex, pubmed, unpaywall
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.records import Author, Venue, WorkIds, WorkRecord
from carrel.libraries.works.titles import squash_title

# How many works of each dump are taken, as far as it has them; a thousand in all.
TAKEN = {
    "openalex": 280,
    "pubmed": 155,
    "arxiv": 150,
    "s2orc": 190,
    "unpaywall": 85,
    "crossref": 140,
}


@dataclass(frozen=True, slots=True)
class TrueWork:
    """A work and its name among all; `relation` says what it was made to be to another one."""

    name: str
    work: WorkRecord
    relation: str = ""


def is_for_choosing(name: str) -> bool:
    """Whether rules may be made with this work in view; its relatives go with it."""
    first = name.partition("+")[0]
    return hashlib.sha256(f"merging {first}".encode()).digest()[0] < 128


def read_true_works(data: Path, seed: int = 59) -> list[TrueWork]:
    """A thousand works, no two of which can be one: those in doubt are left out."""
    rng = random.Random(seed)
    dumps = data / "services" / "dumps"
    taken: list[TrueWork] = []
    dois: set[str] = set()
    titles: dict[str, bool] = {}
    beginnings: set[tuple[str, str]] = set()
    for dump, count in TAKEN.items():
        found = [work for work in _READERS[dump](dumps) if work.title and work.year]
        rng.shuffle(found)
        kept = 0
        for at, work in enumerate(found):
            key = squash_title(work.title)
            doi = work.ids.doi or (f"10.48550/arxiv.{work.ids.arxiv}" if work.ids.arxiv else None)
            if doi in dois or (key in titles and not (doi and titles[key])) or kept == count:
                continue
            family = work.authors[0].family.lower() if work.authors else ""
            if (family, key[:20]) in beginnings and not (doi and key in titles):
                continue
            beginnings.add((family, key[:20]))
            if doi:
                dois.add(doi)
            titles[key] = titles.get(key, True) and doi is not None
            taken.append(TrueWork(f"{dump} {at}", complete_ids(work, f"{dump} {at}", rng)))
            kept += 1
    return taken


def complete_ids(work: WorkRecord, name: str, rng: random.Random) -> WorkRecord:
    """Identifiers that every work has at a service, made up where the dump has none."""
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:5], "big")
    ids = work.ids
    is_of_life_sciences = name.startswith("pubmed") or ids.pmid is not None or rng.random() < 0.4
    # PubMed has no copies.
    has_pmid = is_of_life_sciences and ids.arxiv is None and "copy" not in name
    return replace(
        work,
        ids=WorkIds(
            doi=ids.doi,
            pmid=ids.pmid or (str(10_000_000 + number % 29_000_000) if has_pmid else None),
            pmcid=ids.pmcid
            or (f"PMC{2_000_000 + number % 9_000_000}" if has_pmid and number % 3 == 0 else None),
            arxiv=ids.arxiv,
            openalex=ids.openalex or f"W{2_000_000_000 + number % 2_000_000_000}",
            semantic_scholar=hashlib.sha1(name.encode()).hexdigest(),
            corpus_id=str(number % 250_000_000),
        ),
    )


def _read_openalex(dumps: Path) -> Iterator[WorkRecord]:
    for path in sorted((dumps / "openalex" / "works").glob("*/*.gz")):
        yield from _read_lines(path, openalex.read_work)


def _read_unpaywall(dumps: Path) -> Iterator[WorkRecord]:
    for path in sorted((dumps / "unpaywall").glob("*.gz")):
        yield from _read_lines(path, unpaywall.read_work)


def _read_lines(path: Path, read: Callable[[Any], Any]) -> Iterator[WorkRecord]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            try:
                yield read(json.loads(line)).work
            except UnreadableRecordError:
                continue


def _read_crossref(dumps: Path) -> Iterator[WorkRecord]:
    for name in ("0.json.gz", "1.json.gz"):
        path = dumps / "crossref-2020" / name
        for item in json.loads(gzip.decompress(path.read_bytes()))["items"]:
            if item.get("title"):
                yield crossref.read_work(item).work


def _read_pubmed(dumps: Path) -> Iterator[WorkRecord]:
    tree = ElementTree.fromstring(
        gzip.decompress((dumps / "pubmed" / "pubmed25n9001.xml.gz").read_bytes())
    )
    for article in tree.iter("PubmedArticle"):
        try:
            yield pubmed.read_work(article).work
        except UnreadableRecordError:
            continue


def _read_arxiv(dumps: Path) -> Iterator[WorkRecord]:
    for path in sorted((dumps / "arxiv-kaggle").glob("*.json")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            names = [Author(family=last, given=first) for last, first, *_ in row["authors_parsed"]]
            created = row["versions"][0]["created"] if row.get("versions") else ""
            year = created.split()[3] if created else row["update_date"][:4]
            yield WorkRecord(
                ids=WorkIds(arxiv=identifier_value(ArxivId, row["id"])),
                title=" ".join(row["title"].split()),
                abstract=" ".join(row["abstract"].split()),
                authors=tuple(names),
                issued=year,
                kind="preprint",
                venue=Venue("arXiv"),
            )


def _read_s2orc(dumps: Path) -> Iterator[WorkRecord]:
    with gzip.open(next((dumps / "s2orc-2020").glob("*.gz")), "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            names = [
                Author(
                    family=each["last"],
                    given=" ".join([each["first"] or "", *each["middle"]]).strip(),
                )
                for each in row["authors"]
                if each.get("last")
            ]
            is_preprint = bool(row["arxiv_id"]) and not row["doi"]
            yield WorkRecord(
                ids=WorkIds(
                    doi=identifier_value(Doi, row["doi"]),
                    pmid=identifier_value(Pmid, row["pubmed_id"]),
                    pmcid=identifier_value(Pmcid, f"PMC{row['pmc_id']}") if row["pmc_id"] else None,
                    arxiv=identifier_value(ArxivId, row["arxiv_id"]) if is_preprint else None,
                ),
                title=row["title"],
                abstract=row["abstract"] or "",
                authors=tuple(names),
                issued=str(row["year"]) if row["year"] else None,
                kind="preprint" if is_preprint else "article-journal",
                venue=Venue("arXiv" if is_preprint else row["journal"] or row["venue"] or ""),
            )


_READERS: dict[str, Callable[[Path], Iterator[WorkRecord]]] = {
    "openalex": _read_openalex,
    "pubmed": _read_pubmed,
    "arxiv": _read_arxiv,
    "s2orc": _read_s2orc,
    "unpaywall": _read_unpaywall,
    "crossref": _read_crossref,
}
