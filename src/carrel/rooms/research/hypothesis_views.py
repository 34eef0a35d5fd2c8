"""Public views of hypotheses and reviews, and their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from carrel.libraries.discovery.connections.candidates import Evidence
from carrel.rooms.research.models import (
    EvidenceShown,
    HypothesisInFull,
    HypothesisRow,
    HypothesisShown,
    MatchShown,
    ResultHypothesis,
    ReviewShown,
    StrengthShown,
    TopHypothesis,
)
from carrel.rooms.research.records import Hypothesis, MatchPlayed, Review

Place = Literal["ranked", "not yet compared", "superseded", "rejected"]

_PLACES: tuple[Place, ...] = ("ranked", "not yet compared", "superseded", "rejected")
_RATIONALE_CHARACTERS = 2000
_CITED_IN_OVERVIEW = 3
_EVIDENCE_CHARACTERS = 600


def place_of(hypothesis: Hypothesis) -> Place:
    """`rejected` if a person did so, `superseded` if an assistant's took its place, else `ranked`
    once it has played.
    """
    if hypothesis.decision.approval == "rejected":
        return "rejected"
    if hypothesis.superseded_by is not None:
        return "superseded"
    return "ranked" if hypothesis.rating.match_count else "not yet compared"


def sort_by_elo(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """By Elo, superseded ones last; ties: those with matches first, then the stronger, then the
    older.
    """
    return sorted(
        hypotheses,
        key=lambda one: (
            one.superseded_by is not None,
            -one.rating.elo_score,
            _PLACES.index(place_of(one)),
            *_tie_break(one),
        ),
    )


def sort_by_place(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """For results: those with matches by strength, then those without, then the rejected.

    Strengths count reviews and people's words beside the matches; before they are fitted all are
    equal, and Elo decides.
    """
    return sorted(
        hypotheses,
        key=lambda one: (
            _PLACES.index(place_of(one)),
            -one.rating.strength,
            -one.rating.elo_score,
            *_tie_break(one),
        ),
    )


def _tie_break(hypothesis: Hypothesis) -> tuple[float, str, str]:
    return -hypothesis.rating.strength, hypothesis.created_at, hypothesis.id


def rank_by_strength(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Best first, without rejected and superseded ones; once there were matches, only those that
    have played.
    """
    out = {"rejected", "superseded"}
    allowed = [one for one in sort_by_place(hypotheses) if place_of(one) not in out]
    return [one for one in allowed if place_of(one) == "ranked"] or allowed


def summarize_hypothesis(hypothesis: Hypothesis) -> HypothesisRow:
    """A hypothesis in a list."""
    return HypothesisRow(**_row_fields(hypothesis))


def describe_hypothesis(hypothesis: Hypothesis) -> HypothesisShown:
    """A hypothesis with its texts. A long rationale is cut at the end of a paragraph."""
    rationale = cut_paragraphs(hypothesis.draft.rationale, _RATIONALE_CHARACTERS)
    return HypothesisShown(**_row_fields(hypothesis), **_text_fields(hypothesis, rationale))


def detail_hypothesis(
    hypothesis: Hypothesis, reviews: Iterable[Review], matches: Iterable[MatchPlayed]
) -> HypothesisInFull:
    """A hypothesis with its evidence, and of the reviews and matches its own."""
    return HypothesisInFull(
        **_row_fields(hypothesis),
        **_text_fields(hypothesis, hypothesis.draft.rationale),
        evidence=list(_evidence(hypothesis)),
        reviews=[describe_review(one) for one in reviews if one.hypothesis_id == hypothesis.id],
        matches=[
            describe_match(hypothesis.id, match)
            for match in matches
            if hypothesis.id in {match.first, match.second}
        ],
    )


def cut_paragraphs(text: str, longest: int) -> str:
    """The paragraphs that fit, at least one, with a note if there is more."""
    if len(text) <= longest:
        return text
    kept: list[str] = []
    size = 0
    for paragraph in text.split("\n"):
        if kept and size + len(paragraph) > longest:
            break
        kept.append(paragraph)
        size += len(paragraph) + 1
    opening = "\n".join(kept).rstrip()
    if len(opening) >= len(text.rstrip()):
        return opening
    return f"{opening}\n… get_hypothesis has all of it."


def _row_fields(hypothesis: Hypothesis) -> dict[str, Any]:
    draft, rating = hypothesis.draft, hypothesis.rating
    return {
        "id": hypothesis.id,
        "research_id": hypothesis.research_id,
        "title": draft.title,
        "summary": draft.summary,
        "bridges": list(draft.bridges),
        "citation_count": len(draft.citations) + len(draft.outside_references),
        "origin": draft.origin,
        "method": draft.method,
        "parents": list(hypothesis.parents),
        "elo_score": round(rating.elo_score, 4),
        "strength": describe_strength(hypothesis),
        "wins": rating.wins,
        "losses": rating.losses,
        "draws": rating.draws,
        "place": place_of(hypothesis),
        "status": hypothesis.status,
        "review_count": hypothesis.review_count,
        "approval": hypothesis.decision.approval,
        "approval_reason": hypothesis.decision.reason,
        "superseded_by": hypothesis.superseded_by,
        "people_count_as": rating.people_say,
        "created_at": hypothesis.created_at,
    }


