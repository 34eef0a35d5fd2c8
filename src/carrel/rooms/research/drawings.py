"""Where the lines of a tournament and the bridges of a hypothesis are drawn, without a colour.

The report writes them as SVG of its own, the web console in its templates.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

MOST_LINES = 8
_EDGE = 34
_LABEL_GAP = 13.0


@dataclass(frozen=True, slots=True)
class RatingCourse:
    """A hypothesis with its Elo after matches, which are counted from 1; 0 is before the first."""

    id: str
    title: str
    steps: Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class PlottedLine:
    """A line as the points of a polyline, and the height of the number at its end."""

    number: int
    id: str
    title: str
    points: str
    label_y: float


@dataclass(frozen=True, slots=True)
class RatingPlot:
    """Lines over a grid of heights, each with its Elo."""

    width: int
    height: int
    left: int
    right: int
    grid: tuple[tuple[float, str], ...]
    lines: tuple[PlottedLine, ...]
    match_count: int


def plot_ratings(
    courses: Sequence[RatingCourse],
    match_count: int,
    *,
    width: int = 760,
    height: int = 300,
    left: int = 52,
    right: int = 40,
) -> RatingPlot:
    """The first courses as lines, numbered from 1; there must be one at least."""
    drawn = courses[:MOST_LINES]
    heights = [elo for course in drawn for _, elo in course.steps]
    low, high = min(heights) - 10, max(heights) + 10

    def point(place: float, elo: float) -> tuple[float, float]:
        x = left + (width - left - right) * place / max(1, match_count)
        return x, _EDGE + (height - 2 * _EDGE) * (high - elo) / (high - low)

    ends = spread_labels(
        [point(match_count, course.steps[-1][1])[1] for course in drawn],
        lowest=height - _EDGE + 8,
    )
    lines = []
    for number, (course, end) in enumerate(zip(drawn, ends, strict=True), start=1):
        steps = [*course.steps, (match_count, course.steps[-1][1])]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (point(*step) for step in steps))
        lines.append(PlottedLine(number, course.id, course.title, points, end))
    levels = (low + 10, (low + high) / 2, high - 10)
    grid = tuple((point(0, elo)[1], f"{elo:.0f}") for elo in levels)
    return RatingPlot(width, height, left, right, grid, tuple(lines), match_count)


def spread_labels(
    heights: Sequence[float], least: float = _LABEL_GAP, lowest: float = 274.0
) -> list[float]:
    """The heights moved so that labels there do not lie on one another, nor below the drawing."""
    moved = list(heights)
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    for before, after in pairwise(order):
        moved[after] = max(moved[after], moved[before] + least)
    for place in reversed(order):
        moved[place] = min(moved[place], lowest)
        lowest = moved[place] - least
    return moved


@dataclass(frozen=True, slots=True)
class BridgeSpan:
    """A concept between start and end, and how many papers name it with each."""

    concept: str
    near_papers: int
    far_papers: int


@dataclass(frozen=True, slots=True)
class PlottedEdge:
    """A line as thick as papers support it, with the place of their number."""

    x1: float
    y1: float
    x2: float
    y2: float
    thickness: float
    papers: int
    label_x: float
    label_y: float


@dataclass(frozen=True, slots=True)
class PlottedNode:
    """A name at its middle, in lines that fit."""

    x: float
    y: float
    label: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlottedSpan:
    """A concept with the edges to both sides."""

    node: PlottedNode
    near: PlottedEdge
    far: PlottedEdge


@dataclass(frozen=True, slots=True)
class BridgeLayout:
    """Measures of a drawing of bridges: concepts and ends are so wide, lines hold so many letters.

    `top` is kept free above for the names of ends that are too narrow to hold them.
    """

    width: int
    node_width: int
    end_width: int
    row_height: int
    letters: int
    top: int = 0


WIDE_BRIDGE = BridgeLayout(width=760, node_width=160, end_width=160, row_height=44, letters=24)


@dataclass(frozen=True, slots=True)
class BridgePlot:
    """Start at the left, concepts in the middle, end at the right."""

    width: int
    height: float
    node_width: int
    end_width: int
    start: PlottedNode
    end: PlottedNode
    spans: tuple[PlottedSpan, ...]


def plot_bridge(
    start: str, end: str, spans: Sequence[BridgeSpan], layout: BridgeLayout = WIDE_BRIDGE
) -> BridgePlot:
    """The drawing of a connection over at least one concept."""
    width, node, end_width, top = layout.width, layout.node_width, layout.end_width, layout.top
    height = max(120, layout.row_height * len(spans) + 30) + top
    middle, centre = top + (height - top) / 2, width / 2
    placed = []
    for place, span in enumerate(spans):
        y = top + 15 + (height - top - 30) * (place + 0.5) / len(spans)
        near = _edge((end_width, middle), (centre - node / 2, y), span.near_papers, 0.75)
        far = _edge((centre + node / 2, y), (width - end_width, middle), span.far_papers, 0.25)
        placed.append(PlottedSpan(_node(centre, y, span.concept, layout), near, far))
    return BridgePlot(
        width,
        height,
        node,
        end_width,
        _node(end_width / 2, middle, start, layout),
        _node(width - end_width / 2, middle, end, layout),
        tuple(placed),
    )


def _edge(
    start: tuple[float, float], end: tuple[float, float], papers: int, share: float
) -> PlottedEdge:
    """`share` of the way lies the number: beside the concept, where the lines have come apart."""
    (x1, y1), (x2, y2) = start, end
    thickness = min(8.0, 1 + papers**0.5)
    label_x, label_y = x1 + (x2 - x1) * share, y1 + (y2 - y1) * share - 5
    return PlottedEdge(x1, y1, x2, y2, thickness, papers, label_x, label_y)


def _node(x: float, y: float, label: str, layout: BridgeLayout) -> PlottedNode:
    lines = textwrap.wrap(label, layout.letters, max_lines=2, placeholder="…") or [label]
    return PlottedNode(x, y, label, tuple(lines))
