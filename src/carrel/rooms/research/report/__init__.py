"""A project as one HTML page that opens anywhere: the hypotheses with their reviews, matches and
papers, drawn and told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from carrel.rooms.research.citing import address, in_short
from carrel.rooms.research.order import place_of
from carrel.rooms.research.records import Hypothesis, MatchPlayed, Project, Review
from carrel.rooms.research.report.drawings import COLOURS, DRAWN, evidence_drawing, ratings_drawing

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


def html_report(
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
            ("<h2>Ratings over the matches</h2>", ratings_drawing(ordered, matches), _key(ordered))
        )
    parts.append("<h2>Hypotheses</h2>")
    parts.extend(page.hypothesis(rank, made) for rank, made in enumerate(ordered, start=1))
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
            counted(hypotheses, "hypothesis", "hypotheses"),
            counted(reviews, "review"),
            counted(matches, "match", "matches"),
        )
    )
    return (
        f'<p class="about">{escape(project.id)} · {escape(project.domain)} · '
        f"{escape(project.status)} · {counts} · begun "
        f"{escape(project.created_at[:10])}, last change {escape(project.updated_at[:10])}</p>"
    )


def counted(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def _key(ordered: Sequence[Hypothesis]) -> str:
    rows = "".join(
        f'<li style="color:{colour}"><a style="color:inherit" '
        f'href="#{escape(made.id)}">{escape(made.draft.title)}</a> '
        f"({made.standing.elo_score:.0f})</li>"
        for colour, made in zip(COLOURS, ordered[:DRAWN], strict=False)
    )
    rest = len(ordered) - DRAWN
    more = (
        f'<p class="about">{counted(rest, "other is", "others are")} not drawn; all are below.</p>'
        if rest > 0
        else ""
    )
    return f'<ol class="key">{rows}</ol>{more}'


class _Page:
    """What all hypotheses of a page share: the numbers of the papers, and each other's titles."""

    def __init__(
        self,
        ordered: Sequence[Hypothesis],
        reviews: Sequence[Review],
        matches: Sequence[MatchPlayed],
        references: Sequence[Mapping[str, Any]],
    ) -> None:
        self._reviews = reviews
        self._matches = matches
        self._references = references
        self._numbers = {str(item["id"]): number for number, item in enumerate(references, start=1)}
        self._titles = {made.id: made.draft.title for made in ordered}

    def hypothesis(self, rank: int, made: Hypothesis) -> str:
        draft, standing = made.draft, made.standing
        played = counted(standing.matches, "match", "matches")
        facts = [
            f"Elo {standing.elo_score:.0f}",
            f"strength {standing.strength:.2f} (95 % from {standing.strength_low:.2f} to "
            f"{standing.strength_high:.2f})",
            f"{standing.wins} won of {played}" if standing.matches else place_of(made),
            made.status,
            made.decision.approval + (f": {made.decision.reason}" if made.decision.reason else ""),
            draft.origin,
            made.id,
        ]
        inside = [
            f'<h3 id="{escape(made.id)}">{rank}. {escape(draft.title)}</h3>',
            f"<p class='about'>{escape(' · '.join(facts))}</p>",
            f"<p>{escape(draft.summary)}</p>",
            evidence_drawing(made),
            self._judged(made),
            _folded("Rationale", f"<pre>{escape(draft.rationale)}</pre>"),
            _folded(
                "How it could be tested",
                f"<pre>{escape(draft.protocol.as_text())}</pre>" + _predictions(made),
            ),
            self._played(made),
            self._cited(made),
        ]
        return f"<section>{''.join(inside)}</section>"

    def papers(self) -> str:
        return f"<ol>{''.join(self._paper(item) for item in self._references)}</ol>"

    def _paper(self, item: Mapping[str, Any]) -> str:
        where = address(item)
        line = escape(in_short(item))
        linked = f'{line} <a href="{escape(where)}">{escape(where)}</a>' if where else line
        return (
            f'<li id="paper-{escape(str(item["id"]))}">{linked} '
            f"<code>{escape(str(item['id']))}</code></li>"
        )

    def _judged(self, made: Hypothesis) -> str:
        rows = []
        for review in self._reviews:
            if review.hypothesis_id != made.id:
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
            _folded(counted(len(rows), "review"), f"<table>{''.join(rows)}</table>") if rows else ""
        )

    def _played(self, made: Hypothesis) -> str:
        rows = []
        for match in self._matches:
            if made.id not in {match.first, match.second}:
                continue
            is_first = match.first == made.id
            other = match.second if is_first else match.first
            won = {"first": is_first, "second": not is_first}.get(match.verdict)
            result = match.verdict if won is None else "won" if won else "lost"
            elo = match.first_elo if is_first else match.second_elo
            against = f'<a href="#{escape(other)}">{escape(self._titles.get(other, other))}</a>'
            cells = f"<th>{match.number + 1}</th><td>{escape(result)}</td><td>{elo:.0f}</td>"
            rows.append(f"<tr>{cells}<td>against {against}. {escape(match.reason)}</td></tr>")
        return (
            _folded(counted(len(rows), "match", "matches"), f"<table>{''.join(rows)}</table>")
            if rows
            else ""
        )

    def _cited(self, made: Hypothesis) -> str:
        marks = [
            f'<a href="#paper-{escape(name)}">[{self._numbers[name]}]</a>'
            if name in self._numbers
            else escape(name)
            for name in made.draft.citations
        ]
        return f'<p class="about">Papers: {" ".join(marks)}</p>' if marks else ""


def _predictions(made: Hypothesis) -> str:
    draft = made.draft
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


def _folded(title: str, inside: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"
