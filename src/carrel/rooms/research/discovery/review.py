"""Reviews from things that can be counted: support, novelty, testability and safety, each with its reason."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import exp, log1p, prod

from carrel.rooms.research.discovery.connections import BridgeEvidence, CandidateConnection
from carrel.rooms.research.discovery.links import PLENTY_OF_PAPERS, Link, LinkJudgement, chain, weakest_link
from carrel.rooms.research.discovery.rendering import quotation, render
from carrel.rooms.research.discovery.wording import counted, papers

SafetyScore = Callable[[str], float]

PLENTY_OF_METHODS = 5
WEIGHTS = {"plausibility": 0.35, "novelty": 0.25, "testability": 0.25, "specificity": 0.15}


class ReviewType(StrEnum):
    """How deep a review goes."""

    INITIAL = "initial"
    DEEP_VERIFICATION = "deep_verification"
    SIMULATION = "simulation"


@dataclass(frozen=True)
class Scores:
    """Each from 0 to 1; overall is their weighted geometric mean, and 0 where safety is 0."""

    plausibility: float
    novelty: float
    testability: float
    specificity: float
    safety: float
    overall: float


@dataclass(frozen=True)
class LinkCheck:
    """One side of one bridge, walked and judged."""

    from_label: str
    to_label: str
    documents: int
    strength: float
    judgement: LinkJudgement
    quotations: tuple[str, ...]


@dataclass(frozen=True)
class Review:
    """A review with its reasons; citations are document ids of the index."""

    connection_key: str
    review_type: ReviewType
    scores: Scores
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    recommendations: tuple[str, ...]
    citations: tuple[str, ...]
    links: tuple[LinkCheck, ...] = ()
    weakest_link: LinkCheck | None = None
    chain_strength: float | None = None


def review(connection: CandidateConnection, review_type: ReviewType, safety: SafetyScore = lambda _: 1.0) -> Review:
    """Score a connection; deep verification quotes every link, simulation walks the chain to its weakest one."""
    scores = score(connection, safety)
    strengths, weaknesses, recommendations = _said_of(connection, scores)
    links: tuple[LinkCheck, ...] = ()
    if review_type is not ReviewType.INITIAL:
        links = tuple(link for bridge in connection.bridges for link in _links(connection, bridge))
    weakest, strength = None, None
    if review_type is ReviewType.SIMULATION:
        weakest, strength = _checked(weakest_link(connection)), _chain_strength(links)
        weaknesses.append(
            f"Weakest link: {weakest.from_label} to {weakest.to_label} ({papers(weakest.documents)}; {weakest.judgement.value})."
        )
        recommendations.insert(
            0, f"Test {weakest.from_label} to {weakest.to_label} first: if it breaks, the chain breaks with it."
        )
    if review_type is ReviewType.DEEP_VERIFICATION:
        denied = [link for link in links if link.judgement is LinkJudgement.DENIED]
        said = sum(link.judgement is LinkJudgement.SAID for link in links)
        strengths.append(f"{said} of {len(links)} links are said in one sentence of a paper.")
        weaknesses.extend(f"Read with care: {quote}" for link in denied for quote in link.quotations[:1])
    return Review(
        connection.key, review_type, scores, tuple(strengths), tuple(weaknesses), tuple(recommendations), connection.citations,
        links, weakest, strength,
    )  # fmt: skip


def score(connection: CandidateConnection, safety: SafetyScore = lambda _: 1.0) -> Scores:
    """The scores alone."""
    plausibility = _plausibility(connection)
    novelty = _novelty(connection)
    testability = min(1.0, 0.2 + 0.8 * log1p(len(connection.methods)) / log1p(PLENTY_OF_METHODS))
    specificity = _specificity(connection)
    text = render(connection)
    safe = safety(f"{text.title}. {connection.goal}")
    parts = {"plausibility": plausibility, "novelty": novelty, "testability": testability, "specificity": specificity}
    overall = prod(max(value, 0.01) ** WEIGHTS[name] for name, value in parts.items()) if safe > 0 else 0.0
    return Scores(plausibility, novelty, testability, specificity, safe, overall)


def _plausibility(connection: CandidateConnection) -> float:
    # Support on both sides: papers on the thinner side of each bridge, those said in one sentence counting in full.
    missing = 1.0
    for bridge in connection.bridges:
        papers = log1p(bridge.weaker_side_documents) / log1p(PLENTY_OF_PAPERS)
        quoted = (*bridge.near_evidence, *bridge.far_evidence)
        said = sum(evidence.speaks_of_both for evidence in quoted) / len(quoted) if quoted else 0.0
        denied = sum(evidence.is_contrary for evidence in quoted) / len(quoted) if quoted else 0.0
        missing *= 1 - 0.35 * min(1.0, papers) * (0.5 + 0.5 * said) * (1 - 0.5 * denied)
    return 1 - missing


def _novelty(connection: CandidateConnection) -> float:
    # One direct paper where ten were expected is nearly new; as many as expected is not new at all.
    searched = connection.novelty
    if not searched.direct_documents:
        return 1.0
    return exp(-searched.direct_documents) if searched.expected_by_chance < 1 else exp(
        -2 * searched.direct_documents / searched.expected_by_chance - 0.2 * searched.direct_documents
    )  # fmt: skip


def _specificity(connection: CandidateConnection) -> float:
    # A concept in one paper of a thousand says much, one in a tenth of all papers nearly nothing.
    documents = max(connection.novelty.documents_searched, 2)
    shares = [
        concept.documents / documents for concept in (connection.end, *(bridge.concept for bridge in connection.bridges[:3]))
    ]
    return sum(max(0.0, 1 - share / 0.1) for share in shares) / len(shares)


def _links(connection: CandidateConnection, bridge: BridgeEvidence) -> tuple[LinkCheck, LinkCheck]:
    near, far = chain(connection.start, bridge, connection.end)
    return _checked(near), _checked(far)


def _checked(link: Link) -> LinkCheck:
    quotations = tuple(quotation(evidence) for evidence in link.evidence)
    return LinkCheck(link.cause.label, link.effect.label, link.documents, link.strength, link.judgement, quotations)


def _chain_strength(links: tuple[LinkCheck, ...]) -> float:
    # Each bridge is a chain of two links in series; the bridges stand side by side.
    broken = 1.0
    for near, far in zip(links[::2], links[1::2], strict=True):
        broken *= 1 - near.strength * far.strength
    return 1 - broken


def _said_of(connection: CandidateConnection, scores: Scores) -> tuple[list[str], list[str], list[str]]:
    best, searched = connection.bridges[0], connection.novelty
    held = f"rests on {papers(best.weaker_side_documents)} or more a side"
    strengths = [f"{counted(len(connection.bridges), 'bridge')}; the first, {best.concept.label}, {held}."]
    weaknesses: list[str] = []
    recommendations = ["Search databases beyond this corpus for both ends together."]
    if searched.direct_documents:
        known = ", ".join(evidence.document_id for evidence in searched.direct_evidence)
        verb = "speaks" if searched.direct_documents == 1 else "speak"
        weaknesses.append(f"{papers(searched.direct_documents)} already {verb} of both ends: {known}.")
    else:
        strengths.append(f"None of {papers(searched.documents_searched)} speaks of both ends.")
    if connection.methods:
        strengths.append(f"Methods in use where the bridges run: {', '.join(method.label for method in connection.methods)}.")
    else:
        weaknesses.append("No method of testing is named in the papers on the bridges.")
        recommendations.append("Say by which method the bridge would be measured.")
    if best.weaker_side_documents < 3:
        weaknesses.append(f"The thinner side of {best.concept.label} rests on {papers(best.weaker_side_documents)}.")
        recommendations.append(f"Add papers on {best.concept.label}, or refine the connection to better supported bridges.")
    if scores.specificity < 0.5:
        weaknesses.append("The concepts are broad.")
        recommendations.append("Refine towards narrower bridges.")
    if scores.safety <= 0:
        weaknesses.append("The safety check refused it.")
    return strengths, weaknesses, recommendations
