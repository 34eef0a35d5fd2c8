"""The generation agent: new hypotheses by one of four methods."""

from __future__ import annotations

from carrel.libraries.discovery.connections import GenerationMethod
from carrel.rooms.research.agents.workshop import Made, Workshop
from carrel.rooms.research.minds.mind import Brief
from carrel.rooms.research.records import Changes


async def generate(workshop: Workshop, brief: Brief, method: GenerationMethod, count: int) -> Made:
    """Up to `count` new hypotheses; unsafe ones are written down and left out."""
    drafts = await workshop.mind.generate(brief, method, count)
    made, decisions = await workshop.placed(brief, drafts[:count])
    told = "\n".join(f"{hypothesis.id}: {hypothesis.draft.title}" for hypothesis in made)
    given = f"{method.value}, {count} wanted, {len(brief.hypotheses)} there already"
    refused = min(count, len(drafts)) - len(made)
    says = f"{len(made)} hypotheses by {method.value}" + (
        f", {refused} left out as unsafe" if refused else ""
    )
    return Made(
        Changes(
            hypotheses=tuple(made),
            safety=tuple(decisions),
            outputs=(*brief.outputs, workshop.output(brief, "generation", given, told)),
            events=(workshop.event(brief, "generated", says),),
        ),
        tuple(hypothesis.id for hypothesis in made),
    )
