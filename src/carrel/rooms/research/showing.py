"""Records as callers see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from carrel.rooms.research.discovery.connections import Evidence
from carrel.rooms.research.models import (
    EvidenceShown,
    HypothesisShown,
    ResultHypothesis,
    ReviewScores,
    ReviewShown,
    StrengthShown,
    TopHypothesis,
    UnderstoodAs,
)
from carrel.rooms.research.records import Hypothesis, Review, Understanding


def by_elo(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Best first; where Elo is the same, the stronger, then the older."""
    return sorted(hypotheses, key=lambda made: (-made.standing.elo_score, -made.standing.strength, made.created_at, made.id))


def shown(made: Hypothesis) -> HypothesisShown:
    """Everything there is of a hypothesis."""
    draft, standing = made.draft, made.standing
    return HypothesisShown(
        id=made.id,
        research_id=made.research_id,
        title=draft.title,
        summary=draft.summary,
        rationale=draft.rationale,
        experimental_protocol=draft.protocol.as_text(),
        predictions=list(draft.predictions),
        refutations=list(draft.refutations),
        novelty=draft.novelty,
        bridges=list(draft.bridges),
        evidence=list(_evidence(made)),
        citations=list(draft.citations),
        citations_removed=draft.removed_citations,
        origin=draft.origin,
        method=draft.method,
        parents=list(made.parents),
        elo_score=standing.elo_score,
        strength=strength(made),
        wins=standing.wins,
        losses=standing.losses,
        draws=standing.draws,
        status=made.status,
        review_count=made.review_count,
        approval=made.decision.approval,
        approval_reason=made.decision.reason,
        created_at=made.created_at,
    )


def understood_as(read: Understanding | None) -> UnderstoodAs | None:
    """How a goal was read, where it has been."""
    return None if read is None else UnderstoodAs.model_validate(read.model_dump(mode="json"))


def top(made: Hypothesis) -> TopHypothesis:
    return TopHypothesis(id=made.id, summary=made.draft.summary, elo_score=made.standing.elo_score, status=made.status)


def strength(made: Hypothesis) -> StrengthShown:
    standing = made.standing
    return StrengthShown(value=standing.strength, low=standing.strength_low, high=standing.strength_high)


def review_shown(review: Review) -> ReviewShown:
    return ReviewShown(
        review_id=review.id,
        hypothesis_id=review.hypothesis_id,
        review_type=review.review_type,
        scores=ReviewScores(**review.scores.model_dump()),
        strengths=list(review.strengths),
        weaknesses=list(review.weaknesses),
        recommendations=list(review.recommendations),
        citations=list(review.citations),
        created_at=review.created_at,
        quotations=list(review.quotations),
        reasons=dict(review.reasons),
        reviewer=review.reviewer,
    )


def in_results(rank: int, made: Hypothesis, reviews: list[Review] | None) -> ResultHypothesis:
    """A row of the results; with its long texts where reviews are given."""
    draft = made.draft
    row = ResultHypothesis(
        rank=rank,
        id=made.id,
        title=draft.title,
        summary=draft.summary,
        elo_score=made.standing.elo_score,
        strength=strength(made),
        status=made.status,
        approval=made.decision.approval,
        origin=draft.origin,
        bridges=list(draft.bridges),
        citations=list(draft.citations),
    )
    if reviews is None:
        return row
    return row.model_copy(
        update={
            "rationale": draft.rationale,
            "experimental_protocol": draft.protocol.as_text(),
            "predictions": list(draft.predictions),
            "refutations": list(draft.refutations),
            "novelty": draft.novelty,
            "reviews": [review_shown(review) for review in reviews],
        }
    )


def _evidence(made: Hypothesis) -> Iterator[EvidenceShown]:
    connection = made.draft.connection
    if connection is None:
        return
    for bridge in connection.bridges:
        for evidence in (*bridge.near_evidence, *bridge.far_evidence):
            yield _sentence(evidence, bridge.concept.label)
    for evidence in connection.novelty.direct_evidence:
        yield _sentence(evidence, None)


def _sentence(evidence: Evidence, bridge: str | None) -> EvidenceShown:
    place = f"abstract, sentence {evidence.sentence_number}" if evidence.sentence_number else evidence.place.value
    return EvidenceShown(
        paper_id=evidence.document_id,
        year=evidence.year,
        place=place,
        sentence=evidence.sentence,
        bridge=bridge,
        speaks_against=evidence.is_contrary,
    )
