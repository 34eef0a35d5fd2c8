"""The agents that judge: goal safety and goal reading, reviews, and the meta-review."""

from __future__ import annotations

from carrel.libraries.discovery.review import ReviewType
from carrel.rooms.research.agents import (
    GOAL_READING,
    META_REVIEW,
    AgentContext,
    StepResult,
    derived_id,
    find_understanding,
)
from carrel.rooms.research.errors import UnsafeGoalError
from carrel.rooms.research.reasoners import Brief
from carrel.rooms.research.records import Changes, Hypothesis, Review


async def read_goal(context: AgentContext, brief: Brief) -> StepResult:
    """The reasoner's safety opinion on the goal, and its reading unless that is stored already."""
    goal = brief.project.goal
    opinions = await context.reasoner.check(brief, [goal])
    records = tuple(context.record_opinion(brief, "goal", goal, opinion, 0) for opinion in opinions)
    if not all(record.is_allowed for record in records):
        await context.store.save(Changes(safety=records))
        raise UnsafeGoalError(
            "goal",
            "model",
            f"{context.reasoner.name} refused it, saying: {records[0].reason}",
            "Questions of prevention, treatment, detection or history are welcome.",
        )
    if await find_understanding(context.store, brief.project.id) is not None:
        return StepResult(Changes(safety=records))
    reading = await context.reasoner.understand(goal)
    output = context.output(brief, GOAL_READING, goal, reading.model_dump_json(), reading)
    return StepResult(Changes(safety=records, outputs=(output,)))


async def reflect(
    context: AgentContext, brief: Brief, hypothesis: Hypothesis, review_type: ReviewType
) -> StepResult:
    """One review, stored with what it rests on."""
    found = await context.reasoner.review(brief, hypothesis, review_type)
    review = Review(
        id=derived_id("rev", brief.job_id, brief.step.label),
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
        reviewer=context.reasoner.name,
        created_at=context.now(),
    )
    given, answered = f"{review_type.value} of {hypothesis.id}", review.scores.model_dump_json()
    output = context.output(brief, "reflection", given, answered)
    return StepResult(Changes(reviews=(review,), outputs=(output,)), (review.id,))


async def meta_review(context: AgentContext, brief: Brief) -> StepResult:
    """What the reviews say together; every agent after it is told."""
    reviews = await context.store.reviews(brief.project.id)
    found = await context.reasoner.meta_review(brief, reviews)
    output = context.output(brief, META_REVIEW, f"{len(reviews)} reviews", found.text, found)
    event = context.event(brief, META_REVIEW, found.text)
    return StepResult(Changes(outputs=(output,), events=(event,)))
