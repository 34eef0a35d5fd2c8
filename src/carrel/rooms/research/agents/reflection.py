"""The agents that judge: goal safety and reading, reviews, and the meta-review."""

from __future__ import annotations

from carrel.libraries.discovery.review import ReviewType
from carrel.rooms.research.agents import META_REVIEW, Made, Workshop, derived_id
from carrel.rooms.research.errors import UnsafeGoalError
from carrel.rooms.research.ports import ContextMemory
from carrel.rooms.research.reasoners import Brief
from carrel.rooms.research.records import Changes, Hypothesis, Review, Understanding


async def look_at_goal(workshop: Workshop, brief: Brief) -> Made:
    """Writes the decision down; a goal that is refused goes no further."""
    opinions = await workshop.mind.check(brief, [brief.project.goal])
    records = tuple(
        workshop.by_mind(brief, "goal", brief.project.goal, opinion, 0) for opinion in opinions
    )
    if not all(record.is_allowed for record in records):
        await workshop.memory.keep(Changes(safety=records))
        raise UnsafeGoalError(
            "goal",
            "model",
            f"{workshop.mind.name} refused it, saying: {records[0].reason}",
            "Questions of prevention, treatment, detection or history are welcome.",
        )
    return Made(Changes(safety=records))


AGENT = "goal reading"


async def begin(workshop: Workshop, brief: Brief) -> Made:
    """The mind's safety opinion, then its reading of the goal, unless that was kept when the
    project was started.
    """
    made = await look_at_goal(workshop, brief)
    if await understanding(workshop.memory, brief.project.id) is not None:
        return made
    read = await workshop.mind.understand(brief.project.goal)
    output = workshop.output(brief, AGENT, brief.project.goal, read.model_dump_json())
    return Made(made.changes.model_copy(update={"outputs": (*made.changes.outputs, output)}))


async def understanding(memory: ContextMemory, research_id: str) -> Understanding | None:
    """How the goal was read, as it was kept."""
    found = await memory.outputs(research_id, agent=AGENT)
    return Understanding.model_validate_json(found[-1].answered) if found else None


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


async def meta_review(workshop: Workshop, brief: Brief) -> Made:
    """One text, kept as an output of its own."""
    reviews = await workshop.memory.reviews(brief.project.id)
    text = await workshop.mind.meta_review(brief, reviews)
    output = workshop.output(brief, META_REVIEW, f"{len(reviews)} reviews", text)
    return Made(
        Changes(
            outputs=(*brief.outputs, output), events=(workshop.event(brief, META_REVIEW, text),)
        )
    )
