"""Trustworthiness of a map (Venna and Kaski): are neighbours in the plane near in the texts too?

The texts are judged by all of their words, weighed by TF-IDF and compared by cosine: another space
than the map's own, which keeps 40 terms and 64 directions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from carrel.libraries.map_layout import MapText
from carrel.libraries.map_layout.term_vectors import count_terms

NEIGHBOURS = 15
_Floats = NDArray[np.float32]


class TextNeighbours:
    """How near texts are to each other, by all their words."""

    def __init__(self, texts: Sequence[MapText]) -> None:
        counted = [count_terms(text) for text in texts]
        papers_with: Counter[str] = Counter()
        for terms in counted:
            papers_with.update(terms.keys())
        self._total = len(texts)
        self._weights = [_weigh(terms, papers_with, len(texts)) for terms in counted]
        postings: dict[str, tuple[list[int], list[float]]] = {}
        for number, weights in enumerate(self._weights):
            for term, weight in weights.items():
                numbers, values = postings.setdefault(term, ([], []))
                numbers.append(number)
                values.append(weight)
        self._postings = {
            term: (np.array(numbers), np.array(values, dtype=np.float32))
            for term, (numbers, values) in postings.items()
        }

    def similarities(self, number: int) -> _Floats:
        """The cosines of one text with all."""
        found = np.zeros(self._total, np.float32)
        for term, weight in self._weights[number].items():
            numbers, values = self._postings[term]
            found[numbers] += weight * values
        return found


def measure_trustworthiness(
    texts: TextNeighbours, places: _Floats, sample: Sequence[int]
) -> tuple[float, float]:
    """Trustworthiness at 15 neighbours, and the share of them that are among the 15 true ones.

    Over a sample of the points, each against all points. Of equal similarities the mean rank holds.
    """
    total, kept, count = 0.0, 0, len(places)
    for number in sample:
        squares = ((places - places[number]) ** 2).sum(1)
        squares[number] = np.inf
        near = np.argpartition(squares, NEIGHBOURS)[:NEIGHBOURS]
        similar = texts.similarities(number)
        similar[number] = -1.0
        ordered = np.sort(similar)
        above = count - np.searchsorted(ordered, similar[near], "right")
        equal = count - above - np.searchsorted(ordered, similar[near], "left")
        ranks = above + (equal + 1) / 2
        total += float(np.maximum(0, ranks - NEIGHBOURS).sum())
        kept += int((ranks <= NEIGHBOURS).sum())
    worst = len(sample) * NEIGHBOURS * (2 * count - 3 * NEIGHBOURS - 1) / 2
    return 1 - total / worst, kept / (len(sample) * NEIGHBOURS)


def _weigh(terms: Counter[str], papers_with: Counter[str], total: int) -> dict[str, float]:
    weights = {
        term: (1 + math.log(count)) * math.log(total / papers_with[term])
        for term, count in terms.items()
        if papers_with[term] > 1
    }
    length = math.sqrt(sum(value * value for value in weights.values())) or 1.0
    return {term: value / length for term, value in weights.items()}
