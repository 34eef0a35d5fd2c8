"""Random papers that cite each other, and a second, slow reckoning of who cites whom."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from carrel.libraries.works import keys
from carrel.libraries.works.cited_works import CitedWork, decode_cited_works, encode_cited_works
from carrel.rooms.papers.building.paper_keys import make_paper_id, paper_keys
from carrel.rooms.papers.building.paper_records import PaperRecord, RelatedWork
from carrel.rooms.papers.building.papers import PublishedPaper, collect_summaries
from tests.stores.corpora import Texts

title_key, family_key = cache(keys.title_key), cache(keys.family_key)

ADJECTIVES = ("slow", "deep", "early", "hidden", "broken", "northern", "common", "late")
THINGS = ("whales", "kinases", "neurons", "plasmas", "markets", "glaciers", "蛋白质", "мембраны")
FAMILIES = ("Lee", "Müller", "García", "Okafor", "Петров", "van den Berg", "Ångström")
PREPRINT, FINAL = "10.1101", "10.1000"


def describe(
    record: PaperRecord, number: int, references: Sequence[CitedWork] | None, texts: Texts
) -> PublishedPaper:
    """The paper of a record with a reference list, which is kept among the texts."""
    if references is not None:
        content = encode_cited_works(references)
        sha256 = hashlib.sha256(content).hexdigest()
        texts.known[f"references/{sha256}.json"] = content
        record = replace(record, references_sha256=sha256)
    return PublishedPaper(
        make_paper_id(f"bib:{record.citation_key}"),
        number,
        paper_keys(record),
        record,
        collect_summaries(record),
    )


def random_record(chance: random.Random, number: int) -> PaperRecord:
    """A record with some identifiers; every few have the title, author and year of another."""
    alike = chance.random() < 0.15
    spoken = number // 7 * 7 if alike else number
    title = (
        f"The {ADJECTIVES[spoken % 8]} {THINGS[spoken // 8 % 8]} of the sea and what they do in "
        f"winter, study {spoken}"
    )
    prefix = PREPRINT if chance.random() < 0.3 else FINAL
    doi = f"{prefix}/work{number}" if chance.random() < 0.6 else None
    # Two papers of the corpus may claim one DOI.
    if doi and chance.random() < 0.04:
        doi = f"{FINAL}/work{chance.randint(1, number)}"
    related: tuple[RelatedWork, ...] = ()
    if chance.random() < 0.15:
        other = f"{chance.choice((PREPRINT, FINAL))}/work{chance.randint(1, number + 3)}"
        relation = chance.choice(("preprint_of", "published_as", "version_of", "comment_on"))
        related = (RelatedWork(relation, other),)
        if chance.random() < 0.3:
            # Linkage names versions by the papers that they are.
            known = make_paper_id(f"bib:key{chance.randint(1, number)}")
            related = (RelatedWork(relation, "", known),)
    return PaperRecord(
        title=title,
        authors=(f"{FAMILIES[spoken % 7]}, A. B.", "Zoë Other") if chance.random() < 0.9 else (),
        publication_date=f"{2000 + spoken % 15}-05" if chance.random() < 0.75 else None,
        abstract="Whales sing.",
        doi=doi,
        arxiv_id=f"2101.{number:05}" if chance.random() < 0.2 else None,
        pmid=str(1000 + number) if chance.random() < 0.2 else None,
        citation_key=f"key{number}",
        related=related,
    )


def cite(chance: random.Random, record: PaperRecord) -> CitedWork:
    """An entry that names a paper, by some of what is known of it and with some mistakes."""

    def sometimes(value: str | None, share: float) -> str | None:
        return value if chance.random() < share else None

    year = int((record.publication_date or "2004")[:4]) + chance.choice((0, 0, 0, 0, 1, -1, 2))
    family = record.authors[0].partition(",")[0] if record.authors else "Lee"
    author = chance.choice((f"{family} AB", f"A. B. {family}", f"{family}, A.", "Nobody, N."))
    return CitedWork(
        text=record.title,
        title=sometimes(record.title.upper() if chance.random() < 0.5 else record.title, 0.85),
        authors=(author,) if chance.random() < 0.9 else (),
        year=year if chance.random() < 0.9 else None,
        doi=sometimes(record.doi, 0.5),
        arxiv_id=sometimes(record.arxiv_id, 0.5),
        pmid=sometimes(record.pmid, 0.5),
    )


def outside_work(chance: random.Random) -> CitedWork:
    number = chance.randint(1, 12)
    return CitedWork(
        title=f"A work of nobody's corpus about everything, number {number}",
        authors=("Far, A.",),
        year=1990,
        doi=f"10.9999/far{number}" if chance.random() < 0.7 else None,
    )


def citing_papers(seed: int, count: int, texts: Texts) -> list[PublishedPaper]:
    """A dense graph: every paper cites up to twelve others and some works outside."""
    chance = random.Random(seed)
    records = [random_record(chance, number) for number in range(1, count + 1)]
    taken: set[str] = set()
    papers = []
    for number, record in enumerate(records, start=1):
        paper = describe(record, number, random_references(chance, records), texts)
        # A build gives each key to one paper only.
        paper = replace(paper, keys=tuple(key for key in paper.keys if key.value not in taken))
        taken.update(key.value for key in paper.keys)
        papers.append(paper)
    return papers


def random_references(
    chance: random.Random, records: Sequence[PaperRecord]
) -> list[CitedWork] | None:
    if chance.random() < 0.1:
        return None
    works = [cite(chance, chance.choice(records)) for _ in range(chance.randint(0, 12))]
    works += [outside_work(chance) for _ in range(chance.randint(0, 4))]
    # A list may name a work twice.
    works += works[:1] if chance.random() < 0.2 else []
    chance.shuffle(works)
    return works


@dataclass(frozen=True)
class Judged:
    """Where a reference leads, by the plain rule."""

    paper_id: str | None
    kind: str | None
    candidates: frozenset[str]


class Judge:
    """Links every reference with every paper by comparing texts: no hashes, tables or indexes."""

    def __init__(self, papers: Iterable[PublishedPaper], texts: Texts) -> None:
        self.papers = {paper.paper_id: paper for paper in papers}
        self.lists = {
            paper_id: decode_cited_works(texts.read(f"references/{sha256}.json"))
            for paper_id, paper in self.papers.items()
            if (sha256 := paper.record.references_sha256) is not None
        }
        self.groups = self._find_groups()
        self.links = {
            paper_id: [self._resolve(paper_id, work) for work in works]
            for paper_id, works in self.lists.items()
        }

    def work_of(self, paper_id: str) -> frozenset[str]:
        return self.groups[paper_id]

    def citing(self, paper_id: str) -> set[str]:
        """The papers that cite any version of a paper, without those versions."""
        own = self.groups[paper_id]
        return {
            citing
            for citing, links in self.links.items()
            if citing not in own and any(link.paper_id in own for link in links)
        }

    def perhaps_citing(self, paper_id: str) -> set[str]:
        """The papers that may cite a version of a paper and do not surely cite any."""
        own = self.groups[paper_id]
        return {
            citing
            for citing, links in self.links.items()
            if citing not in own
            and any(link.paper_id is None and link.candidates & own for link in links)
        } - self.citing(paper_id)

    def edges(self) -> set[tuple[frozenset[str], frozenset[str]]]:
        """Which works cite which, none itself."""
        return {
            (self.groups[citing], self.groups[link.paper_id])
            for citing, links in self.links.items()
            for link in links
            if link.paper_id is not None and self.groups[citing] != self.groups[link.paper_id]
        }

    def shared_references(self, paper_id: str) -> dict[str, int]:
        """How many works this paper's list and another's have in common, those named twice once."""
        mine = self.lists.get(paper_id, ())
        shared = {}
        for other, works in self.lists.items():
            if other != paper_id:
                ours = sum(any(_is_same(one, each) for each in works) for one in mine)
                theirs = sum(any(_is_same(one, each) for one in mine) for each in works)
                shared[other] = min(ours, theirs)
        return {other: count for other, count in shared.items() if count}

    def _find_groups(self) -> dict[str, frozenset[str]]:
        groups = {paper_id: {paper_id} for paper_id in self.papers}
        names = {paper_id: _names(paper) for paper_id, paper in self.papers.items()}
        versions = {
            paper_id: {
                f"paper:{each.paper_id}" if each.paper_id else f"doi:{each.doi}"
                for each in paper.record.related
                if each.relation in ("preprint_of", "published_as", "version_of")
            }
            for paper_id, paper in self.papers.items()
        }
        for one in self.papers:
            for other in self.papers:
                if one != other and versions[one] & (names[other] | versions[other]):
                    merged = groups[one] | groups[other]
                    for each in merged:
                        groups[each] = merged
        self._versions, self._names = versions, names
        return {paper_id: frozenset(group) for paper_id, group in groups.items()}

    def _resolve(self, citing: str, work: CitedWork) -> Judged:
        found: dict[str, set[str]] = defaultdict(set)
        for paper_id, paper in self.papers.items():
            if paper_id == citing:
                continue
            for kind in ("doi", "arxiv", "pmid"):
                name = f"{kind}:{getattr(work, 'arxiv_id' if kind == 'arxiv' else kind)}"
                if name in self._names[paper_id]:
                    found[kind].add(paper_id)
                elif name in self._versions[paper_id]:
                    found["version"].add(paper_id)
            if verdict := _judge_title(work, paper.record):
                found[verdict].add(paper_id)
        for kind in ("doi", "version", "arxiv", "pmid", "title"):
            hits = found.get(kind)
            if hits:
                if len({self.groups[hit] for hit in hits}) == 1:
                    return Judged(min(hits, key=lambda hit: hit), kind, frozenset(hits))
                return Judged(None, None, frozenset(hits))
        undated, doubtful, other = found["undated"], found["doubtful"], found["other"]
        if undated and len({self.groups[each] for each in undated | doubtful | other}) == 1:
            return Judged(min(undated), "title", frozenset(undated))
        return Judged(None, None, frozenset(undated | doubtful))


def _names(paper: PublishedPaper) -> set[str]:
    names = {key.value for key in paper.keys if key.kind_name in ("doi", "arxiv")}
    names.add(f"paper:{paper.paper_id}")
    return names | ({f"pmid:{paper.record.pmid}"} if paper.record.pmid else set())


def _is_final(doi: str | None) -> bool:
    return doi is not None and not doi.startswith(PREPRINT)


def _judge_title(work: CitedWork, record: PaperRecord) -> str | None:
    """The word for what the titles say of a reference and a paper. All titles here are long."""
    if not work.title or title_key(work.title) != title_key(record.title):
        return None
    year = int(record.publication_date[:4]) if record.publication_date else None
    are_finals = _is_final(work.doi) and _is_final(record.doi)
    are_far = work.year is not None and year is not None and abs(work.year - year) > 1
    if not work.authors or not record.authors:
        return None if are_finals or are_far else "doubtful"
    if family_key(work.authors[0]) != family_key(record.authors[0]):
        return None
    if are_finals or are_far:
        return "other"
    unknown = (work.year, year).count(None)
    return ("title", "undated", "doubtful")[unknown]


def _is_same(one: CitedWork, other: CitedWork) -> bool:
    by_name = any(
        getattr(one, name) is not None and getattr(one, name) == getattr(other, name)
        for name in ("doi", "arxiv_id", "pmid")
    )
    return by_name or _titles_agree(
        (one.title, one.authors, one.year, one.doi),
        (other.title, other.authors, other.year, other.doi),
    )


Described = tuple[str | None, tuple[str, ...], int | None, str | None]


def _titles_agree(one: Described, other: Described) -> bool:
    if not one[0] or not other[0] or not one[1] or not other[1]:
        return False
    if one[2] is None or other[2] is None or abs(one[2] - other[2]) > 1:
        return False
    return (
        title_key(one[0]) is not None
        and title_key(one[0]) == title_key(other[0])
        and family_key(one[1][0]) == family_key(other[1][0])
        and not (_is_final(one[3]) and _is_final(other[3]))
    )
