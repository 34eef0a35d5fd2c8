"""Drawings of a report as SVG: Elo over the matches, and the bridges of a hypothesis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from carrel.rooms.research.drawings import (
    MOST_LINES,
    BridgeSpan,
    RatingCourse,
    plot_bridge,
    plot_ratings,
)
from carrel.rooms.research.records import Hypothesis, MatchPlayed

COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#7b4b94", "#c69214", "#3a7d7c", "#8d5a3b", "#5c677d")
_WIDTH = 760


def trace_ratings(
    hypotheses: Iterable[Hypothesis], matches: Sequence[MatchPlayed]
) -> list[RatingCourse]:
    """The Elo of each hypothesis before its first match and after every match of its own."""
    courses = {one.id: (one.draft.title, [(0, one.start_elo)]) for one in hypotheses}
    for place, match in enumerate(matches, start=1):
        for hypothesis_id, elo in (
            (match.first, match.first_elo),
            (match.second, match.second_elo),
        ):
            if hypothesis_id in courses:
                courses[hypothesis_id][1].append((place, elo))
    return [RatingCourse(name, title, steps) for name, (title, steps) in courses.items()]


def draw_ratings(ordered: Sequence[Hypothesis], matches: Sequence[MatchPlayed]) -> str:
    """Elo after every match as SVG: one line per leader, numbered by its rank."""
    plot = plot_ratings(trace_ratings(ordered[:MOST_LINES], matches), len(matches), width=_WIDTH)
    left, right = plot.left, plot.width - plot.right
    parts = []
    for y, elo in plot.grid:
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{left - 6}" y="{y + 4:.1f}" font-size="12" text-anchor="end">{elo}</text>'
        )
    for colour, line in zip(COLOURS, plot.lines, strict=False):
        parts.append(
            f'<polyline points="{line.points}" fill="none" stroke="{colour}" '
            f'stroke-width="2"><title>{escape(line.title)}</title></polyline>'
        )
        parts.append(
            f'<text x="{right + 6}" y="{line.label_y + 4:.1f}" font-size="13" font-weight="bold" '
            f'fill="{colour}">{line.number}</text>'
        )
    parts.append(f'<text x="{left}" y="16" font-size="12">Elo</text>')
    parts.append(
        f'<text x="{right}" y="{plot.height - 8}" font-size="12" text-anchor="end">after '
        f"{len(matches)} {'match' if len(matches) == 1 else 'matches'}</text>"
    )
    return _svg(plot.height, "".join(parts), "Elo ratings after every match")


def draw_evidence(hypothesis: Hypothesis) -> str:
    """Start, bridges and end as SVG; lines are as thick as papers support them."""
    connection = hypothesis.draft.connection
    if connection is None or not connection.bridges:
        return ""
    spans = [
        BridgeSpan(bridge.concept.label, bridge.near_documents, bridge.far_documents)
        for bridge in connection.bridges
    ]
    plot = plot_bridge(connection.start.label, connection.end.label, spans)
    lines, words = [], []
    for span in plot.spans:
        for edge in (span.near, span.far):
            papers = f"{edge.papers} {'paper' if edge.papers == 1 else 'papers'}"
            lines.append(
                f'<line x1="{edge.x1:.0f}" y1="{edge.y1:.1f}" x2="{edge.x2:.0f}" '
                f'y2="{edge.y2:.1f}" stroke="#b8c6d4" stroke-width="{edge.thickness:.1f}">'
                f"<title>{papers}</title></line>"
            )
            words.append(_text(edge.label_x, edge.label_y, str(edge.papers), size=11))
    nodes = (*(span.node for span in plot.spans), plot.start, plot.end)
    words.extend(_text(node.x, node.y + 4, node.label) for node in nodes)
    return _svg(
        plot.height,
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
