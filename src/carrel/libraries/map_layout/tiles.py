"""Quadtree tiles of the map: each keeps the first of its shuffled points, its children the rest.

A point is ten bytes, little-endian: x and y within the tile (0 to 65,535), the point's number, its
year (0 where unknown, else years since the map's first year plus one) and its region.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

POINTS_PER_TILE = 4096
POINT = struct.Struct("<HHIBB")
# Points at the very same place do not part however often a tile is divided.
_DEEPEST = 12
_MOST = 65535


@dataclass(frozen=True, slots=True)
class TilePoint:
    """A point of the unit square as tiles hold it."""

    x: float
    y: float
    number: int
    year: int
    region: int


@dataclass(frozen=True, slots=True)
class Tile:
    """A square of the map: `depth` divisions, `column` and `row` from the upper left corner."""

    depth: int
    column: int
    row: int
    count: int
    body: bytes

    @property
    def name(self) -> str:
        return f"{self.depth}-{self.column}-{self.row}"


def cut_tiles(points: Sequence[TilePoint], per_tile: int = POINTS_PER_TILE) -> Iterator[Tile]:
    """All tiles of points that come in a shuffled order, parents before their children."""
    waiting = [(0, 0, 0, list(points))]
    while waiting:
        depth, column, row, inside = waiting.pop(0)
        here = inside if depth == _DEEPEST else inside[:per_tile]
        yield Tile(depth, column, row, len(here), _encode(here, depth, column, row))
        children: dict[tuple[int, int], list[TilePoint]] = {}
        side = 2 ** (depth + 1)
        for point in inside[len(here) :]:
            place = (min(side - 1, int(point.x * side)), min(side - 1, int(point.y * side)))
            children.setdefault(place, []).append(point)
        waiting += [(depth + 1, *place, rest) for place, rest in sorted(children.items())]


def _encode(points: Sequence[TilePoint], depth: int, column: int, row: int) -> bytes:
    side = 2**depth
    return b"".join(
        POINT.pack(
            min(_MOST, max(0, int((point.x * side - column) * (_MOST + 1)))),
            min(_MOST, max(0, int((point.y * side - row) * (_MOST + 1)))),
            point.number,
            point.year,
            point.region,
        )
        for point in points
    )
