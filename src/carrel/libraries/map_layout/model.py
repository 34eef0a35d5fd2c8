"""The map of a corpus: landmarks in the plane, regions with labels, places for the rest."""

from __future__ import annotations

import hashlib
import math
import random
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from carrel.libraries.map_layout.force_layout import (
    EPOCHS,
    NEIGHBOURS,
    connect_neighbours,
    lay_out,
    separate,
    spread_start,
)
from carrel.libraries.map_layout.latent_space import (
    ROUNDS,
    LatentSpace,
    Vector,
    fit_space,
    principal_plane,
)
from carrel.libraries.map_layout.nearest import NeighbourIndex
from carrel.libraries.map_layout.regions import Regions, find_regions
from carrel.libraries.map_layout.term_vectors import (
    MapText,
    count_terms,
    weigh_rarity,
    weigh_terms,
)

# Laying out takes about 5 ms of CPU for each, placing another paper among them one.
MOST_LANDMARKS = 10_000
DEFAULT_SEED = 20
# Where a paper's nearest landmarks say that it belongs.
_NEAREST_LANDMARKS = 10
_PLACING_STEPS = 4
_MARGIN = 0.03
# How far apart two landmarks are at least, in parts of what each had if they lay evenly.
_LEAST_DISTANCE = 0.2
# Of the landmarks this share may lie further out than the frame; they are drawn at its rim.
_STRAY_SHARE = 0.002

Report = Callable[[str, int, int], None]
"""Called with a phase (terms, space, neighbours, layout, regions), how much is done of how much."""


@dataclass(slots=True)
class MapModel:
    """What places papers on the map: landmarks, and the space in which they are neighbours."""

    seed: int
    rarity: dict[str, float]
    space: LatentSpace
    landmark_ids: list[str]
    vectors: list[Vector]
    # Places in the unit square, x as the real part.
    places: list[complex]
    # How long one unit of the layout is in the unit square.
    unit: float
    regions: Regions
    _index: NeighbourIndex | None = field(default=None, repr=False)

    def vector_of(self, text: MapText) -> Vector | None:
        return self.space.project(weigh_terms(count_terms(text), self.rarity))

    def join(self, papers: Sequence[tuple[str, Vector, complex]]) -> None:
        """Let papers that have been placed be landmarks for others."""
        for paper_id, vector, place in papers:
            self.landmark_ids.append(paper_id)
            self.vectors.append(tuple(array("f", vector)))
            self.places.append(place)
        self._index = None

    def place(self, paper_id: str, vector: Vector) -> complex:
        """A place among the nearest landmarks: where most of them stand, not between them."""
        if self._index is None:
            self._index = NeighbourIndex(self.vectors, random.Random(self.seed))  # noqa: S311
        near = [
            (self.places[number], max(1e-3, 1.0 - distance * distance / 2.0) ** 4)
            for distance, number in self._index.find(vector, _NEAREST_LANDMARKS)
        ]
        at = max((place for place, _ in near), key=lambda place: self._agreement(place, near))
        for _ in range(_PLACING_STEPS):
            pulls = [(other, weight * self._nearness(at, other)) for other, weight in near]
            total = sum(pull for _, pull in pulls)
            at = sum((other * pull for other, pull in pulls), 0j) / total
        return _into_square(at + self._scatter(paper_id))

    def _agreement(self, place: complex, near: Sequence[tuple[complex, float]]) -> float:
        return sum(weight * self._nearness(place, other) for other, weight in near)

    def _nearness(self, one: complex, other: complex) -> float:
        away = abs(one - other) / self.unit
        return 1.0 / (1.0 + away * away)

    def _scatter(self, paper_id: str) -> complex:
        """A small step that depends on the paper alone, so that papers do not cover each other."""
        digest = hashlib.blake2b(paper_id.encode(), digest_size=4).digest()
        angle = int.from_bytes(digest[:2], "little") / 65536 * math.tau
        length = math.sqrt(int.from_bytes(digest[2:], "little") / 65536) * self.unit * 0.35
        return complex(math.cos(angle) * length, math.sin(angle) * length)


def fit_map(
    landmarks: Sequence[MapText],
    *,
    seed: int = DEFAULT_SEED,
    report: Report = lambda phase, done, total: None,
) -> MapModel:
    """The map of these papers, at most MOST_LANDMARKS; the same papers and seed give the same map.

    Papers without any term that another one has are no landmarks. Raises ValueError where none are.
    """
    chance = random.Random(seed)  # noqa: S311
    counted = []
    for number, text in enumerate(landmarks, start=1):
        counted.append(count_terms(text))
        report("terms", number, len(landmarks))
    rarity = weigh_rarity(counted)
    weighed = [weigh_terms(each, rarity) for each in counted]
    space = fit_space(
        [terms for terms in weighed if terms], chance, _count_up(report, "space", ROUNDS)
    )
    texts, vectors = [], []
    for text, terms in zip(landmarks, weighed, strict=True):
        vector = space.project(terms)
        if vector is not None:
            texts.append(text)
            vectors.append(tuple(array("f", vector)))
    if not vectors:
        raise ValueError("no paper has a term that another one has")
    index = NeighbourIndex(vectors, random.Random(seed))  # noqa: S311
    neighbours = []
    for number, vector in enumerate(vectors):
        near = [each for each in index.find(vector, NEIGHBOURS + 1) if each[1] != number]
        neighbours.append(near[:NEIGHBOURS])
        report("neighbours", number + 1, len(vectors))
    laid_out = lay_out(
        spread_start(principal_plane(vectors, chance)),
        connect_neighbours(neighbours),
        chance,
        _count_up(report, "layout", EPOCHS),
    )
    places, unit = _into_frame(laid_out)
    places = [_into_square(at) for at in separate(places, _LEAST_DISTANCE / len(places) ** 0.5)]
    regions = find_regions(texts, places)
    report("regions", 1, 1)
    ids = [text.id for text in texts]
    return MapModel(seed, rarity, space, ids, vectors, places, unit, regions, index)


def choose_landmarks(paper_ids: Sequence[str], most: int = MOST_LANDMARKS) -> set[str]:
    """Ids of the papers that are laid out; drawn by a hash, so that the order does not matter."""
    return set(shuffle_ids(paper_ids)[:most])


def shuffle_ids(paper_ids: Sequence[str]) -> list[str]:
    """The ids in an order that has nothing to do with the papers, and is always the same."""
    return sorted(paper_ids, key=lambda each: hashlib.blake2b(each.encode()).digest())


def _into_frame(points: Sequence[complex]) -> tuple[list[complex], float]:
    """The points in the unit square with a margin, and the length of one unit in it."""
    lefts, rights = _reach([point.real for point in points])
    tops, bottoms = _reach([point.imag for point in points])
    middle = complex((lefts + rights) / 2, (tops + bottoms) / 2)
    extent = max(rights - lefts, bottoms - tops, 1.0)
    unit = (1.0 - 2 * _MARGIN) / extent
    placed = [_into_square((point - middle) * unit + complex(0.5, 0.5)) for point in points]
    return placed, unit


def _reach(values: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(values)
    stray = int(len(ordered) * _STRAY_SHARE)
    return ordered[stray], ordered[-1 - stray]


def _into_square(place: complex) -> complex:
    """As it is stored: single precision, within the square."""
    stored = array("f", (min(0.999, max(0.001, place.real)), min(0.999, max(0.001, place.imag))))
    return complex(stored[0], stored[1])


def _count_up(report: Report, phase: str, total: int) -> Callable[[], None]:
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        report(phase, done, total)

    return count
