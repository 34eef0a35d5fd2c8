"""Reviews computed from counts: support, novelty, testability and safety, with reasons."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log1p, prod

from carrel.libraries.discovery.connections.candidates import (
    BridgeEvidence,
    CandidateConnection,
    ReviewType,
)
from carrel.libraries.discovery.connections.links import (
    Link,
    LinkJudgement,
    chain,
    weakest_link,
)
from carrel.libraries.discovery.tuned import CONNECTIONS, REVIEW
from carrel.libraries.discovery.writing.rendering import quotation, render
from carrel.libraries.discovery.writing.wording import counted, papers

SafetyScore = Callable[[str], float]


@dataclass(frozen=True)
class Scores:
    """Scores from 0 to 1; `overall` is the weighted geometric mean, or 0 where safety is 0."""

    plausibility: float
    novelty: float
    testability: float
    specificity: float
    relevance: float
    safety: float
    overall: float


@dataclass(frozen=True)
class LinkCheck:
    """The check of one side of a bridge."""

    from_label: str
    to_label: str
    documents: int
    strength: float
    judgement: LinkJudgement
    quotations: tuple[str, ...]


@dataclass(frozen=True)
class Review:
    """A review with a reason for each score; `citations` are document ids of the index."""

    review_type: ReviewType
    scores: Scores
    reasons: dict[str, str]
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    recommendations: tuple[str, ...]
    citations: tuple[str, ...]
    links: tuple[LinkCheck, ...] = ()
    weakest_link: LinkCheck | None = None
    chain_strength: float | None = None


Found = tuple[float, str]
"""A score and the reason for it."""


def review(
    connection: CandidateConnection, review_type: ReviewType, safety: SafetyScore = lambda _: 1.0
) -> Review:
    """Score a connection; the review type decides how its links and its chain are checked."""
    links = tuple(link for bridge in connection.bridges for link in _links(connection, bridge))
    scores, reasons = _scored(connection, review_type, links, safety)
    strengths, weaknesses, recommendations = _said_of(connection, scores)
    weakest, strength = None, None
    if review_type is ReviewType.SIMULATION:
        weakest, strength = _checked(weakest_link(connection)), _chain_strength(links)
        weaknesses.append(
            f"Weakest link: {weakest.from_label} to {weakest.to_label} "
            f"({papers(weakest.documents)}; {weakest.judgement.value})."
        )
        recommendations.insert(
            0,
            f"Test {weakest.from_label} to {weakest.to_label} first: if it breaks, the chain "
            f"breaks with it.",
        )
    if review_type is ReviewType.DEEP_VERIFICATION:
        denied = [link for link in links if link.judgement is LinkJudgement.DENIED]
        said = sum(link.judgement is LinkJudgement.SAID for link in links)
        strengths.append(f"{said} of {len(links)} links are said in one sentence of a paper.")
        weaknesses.extend(
            f"Read with care: {quote}" for link in denied for quote in link.quotations[:1]
        )
    return Review(
        review_type, scores, reasons, tuple(strengths), tuple(weaknesses),
        tuple(recommendations),
        connection.citations, () if review_type is ReviewType.INITIAL else links, weakest, strength,
    )  # fmt: skip


def score(connection: CandidateConnection, safety: SafetyScore = lambda _: 1.0) -> Scores:
    """The scores of an initial review alone."""
    links = tuple(link for bridge in connection.bridges for link in _links(connection, bridge))
    return _scored(connection, ReviewType.INITIAL, links, safety)[0]


def _scored(
    connection: CandidateConnection,
    review_type: ReviewType,
    links: tuple[LinkCheck, ...],
    safety: SafetyScore,
) -> tuple[Scores, dict[str, str]]:
    match review_type:
        case ReviewType.INITIAL:
            plausible = _supported(connection)
        case ReviewType.DEEP_VERIFICATION:
            plausible = _verified(connection, links)
        case ReviewType.SIMULATION:
            plausible = _simulated(connection, links)
    found = {
        "plausibility": plausible,
        "novelty": _new(connection),
        "testability": _testable(connection),
        "specificity": _specific(connection),
        "relevance": (connection.relevance.share, connection.relevance.says),
    }
    safe = safety(f"{render(connection).title}. {connection.goal}")
    reasons = {name: reason for name, (_, reason) in found.items()}
    reasons["safety"] = (
        "The safety rules let it pass." if safe > 0 else "The safety rules refuse it."
    )
    powers = " × ".join(f"{name}^{weight}" for name, weight in REVIEW.weights.items())
    reasons["overall"] = f"{powers}, none of them below {REVIEW.least_factor}; 0 where safety is 0."
    overall = (
        prod(
            max(value, REVIEW.least_factor) ** REVIEW.weights[name]
            for name, (value, _) in found.items()
        )
        if safe > 0
        else 0.0
    )
    return Scores(
        **{name: value for name, (value, _) in found.items()}, safety=safe, overall=overall
    ), reasons


def _supported(connection: CandidateConnection) -> Found:
    # Support on both sides: papers on the thinner side of each bridge, those said in one sentence
    # counting in full.
    missing = 1.0
    for bridge in connection.bridges:
        quoted = (*bridge.near_evidence, *bridge.far_evidence)
        said = sum(evidence.speaks_of_both for evidence in quoted) / len(quoted) if quoted else 0.0
        denied = sum(evidence.is_contrary for evidence in quoted) / len(quoted) if quoted else 0.0
        missing *= 1 - REVIEW.one_bridge * _thickness(bridge) * (
            REVIEW.unsaid_counts + (1 - REVIEW.unsaid_counts) * said
        ) * (1 - REVIEW.denied_takes * denied)
    best = connection.bridges[0]
    sentences = [
        evidence
        for bridge in connection.bridges
        for evidence in (*bridge.near_evidence, *bridge.far_evidence)
    ]
    both = sum(evidence.speaks_of_both for evidence in sentences)
    share = REVIEW.undirected_counts if connection.lacks_direction else 1.0
    return share * (1 - missing), (
        f"{_counted(len(connection.bridges), 'bridge')}; {best.concept.label} has "
        f"{best.near_documents} papers on one side and "
        f"{best.far_documents} on the other ({CONNECTIONS.plenty_of_papers} count as plenty); "
        f"{both} of {len(sentences)} quoted sentences name both "
        "things they are quoted for."
        + (" No sentences say in which direction it acts." if connection.lacks_direction else "")
    )


def _verified(connection: CandidateConnection, links: tuple[LinkCheck, ...]) -> Found:
    # A chain is believed as far as the worse of its two links is said, not only by how many papers
    # mention it.
    missing = 1.0
    for place, bridge in enumerate(connection.bridges):
        trust = min(link.judgement.trust for link in links[2 * place : 2 * place + 2])
        missing *= 1 - REVIEW.verified_bridge * _thickness(bridge) * trust
    told = Counter(link.judgement for link in links)
    kinds = ", ".join(f"{count} {judgement.value}" for judgement, count in told.most_common())
    return (
        1 - missing,
        f"Judged link by link from the quoted sentences: {kinds}. Each bridge counts as far as "
        f"its worse link is said.",
    )


def _simulated(connection: CandidateConnection, links: tuple[LinkCheck, ...]) -> Found:
    weakest = _checked(weakest_link(connection))
    return _chain_strength(links), (
        f"The chance that at least one of {_counted(len(links) // 2, 'chain')} carries, each link "
        f"by its papers and sentences; "
        f"the leading chain is limited by {weakest.from_label} to {weakest.to_label} "
        f"({weakest.strength:.2f})."
    )


def _thickness(bridge: BridgeEvidence) -> float:
    return min(1.0, log1p(bridge.weaker_side_documents) / log1p(CONNECTIONS.plenty_of_papers))


def _new(connection: CandidateConnection) -> Found:
    searched = connection.novelty
    value = _pair_novelty(connection)
    told = (
        f"{searched.direct_documents} of {searched.documents_searched} papers speak of both ends, "
        f"{searched.expected_by_chance:.1f} expected by chance"
    )
    if searched.way_documents is None:
        return value, f"{told}."
    # Both ends were asked for: what is new is the way between them, half of it even where the pair
    # is well known.
    way = 1 / (1 + searched.way_documents)
    return way * (REVIEW.known_pair_counts + (1 - REVIEW.known_pair_counts) * value), (
        f"{told}; {searched.way_documents} of them also speak of "
        f"{connection.bridges[0].concept.label}, the way proposed."
    )


def _pair_novelty(connection: CandidateConnection) -> float:
    # One direct paper where ten were expected is nearly new; as many as expected is not new at all.
    searched = connection.novelty
    if not searched.direct_documents:
        return 1.0
    return exp(-searched.direct_documents) if searched.expected_by_chance < 1 else exp(
        -REVIEW.expected_papers * searched.direct_documents / searched.expected_by_chance - REVIEW.each_paper * searched.direct_documents  # noqa: E501
    )  # fmt: skip


def _testable(connection: CandidateConnection) -> Found:
    testing, methods = connection.testing, len(connection.methods)
    weights = REVIEW.testability
    if testing is None:
        # Kept from before links were counted: how many methods are named where the bridges run.
        value = min(
            1.0,
            REVIEW.untested
            + (1 - REVIEW.untested) * log1p(methods) / log1p(REVIEW.plenty_of_methods),
        )
        return (
            value,
            f"{_counted(methods, 'method')} named where the bridges run "
            f"({REVIEW.plenty_of_methods} count as plenty).",
        )
    changeable = (
        f"{connection.end.label} is a {testing.end_kind}, which an experiment can change"
        if testing.can_change_end
        else f"{connection.end.label} is not known to be something an experiment can change"
    )
    if not methods:
        return (
            weights["any"] + weights["changeable"] * testing.can_change_end,
            f"No method is named in the papers on the bridges; {changeable}.",
        )
    reached = testing.links_with_methods / max(1, testing.links)
    shared = min(1.0, log1p(len(testing.shared_methods)) / log1p(REVIEW.plenty_of_methods))
    named = f" ({', '.join(testing.shared_methods[:3])})" if testing.shared_methods else ""
    return (
        weights["any"]
        + weights["reached"] * reached
        + weights["shared"] * shared
        + weights["changeable"] * testing.can_change_end
    ), (
        f"Methods are named on {testing.links_with_methods} of {testing.links} links, "
        f"{len(testing.shared_methods)} of them on both "
        f"sides{named}; {changeable}."
    )


def _specific(connection: CandidateConnection) -> Found:
    # A concept in one paper of a thousand says much, one in a tenth of all papers nearly nothing.
    documents = max(connection.novelty.documents_searched, 2)
    concepts = (connection.end, *(bridge.concept for bridge in connection.bridges[:3]))
    broadest = max(concepts, key=lambda concept: concept.documents)
    value = sum(
        max(0.0, 1 - concept.documents / documents / REVIEW.broad_share) for concept in concepts
    ) / len(concepts)
    return (
        value,
        f"The broadest of the end and first bridges, {broadest.label}, is in {broadest.documents} "
        f"of {documents} papers.",
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _links(connection: CandidateConnection, bridge: BridgeEvidence) -> tuple[LinkCheck, LinkCheck]:
    near, far = chain(connection.start, bridge, connection.end, connection.start_acts)
    return _checked(near), _checked(far)


def _checked(link: Link) -> LinkCheck:
    quotations = tuple(quotation(evidence) for evidence in link.evidence)
    return LinkCheck(
        link.cause.label,
        link.effect.label,
        link.documents,
        link.strength,
        link.judgement,
        quotations,
    )


def _chain_strength(links: tuple[LinkCheck, ...]) -> float:
    # Each bridge is a chain of two links in series; the bridges stand side by side.
    broken = 1.0
    for near, far in zip(links[::2], links[1::2], strict=True):
        broken *= 1 - near.strength * far.strength
    return 1 - broken


def _said_of(
    connection: CandidateConnection, scores: Scores
) -> tuple[list[str], list[str], list[str]]:
    best, searched = connection.bridges[0], connection.novelty
    held = f"rests on {papers(best.weaker_side_documents)} or more a side"
    strengths = [
        f"{counted(len(connection.bridges), 'bridge')}; the first, {best.concept.label}, {held}."
    ]
    weaknesses: list[str] = []
    recommendations = ["Search databases beyond this corpus for both ends together."]
    if searched.direct_documents:
        known = ", ".join(evidence.document_id for evidence in searched.direct_evidence)
        verb = "speaks" if searched.direct_documents == 1 else "speak"
        weaknesses.append(
            f"{papers(searched.direct_documents)} already {verb} of both ends: {known}."
        )
    else:
        strengths.append(f"None of {papers(searched.documents_searched)} speaks of both ends.")
    if connection.methods:
        strengths.append(
            f"Methods in use where the bridges run: "
            f"{', '.join(method.label for method in connection.methods)}."
        )
    else:
        weaknesses.append("No method of testing is named in the papers on the bridges.")
        recommendations.append("Say by which method the bridge would be measured.")
    if best.weaker_side_documents < 3:
        weaknesses.append(
            f"The thinner side of {best.concept.label} rests on "
            f"{papers(best.weaker_side_documents)}."
        )
        recommendations.append(
            f"Add papers on {best.concept.label}, or refine the connection to better supported "
            f"bridges."
        )
    if scores.specificity < REVIEW.broad_below:
        weaknesses.append("The concepts are broad.")
        recommendations.append("Refine towards narrower bridges.")
    if scores.relevance < 1:
        weaknesses.append(connection.relevance.says)
    if scores.safety <= 0:
        weaknesses.append("The safety check refused it.")
    return strengths, weaknesses, recommendations
