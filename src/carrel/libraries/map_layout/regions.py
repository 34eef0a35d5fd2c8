"""Regions of the map: hills of density, coarse for an overview and fine for a near look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.map_layout.grid import (
    GRID_SIDE,
    cell_of,
    fill_empty,
    find_hills,
    join_small,
    measure_density,
)
from carrel.libraries.map_layout.labels import label_groups
from carrel.libraries.map_layout.term_vectors import MapText

# How many regions can be read on one screen, and how many labels when looking nearer.
MOST_REGIONS = 24
MOST_FINE_REGIONS = 120
_COARSE_BLUR, _FINE_BLUR = 4, 1
# A region holds at least this share of the papers; smaller ones join the one they border on most.
_LEAST_SHARE = 0.01
COLOURS = 8


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the map: its number, where its label stands, and the terms that set it apart.

    `colour` is one of eight, and no region near by has the same.
    """

    number: int
    x: float
    y: float
    terms: tuple[str, ...]
    colour: int = 0


@dataclass(frozen=True, slots=True)
class Regions:
    """The regions of a map; `cells` gives the coarse region of every cell of the grid."""

    cells: bytes
    coarse: tuple[Region, ...]
    fine: tuple[Region, ...]

    def region_at(self, place: complex) -> int:
        return self.cells[cell_of(place.real, place.imag)]


def find_regions(texts: Sequence[MapText], places: Sequence[complex]) -> Regions:
    """Regions by where papers crowd, with labels from their titles and keywords."""
    many = math.sqrt(len(places))
    most = max(1, min(MOST_REGIONS, round(many / 2.5)))
    most_fine = max(1, min(MOST_FINE_REGIONS, round(many)))
    cells, coarse = _divide(texts, places, _COARSE_BLUR, most, _LEAST_SHARE)
    _, fine = _divide(texts, places, _FINE_BLUR, most_fine, _LEAST_SHARE / 10)
    return Regions(bytes(cells), tuple(_colour_regions(coarse)), tuple(fine))


def _divide(
    texts: Sequence[MapText],
    places: Sequence[complex],
    blur: int,
    most: int,
    least_share: float,
) -> tuple[list[int], list[Region]]:
    cells = fill_empty(find_hills(measure_density(places, blur), 3 * most))
    where = [cell_of(place.real, place.imag) for place in places]
    cells = join_small(cells, where, most, round(len(places) * least_share))
    members: dict[int, list[int]] = {}
    for number, cell in enumerate(where):
        members.setdefault(cells[cell], []).append(number)
    # The largest first, which is the order in which people read a list of them.
    hills = sorted(members, key=lambda hill: (-len(members[hill]), hill))
    groups = [[texts[number] for number in members[hill]] for hill in hills]
    labels = label_groups(groups)
    regions = [
        Region(number, *_middle([places[each] for each in members[hill]]), labels[number])
        for number, hill in enumerate(hills)
    ]
    renumbered = {hill: number for number, hill in enumerate(hills)}
    # A hill without a paper is that of its nearest neighbours' blur; it cannot hold a label.
    return [renumbered.get(cell, 0) for cell in cells], regions


def _middle(places: Sequence[complex]) -> tuple[float, float]:
    """The medians of both directions: the middle of the crowd, whatever strays."""
    return (
        sorted(place.real for place in places)[len(places) // 2],
        sorted(place.imag for place in places)[len(places) // 2],
    )


def _colour_regions(regions: Sequence[Region]) -> list[Region]:
    """Each with the colour whose nearest use is farthest away."""
    coloured: list[Region] = []
    for region in regions:
        distances = [
            min(
                (
                    math.hypot(region.x - other.x, region.y - other.y)
                    for other in coloured
                    if other.colour == colour
                ),
                default=2.0 + (COLOURS - colour) / 100,
            )
            for colour in range(COLOURS)
        ]
        colour = distances.index(max(distances))
        coloured.append(Region(region.number, region.x, region.y, region.terms, colour))
    return coloured


__all__ = ["GRID_SIDE", "Region", "Regions", "find_regions"]
