"""The two links of each bridge, and arguments for and against rival bridges."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import log1p

from carrel.libraries.discovery.concepts.kinds import drive, kind_of
from carrel.libraries.discovery.connections.candidates import (
    Bench,
    BridgeEvidence,
    CandidateConnection,
    Evidence,
    GenerationMethod,
    Turn,
)
from carrel.libraries.discovery.paths.link_prediction import similarity
from carrel.libraries.discovery.paths.literatures import Reader
from carrel.libraries.discovery.records import Concept
from carrel.libraries.discovery.tuned import CONNECTIONS
from carrel.libraries.discovery.writing.wording import papers


class LinkJudgement(StrEnum):
    """How far the quoted sentences support one side of a bridge."""

    SAID = "said in one sentence"
    ADJACENT = "named in the same paper, not in one sentence"
    DENIED = "a quoted sentence denies something"
    UNQUOTED = "no sentence to quote"

    @property
    def trust(self) -> float:
        """How far such a link is believed, from 0 to 1."""
        return CONNECTIONS.trust[self.name.lower()]


@dataclass(frozen=True)
class Link:
    """One side of a bridge as a directed link from cause to effect."""

    cause: Concept
    effect: Concept
    documents: int
    evidence: tuple[Evidence, ...]
    bench: Bench

    @property
    def judgement(self) -> LinkJudgement:
        """What the quoted sentences say; those that name only one of the two do not count."""
        if not self.evidence:
            return LinkJudgement.UNQUOTED
        both = [evidence for evidence in self.evidence if evidence.speaks_of_both]
        if any(not evidence.is_contrary for evidence in both):
            return LinkJudgement.SAID
        return LinkJudgement.DENIED if both else LinkJudgement.ADJACENT

    @property
    def strength(self) -> float:
        """From 0 to 1, by the number of papers and the judgement of their sentences."""
        return (
            min(1.0, log1p(self.documents) / log1p(CONNECTIONS.plenty_of_papers))
            * self.judgement.trust
        )

    @property
    def said(self) -> tuple[Evidence, ...]:
        """The quotations that name both."""
        return tuple(evidence for evidence in self.evidence if evidence.speaks_of_both)


def chain(
    start: Concept, bridge: BridgeEvidence, end: Concept, start_acts: bool | None = None
) -> tuple[Link, Link]:
    """The two links of a bridge, that of the start first."""
    near = (bridge.near_documents, bridge.near_evidence, bridge.near_bench)
    far = (bridge.far_documents, bridge.far_evidence, bridge.far_bench)
    if acts_first(start, end) if start_acts is None else start_acts:
        return Link(start, bridge.concept, *near), Link(bridge.concept, end, *far)
    return Link(bridge.concept, start, *near), Link(end, bridge.concept, *far)


def acts_first(start: Concept, end: Concept) -> bool:
    """Whether the start is the cause: its kind acts more readily than the end's kind."""
    return drive(kind_of(start)) > drive(kind_of(end))


def leading_chain(connection: CandidateConnection) -> tuple[Link, Link]:
    """The chain of the connection's first bridge."""
    return chain(connection.start, connection.bridges[0], connection.end, connection.start_acts)


def starts_acting(connection: CandidateConnection) -> bool:
    """Whether the start is the cause: as the goal tells, else by the kinds of the two ends."""
    if connection.start_acts is not None:
        return connection.start_acts
    return acts_first(connection.start, connection.end)


def weakest_link(connection: CandidateConnection) -> Link:
    """The link to test first: the weaker one of the leading chain."""
    return min(leading_chain(connection), key=lambda link: (link.strength, link.documents))


def plea(bridge: BridgeEvidence, connection: CandidateConnection) -> Turn:
    """The argument for a bridge."""
    says = (
        f"For {bridge.concept.label}: {papers(bridge.near_documents)} on {connection.start.label} "
        f"and {bridge.far_documents} "
        f"on {connection.end.label} speak of it."
    )
    return Turn(
        f"for {bridge.concept.label}", says, (*bridge.near_evidence[:1], *bridge.far_evidence[:1])
    )


def objection(bridge: BridgeEvidence, documents: int) -> Turn:
    """The argument against a bridge."""
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
    """A bridge's weight after objections."""
    quoted = (*bridge.near_evidence, *bridge.far_evidence)
    denied = sum(evidence.is_contrary for evidence in quoted)
    return bridge.weight * (1 - denied / (len(quoted) + 1))


def rival(reader: Reader, bridges: Sequence[int]) -> int:
    """The position of the bridge least similar to the first, among the three that follow it."""
    first = reader.profile_everywhere(bridges[0])
    few = range(1, min(4, len(bridges)))
    return min(few, key=lambda place: similarity(first, reader.profile_everywhere(bridges[place])))


def argued(
    plain: CandidateConnection, other: int, documents: int, note: str = ""
) -> CandidateConnection:
    """A connection whose first bridge was debated against another; the stronger comes first."""
    champion, against = plain.bridges[0], plain.bridges[other]
    turns = (
        plea(champion, plain),
        plea(against, plain),
        objection(champion, documents),
        objection(against, documents),
    )
    # What sentences say with a direction is not argued away by counts.
    standing = sorted(
        (champion, against),
        key=lambda one: (bool(one.effect), after_objections(one)),
        reverse=True,
    )
    rest = [bridge for bridge in plain.bridges if bridge not in (champion, against)]
    verdict = (
        f"{standing[0].concept.label} stands after the objections, before "
        f"{standing[1].concept.label}."
    )
    origin = replace(
        plain.origin, made_by=GenerationMethod.DEBATE, note=f"{verdict} {note}".strip(), turns=turns
    )
    return replace(plain, bridges=(*standing, *rest), origin=origin)
