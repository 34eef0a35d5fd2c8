"""Keyword pairs that papers first joined in some years, and as many that they never did: what a
prospect is measured on.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from random import Random

from carrel.libraries.discovery.concepts.index import ConceptIndex
from carrel.libraries.discovery.concepts.words import normal_phrase
from carrel.libraries.discovery.paths.link_prediction import prospect
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.records import Paper

NEVER_JOINED = 20_000
LEAST_USES = 5

Pair = tuple[int, int]


def area_under_curve(good: Sequence[float], bad: Sequence[float]) -> float:
    """How often a good one scores above a bad one."""
    ordered = sorted(bad)
    return sum((bisect_left(ordered, one) + bisect_right(ordered, one)) / 2 for one in good) / (
        len(good) * len(ordered)
    )


@dataclass(frozen=True)
class ListedPairs:
    """Pairs that a file lists as joined later; its header says up to which year the papers before
    go (`n_bridges_upto2019`).
    """

    up_to: int
    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, path: Path) -> "ListedPairs":
        """The file as it is given out."""
        header, *lines = path.read_text(encoding="utf-8").splitlines()
        year = re.search(r"upto(\d{4})", header)
        pairs = (line.split("\t") for line in lines if line)
        return cls(int(year[1]) if year else 2019, tuple((one, other) for one, other, *_ in pairs))


@dataclass(frozen=True)
class PairSlice:
    """The papers up to a year, pairs of keywords joined later, and pairs never joined."""

    reader: Reader
    joined: tuple[Pair, ...]
    apart: tuple[Pair, ...]

    def scores(self, pairs: Iterable[Pair]) -> list[float]:
        """The prospects of pairs, as hypotheses are ranked by."""
        company = self.reader.company
        return [prospect(company(one), company(other)) for one, other in pairs]

    def area(self) -> float:
        """How often a pair joined later stands before one never joined."""
        return area_under_curve(self.scores(self.joined), self.scores(self.apart))


def listed_slice(listed: ListedPairs, papers: Sequence[Paper]) -> PairSlice:
    """Pairs that a file lists, against as often used keywords that no paper of any year joins."""
    before = [paper for paper in papers if paper.year is not None and paper.year <= listed.up_to]
    reader = Reader(ConceptIndex.build(before))
    uses = _uses(before)
    least = min(uses[keyword] for pair in listed.pairs for keyword in pair)
    numbers = (
        (reader.index.number(normal_phrase(one)), reader.index.number(normal_phrase(other)))
        for one, other in listed.pairs
    )
    joined = tuple((one, other) for one, other in numbers if one is not None and other is not None)
    return PairSlice(reader, joined, _apart(reader, before, papers, least))


def earlier_slice(papers: Sequence[Paper], up_to: int, since: int, until: int) -> PairSlice:
    """Pairs made as the listed ones were: not joined up to one year, joined since a later one,
    nothing read after `until`.
    """
    known = [paper for paper in papers if paper.year is not None and paper.year <= until]
    before = [paper for paper in known if paper.year is not None and paper.year <= up_to]
    reader = Reader(ConceptIndex.build(before))
    pool = set(_pool(reader, before, LEAST_USES))
    old = _joined(reader, before)
    new = _joined(
        reader, (paper for paper in known if paper.year is not None and paper.year >= since)
    )
    joined = tuple(sorted(pair for pair in new - old if pool.issuperset(pair)))
    return PairSlice(reader, joined, _apart(reader, before, known, LEAST_USES))


def _uses(papers: Iterable[Paper]) -> Counter[str]:
    return Counter(keyword.lower().strip() for paper in papers for keyword in set(paper.keywords))


def _pool(reader: Reader, before: Iterable[Paper], least: int) -> list[int]:
    often = (keyword for keyword, count in _uses(before).items() if count >= least)
    return sorted(
        {
            number
            for keyword in often
            if (number := reader.index.number(normal_phrase(keyword))) is not None
        }
    )


def _joined(reader: Reader, papers: Iterable[Paper]) -> set[Pair]:
    number = reader.index.number
    pairs: set[Pair] = set()
    for paper in papers:
        known = sorted(
            {
                found
                for keyword in paper.keywords
                if (found := number(normal_phrase(keyword))) is not None
            }
        )
        pairs.update(combinations(known, 2))
    return pairs


def _apart(
    reader: Reader, before: Sequence[Paper], all_papers: Iterable[Paper], least: int
) -> tuple[Pair, ...]:
    pool, ever, random = _pool(reader, before, least), _joined(reader, all_papers), Random(2019)
    possible = [pair for pair in combinations(pool, 2) if pair not in ever]
    return tuple(sorted(random.sample(possible, min(NEVER_JOINED, len(possible)))))
