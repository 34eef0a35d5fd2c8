"""A square grid over the map: how dense points lie in it, and which region a place belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

GRID_SIDE = 128


def cell_of(x: float, y: float) -> int:
    """The cell of a place of the unit square."""
    column = min(GRID_SIDE - 1, max(0, int(x * GRID_SIDE)))
    row = min(GRID_SIDE - 1, max(0, int(y * GRID_SIDE)))
    return row * GRID_SIDE + column


def measure_density(places: Iterable[complex], radius: int) -> list[float]:
    """Points in and around each cell: three blurs over `radius` cells are nearly a Gaussian."""
    density = [0.0] * (GRID_SIDE * GRID_SIDE)
    for place in places:
        density[cell_of(place.real, place.imag)] += 1.0
    for _ in range(3):
        rows = [density[at : at + GRID_SIDE] for at in range(0, len(density), GRID_SIDE)]
        rows = [_blur(row, radius) for row in rows]
        columns = [_blur(column, radius) for column in zip(*rows, strict=True)]
        density = [value for row in zip(*columns, strict=True) for value in row]
    return density


def find_hills(density: Sequence[float], most: int) -> list[int]:
    """For each cell the hill that it belongs to, from 0; -1 where nothing is.

    Of all hills the `most` prominent stay: lower ones join the hill across their highest pass.
    """
    heights = _prominences(density)
    threshold = sorted(heights, reverse=True)[most] if len(heights) > most else -1.0
    hills, peaks = _flood(density, threshold)
    numbers = {peak: number for number, peak in enumerate(sorted(set(peaks)))}
    return [numbers[hill] if hill >= 0 else -1 for hill in hills]


def fill_empty(hills: Sequence[int]) -> list[int]:
    """The same with every empty cell given to the hill nearest to it."""
    filled = list(hills)
    front = [cell for cell, hill in enumerate(filled) if hill >= 0]
    while front:
        following = []
        for cell in front:
            for near in _around(cell):
                if filled[near] < 0:
                    filled[near] = filled[cell]
                    following.append(near)
        front = following
    return filled


def join_small(hills: Sequence[int], papers: Sequence[int], most: int, least: int) -> list[int]:
    """The same with at most so many hills, each with at least so many of the papers.

    `papers` are their cells. The smallest hill joins the one it shares the longest border with.
    """
    joined = list(hills)
    sizes = Counter(joined[cell] for cell in papers)
    for hill in set(joined):
        sizes.setdefault(hill, 0)
    borders: dict[int, Counter[int]] = {hill: Counter() for hill in sizes}
    for cell, hill in enumerate(joined):
        for near in _around(cell):
            if joined[near] != hill:
                borders[hill][joined[near]] += 1
    while len(sizes) > 1:
        smallest = min(sizes, key=lambda hill: (sizes[hill], hill))
        if len(sizes) <= most and sizes[smallest] >= least:
            break
        around = borders.pop(smallest)
        into = max(around, key=lambda hill: (around[hill], hill))
        sizes[into] += sizes.pop(smallest)
        joined = [into if hill == smallest else hill for hill in joined]
        for other, length in around.items():
            del borders[other][smallest]
            if other != into:
                borders[into][other] += length
                borders[other][into] += length
    return joined


def _prominences(density: Sequence[float]) -> list[float]:
    found: list[float] = []
    _flood(density, float("inf"), found)
    return found


def _flood(
    density: Sequence[float], threshold: float, prominences: list[float] | None = None
) -> tuple[list[int], list[int]]:
    """Hills from the highest cell down; where two meet, one less prominent than this joins."""
    parent: dict[int, int] = {}

    def top(cell: int) -> int:
        while parent[cell] != cell:
            parent[cell] = parent[parent[cell]]
            cell = parent[cell]
        return cell

    order = sorted((cell for cell, value in enumerate(density) if value > 0), key=_by(density))
    for cell in order:
        around = {top(near) for near in _around(cell) if near in parent}
        if not around:
            parent[cell] = cell
            continue
        highest = min(around, key=_by(density))
        parent[cell] = highest
        for other in around - {highest}:
            prominence = density[other] - density[cell]
            if prominence <= threshold:
                parent[other] = highest
                if prominences is not None:
                    prominences.append(prominence)
    if prominences is not None:
        # Hills that meet no other.
        prominences += [density[cell] for cell in parent if parent[cell] == cell]
    hills = [top(cell) if cell in parent else -1 for cell in range(len(density))]
    return hills, [hill for hill in hills if hill >= 0]


def _by(density: Sequence[float]) -> Callable[[int], tuple[float, int]]:
    return lambda cell: (-density[cell], cell)


def _around(cell: int) -> Iterator[int]:
    row, column = divmod(cell, GRID_SIDE)
    for near_row in range(max(0, row - 1), min(GRID_SIDE, row + 2)):
        for near_column in range(max(0, column - 1), min(GRID_SIDE, column + 2)):
            near = near_row * GRID_SIDE + near_column
            if near != cell:
                yield near


def _blur(values: Sequence[float], radius: int) -> list[float]:
    """Each value replaced by the mean of those at most `radius` away; nothing lies outside."""
    sums = [0.0]
    for value in values:
        sums.append(sums[-1] + value)
    count = len(values)
    width = 2 * radius + 1
    return [
        (sums[min(count, at + radius + 1)] - sums[max(0, at - radius)]) / width
        for at in range(count)
    ]
