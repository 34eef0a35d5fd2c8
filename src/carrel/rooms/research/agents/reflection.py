"""The reflection agent: reviews one hypothesis, as deep as it is asked to."""

from __future__ import annotations

from carrel.libraries.discovery.review import ReviewType
from carrel.rooms.research.agents.workshop import Made, Workshop, derived_id
from carrel.rooms.research.minds.mind import Brief
from carrel.rooms.research.records import Changes, Hypothesis, Review


async def reflect(
    workshop: Workshop, brief: Brief, hypothesis: Hypothesis, review_type: ReviewType
) -> Made:
    """One review, kept with what it rests on."""
    found = await workshop.mind.review(brief, hypothesis, review_type)
    review = Review(
        id=derived_id("rev", brief.job_id, brief.step),
        research_id=brief.project.id,
        hypothesis_id=hypothesis.id,
        review_type=review_type.value,
        scores=found.scores,
        strengths=found.strengths,
        weaknesses=found.weaknesses,
        recommendations=found.recommendations,
        citations=found.citations,
        quotations=found.quotations,
        reasons=dict(found.reasons),
        reviewer=workshop.mind.name,
        created_at=workshop.now(),
    )
    output = workshop.output(
        brief,
        "reflection",
        f"{review_type.value} of {hypothesis.id}",
        review.scores.model_dump_json(),
    )
    return Made(Changes(reviews=(review,), outputs=(*brief.outputs, output)), (review.id,))
