"""The meta-review agent: what the reviews say together; its text is told to every agent that works
after it.
"""

from __future__ import annotations

from carrel.rooms.research.agents.workshop import META_REVIEW, Made, Workshop
from carrel.rooms.research.minds.mind import Brief
from carrel.rooms.research.records import Changes


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
