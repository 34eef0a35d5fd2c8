"""The evolution agent: makes a new hypothesis from one or two others, which stay."""

from __future__ import annotations

from carrel.libraries.discovery.connections import EvolutionStrategy
from carrel.rooms.research.agents.proximity import complement
from carrel.rooms.research.agents.workshop import Made, Workshop
from carrel.rooms.research.errors import NothingToEvolveError
from carrel.rooms.research.minds.mind import Brief
from carrel.rooms.research.records import Changes, Hypothesis


async def evolve(
    workshop: Workshop, brief: Brief, hypothesis: Hypothesis, strategy: EvolutionStrategy
) -> Made:
    """A child of the hypothesis; to combine, the most fitting other one of the project is its
    second parent.
    """
    partner = (
        complement(hypothesis, brief.hypotheses) if strategy is EvolutionStrategy.COMBINE else None
    )
    draft = await workshop.mind.evolve(brief, hypothesis, strategy, partner)
    same = next(
        (one for one in brief.hypotheses if one.draft.title.casefold() == draft.title.casefold()),
        None,
    )
    if same is not None:
        raise NothingToEvolveError(
            f"{strategy.value} leads to what is there already: {same.id}",
            next_step="Try another strategy or another hypothesis.",
        )
    parents = (hypothesis.id,) if partner is None else (hypothesis.id, partner.id)
    made, decisions = await workshop.placed(brief, [draft], parents, is_evolved=True)
    told = "\n".join(f"{child.id}: {child.draft.title}" for child in made) or "left out as unsafe"
    return Made(
        Changes(
            hypotheses=tuple(made),
            safety=tuple(decisions),
            outputs=(
                *brief.outputs,
                workshop.output(
                    brief, "evolution", f"{strategy.value} of {', '.join(parents)}", told
                ),
            ),
            events=(workshop.event(brief, "evolved", f"{strategy.value}: {told}"),),
        ),
        tuple(child.id for child in made),
    )
