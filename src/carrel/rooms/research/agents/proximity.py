"""The proximity agent: which hypotheses are close to each other, by what they name and what they
cite.
"""

from __future__ import annotations

from collections.abc import Sequence

from carrel.libraries.discovery.weights import jaccard
from carrel.rooms.research.agents.workshop import Made, Workshop
from carrel.rooms.research.minds.mind import Brief
from carrel.rooms.research.records import Changes, Hypothesis

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
