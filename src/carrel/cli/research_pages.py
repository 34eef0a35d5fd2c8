"""Formats answers of the research room for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from carrel.cli.research import draw_status
from carrel.rooms.research.models import (
    HypothesisInFull,
    HypothesisRow,
    HypothesisShown,
    ProjectSummary,
    ReviewShown,
)

_WIDTH = 100


def _list(rows: Iterable[HypothesisRow]) -> str:
    told = [
        f"{place:3}. {row.elo_score:5.0f}  {row.title}\n"
        f"            {row.id} · {row.wins} won, {row.losses} lost · {_reviews(row.review_count)} "
        f"· {row.place} · {row.status} · {row.approval}"
        for place, row in enumerate(rows, start=1)
    ]
    return "\n".join(told) or "No hypotheses."


def _reviews(count: int) -> str:
    return "1 review" if count == 1 else f"{count} reviews"


def _projects(rows: Iterable[ProjectSummary]) -> str:
    told = [
        f"{row.id}  {row.status:12} {row.hypothesis_count:4}  {row.created_at[:10]}  {row.goal}"
        for row in rows
    ]
    return "\n".join(told) or "No projects."


def _made(rows: Iterable[HypothesisShown]) -> str:
    return "\n\n".join(_hypothesis(row) for row in rows) or "No hypotheses."


def _hypothesis(row: HypothesisShown) -> str:
    parts = [
        f"# {row.title}",
        f"{row.id} · Elo {row.elo_score:.0f} · {row.status} · {row.approval} · {row.origin}",
        _wrapped(row.summary),
        f"## Rationale\n\n{_wrapped(row.rationale)}",
        f"## How it could be tested\n\n{_wrapped(row.experimental_protocol)}",
        *(_listed(heading, texts) for heading, texts in (("Predictions", row.predictions), ("It would be refuted if", row.refutations))),  # noqa: E501
    ]  # fmt: skip
    if row.novelty:
        parts.append(f"## Novelty\n\n{_wrapped(row.novelty)}")
    return "\n\n".join(part for part in parts if part)


def _in_full(row: HypothesisInFull) -> str:
    sentences = [
        f"{one.sentence} [{one.paper_id}, "
        f"{one.year or 'no year'}{', speaks against' if one.speaks_against else ''}]"
        for one in row.evidence
    ]
    matches = [f"{match.number + 1}: {match.result} against {match.opponent}, Elo "
f"{match.elo_after:.0f}. {match.reason}"
               for match in row.matches]  # fmt: skip
    parts = [
        _hypothesis(row),
        _listed("Sentences it rests on", sentences),
        *(f"## Review\n\n{_review(review)}" for review in row.reviews),
        _listed("Matches", matches),
        _listed("Papers", row.citations),
    ]
    return "\n\n".join(part for part in parts if part)


def _review(review: ReviewShown) -> str:
    scores = ", ".join(
        f"{name} {value:.2f}"
        for name, value in review.scores.model_dump().items()
        if isinstance(value, float)
    )
    parts = [f"{review.review_type.replace('_', ' ')}, by {review.reviewer}: {scores}"]
    headings = (
        ("Strengths", review.strengths), ("Weaknesses", review.weaknesses),
        ("Recommendations", review.recommendations),
        ("Quotations", review.quotations),
    )  # fmt: skip
    parts.extend(_listed(heading, texts, mark="") for heading, texts in headings)
    return "\n\n".join(part for part in parts if part)


def _listed(heading: str, texts: Iterable[str], mark: str = "## ") -> str:
    rows = [
        textwrap.fill(text, _WIDTH, initial_indent="- ", subsequent_indent="  ") for text in texts
    ]
    return f"{mark}{heading}\n\n" + "\n".join(rows) if rows else ""


def _wrapped(text: str) -> str:
    return "\n".join(
        textwrap.fill(line, _WIDTH) if line.strip() else "" for line in text.splitlines()
    )


def _status(status: Any) -> str:
    leader = status.top_hypothesis
    return draw_status(status, []) + (
        f"\nLeading: {leader.summary} ({leader.id}, Elo {leader.elo_score:.0f})" if leader else ""
    )


PAGES: Mapping[str, Callable[[Any], str]] = {
    "get_research_status": _status,
    "list_research_projects": _projects,
    "list_hypotheses": _list,
    "rank_hypotheses": _list,
    "generate_hypotheses": _made,
    "evolve_hypothesis": _hypothesis,
    "submit_hypothesis": _hypothesis,
    "get_hypothesis": _in_full,
    "review_hypothesis": _review,
    "rate_hypothesis": _review,
    "get_results": lambda results: str(results.markdown),
}
