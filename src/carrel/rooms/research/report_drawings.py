"""Drawings of a report as SVG: Elo over the matches, and the bridges of a hypothesis."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from carrel.rooms.research.records import Hypothesis, MatchPlayed

DRAWN = 8
COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#7b4b94", "#c69214", "#3a7d7c", "#8d5a3b", "#5c677d")
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _EDGE = 760, 300, 52, 40, 34


def draw_ratings(ordered: Sequence[Hypothesis], matches: Sequence[MatchPlayed]) -> str:
    """Elo after every match as SVG: one line per leader, numbered by its rank."""
    drawn = list(ordered[:DRAWN])
    courses = {hypothesis.id: [(0, hypothesis.start_elo)] for hypothesis in drawn}
    for place, match in enumerate(matches, start=1):
        for hypothesis_id, elo in (
            (match.first, match.first_elo),
            (match.second, match.second_elo),
        ):
            if hypothesis_id in courses:
                courses[hypothesis_id].append((place, elo))
    heights = [elo for course in courses.values() for _, elo in course]
    low, high = min(heights) - 10, max(heights) + 10

    def point(place: float, elo: float) -> tuple[float, float]:
        x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * place / max(1, len(matches))
        return x, _EDGE + (_HEIGHT - 2 * _EDGE) * (high - elo) / (high - low)

    parts = []
    for elo in (low + 10, (low + high) / 2, high - 10):
        y = point(0, elo)[1]
        parts.append(
            f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" stroke="#ddd"/>'
        )
        parts.append(
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" font-size="12" '
            f'text-anchor="end">{elo:.0f}</text>'
        )
    ends = spread_labels(
        [point(len(matches), courses[hypothesis.id][-1][1])[1] for hypothesis in drawn]
    )
    for number, (colour, hypothesis, end) in enumerate(
        zip(COLOURS, drawn, ends, strict=False), start=1
    ):
        course = [*courses[hypothesis.id], (len(matches), courses[hypothesis.id][-1][1])]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (point(*step) for step in course))
        title = f"<title>{escape(hypothesis.draft.title)}</title>"
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" '
            f'stroke-width="2">{title}</polyline>'
        )
        parts.append(
            f'<text x="{_WIDTH - _RIGHT + 6}" y="{end + 4:.1f}" font-size="13" font-weight="bold" '
            f'fill="{colour}">{number}</text>'
        )
    parts.append(f'<text x="{_LEFT}" y="16" font-size="12">Elo</text>')
    parts.append(
        f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 8}" font-size="12" text-anchor="end">after '
        f"{len(matches)} matches</text>"
    )
    return _svg(_HEIGHT, "".join(parts), "Elo ratings after every match")


def spread_labels(
    heights: list[float], least: float = 13.0, lowest: float = _HEIGHT - _EDGE + 8
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


def draw_evidence(hypothesis: Hypothesis) -> str:
    """Start, bridges and end as SVG; lines are as thick as papers support them."""
    connection = hypothesis.draft.connection
    if connection is None or not connection.bridges:
        return ""
    count = len(connection.bridges)
    height = max(120, 44 * count + 30)
    middle, lines, words = height / 2, [], []
    for place, bridge in enumerate(connection.bridges):
        y = 15 + (height - 30) * (place + 0.5) / count
        for x1, x2, papers in ((160, 300, bridge.near_documents), (460, 600, bridge.far_documents)):
            y1, y2 = (middle, y) if x1 == 160 else (y, middle)
            width = min(8.0, 1 + papers**0.5)
            lines.append(
                f'<line x1="{x1}" y1="{y1:.1f}" x2="{x2}" y2="{y2:.1f}" stroke="#b8c6d4" '
                f'stroke-width="{width:.1f}">'
                f"<title>{papers} {'paper' if papers == 1 else 'papers'}</title></line>"
            )
            # Beside the bridge, where the lines have come apart.
            near = 0.75 if x1 == 160 else 0.25
            words.append(
                _text(x1 + (x2 - x1) * near, y1 + (y2 - y1) * near - 5, str(papers), size=11)
            )
        words.append(_text(380, y + 4, bridge.concept.label))
    words.extend(
        (
            _text(84, middle + 4, connection.start.label),
            _text(676, middle + 4, connection.end.label),
        )
    )
    return _svg(
        height,
        "".join(lines) + "".join(words),
        "Evidence: start, bridges and end, with the number of papers",
    )


def _text(x: float, y: float, text: str, size: int = 13) -> str:
    short = text if len(text) <= 24 else text[:23] + "…"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" '
        f'text-anchor="middle"><title>{escape(text)}</title>{escape(short)}</text>'
    )


def _svg(height: float, inside: str, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" role="img" '
        f'aria-label="{escape(title)}">'
        f"{inside}</svg>"
    )
