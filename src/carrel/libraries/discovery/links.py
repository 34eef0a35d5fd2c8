"""The links of a connection: each bridge is a chain of two, judged by what is quoted for it."""

from dataclasses import dataclass
from enum import StrEnum
from math import log1p

from carrel.libraries.discovery.connections import (
    Bench,
    BridgeEvidence,
    CandidateConnection,
    Evidence,
)
from carrel.libraries.discovery.kinds import drive, kind_of
from carrel.libraries.discovery.records import Concept

PLENTY_OF_PAPERS = 20


class LinkJudgement(StrEnum):
    """What the quoted sentences make of one side of a bridge."""

    SAID = "said in one sentence"
    ADJACENT = "named in the same paper, not in one sentence"
    DENIED = "a quoted sentence denies something"
    UNQUOTED = "no sentence to quote"


TRUST = {
    LinkJudgement.SAID: 0.7,
    LinkJudgement.ADJACENT: 0.4,
    LinkJudgement.DENIED: 0.15,
    LinkJudgement.UNQUOTED: 0.2,
}


@dataclass(frozen=True)
class Link:
    """One side of one bridge: the claim runs from what acts through the bridge to what is acted
    on.
    """

    cause: Concept
    effect: Concept
    documents: int
    evidence: tuple[Evidence, ...]
    bench: Bench

    @property
    def judgement(self) -> LinkJudgement:
        """What the quoted sentences make of it; a sentence that names one thing only supports
        nothing.
        """
        if not self.evidence:
            return LinkJudgement.UNQUOTED
        both = [evidence for evidence in self.evidence if evidence.speaks_of_both]
        if any(not evidence.is_contrary for evidence in both):
            return LinkJudgement.SAID
        return LinkJudgement.DENIED if both else LinkJudgement.ADJACENT

    @property
    def strength(self) -> float:
        """From 0 to 1: how many papers hold it up, trusted by what they say."""
        return min(1.0, log1p(self.documents) / log1p(PLENTY_OF_PAPERS)) * TRUST[self.judgement]

    @property
    def said(self) -> tuple[Evidence, ...]:
        """The quotations that name both."""
        return tuple(evidence for evidence in self.evidence if evidence.speaks_of_both)


def chain(start: Concept, bridge: BridgeEvidence, end: Concept) -> tuple[Link, Link]:
    """The two links of a bridge, that of the start first."""
    near = (bridge.near_documents, bridge.near_evidence, bridge.near_bench)
    far = (bridge.far_documents, bridge.far_evidence, bridge.far_bench)
    if acts_first(start, end):
        return Link(start, bridge.concept, *near), Link(bridge.concept, end, *far)
    return Link(bridge.concept, start, *near), Link(end, bridge.concept, *far)


def acts_first(start: Concept, end: Concept) -> bool:
    """Whether the start is what acts: a drug the goal names acts on a disease that was found, not
    the other way round.
    """
    return drive(kind_of(start)) > drive(kind_of(end))


def leading_chain(connection: CandidateConnection) -> tuple[Link, Link]:
    """The chain the connection is told by: that of its first bridge."""
    return chain(connection.start, connection.bridges[0], connection.end)


def weakest_link(connection: CandidateConnection) -> Link:
    """The link to test first: the weaker one of the leading chain."""
    return min(leading_chain(connection), key=lambda link: (link.strength, link.documents))
