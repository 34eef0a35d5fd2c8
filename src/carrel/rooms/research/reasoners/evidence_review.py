"""Reviews that follow the evidence: what papers say of each statement enters text and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from carrel.libraries.discovery.connections.candidates import ReviewType
from carrel.libraries.discovery.review import Scores as DiscoveryScores
from carrel.libraries.discovery.tuned import REVIEW
from carrel.rooms.research.claim_checks import ClaimChecks
from carrel.rooms.research.claim_models import CheckedStatement, QuotedSentence, VerdictName
from carrel.rooms.research.reasoners import Assessment
from carrel.rooms.research.records import Draft, Hypothesis, Review, ReviewScores

# Statements that a review checks, by how deep it goes.
_STATEMENTS = {
    ReviewType.INITIAL: 2,
    ReviewType.DEEP_VERIFICATION: 6,
    ReviewType.SIMULATION: 4,
}
# Cited papers that are read for every statement, beside those that the search finds.
_CITED_PAPERS = 8
# Set by hand: what a verdict lets plausibility be at most, and at least.
_PLAUSIBLE_AT_MOST: dict[VerdictName, float] = {"contradicts": 0.1, "mixed": 0.4}
_PLAUSIBLE_AT_LEAST: dict[VerdictName, float] = {"supports": 0.75}
# Set by hand: scores of a hypothesis whose ends are no concepts of the corpus, where the papers
# take a side. Only a paper that states the result makes it old.
_PLAUSIBLE_ALONE: dict[VerdictName, float] = {"supports": 0.75, "mixed": 0.4, "contradicts": 0.1}
_NOVEL_ALONE: dict[VerdictName, float] = {"supports": 0.1, "mixed": 0.3, "contradicts": 0.5}
_KNOWN_NOVELTY = 0.1
_SENTENCES_KEPT = 5


async def check_hypothesis_statements(
    checks: ClaimChecks, hypothesis: Hypothesis, review_type: ReviewType
) -> list[CheckedStatement]:
    """What papers say of the statements of a hypothesis, its title first."""
    draft = hypothesis.draft
    return await checks.check_statements(
        _texts_of(draft), draft.citations[:_CITED_PAPERS], _STATEMENTS[review_type]
    )


def _texts_of(draft: Draft) -> list[str]:
    # What discovery writes below a title repeats its counts, which are no statements on the world.
    return [draft.title] if draft.connection is not None else [draft.title, draft.summary]


def overall_verdict(statements: Sequence[CheckedStatement]) -> VerdictName:
    """One verdict for a hypothesis: a denied statement denies it, its first one else decides."""
    verdicts = {each.verdict for each in statements}
    if not verdicts or verdicts == {"silent"}:
        return "silent"
    is_first_supported = statements[0].verdict == "supports"
    if "contradicts" in verdicts:
        return "mixed" if is_first_supported else "contradicts"
    if "mixed" in verdicts:
        return "mixed"
    return "supports" if is_first_supported else "undecided"


def add_evidence(found: Assessment, statements: Sequence[CheckedStatement]) -> Assessment:
    """The assessment with what was read: texts, citations, quotations and scores."""
    verdict = overall_verdict(statements)
    kept = tuple(_keep_few(each) for each in statements)
    for_it = [(each, one) for each in kept for one in each.supporting]
    against = [(each, one) for each in kept for one in each.contradicting]
    bearing = [one for each in kept for one in (*each.bearing, *each.nearest)]
    shown = [*(one for _, one in (*against, *for_it)), *bearing]
    scores, reasons = _score(found.scores, verdict, for_it, against)
    strengths = [_say("Supported", each, one) for each, one in for_it]
    weaknesses = [_say("Contradicted", each, one) for each, one in against]
    weaknesses += [
        f"Silent: “{each.statement}”: {each.message}" for each in kept if each.verdict == "silent"
    ]
    weaknesses += [
        _say("Undecided, and bears on it", each, each.bearing[0])
        for each in kept
        if each.verdict == "undecided" and each.bearing
    ]
    # What of a submitted hypothesis was looked at limits all the rest, so it stays first.
    subject = [one for one in found.weaknesses[:1] if one == found.reasons.get("subject")]
    in_corpus = [one.paper_id for one in shown if not one.paper_id.startswith("ref:")]
    return replace(
        found,
        scores=scores,
        strengths=(*strengths, *found.strengths),
        weaknesses=(
            *subject,
            *weaknesses,
            *(one for one in found.weaknesses if one not in subject),
        ),
        citations=tuple(dict.fromkeys((*in_corpus, *found.citations))),
        quotations=tuple(dict.fromkeys((*map(cite_sentence, shown), *found.quotations))),
        reasons={**found.reasons, **reasons},
        statements=kept,
    )


def bound_by_reviews(
    measured: DiscoveryScores, hypothesis_id: str, reviews: Sequence[Review], outside: float = 1.0
) -> DiscoveryScores:
    """The scores that matches go by, within what the papers of the latest review say.

    `outside` is what novelty may be at most by what was found outside the corpus.
    """
    statements = next(
        (
            review.statements
            for review in reversed(reviews)
            if review.hypothesis_id == hypothesis_id and review.statements
        ),
        (),
    )
    verdict = overall_verdict(statements)
    least, most = _PLAUSIBLE_AT_LEAST.get(verdict, 0.0), _PLAUSIBLE_AT_MOST.get(verdict, 1.0)
    plausibility = min(max(measured.plausibility, least), most)
    novelty = min(measured.novelty, outside, _KNOWN_NOVELTY if verdict == "supports" else 1.0)
    if (plausibility, novelty) == (measured.plausibility, measured.novelty):
        return measured
    bounded = replace(measured, plausibility=plausibility, novelty=novelty)
    factors = [
        max(getattr(bounded, name), REVIEW.least_factor) ** weight
        for name, weight in REVIEW.weights.items()
    ]
    return replace(bounded, overall=float(prod(factors)) if measured.safety > 0 else 0.0)


def cite_sentence(quoted: QuotedSentence) -> str:
    """A sentence with its paper and place."""
    year = f", {quoted.year}" if quoted.year else ""
    page = f", p. {quoted.page}" if quoted.page is not None else ""
    place = f", {quoted.section}" if quoted.section else ""
    return f"“{quoted.sentence}” [{quoted.paper_id}{year}{place}{page}]"


def _keep_few(statement: CheckedStatement) -> CheckedStatement:
    return statement.model_copy(
        update={
            "supporting": statement.supporting[:_SENTENCES_KEPT],
            "contradicting": statement.contradicting[:_SENTENCES_KEPT],
            "bearing": statement.bearing[:_SENTENCES_KEPT],
            "nearest": statement.nearest[:_SENTENCES_KEPT],
        }
    )


def _say(opening: str, statement: CheckedStatement, quoted: QuotedSentence) -> str:
    return f"{opening}: “{statement.statement}”: {cite_sentence(quoted)}"


Sides = Sequence[tuple[CheckedStatement, QuotedSentence]]


def _score(
    scores: ReviewScores, verdict: VerdictName, for_it: Sides, against: Sides
) -> tuple[ReviewScores, dict[str, str]]:
    """Scores that follow the evidence, with the paper that changed each of them."""
    values = scores.model_dump()
    reasons = {"evidence": f"What papers say of its statements: {verdict}."}
    sides = against if verdict in {"contradicts", "mixed"} else for_it
    named = f" {cite_sentence(sides[0][1])}" if sides else ""
    if scores.plausibility is None:
        values["plausibility"] = _PLAUSIBLE_ALONE.get(verdict)
    else:
        least = _PLAUSIBLE_AT_LEAST.get(verdict, 0.0)
        values["plausibility"] = min(
            max(scores.plausibility, least), _PLAUSIBLE_AT_MOST.get(verdict, 1.0)
        )
    if values["plausibility"] != scores.plausibility:
        reasons["plausibility"] = f"The papers read say: {verdict}.{named}"
    if scores.novelty is None:
        values["novelty"] = _NOVEL_ALONE.get(verdict)
    elif verdict == "supports":
        values["novelty"] = min(scores.novelty, _KNOWN_NOVELTY)
    if values["novelty"] != scores.novelty:
        reasons["novelty"] = (
            f"A paper has the result:{named}"
            if verdict == "supports"
            else f"The papers read say: {verdict}.{named}"
        )
    values["overall"] = weigh_scores(values, scores)
    return ReviewScores.model_validate(values), reasons


def weigh_scores(values: dict[str, float | None], scores: ReviewScores) -> float | None:
    """The geometric mean of the scores that there are, 0 where it is not safe."""
    if values["plausibility"] is None:
        return scores.overall
    if scores.safety <= 0:
        return 0.0
    known = {name: value for name in REVIEW.weights if (value := values.get(name)) is not None}
    total = sum(REVIEW.weights[name] for name in known)
    factors = [
        max(value, REVIEW.least_factor) ** (REVIEW.weights[name] / total)
        for name, value in known.items()
    ]
    return float(prod(factors))
