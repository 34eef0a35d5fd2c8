"""Real works of the dumps, each with the identifiers that services would know it by."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
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

_SUBTITLES = ("a case study", "evidence from simulations", "new results")
_GENERIC_TITLES = (
    "Editorial", "Introduction", "Book Reviews", "Preface", "Reply", "Letter to the Editor",
)  # fmt: skip


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
            taken.append(TrueWork(f"{dump} {at}", _complete_ids(work, f"{dump} {at}", rng)))
            kept += 1
    return taken


def _complete_ids(work: WorkRecord, name: str, rng: random.Random) -> WorkRecord:
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


def add_relatives(works: Sequence[TrueWork], seed: int) -> list[TrueWork]:
    """The works and, for some, others that look like them: versions, parts, notices and copies."""
    rng = random.Random(seed)
    found: list[TrueWork] = []
    for each in works:
        found.append(each)
        if not each.work.authors or not each.work.year:
            continue
        for relation, (share, make) in _RELATIVES.items():
            if rng.random() < share:
                made = make(each.work, rng)
                name = f"{each.name}+{relation}"
                found.append(TrueWork(name, _complete_ids(made, name, rng), relation))
    return found


def _new_doi(prefix: str, rng: random.Random) -> str:
    return f"{prefix}/{rng.randrange(10**6, 10**8)}"


def _shift(work: WorkRecord, years: int) -> str:
    return f"{(work.year or 2000) + years}{(work.issued or '')[4:]}"


def _make_preprint(work: WorkRecord, rng: random.Random) -> WorkRecord:
    """The preprint of an article, or the article of a preprint."""
    title = _change_title(work.title, rng) if rng.random() < 0.35 else work.title
    if work.kind == "preprint":
        return replace(
            work,
            ids=WorkIds(doi=_new_doi("10.1016/j.simulated", rng)),
            title=title,
            kind="article-journal",
            venue=Venue("Journal of Simulated Results", publisher="Elsevier BV"),
            volume=str(rng.randrange(1, 90)),
            pages=f"{rng.randrange(1, 900)}",
            issued=_shift(work, rng.choice((0, 1, 1))),
        )
    is_arxiv = rng.random() < 0.5
    number = f"{rng.randrange(10, 26)}{rng.randrange(1, 13):02d}.{rng.randrange(10**4, 10**5)}"
    return replace(
        work,
        ids=WorkIds(arxiv=number) if is_arxiv else WorkIds(doi=_new_doi("10.1101/2019.01.01", rng)),
        title=title,
        kind="preprint",
        venue=Venue("arXiv" if is_arxiv else "bioRxiv"),
        volume="",
        issue="",
        pages="",
        issued=_shift(work, rng.choice((0, -1, -1))),
        versions=(),
    )


def _change_title(title: str, rng: random.Random) -> str:
    """A title as it changes between preprint and article."""
    words = title.split()
    drawn = rng.random()
    if drawn < 0.4 and len(words) > 5:
        return " ".join(word for at, word in enumerate(words) if at != rng.randrange(1, len(words)))
    if drawn < 0.7:
        return f"{title}: {rng.choice(_SUBTITLES)}"
    return f"{rng.choice(('On', 'Towards', 'Understanding'))} {title[:1].lower()}{title[1:]}"


def _sibling(work: WorkRecord, title: str, years: int, rng: random.Random) -> WorkRecord:
    """Another article of the same people in the same journal."""
    return replace(
        work,
        ids=WorkIds(doi=_new_doi((work.ids.doi or "10.5555/x").partition("/")[0], rng)),
        title=title,
        abstract="",
        issued=_shift(work, years),
        pages=str(rng.randrange(1, 999)),
        versions=(),
        kind="article-journal",
    )


def _make_part(work: WorkRecord, rng: random.Random) -> WorkRecord:
    mark = rng.choice((". Part II", ". Part III", " II", ": Part 2", " (3)"))
    return _sibling(work, f"{work.title.rstrip('.')}{mark}", rng.choice((0, 0, 1)), rng)


def _make_correction(work: WorkRecord, rng: random.Random) -> WorkRecord:
    mark = rng.choice(("Correction to: ", "Erratum: ", "Corrigendum to ", "Correction: "))
    return replace(_sibling(work, f"{mark}{work.title}", rng.choice((0, 1)), rng), kind="erratum")


def _make_second_correction(work: WorkRecord, rng: random.Random) -> WorkRecord:
    return replace(_sibling(work, f"Correction to: {work.title}", 0, rng), kind="erratum")


def _make_reply(work: WorkRecord, rng: random.Random) -> WorkRecord:
    return replace(_sibling(work, f"Reply to: {work.title}", 0, rng), kind="letter")


def _make_generic(work: WorkRecord, rng: random.Random) -> WorkRecord:
    return _sibling(work, rng.choice(_GENERIC_TITLES), rng.choice((0, 0, 1)), rng)


def _make_copy(work: WorkRecord, rng: random.Random) -> WorkRecord:
    return replace(
        _sibling(work, work.title, 0, rng),
        ids=WorkIds(doi=_new_doi("10.65215", rng)),
        issued="2025-03-01",
        venue=Venue("Research Archive", publisher="Open Archive"),
        volume="1",
    )


def _make_unknown_copy(work: WorkRecord, rng: random.Random) -> WorkRecord:
    return replace(_make_copy(work, rng), ids=WorkIds(doi=_new_doi("10.99871", rng)))


def _make_conference(work: WorkRecord, rng: random.Random) -> WorkRecord:
    """A paper at a conference under the title of the later article."""
    return replace(
        _sibling(work, work.title, -1, rng),
        ids=WorkIds(doi=_new_doi("10.1109/simulated", rng)),
        kind="paper-conference",
        venue=Venue("Proceedings of the Simulated Conference", publisher="IEEE"),
        volume="",
        issue="",
    )


_RELATIVES: dict[str, tuple[float, Callable[[WorkRecord, random.Random], WorkRecord]]] = {
    "other version": (0.12, _make_preprint),
    "part": (0.04, _make_part),
    "correction": (0.03, _make_correction),
    "second correction": (0.01, _make_second_correction),
    "reply": (0.02, _make_reply),
    "generic": (0.03, _make_generic),
    "known copy": (0.015, _make_copy),
    "unknown copy": (0.015, _make_unknown_copy),
    "conference": (0.02, _make_conference),
}
