"""The link-prediction measures one has without any of this, from who met whom alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import log, log1p, sqrt

from benchmarks.links.slices import LinkSlice


@dataclass(slots=True)
class PairMeasures:
    """Nine measures of a pair that never met."""

    common_neighbours: float = 0.0
    adamic_adar: float = 0.0
    resource_allocation: float = 0.0
    weighted_by_npmi: float = 0.0
    weighted_by_papers: float = 0.0
    cosine: float = 0.0
    jaccard: float = 0.0
    preferential_attachment: float = 0.0
    uses: float = 0.0

    def row(self) -> list[float]:
        """All nine as logarithms, for the regression."""
        return [log1p(SCALE.get(name, 1.0) * getattr(self, name)) for name in MEASURES]


MEASURES = tuple(field.name for field in fields(PairMeasures))
# Small shares are stretched before the logarithm of one more than them is taken.
SCALE = {"resource_allocation": 10.0, "cosine": 10.0, "jaccard": 10.0}


class Neighbourhood:
    """Measures of a start and every other concept, by what stands between them."""

    def __init__(self, of: LinkSlice) -> None:
        self._of = of
        self._documents = len(of.reader.index)

    def measure(self, start: int, others: Sequence[int]) -> list[PairMeasures]:
        """The nine measures of the start with each of the others."""
        found = {number: PairMeasures() for number in others}
        meetings, degree = self._of.meetings, self._degree
        for between, near in meetings.get(start, {}).items():
            rarity = 1 / log(degree[between]) if degree[between] > 1 else 0.0
            share = 1 / degree[between]
            near_npmi = self._npmi(start, between, near)
            for other, far in meetings[between].items():
                own = found.get(other)
                if own is None:
                    continue
                own.common_neighbours += 1
                own.adamic_adar += rarity
                own.resource_allocation += share
                own.weighted_by_npmi += sqrt(near_npmi * self._npmi(between, other, far))
                own.weighted_by_papers += near * far
        here = degree.get(start, 0)
        for other, own in found.items():
            there, common = degree.get(other, 0), own.common_neighbours
            own.cosine = common / sqrt(here * there) if here and there else 0.0
            own.jaccard = common / (here + there - common) if common else 0.0
            own.preferential_attachment = here * there
            own.uses = self._of.uses[other]
        return [found[number] for number in others]

    @cached_property
    def _degree(self) -> dict[int, int]:
        return {number: len(met) for number, met in self._of.meetings.items()}

    def _npmi(self, one: int, other: int, both: int) -> float:
        uses, total = self._of.uses, self._documents
        if both >= total:
            return 0.0
        return max(0.0, log(both * total / (uses[one] * uses[other])) / -log(both / total))
