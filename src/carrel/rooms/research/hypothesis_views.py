"""Hypotheses and reviews as callers see them, and the order they are shown in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from carrel.libraries.discovery.connections import Evidence
from carrel.rooms.research.models import (
    EvidenceShown,
    HypothesisInFull,
    HypothesisRow,
    HypothesisShown,
    MatchShown,
    ResultHypothesis,
    ReviewScores,
    ReviewShown,
    StrengthShown,
    TopHypothesis,
    UnderstoodAs,
)
from carrel.rooms.research.records import Hypothesis, MatchPlayed, Review, Understanding

Place = Literal["ranked", "not yet compared", "rejected"]


_PLACES: tuple[Place, ...] = ("ranked", "not yet compared", "rejected")


def place_of(made: Hypothesis) -> Place:
    """Whether its place says anything: a rejected one and one without a match stand after all that
    have played.
    """
    if made.decision.approval == "rejected":
        return "rejected"
    return "ranked" if made.standing.matches else "not yet compared"


def by_elo(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Highest Elo first; where it is the same, those that have played, then the stronger, then the
    older.
    """
    return sorted(
        hypotheses,
        key=lambda made: (-made.standing.elo_score, _PLACES.index(place_of(made)), *_tie(made)),
    )


def by_place(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """For reports: those that have played, highest Elo first, then those that have not, then the
    rejected.
    """
    return sorted(
        hypotheses,
        key=lambda made: (_PLACES.index(place_of(made)), -made.standing.elo_score, *_tie(made)),
    )


def _tie(made: Hypothesis) -> tuple[float, str, str]:
    return -made.standing.strength, made.created_at, made.id


def leading(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Those that may lead, best first: none that a person rejected, and once there were matches,
    only who has played.
    """
    there = [made for made in by_place(hypotheses) if place_of(made) != "rejected"]
    return [made for made in there if place_of(made) == "ranked"] or there


_RATIONALE = 2000
_CITED_IN_OVERVIEW = 3


def row(made: Hypothesis) -> HypothesisRow:
    """A hypothesis among others."""
    return HypothesisRow(**_row_facts(made))


def shown(made: Hypothesis) -> HypothesisShown:
    """A hypothesis with its texts. A long rationale is shown up to where a paragraph ends."""
    return HypothesisShown(
        **_row_facts(made), **_text_facts(made, opening(made.draft.rationale, _RATIONALE))
    )


def in_full(
    made: Hypothesis, reviews: Iterable[Review], matches: Iterable[MatchPlayed]
) -> HypothesisInFull:
    return HypothesisInFull(
        **_row_facts(made),
        **_text_facts(made, made.draft.rationale),
        evidence=list(_evidence(made)),
        reviews=[review_shown(review) for review in reviews if review.hypothesis_id == made.id],
        matches=[
            _match_shown(made.id, match)
            for match in matches
            if made.id in {match.first, match.second}
        ],
    )


def opening(text: str, longest: int) -> str:
    """The paragraphs of a text that fit, at least one, and a word that there is more."""
    if len(text) <= longest:
        return text
    kept: list[str] = []
    size = 0
    for paragraph in text.split("\n"):
        if kept and size + len(paragraph) > longest:
            break
        kept.append(paragraph)
        size += len(paragraph) + 1
    whole = "\n".join(kept).rstrip()
    return (
        whole if len(whole) >= len(text.rstrip()) else f"{whole}\n… get_hypothesis has all of it."
    )


def _row_facts(made: Hypothesis) -> dict[str, Any]:
    draft, standing = made.draft, made.standing
    return {
        "id": made.id,
        "research_id": made.research_id,
        "title": draft.title,
        "summary": draft.summary,
        "bridges": list(draft.bridges),
        "citation_count": len(draft.citations) + len(draft.outside_references),
        "origin": draft.origin,
        "method": draft.method,
        "parents": list(made.parents),
        "elo_score": round(standing.elo_score, 4),
        "strength": strength(made),
        "wins": standing.wins,
        "losses": standing.losses,
        "draws": standing.draws,
        "place": place_of(made),
        "status": made.status,
        "review_count": made.review_count,
        "approval": made.decision.approval,
        "approval_reason": made.decision.reason,
        "created_at": made.created_at,
    }


def _text_facts(made: Hypothesis, rationale: str) -> dict[str, Any]:
    draft = made.draft
    return {
        "rationale": rationale,
        "experimental_protocol": draft.protocol.as_text(),
        "predictions": list(draft.predictions),
        "refutations": list(draft.refutations),
        "novelty": draft.novelty,
        "citations": list(draft.citations),
        "citations_removed": draft.removed_citations,
    }


def _match_shown(hypothesis_id: str, match: MatchPlayed) -> MatchShown:
    is_first = match.first == hypothesis_id
    won_by = {"first": is_first, "second": not is_first}
    result: Any = (
        match.verdict if match.verdict not in won_by else "won" if won_by[match.verdict] else "lost"
    )
    return MatchShown(
        number=match.number,
        opponent=match.second if is_first else match.first,
        result=result,
        reason=match.reason,
        elo_after=round(match.first_elo if is_first else match.second_elo, 4),
    )


def understood_as(read: Understanding | None) -> UnderstoodAs | None:
    """How a goal was read, where it has been."""
    return None if read is None else UnderstoodAs.model_validate(read.model_dump(mode="json"))


def top(made: Hypothesis) -> TopHypothesis:
    return TopHypothesis(
        id=made.id,
        summary=made.draft.summary,
        elo_score=round(made.standing.elo_score, 4),
        status=made.status,
    )


def strength(made: Hypothesis) -> StrengthShown:
    standing = made.standing
    return StrengthShown(
        value=round(standing.strength, 3),
        low=round(standing.strength_low, 3),
        high=round(standing.strength_high, 3),
    )


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


def cited(made: Hypothesis, *, is_detailed: bool) -> list[str]:
    """The papers that results name for a hypothesis: in an overview the first few of those it rests
    on.
    """
    return list(made.draft.citations if is_detailed else made.draft.citations[:_CITED_IN_OVERVIEW])


def in_results(rank: int, made: Hypothesis, reviews: list[Review] | None) -> ResultHypothesis:
    """A row of the results; with its long texts where reviews are given."""
    draft = made.draft
    shown_row = ResultHypothesis(
        rank=rank,
        place=place_of(made),
        id=made.id,
        title=draft.title,
        summary=draft.summary,
        elo_score=round(made.standing.elo_score, 4),
        strength=strength(made),
        status=made.status,
        approval=made.decision.approval,
        origin=draft.origin,
        bridges=list(draft.bridges),
        citations=cited(made, is_detailed=reviews is not None),
        citation_count=len(draft.citations),
    )
    if reviews is None:
        return shown_row
    return shown_row.model_copy(
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
    for bridge in connection.every_bridge:
        for evidence in (*bridge.near_evidence, *bridge.far_evidence):
            yield _sentence(evidence, bridge.concept.label)
    for evidence in connection.novelty.direct_evidence:
        yield _sentence(evidence, None)


def _sentence(evidence: Evidence, bridge: str | None) -> EvidenceShown:
    place = (
        f"abstract, sentence {evidence.sentence_number}"
        if evidence.sentence_number
        else evidence.place.value
    )
    return EvidenceShown(
        paper_id=evidence.document_id,
        year=evidence.year,
        place=place,
        sentence=evidence.sentence,
        bridge=bridge,
        speaks_against=evidence.is_contrary,
        names_both=evidence.speaks_of_both,
        speaks_only_of=evidence.speaks_only_of or None,
    )
