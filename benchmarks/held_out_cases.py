"""Cases like Swanson's made from MEDLINE: the papers that join two headings are held out, and say
afterwards what joins them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from benchmarks.discovery_data import cases, medline, piped_titles
from carrel.libraries.discovery.concepts.index import ConceptIndex
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary, natural_order
from carrel.libraries.discovery.concepts.words import normal_phrase
from carrel.libraries.discovery.paths.literatures import MECHANISMS, Reader
from carrel.libraries.discovery.records import Literature, Paper, Sphere

LEAST_TRUE_BRIDGES = 2
CASES_PER_HEADING = 3
LITERATURE_SIZES = range(400, 3001)
JOINT_PAPERS = range(5, 61)
JOINT_SHARE = 0.05


@dataclass(frozen=True)
class HeldOut:
    """Two literatures, known by headings and read by titles; `bridges` are commoner in the held-out
    papers than in either.
    """

    start: str
    end: str
    a: Literature
    c: Literature
    bridges: frozenset[int]


class Headings:
    """Papers by the headings they carry, with narrower ones; the ends of the gold cases and their
    kin are left out.
    """

    def __init__(self, folder: Path, papers: Sequence[Paper], vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.of_paper = {paper.id: frozenset(self._keys(paper)) for paper in papers}
        carried: dict[str, set[str]] = {}
        for paper, keys in self.of_paper.items():
            for key in keys:
                carried.setdefault(key, set()).add(paper)
        self.papers = {
            key: frozenset(
                carried[key].union(*(carried.get(below, ()) for below in vocabulary.narrower(key)))
            )
            for key in carried
        }
        gold = (
            normal_phrase(natural_order(name))
            for case in cases(folder)
            for name in (case.start_name, *case.end_names)
        )
        self._gold = [vocabulary.preferred(name) or name for name in gold]

    def _keys(self, paper: Paper) -> Iterator[str]:
        for heading in paper.headings:
            key = self.vocabulary.preferred(
                normal_phrase(natural_order(heading.strip().rstrip("*")))
            )
            if key:
                yield key

    def chosen(self, spheres: set[Sphere], sizes: range) -> list[str]:
        """Headings of some sort whose literature is neither too thin nor too wide."""
        return sorted(
            key
            for key, papers in self.papers.items()
            if self.vocabulary.sphere(key) in spheres
            and len(papers) in sizes
            and not any(key == gold or self.vocabulary.is_kin(key, gold) for gold in self._gold)
        )

    def share(self, key: str, papers: frozenset[str]) -> float:
        """How many of the papers carry a heading."""
        return sum(key in self.of_paper[paper] for paper in papers) / len(papers) if papers else 0.0


def medline_papers(folder: Path) -> list[Paper]:
    """The MEDLINE sample alone: the other files are chosen around one gold case, and would lean
    every case to it.
    """
    return list(medline(folder, with_headings=True))


def every_paper(folder: Path) -> list[Paper]:
    """The sample with all titled literatures that carry headings."""
    papers = {
        paper.id: paper
        for path in sorted(folder.glob("*_titles_mesh.psv.gz"))
        for paper in piped_titles(path)
    }
    return list(
        (papers | {paper.id: paper for paper in medline(folder, with_headings=True)}).values()
    )


def held_out(folder: Path, vocabulary: Vocabulary, most: int) -> tuple[Reader, list[HeldOut]]:
    """Pairs of a disorder or process and a chemical that few papers join, in an order drawn by
    lot.
    """
    papers = medline_papers(folder)
    headings = Headings(folder, papers, vocabulary)
    reader = Reader(
        ConceptIndex.build([replace(paper, headings=()) for paper in papers], vocabulary)
    )
    pairs = [
        (start, end)
        for start in headings.chosen({Sphere.DISORDER, Sphere.PROCESS}, LITERATURE_SIZES)
        for end in headings.chosen({Sphere.CHEMICAL}, LITERATURE_SIZES)
        if _few(headings.papers[start], headings.papers[end])
    ]
    Random(7).shuffle(pairs)
    used: Counter[str] = Counter()
    found: list[HeldOut] = []
    for start, end in pairs:
        if len(found) == most:
            break
        if used[start] < CASES_PER_HEADING and used[end] < CASES_PER_HEADING:
            case = _case(reader, headings, start, end)
            if len(case.bridges) >= LEAST_TRUE_BRIDGES:
                used.update((start, end))
                found.append(case)
    return reader, found


def _few(one: frozenset[str], other: frozenset[str]) -> bool:
    joint = len(one & other)
    return joint in JOINT_PAPERS and joint <= JOINT_SHARE * min(len(one), len(other))


def _case(reader: Reader, headings: Headings, start: str, end: str) -> HeldOut:
    near, far = headings.papers[start], headings.papers[end]
    joint = near & far
    told = Counter(key for paper in joint for key in headings.of_paper[paper])
    true = {
        number
        for key, count in told.items()
        if count > 1
        and headings.vocabulary.sphere(key) in MECHANISMS
        and headings.share(key, joint)
        > max(headings.share(key, near - joint), headings.share(key, far - joint))
        and (number := reader.index.number(key)) is not None
    }
    a = reader.given_literature(start, near, [start])
    c = reader.given_literature(end, far, [end])
    return HeldOut(start, end, a, c, frozenset(true))
