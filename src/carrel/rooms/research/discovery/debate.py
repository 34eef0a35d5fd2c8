"""Rival bridges argued from the evidence for and against: what generation by debate is made of."""

from collections.abc import Sequence

from carrel.rooms.research.discovery.connections import BridgeEvidence, CandidateConnection, Turn
from carrel.rooms.research.discovery.literatures import Reader, similarity


def rival(reader: Reader, found: Sequence[BridgeEvidence]) -> BridgeEvidence:
    """The best bridge that leads another way than the first, so that the two cannot both be the whole story."""
    numbers = [reader.index.number(bridge.concept.key) for bridge in found]
    first = reader.profile_everywhere(numbers[0]) if numbers[0] is not None else {}
    likeness = [similarity(first, reader.profile_everywhere(number)) if number is not None else 1.0 for number in numbers]
    return min(found[1:4], key=lambda bridge: likeness[found.index(bridge)])


def plea(bridge: BridgeEvidence, connection: CandidateConnection) -> Turn:
    """What speaks for a bridge."""
    says = (
        f"For {bridge.concept.label}: {bridge.near_documents} papers on {connection.start.label} and {bridge.far_documents} "
        f"on {connection.end.label} speak of it."
    )
    return Turn(f"for {bridge.concept.label}", says, (*bridge.near_evidence[:1], *bridge.far_evidence[:1]))


def objection(bridge: BridgeEvidence, documents: int) -> Turn:
    """What speaks against it: sentences that deny something, and how thin its thinner side is."""
    contrary = tuple(e for e in (*bridge.near_evidence, *bridge.far_evidence) if e.is_contrary)
    thin = f"its thinner side rests on {bridge.weaker_side_documents} of {documents} papers"
    if contrary:
        says = f"Against {bridge.concept.label}: {len(contrary)} of the quoted sentences deny something, and {thin}."
    else:
        says = f"Against {bridge.concept.label}: no quoted sentence denies it, but {thin}."
    return Turn(f"against {bridge.concept.label}", says, contrary)


def after_objections(bridge: BridgeEvidence) -> float:
    """What is left of a bridge's weight when the sentences that deny something are counted."""
    quoted = (*bridge.near_evidence, *bridge.far_evidence)
    denied = sum(evidence.is_contrary for evidence in quoted)
    return bridge.weight * (1 - denied / (len(quoted) + 1))
