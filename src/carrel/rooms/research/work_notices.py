"""Retractions and corrections of the papers that hypotheses, reviews and checks rest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from carrel.core.work_notices import GONE, WorkNotice, describe_notice
from carrel.rooms.research.claim_models import (
    CheckedStatement,
    ClaimChecked,
    ContradictionsFound,
)
from carrel.rooms.research.models import HypothesisInFull, ReviewShown

PaperNotices = Mapping[str, tuple[WorkNotice, ...]]


class NoticesOfPapers(Protocol):
    """Finds notices about papers of the corpus."""

    async def about_papers(self, paper_ids: Sequence[str]) -> PaperNotices:
        """The notices about those of the papers that have some."""
        ...


class NoPaperNotices:
    """Nothing is known of retractions."""

    async def about_papers(self, paper_ids: Sequence[str]) -> PaperNotices:
        return {}


async def add_to_review(review: ReviewShown, notices: NoticesOfPapers) -> ReviewShown:
    """The review with notices about the papers that it cites."""
    found = await notices.about_papers(list(_papers_of_review(review)))
    return review.model_copy(update={"notices": dict(found)}) if found else review


async def add_to_hypothesis(
    hypothesis: HypothesisInFull, notices: NoticesOfPapers
) -> HypothesisInFull:
    """The hypothesis with notices about the papers of its evidence, citations and reviews."""
    papers = [*hypothesis.citations, *(each.paper_id for each in hypothesis.evidence)]
    for review in hypothesis.reviews:
        papers += _papers_of_review(review)
    found = await notices.about_papers(list(dict.fromkeys(papers)))
    return hypothesis.model_copy(update={"notices": dict(found)}) if found else hypothesis


async def add_to_claims(answer: ClaimChecked, notices: NoticesOfPapers) -> ClaimChecked:
    """The answer with notices about the papers whose sentences it quotes."""
    papers = [paper for each in answer.statements for paper in _papers_of_statement(each)]
    found = await notices.about_papers(list(dict.fromkeys(papers)))
    return answer.model_copy(update={"notices": dict(found)}) if found else answer


async def add_to_contradictions(
    answer: ContradictionsFound, notices: NoticesOfPapers
) -> ContradictionsFound:
    papers = [side.paper_id for each in answer.contradictions for side in (each.one, each.other)]
    found = await notices.about_papers(list(dict.fromkeys(papers)))
    return answer.model_copy(update={"notices": dict(found)}) if found else answer


async def warn_of_retracted(
    citations: Sequence[str], statements: Iterable[CheckedStatement], notices: NoticesOfPapers
) -> list[str]:
    """A weakness for each paper that a review cites and that was retracted."""
    papers = [*citations, *(paper for each in statements for paper in _papers_of_statement(each))]
    found = await notices.about_papers(list(dict.fromkeys(papers)))
    return [
        f"Rests on a paper that was {describe_notice(each)} [{paper_id}]."
        for paper_id, several in found.items()
        for each in several[:1]
        if each.kind in GONE
    ]


def _papers_of_review(review: ReviewShown) -> Iterable[str]:
    return [
        *review.citations,
        *(paper for each in review.statements for paper in _papers_of_statement(each)),
    ]


def _papers_of_statement(statement: CheckedStatement) -> list[str]:
    quoted = (*statement.supporting, *statement.contradicting, *statement.bearing)
    return [each.paper_id for each in quoted if not each.paper_id.startswith("ref:")]
