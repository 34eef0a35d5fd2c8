"""A project as one HTML page that opens anywhere: the leading hypotheses, the tournament and the evidence, drawn as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from carrel.rooms.research.records import Hypothesis, MatchPlayed, Project, Review

_WIDTH, _HEIGHT, _EDGE = 760, 280, 44
_DRAWN = 8
_COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#7b4b94", "#c69214", "#3a7d7c", "#8d5a3b", "#5c677d")
_STYLE = (
    "body{font:16px/1.5 Georgia,serif;max-width:820px;margin:2rem auto;padding:0 1rem;color:#222}"
    "h1,h2,h3{line-height:1.2}svg{max-width:100%;height:auto}code{font-size:.85em}.about{color:#666;font-size:.9em}"
    "pre{white-space:pre-wrap;font:inherit}"
)


def html_report(
    project: Project,
    ordered: Sequence[Hypothesis],
    reviews: Sequence[Review],
    matches: Sequence[MatchPlayed],
    understood: str = "",
) -> str:
    """The page. Nothing in it is fetched from anywhere, and every text is written as text."""
    parts = [f"<h1>{escape(project.goal)}</h1>", f'<p class="about">{escape(project.id)} · {escape(project.status)} · {len(ordered)} '
             f"hypotheses · {len(reviews)} reviews · {len(matches)} matches</p>"]  # fmt: skip
    if understood:
        parts.append(f"<p>{escape(understood)}</p>")
    if matches:
        parts.extend(("<h2>Ratings over the matches</h2>", ratings_drawing(ordered, matches)))
    if ordered and ordered[0].draft.connection is not None:
        parts.extend(("<h2>What the first rests on</h2>", evidence_drawing(ordered[0])))
    parts.append("<h2>Hypotheses</h2>")
    parts.extend(_hypothesis(rank, made) for rank, made in enumerate(ordered, start=1))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(project.goal)}</title>'
        f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>"
    )


def ratings_drawing(ordered: Sequence[Hypothesis], matches: Sequence[MatchPlayed]) -> str:
    """Elo after every match, a line for each of the leading ones."""
    drawn = list(ordered[:_DRAWN])
    courses = {made.id: [(0, made.start_elo)] for made in drawn}
    for place, match in enumerate(matches, start=1):
        for hypothesis_id, elo in ((match.first, match.first_elo), (match.second, match.second_elo)):
            if hypothesis_id in courses:
                courses[hypothesis_id].append((place, elo))
    heights = [elo for course in courses.values() for _, elo in course]
    low, high = min(heights) - 10, max(heights) + 10

    def point(place: int, elo: float) -> tuple[float, float]:
        x = _EDGE + (_WIDTH - 2 * _EDGE) * place / max(1, len(matches))
        return x, _EDGE + (_HEIGHT - 2 * _EDGE) * (high - elo) / (high - low)

    lines = []
    for colour, made in zip(_COLOURS, drawn, strict=False):
        course = [*courses[made.id], (len(matches), courses[made.id][-1][1])]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (point(*step) for step in course))
        title = f"<title>{escape(made.draft.title)}</title>"
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2">{title}</polyline>')
    marks = "".join(
        f'<text x="4" y="{point(0, elo)[1] + 4:.1f}" font-size="12">{elo:.0f}</text>'
        for elo in (low + 10, (low + high) / 2, high - 10)
    )
    about = f'<text x="{_WIDTH - _EDGE}" y="{_HEIGHT - 12}" font-size="12" text-anchor="end">{len(matches)} matches</text>'
    return _svg(_HEIGHT, marks + "".join(lines) + about, "Elo ratings after every match")


def evidence_drawing(made: Hypothesis) -> str:
    """Start and end with the bridges between them, each line as thick as papers hold it up."""
    connection = made.draft.connection
    if connection is None:
        return ""
    count = len(connection.bridges)
    height = max(160, 44 * count + 30)
    middle, parts = height / 2, []
    for place, bridge in enumerate(connection.bridges):
        y = 30 + (height - 60) * (place + 0.5) / count
        for x1, x2, papers in ((150, 330, bridge.near_documents), (430, 610, bridge.far_documents)):
            ends = (middle, y) if x1 == 150 else (y, middle)
            width = min(8.0, 1 + papers**0.5)
            parts.append(
                f'<line x1="{x1}" y1="{ends[0]:.1f}" x2="{x2}" y2="{ends[1]:.1f}" stroke="#9ab" stroke-width="{width:.1f}">'
                f"<title>{papers} papers</title></line>"
            )
        parts.append(_word(380, y, bridge.concept.label))
    parts.extend((_word(80, middle, connection.start.label), _word(680, middle, connection.end.label)))
    return _svg(height, "".join(parts), "Evidence: start, bridges and end")


def _word(x: float, y: float, text: str) -> str:
    short = text if len(text) <= 24 else text[:23] + "…"
    return (
        f'<text x="{x}" y="{y + 4:.1f}" font-size="13" text-anchor="middle"><title>{escape(text)}</title>{escape(short)}</text>'
    )


def _svg(height: float, inside: str, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}">'
        f"{inside}</svg>"
    )


def _hypothesis(rank: int, made: Hypothesis) -> str:
    draft = made.draft
    about = f"Elo {made.standing.elo_score:.0f} · {made.status} · {made.decision.approval} · {draft.origin} · {made.id}"
    papers = ", ".join(draft.citations)
    return (
        f"<h3>{rank}. {escape(draft.title)}</h3><p class='about'>{escape(about)}</p><p>{escape(draft.summary)}</p>"
        f"<details><summary>Rationale, protocol and papers</summary><pre>{escape(draft.rationale)}</pre>"
        f"<pre>{escape(draft.protocol.as_text())}</pre><p>Papers: {escape(papers)}</p></details>"
    )
