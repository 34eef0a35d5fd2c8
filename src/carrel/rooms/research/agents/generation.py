"""The agents that make hypotheses: generation, evolution, and proximity, which groups them."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.libraries.discovery.association import jaccard
from carrel.libraries.discovery.connections import EvolutionStrategy, GenerationMethod
from carrel.rooms.research.agents import Made, Workshop
from carrel.rooms.research.errors import NothingToEvolveError
from carrel.rooms.research.reasoners import Brief
from carrel.rooms.research.records import Changes, Hypothesis


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


CLOSE = 0.35


def closeness(one: Hypothesis, other: Hypothesis) -> float:
    """From 0, nothing in common, to 1, the same bridges, ends and papers."""
    named, cited = (
        _shared(_names(one), _names(other)),
        _shared(set(one.draft.citations), set(other.draft.citations)),
    )
    return 0.7 * named + 0.3 * cited


def groups(hypotheses: Sequence[Hypothesis]) -> list[list[Hypothesis]]:
    """Hypotheses that hang together, pair by pair close enough; the largest group first."""
    waiting = list(hypotheses)
    found: list[list[Hypothesis]] = []
    while waiting:
        group = [waiting.pop(0)]
        for member in group:
            near = [other for other in waiting if closeness(member, other) >= CLOSE]
            group.extend(near)
            waiting = [other for other in waiting if other not in near]
        found.append(group)
    return sorted(found, key=len, reverse=True)


def complement(hypothesis: Hypothesis, hypotheses: Sequence[Hypothesis]) -> Hypothesis | None:
    """The one to combine with: close, yet not the same, and doing well; its own parents and
    children are no news to it.
    """
    kin = {hypothesis.id, *hypothesis.parents}
    others = [
        other
        for other in hypotheses
        if other.id not in kin
        and hypothesis.id not in other.parents
        and other.decision.approval != "rejected"
    ]
    return max(
        others,
        key=lambda other: (closeness(hypothesis, other) < 0.9, _worth(hypothesis, other), other.id),
        default=None,
    )


async def relate(workshop: Workshop, brief: Brief) -> Made:
    """Writes down the groups."""
    found = groups(brief.hypotheses)
    told = "\n".join(", ".join(member.id for member in group) for group in found)
    return Made(
        Changes(
            outputs=(
                workshop.output(brief, "proximity", f"{len(brief.hypotheses)} hypotheses", told),
            )
        )
    )


def _worth(one: Hypothesis, other: Hypothesis) -> float:
    return closeness(one, other) + (other.standing.elo_score - 1000.0) / 1000.0


def _names(hypothesis: Hypothesis) -> set[str]:
    connection = hypothesis.draft.connection
    ends = (
        {connection.end.key, *(end.key for end in connection.also_ends)}
        if connection is not None
        else set()
    )
    words = (
        {word.lower() for word in hypothesis.draft.title.split() if len(word) > 4}
        if connection is None
        else set()
    )
    return {*(name.lower() for name in hypothesis.draft.bridges), *ends, *words}


def _shared(one: set[str], other: set[str]) -> float:
    return jaccard(len(one & other), len(one), len(other))