def _text_fields(hypothesis: Hypothesis, rationale: str) -> dict[str, Any]:
    draft = hypothesis.draft
    return {
        "rationale": rationale,
        "experimental_protocol": draft.protocol.as_text(),
        "predictions": list(draft.predictions),
        "refutations": list(draft.refutations),
        "novelty": draft.novelty,
        "citations": list(draft.citations),
        "citations_removed": draft.removed_citations,
    }


def describe_match(hypothesis_id: str, match: MatchPlayed) -> MatchShown:
    """A match as one of the two saw it."""
    is_first = match.first == hypothesis_id
    result: Literal["won", "lost", "draw", "unreadable"]
    if match.verdict in {"first", "second"}:
        result = "won" if (match.verdict == "first") == is_first else "lost"
    else:
        result = "draw" if match.verdict == "draw" else "unreadable"
    return MatchShown(
        number=match.number,
        opponent=match.second if is_first else match.first,
        result=result,
        reason=match.reason,
        elo_after=round(match.first_elo if is_first else match.second_elo, 4),
        margin=match.margin,
        judged_by=match.judged_by,
    )


def describe_top(hypothesis: Hypothesis) -> TopHypothesis:
    """The leader of a project in short."""
    return TopHypothesis(
        id=hypothesis.id,
        title=hypothesis.draft.title,
        summary=hypothesis.draft.summary,
        elo_score=round(hypothesis.rating.elo_score, 4),
        status=hypothesis.status,
    )


def describe_strength(hypothesis: Hypothesis) -> StrengthShown:
    rating = hypothesis.rating
    return StrengthShown(
        value=round(rating.strength, 3),
        low=round(rating.strength_low, 3),
        high=round(rating.strength_high, 3),
        chance_to_be_best=round(rating.chance_to_be_best, 3) if rating.worst_rank else None,
        best_rank=rating.best_rank or None,
        worst_rank=rating.worst_rank or None,
    )


def describe_review(review: Review) -> ReviewShown:
    fields = review.model_dump(exclude={"id", "research_id"})
    return ReviewShown.model_validate({"review_id": review.id, **fields})


def cited_papers(hypothesis: Hypothesis, *, is_detailed: bool) -> list[str]:
    """The papers that results name for a hypothesis: in an overview only the first few."""
    citations = hypothesis.draft.citations
    return list(citations if is_detailed else citations[:_CITED_IN_OVERVIEW])


def describe_in_results(
    rank: int, hypothesis: Hypothesis, reviews: list[Review] | None
) -> ResultHypothesis:
    """A row of the results; with its long texts if reviews are given."""
    draft = hypothesis.draft
    texts: dict[str, Any] = {}
    if reviews is not None:
        texts = _text_fields(hypothesis, draft.rationale)
        texts["reviews"] = [describe_review(review) for review in reviews]
        del texts["citations"], texts["citations_removed"]
    return ResultHypothesis(
        rank=rank,
        place=place_of(hypothesis),
        id=hypothesis.id,
        title=draft.title,
        summary=draft.summary,
        elo_score=round(hypothesis.rating.elo_score, 4),
        strength=describe_strength(hypothesis),
        status=hypothesis.status,
        approval=hypothesis.decision.approval,
        origin=draft.origin,
        bridges=list(draft.bridges),
        citations=cited_papers(hypothesis, is_detailed=reviews is not None),
        citation_count=len(draft.citations),
        people_count_as=hypothesis.rating.people_say,
        **texts,
    )


def _evidence(hypothesis: Hypothesis) -> Iterator[EvidenceShown]:
    connection = hypothesis.draft.connection
    for passage in hypothesis.draft.passages:
        yield EvidenceShown(
            paper_id=passage.paper_id,
            year=passage.year,
            place=f"passage {passage.id}" + (f", {passage.section}" if passage.section else ""),
            sentence=passage.text[:_EVIDENCE_CHARACTERS],
        )
    if connection is None:
        return
    for bridge in connection.every_bridge:
        for evidence in (*bridge.near_evidence, *bridge.far_evidence):
            yield _describe_evidence(evidence, bridge.concept.label)
    for evidence in connection.novelty.direct_evidence:
        yield _describe_evidence(evidence, None)


def _describe_evidence(evidence: Evidence, bridge: str | None) -> EvidenceShown:
    place = evidence.place.value
    if evidence.sentence_number:
        place = f"abstract, sentence {evidence.sentence_number}"
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
