"""The agents that make hypotheses: generation, evolution, and proximity, which groups them."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.libraries.discovery.association import jaccard
from carrel.libraries.discovery.connections import EvolutionStrategy, GenerationMethod
from carrel.rooms.research.agents import AgentContext, StepResult
from carrel.rooms.research.errors import NothingToEvolveError
from carrel.rooms.research.reasoners import Brief
from carrel.rooms.research.records import Changes, Hypothesis

# Weights and thresholds set by hand: no data was at hand to fit them on.
_NAMES_WEIGHT, _CITATIONS_WEIGHT = 0.7, 0.3
_SAME_GROUP = 0.35
_NEARLY_THE_SAME = 0.9


async def generate(
    context: AgentContext, brief: Brief, method: GenerationMethod, count: int
) -> StepResult:
    """Up to `count` new hypotheses; unsafe ones are recorded and left out."""
    drafts = await context.reasoner.generate(brief, method, count)
    hypotheses, decisions = await context.place_drafts(brief, drafts[:count])
    titles = "\n".join(f"{one.id}: {one.draft.title}" for one in hypotheses)
    given = f"{method.value}, {count} wanted, {len(brief.hypotheses)} there already"
    refused = min(count, len(drafts)) - len(hypotheses)
    says = f"{len(hypotheses)} hypotheses by {method.value}"
    if refused:
        says += f", {refused} left out as unsafe"
    changes = Changes(
        hypotheses=tuple(hypotheses),
        safety=tuple(decisions),
        outputs=(context.output(brief, "generation", given, titles),),
        events=(context.event(brief, "generated", says),),
    )
    return StepResult(changes, tuple(one.id for one in hypotheses))


async def evolve(
    context: AgentContext, brief: Brief, hypothesis: Hypothesis, strategy: EvolutionStrategy
) -> StepResult:
    """A child of the hypothesis; to combine, the most fitting other one is its second parent."""
    partner = None
    if strategy is EvolutionStrategy.COMBINE:
        partner = find_partner(hypothesis, brief.hypotheses)
    draft = await context.reasoner.evolve(brief, hypothesis, strategy, partner)
    title = draft.title.casefold()
    same = next((one for one in brief.hypotheses if one.draft.title.casefold() == title), None)
    if same is not None:
        raise NothingToEvolveError(
            f"{strategy.value} leads to what is there already: {same.id}",
            next_step="Try another strategy or another hypothesis.",
        )
    parents = (hypothesis.id,) if partner is None else (hypothesis.id, partner.id)
    children, decisions = await context.place_drafts(brief, [draft], parents, is_evolved=True)
    titles = "\n".join(f"{child.id}: {child.draft.title}" for child in children)
    answered = titles or "left out as unsafe"
    given = f"{strategy.value} of {', '.join(parents)}"
    changes = Changes(
        hypotheses=tuple(children),
        safety=tuple(decisions),
        outputs=(context.output(brief, "evolution", given, answered),),
        events=(context.event(brief, "evolved", f"{strategy.value}: {answered}"),),
    )
    return StepResult(changes, tuple(child.id for child in children))


async def relate(context: AgentContext, brief: Brief) -> StepResult:
    """Records which hypotheses are close to one another."""
    groups = group_by_closeness(brief.hypotheses)
    answered = "\n".join(", ".join(member.id for member in group) for group in groups)
    given = f"{len(brief.hypotheses)} hypotheses"
    return StepResult(Changes(outputs=(context.output(brief, "proximity", given, answered),)))


def closeness(one: Hypothesis, other: Hypothesis) -> float:
    """From 0, nothing in common, to 1, the same bridges, ends and papers."""
    named = _overlap(_names(one), _names(other))
    cited = _overlap(set(one.draft.citations), set(other.draft.citations))
    return _NAMES_WEIGHT * named + _CITATIONS_WEIGHT * cited


def group_by_closeness(hypotheses: Sequence[Hypothesis]) -> list[list[Hypothesis]]:
    """Groups connected by close pairs; the largest group first."""
    waiting = list(hypotheses)
    groups: list[list[Hypothesis]] = []
    while waiting:
        group = [waiting.pop(0)]
        for member in group:
            near = [other for other in waiting if closeness(member, other) >= _SAME_GROUP]
            group.extend(near)
            waiting = [other for other in waiting if other not in near]
        groups.append(group)
    return sorted(groups, key=len, reverse=True)


def find_partner(hypothesis: Hypothesis, hypotheses: Sequence[Hypothesis]) -> Hypothesis | None:
    """The one to combine with: close yet not the same, rated well, neither parent nor child."""
    kin = {hypothesis.id, *hypothesis.parents}
    others = [
        other
        for other in hypotheses
        if other.id not in kin
        and hypothesis.id not in other.parents
        and other.decision.approval != "rejected"
    ]

    def rank(other: Hypothesis) -> tuple[bool, float, str]:
        close = closeness(hypothesis, other)
        worth = close + (other.rating.elo_score - 1000.0) / 1000.0
        return close < _NEARLY_THE_SAME, worth, other.id

    return max(others, key=rank, default=None)


def _names(hypothesis: Hypothesis) -> set[str]:
    connection = hypothesis.draft.connection
    bridges = {name.lower() for name in hypothesis.draft.bridges}
    if connection is None:
        return bridges | {word.lower() for word in hypothesis.draft.title.split() if len(word) > 4}
    return bridges | {connection.end.key, *(end.key for end in connection.also_ends)}


def _overlap(one: set[str], other: set[str]) -> float:
    return jaccard(len(one & other), len(one), len(other))
