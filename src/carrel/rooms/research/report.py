"""A project as one HTML page that opens anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from carrel.rooms.research.hypothesis_views import place_of
from carrel.rooms.research.records import Hypothesis, MatchPlayed, Project, Review

_NAMED = 2


def format_reference(item: Mapping[str, Any]) -> str:
    """A CSL-JSON item as one line without a style: "Ng and Ruiz (2019). Title. Journal."."""
    who = _authors(item)
    year = _year(item)
    when = f" ({year})" if year else ""
    # "Ng et al." ends in a full stop already.
    opening = f"{f'{who}{when}'.rstrip('.')}. " if who else f"({year}). " if year else ""
    title = str(item.get("title") or item["id"]).rstrip(". ")
    where = str(item.get("container-title") or "").rstrip(". ")
    return f"{opening}{title}.{f' {where}.' if where else ''}"


def reference_url(item: Mapping[str, Any]) -> str | None:
    """The URL of the work, if it has one."""
    doi = str(item.get("DOI") or "")
    url = str(item.get("URL") or "")
    if doi:
        return f"https://doi.org/{doi}"
    return url if url.startswith(("https://", "http://")) else None


def _authors(item: Mapping[str, Any]) -> str:
    names = [
        str(name.get("family") or name.get("literal") or "") for name in item.get("author") or ()
    ]
    names = [name for name in names if name]
    if len(names) > _NAMED:
        return f"{names[0]} et al."
    return " and ".join(names)


def _year(item: Mapping[str, Any]) -> str:
    parts = (item.get("issued") or {}).get("date-parts") or [[]]
    return str(parts[0][0]) if parts[0] else ""


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


_STYLE = (
    "body{font:16px/1.5 Georgia,serif;max-width:820px;margin:2rem auto;padding:0 "
    "1rem;color:#222;background:#fff}"
    "h1,h2,h3{line-height:1.2}h3{margin-bottom:.2rem}svg{max-width:100%;height:auto;font-family:sans-serif}code{font-size:.85em}"
    ".about{color:#666;font-size:.9em;margin:.2rem "
    "0}pre{white-space:pre-wrap;font:inherit}ol.key{columns:2;font-size:.9em;padding-left:1.4rem}"
    "table{border-collapse:collapse;font-size:.9em}td,th{padding:.15rem "
    ".6rem;text-align:left;vertical-align:top}"
    "th{font-weight:normal;color:#666}details{margin:.4rem 0}summary{cursor:pointer;color:#1b6ca8}"
    "@media print{details>*{display:block}}"
)


def write_html_report(
    project: Project,
    ordered: Sequence[Hypothesis],
    reviews: Sequence[Review],
    matches: Sequence[MatchPlayed],
    *,
    references: Sequence[Mapping[str, Any]] = (),
    opening: str = "",
    meta_review: str = "",
) -> str:
    """The page. Nothing in it is fetched from anywhere, and every text is written as text."""
    page = _Page(ordered, reviews, matches, references)
    parts = [
        f"<h1>{escape(project.goal)}</h1>",
        _about(project, len(ordered), len(reviews), len(matches)),
    ]
    if opening:
        parts.append(f"<p>{escape(opening)}</p>")
    if project.problem:
        parts.append(f"<p><strong>{escape(project.problem)}</strong></p>")
    if matches and ordered:
        parts.extend(
            ("<h2>Ratings over the matches</h2>", draw_ratings(ordered, matches), _legend(ordered))
        )
    parts.append("<h2>Hypotheses</h2>")
    parts.extend(
        page.hypothesis(rank, hypothesis) for rank, hypothesis in enumerate(ordered, start=1)
    )
    if not ordered:
        parts.append("<p>None.</p>")
    if meta_review:
        parts.extend(("<h2>Meta-review</h2>", f"<p>{escape(meta_review)}</p>"))
    if references:
        parts.extend(("<h2>Papers</h2>", page.papers()))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width">'
        f"<title>{escape(project.goal)}</title><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>"
    )


def _about(project: Project, hypotheses: int, reviews: int, matches: int) -> str:
    counts = ", ".join(
        (
            count_noun(hypotheses, "hypothesis", "hypotheses"),
            count_noun(reviews, "review"),
            count_noun(matches, "match", "matches"),
        )
    )
    return (
        f'<p class="about">{escape(project.id)} · {escape(project.domain)} · '
        f"{escape(project.status)} · {counts} · begun "
        f"{escape(project.created_at[:10])}, last change {escape(project.updated_at[:10])}</p>"
    )


def count_noun(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def _legend(ordered: Sequence[Hypothesis]) -> str:
    rows = "".join(
        f'<li style="color:{colour}"><a style="color:inherit" '
        f'href="#{escape(hypothesis.id)}">{escape(hypothesis.draft.title)}</a> '
        f"({hypothesis.rating.elo_score:.0f})</li>"
        for colour, hypothesis in zip(COLOURS, ordered[:DRAWN], strict=False)
    )
    rest = len(ordered) - DRAWN
    others = count_noun(rest, "other is", "others are")
    more = f'<p class="about">{others} not drawn; all are below.</p>' if rest > 0 else ""
    return f'<ol class="key">{rows}</ol>{more}'


class _Page:
    """Shared by all hypotheses of a page: numbers of papers, and titles."""

    def __init__(
        self,
        ordered: Sequence[Hypothesis],
        reviews: Sequence[Review],
        matches: Sequence[MatchPlayed],
        references: Sequence[Mapping[str, Any]],
    ) -> None:
        self._all_reviews = reviews
        self._all_matches = matches
        self._references = references
        self._numbers = {str(item["id"]): number for number, item in enumerate(references, start=1)}
        self._titles = {hypothesis.id: hypothesis.draft.title for hypothesis in ordered}

    def hypothesis(self, rank: int, hypothesis: Hypothesis) -> str:
        draft, rating = hypothesis.draft, hypothesis.rating
        played = count_noun(rating.match_count, "match", "matches")
        facts = [
            f"Elo {rating.elo_score:.0f}",
            f"strength {rating.strength:.2f} (95 % from {rating.strength_low:.2f} to "
            f"{rating.strength_high:.2f})",
            f"{rating.wins} won of {played}" if rating.match_count else place_of(hypothesis),
            hypothesis.status,
            hypothesis.decision.approval
            + (f": {hypothesis.decision.reason}" if hypothesis.decision.reason else ""),
            draft.origin,
            hypothesis.id,
        ]
        inside = [
            f'<h3 id="{escape(hypothesis.id)}">{rank}. {escape(draft.title)}</h3>',
            f"<p class='about'>{escape(' · '.join(facts))}</p>",
            f"<p>{escape(draft.summary)}</p>",
            draw_evidence(hypothesis),
            self._reviews(hypothesis),
            _collapsible("Rationale", f"<pre>{escape(draft.rationale)}</pre>"),
            _collapsible(
                "How it could be tested",
                f"<pre>{escape(draft.protocol.as_text())}</pre>" + _predictions(hypothesis),
            ),
            self._matches(hypothesis),
            self._citations(hypothesis),
        ]
        return f"<section>{''.join(inside)}</section>"

    def papers(self) -> str:
        return f"<ol>{''.join(self._paper(item) for item in self._references)}</ol>"

    def _paper(self, item: Mapping[str, Any]) -> str:
        where = reference_url(item)
        line = escape(format_reference(item))
        linked = f'{line} <a href="{escape(where)}">{escape(where)}</a>' if where else line
        return (
            f'<li id="paper-{escape(str(item["id"]))}">{linked} '
            f"<code>{escape(str(item['id']))}</code></li>"
        )

    def _reviews(self, hypothesis: Hypothesis) -> str:
        rows = []
        for review in self._all_reviews:
            if review.hypothesis_id != hypothesis.id:
                continue
            scores = ", ".join(
                f"{name} {value:.2f}"
                for name, value in review.scores.model_dump().items()
                if isinstance(value, float)
            )
            told = " ".join((*review.strengths, *review.weaknesses, *review.recommendations))
            about = f"{review.review_type.replace('_', ' ')}, by {review.reviewer}"
            rows.append(
                f"<tr><th>{escape(about)}</th><td>{escape(scores)}<br>{escape(told)}</td></tr>"
            )
        return (
            _collapsible(count_noun(len(rows), "review"), f"<table>{''.join(rows)}</table>")
            if rows
            else ""
        )

    def _matches(self, hypothesis: Hypothesis) -> str:
        rows = []
        for match in self._all_matches:
            if hypothesis.id not in {match.first, match.second}:
                continue
            is_first = match.first == hypothesis.id
            other = match.second if is_first else match.first
            won = {"first": is_first, "second": not is_first}.get(match.verdict)
            result = match.verdict if won is None else "won" if won else "lost"
            elo = match.first_elo if is_first else match.second_elo
            against = f'<a href="#{escape(other)}">{escape(self._titles.get(other, other))}</a>'
            cells = f"<th>{match.number + 1}</th><td>{escape(result)}</td><td>{elo:.0f}</td>"
            rows.append(f"<tr>{cells}<td>against {against}. {escape(match.reason)}</td></tr>")
        return (
            _collapsible(
                count_noun(len(rows), "match", "matches"), f"<table>{''.join(rows)}</table>"
            )
            if rows
            else ""
        )

    def _citations(self, hypothesis: Hypothesis) -> str:
        marks = [
            f'<a href="#paper-{escape(name)}">[{self._numbers[name]}]</a>'
            if name in self._numbers
            else escape(name)
            for name in hypothesis.draft.citations
        ]
        return f'<p class="about">Papers: {" ".join(marks)}</p>' if marks else ""


def _predictions(hypothesis: Hypothesis) -> str:
    draft = hypothesis.draft
    return "".join(
        f"<p>{heading}</p><ol>{_items(texts)}</ol>"
        for heading, texts in (
            ("It predicts:", draft.predictions),
            ("It would be refuted if:", draft.refutations),
        )
        if texts
    )


def _items(texts: Iterable[str]) -> str:
    return "".join(f"<li>{escape(text)}</li>" for text in texts)


def _collapsible(title: str, inside: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"
