"""Arguments over rival bridges, made of evidence: pleas, objections, and which of two stands after
them.
"""

from collections.abc import Sequence

from carrel.libraries.discovery.connections import BridgeEvidence, CandidateConnection, Turn
from carrel.libraries.discovery.literatures import Reader, similarity
from carrel.libraries.discovery.wording import papers


def plea(bridge: BridgeEvidence, connection: CandidateConnection) -> Turn:
    """What speaks for a bridge."""
    says = (
        f"For {bridge.concept.label}: {papers(bridge.near_documents)} on {connection.start.label} "
        f"and {bridge.far_documents} "
        f"on {connection.end.label} speak of it."
    )
    return Turn(
        f"for {bridge.concept.label}", says, (*bridge.near_evidence[:1], *bridge.far_evidence[:1])
    )


def objection(bridge: BridgeEvidence, documents: int) -> Turn:
    """What speaks against it."""
    contrary = tuple(e for e in (*bridge.near_evidence, *bridge.far_evidence) if e.is_contrary)
    thin = f"its thinner side rests on {bridge.weaker_side_documents} of {papers(documents)}"
    if contrary:
        says = (
            f"Against {bridge.concept.label}: {len(contrary)} of the quoted sentences deny "
            f"something, and {thin}."
        )
    else:
        says = f"Against {bridge.concept.label}: no quoted sentence denies it, but {thin}."
    return Turn(f"against {bridge.concept.label}", says, contrary)


def after_objections(bridge: BridgeEvidence) -> float:
    """What is left of a bridge's weight."""
    quoted = (*bridge.near_evidence, *bridge.far_evidence)
    denied = sum(evidence.is_contrary for evidence in quoted)
    return bridge.weight * (1 - denied / (len(quoted) + 1))


def rival(reader: Reader, bridges: Sequence[int]) -> int:
    """The place of the bridge least like the first among the next few, so that the two cannot both
    be the whole story.
    """
    first = reader.profile_everywhere(bridges[0])
    few = range(1, min(4, len(bridges)))
    return min(few, key=lambda place: similarity(first, reader.profile_everywhere(bridges[place])))
