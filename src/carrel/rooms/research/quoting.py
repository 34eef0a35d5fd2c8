"""The sources that answers of the room quote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from carrel.core.answer import Partial, Text
from carrel.core.caller import Caller
from carrel.core.quoting import QuotedSource
from carrel.rooms.research.models import (
    HypothesisInFull,
    HypothesisRow,
    HypothesisShown,
    ResearchStatus,
    Results,
    ReviewShown,
)


def quoted_in_hypotheses(
    arguments: Mapping[str, Any],
    answer: HypothesisRow | ReviewShown | Sequence[HypothesisRow] | Partial,
    caller: Caller,
) -> Iterable[QuotedSource]:
    rows = (
        answer.result
        if isinstance(answer, Partial)
        else answer
        if isinstance(answer, list | tuple)
        else [answer]
    )
    return [source for row in rows for source in _of_row(row)]


def quoted_in_results(
    arguments: Mapping[str, Any], answer: Results, caller: Caller
) -> Iterable[QuotedSource]:
    titles = {str(item.get("id")): item.get("title") for item in answer.bibliography}
    papers = [
        QuotedSource("paper", name, str(title) if title else None) for name, title in titles.items()
    ]
    return [QuotedSource("research", answer.research_id), *papers]


def quoted_in_status(
    arguments: Mapping[str, Any], answer: ResearchStatus, caller: Caller
) -> Iterable[QuotedSource]:
    return [] if answer.top_hypothesis is None else [QuotedSource("research", answer.research_id)]


def quoted_project(
    arguments: Mapping[str, Any], answer: object, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("research", str(arguments["research_id"]))]


def quoted_in_project_page(
    variables: Mapping[str, str], answer: Text, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("research", variables["project_id"])]


def quoted_in_hypothesis_page(
    variables: Mapping[str, str], answer: Text, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("hypothesis", variables["hypothesis_id"])]


def _of_row(row: object) -> Iterable[QuotedSource]:
    match row:
        case HypothesisInFull():
            named = [*row.citations, *(piece.paper_id for piece in row.evidence)]
            return [
                QuotedSource("hypothesis", row.id),
                *(QuotedSource("paper", name) for name in named),
            ]
        case HypothesisShown():
            return [
                QuotedSource("hypothesis", row.id),
                *(QuotedSource("paper", name) for name in row.citations),
            ]
        case HypothesisRow():
            return [QuotedSource("hypothesis", row.id)]
        case ReviewShown():
            return [
                QuotedSource("hypothesis", row.hypothesis_id),
                *(QuotedSource("paper", name) for name in row.citations),
            ]
    return []
