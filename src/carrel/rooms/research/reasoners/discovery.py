"""The reasoner without a model: literature-based discovery over the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace

from carrel.libraries.discovery.concepts.words import normal_phrase
from carrel.libraries.discovery.connections.builder import Request
from carrel.libraries.discovery.connections.candidates import (
    CandidateConnection,
    EvolutionStrategy,
    GenerationMethod,
    ReviewType,
)
from carrel.libraries.discovery.errors import GoalNotInCorpusError as NotInCorpus
from carrel.libraries.discovery.errors import GoalUnclearError as Unclear
from carrel.libraries.discovery.errors import NoConnectionError
from carrel.libraries.discovery.errors import NothingToEvolveError as Unchanged
from carrel.libraries.discovery.generation.discovery import Discovery
from carrel.libraries.discovery.generation.evolution import evolve
from carrel.libraries.discovery.goals.statement import ask_back, parse_goal
from carrel.libraries.discovery.review import Scores as Measured
from carrel.libraries.discovery.review import review, score
from carrel.libraries.discovery.tuned import REVIEW
from carrel.libraries.discovery.writing.rendering import render
from carrel.libraries.discovery.writing.wording import papers
from carrel.libraries.ranking import Judging
from carrel.rooms.research.claim_checks import ClaimChecks
from carrel.rooms.research.corpus import Corpus
from carrel.rooms.research.errors import (
    GoalNotInCorpusError,
    GoalUnclearError,
    NoConnectionFoundError,
    NothingToEvolveError,
)
from carrel.rooms.research.goal_reading import describe_reading
from carrel.rooms.research.hypothesis_views import rank_by_strength
from carrel.rooms.research.people import PeopleWeight, list_rejected_kinds, weigh_people
from carrel.rooms.research.reasoners import Assessment, Brief, Judgement, Opinion
from carrel.rooms.research.reasoners.evidence_review import (
    add_evidence,
    bound_by_reviews,
    check_hypothesis_statements,
)
from carrel.rooms.research.reasoners.outside_review import latest_novelty_bound
from carrel.rooms.research.reasoners.subjects import (
    Covered,
    NotCovered,
    describe_left_out,
    drop_weak_bridges,
    find_subject,
    keep_statement,
    lead_by_named_bridge,
)
from carrel.rooms.research.records import (
    Advice,
    Draft,
    Hypothesis,
    MetaReview,
    Mind,
    Review,
    ReviewScores,
    UnderstoodAs,
)
from carrel.rooms.research.safety import safety_score

LABEL = "literature-based discovery over the paper snapshot"
_MOST_REMEMBERED = 2000
# How many concepts a line of a meta-review names, and below how many papers a bridge is thin.
_MOST_NAMED = 5
_THIN_PAPERS = 3


class DiscoveryReasoner:
    """Thinks in counts of papers. Every citation is a paper of the snapshot."""

    name = "discovery"
    mind: Mind = "discovery"
    judging = Judging.EXACT

    def __init__(self, corpus: Corpus, checks: ClaimChecks) -> None:
        self._corpus = corpus
        self._checks = checks
        self._measures: dict[str, Measured | None] = {}

    async def check(self, brief: Brief, texts: Sequence[str]) -> list[Opinion]:
        return []

    async def understand(self, goal: str) -> UnderstoodAs:
        def work(discovery: Discovery) -> UnderstoodAs:
            with translate_discovery_errors():
                ask_back(parse_goal(goal))
                reading = discovery.understand(goal)
            return describe_reading(reading, discovery.index)

        return await self._corpus.with_discovery(work)

    async def generate(self, brief: Brief, method: GenerationMethod, count: int) -> list[Draft]:
        known = [
            one.draft.connection for one in brief.hypotheses if one.draft.connection is not None
        ]
        advice = brief.meta_review.advice
        kinds = list_rejected_kinds(brief.project.goal, brief.hypotheses)
        rejected = frozenset(name for kind in kinds for name in (*kind.named, kind.bridge) if name)
        best = [
            one for one in rank_by_strength(brief.hypotheses) if one.draft.connection is not None
        ][:3]
        request = Request(
            count,
            avoid={
                *(end.key for one in known for end in (one.end, *one.also_ends)),
                *_keys(advice.unsafe),
                *rejected,
            },
            known=known,
            best=[one.draft.connection for one in best if one.draft.connection is not None],
            why_best=_explain_best(best),
            weak=_keys(advice.weak) | rejected,
            strong=_keys(advice.strong) - rejected,
        )

        def work(discovery: Discovery) -> list[Draft]:
            with translate_discovery_errors():
                found = discovery.generate(brief.project.goal, method, count, request=request)
            return [write_draft(connection) for connection in found]

        return await self._corpus.with_discovery(work)

    async def review(
        self, brief: Brief, hypothesis: Hypothesis, review_type: ReviewType
    ) -> Assessment:
        goal = brief.project.goal

        def work(discovery: Discovery) -> Assessment:
            match find_subject(discovery, hypothesis, goal):
                case NotCovered(says):
                    return _abstain(hypothesis, says)
                case Covered(connection, says):
                    return _assess(connection, review_type, says)

        found = await self._corpus.with_discovery(work)
        statements = await check_hypothesis_statements(self._checks, hypothesis, review_type)
        return add_evidence(found, statements)

    async def judge(self, brief: Brief, first: Hypothesis, second: Hypothesis) -> Judgement:
        goal = brief.project.goal
        one, other = await self._measure(first, goal), await self._measure(second, goal)
        people = weigh_people((first, second), brief.reviews)
        words = [people.get(each.id) for each in (first, second)]
        if one is None or other is None:
            return _judge_uncovered(one, other, words)
        one, other = (
            bound_by_reviews(
                measured, each.id, brief.reviews, latest_novelty_bound(each.id, brief.reviews)
            )
            for measured, each in ((one, first), (other, second))
        )
        names = tuple(REVIEW.weights)
        better = [name for name in names if getattr(one, name) > getattr(other, name)]
        worse = [name for name in names if getattr(one, name) < getattr(other, name)]

        def list_measures(measures: list[str]) -> str:
            return (
                ", ".join(
                    f"{name} ({getattr(one, name):.2f} against {getattr(other, name):.2f})"
                    for name in measures
                )
                or "nothing"
            )

        reason = (
            f"The first is ahead in {list_measures(better)}; the second in {list_measures(worse)}."
        )
        difference = one.overall - other.overall + _measure_of(words[0]) - _measure_of(words[1])
        reason += _describe_words(words)
        if abs(difference) < 1e-9:
            return Judgement("draw", reason)
        return Judgement("first" if difference > 0 else "second", reason)

    async def evolve(
        self,
        brief: Brief,
        hypothesis: Hypothesis,
        strategy: EvolutionStrategy,
        partner: Hypothesis | None,
    ) -> Draft:
        goal, weak = brief.project.goal, _keys(brief.meta_review.advice.weak)
        ways = {
            _path_key(one.draft.connection)
            for one in brief.hypotheses
            if one.draft.connection is not None
        }

        def work(discovery: Discovery) -> Draft:
            subject = find_subject(discovery, hypothesis, goal)
            if isinstance(subject, NotCovered):
                raise NothingToEvolveError(
                    subject.says, next_step="Choose another hypothesis, or set up a language model."
                )
            other = None if partner is None else find_subject(discovery, partner, goal)
            chosen = drop_weak_bridges(subject.connection, weak)
            try:
                child = evolve(
                    discovery,
                    chosen,
                    strategy,
                    other.connection if isinstance(other, Covered) else None,
                )
            except (Unchanged, NoConnectionError, NotInCorpus) as error:
                raise NothingToEvolveError(
                    str(error), next_step="Try another strategy or another hypothesis."
                ) from error
            if discovery.excludes(goal, child):
                raise NothingToEvolveError(
                    f"it would lead to {child.end.label}, which the goal excludes",
                    next_step="Try another strategy or another hypothesis.",
                )
            if strategy is EvolutionStrategy.PARADIGM_SHIFT and _path_key(child) in ways:
                raise NothingToEvolveError(
                    f"the other way, through {child.bridges[0].concept.label}, is proposed already",
                    next_step="Try another strategy or another hypothesis.",
                )
            parents = tuple(
                subject.connection.key if key == chosen.key else key for key in child.origin.parents
            )
            told_note = (
                f"{child.origin.note} {describe_left_out(subject.connection, child, weak)}".strip()
            )
            kept = lead_by_named_bridge(
                replace(child, origin=replace(child.origin, parents=parents, note=told_note)),
                subject,
            )
            draft = write_draft(kept)
            return (
                keep_statement(hypothesis.draft, draft, subject)
                if hypothesis.draft.connection is None
                else draft
            )

        return await self._corpus.with_discovery(work)

    async def meta_review(self, brief: Brief, reviews: Sequence[Review]) -> MetaReview:
        return write_meta_review(brief.hypotheses, reviews)

    async def _measure(self, hypothesis: Hypothesis, goal: str) -> Measured | None:
        if hypothesis.id not in self._measures:
            if len(self._measures) > _MOST_REMEMBERED:
                self._measures.clear()

            def work(discovery: Discovery) -> Measured | None:
                subject = find_subject(discovery, hypothesis, goal)
                return (
                    score(subject.connection, safety_score)
                    if isinstance(subject, Covered)
                    else None
                )

            self._measures[hypothesis.id] = await self._corpus.with_discovery(work)
        return self._measures[hypothesis.id]


# Where the papers say nothing of a hypothesis, people's words are added to the middle of the scale.
_UNKNOWN = 0.5


def _judge_uncovered(
    one: Measured | None, other: Measured | None, words: Sequence[PeopleWeight | None]
) -> Judgement:
    """A verdict on two of which the papers speak of one at most: by people's words, then papers."""
    first = (_UNKNOWN if one is None else one.overall) + _measure_of(words[0])
    second = (_UNKNOWN if other is None else other.overall) + _measure_of(words[1])
    neither = one is None and other is None
    reason = f"The papers at hand speak of {'neither' if neither else 'one of the two only'}."
    if any(words) and abs(first - second) > 1e-9:
        return Judgement("first" if first > second else "second", reason + _describe_words(words))
    if neither:
        return Judgement("draw", reason)
    return Judgement("second" if one is None else "first", reason)


def _measure_of(words: PeopleWeight | None) -> float:
    return 0.0 if words is None else words.measure


def _describe_words(words: Sequence[PeopleWeight | None]) -> str:
    return "".join(
        f" People on the {name}: {each.says} Here it adds {each.measure:+.2f} of 1."
        for name, each in zip(("first", "second"), words, strict=True)
        if each is not None
    )


def write_meta_review(hypotheses: Sequence[Hypothesis], reviews: Sequence[Review]) -> MetaReview:
    """A summary of all reviews and matches so far."""
    judged = [one for one in hypotheses if one.review_count or one.rating.match_count]
    ordered = sorted(judged, key=lambda one: -one.rating.elo_score)
    quarter = max(1, len(ordered) // 4)
    ahead = {bridge for one in ordered[: len(ordered) // 2 + 1] for bridge in one.draft.bridges[:1]}
    refused = {review.hypothesis_id for review in reviews if review.scores.safety <= 0}
    last = ordered[-quarter:] if len(ordered) > 3 else []
    advice = Advice(
        strong=_most_named(bridge for one in ordered[:quarter] for bridge in one.draft.bridges[:1]),
        weak=_most_named(
            bridge
            for one in last
            for bridge in one.draft.bridges[:1]
            if bridge not in ahead and _is_thin(one)
        ),
        unsafe=_most_named(
            one.draft.connection.end.label
            for one in hypotheses
            if one.id in refused and one.draft.connection is not None
        ),
    )
    lines = [f"{len(hypotheses)} hypotheses, {len(reviews)} reviews."]
    for opening, names in (
        ("Carry the leading hypotheses", advice.strong),
        ("Lead the last and rest on little", advice.weak),
        ("Refused as unsafe, not to be led to again", advice.unsafe),
    ):
        if names:
            lines.append(f"{opening}: {'; '.join(names)}.")
    against = Counter(weakness for one in reviews for weakness in one.weaknesses)
    if against:
        often = " ".join(f"{text} ({count})" for text, count in against.most_common(3))
        lines.append(f"Said most often against them: {often}")
    return MetaReview(text="\n".join(lines), advice=advice)


def _most_named(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))[:_MOST_NAMED]


def _is_thin(hypothesis: Hypothesis) -> bool:
    connection = hypothesis.draft.connection
    return connection is not None and connection.bridges[0].weaker_side_documents < _THIN_PAPERS


def _keys(names: Sequence[str]) -> frozenset[str]:
    """The keys of concepts by their names."""
    return frozenset(map(normal_phrase, names))


def write_draft(connection: CandidateConnection) -> Draft:
    """A connection in words."""
    text = render(connection)
    return Draft(
        title=text.title,
        summary=text.summary,
        rationale=text.rationale,
        protocol=text.protocol,
        predictions=text.predictions,
        refutations=text.refutations,
        novelty=text.novelty,
        bridges=tuple(bridge.concept.label for bridge in connection.bridges),
        citations=text.citations,
        origin=LABEL,
        method=connection.origin.made_by.value,
        connection=connection,
    )


def _assess(connection: CandidateConnection, review_type: ReviewType, says: str) -> Assessment:
    found = review(connection, review_type, safety_score)
    quoted = [quotation for link in found.links for quotation in link.quotations]
    return Assessment(
        ReviewScores.model_validate(asdict(found.scores)),
        found.strengths,
        # For a submitted hypothesis: what was checked limits all the rest, so it is said first.
        (says, *found.weaknesses) if says else found.weaknesses,
        found.recommendations,
        found.citations,
        tuple(dict.fromkeys(quoted)),
        {**found.reasons, **({"subject": says} if says else {})},
    )


def _path_key(connection: CandidateConnection) -> tuple[frozenset[str], str]:
    """The two ends of a connection and its first bridge term."""
    return frozenset({connection.start.key, connection.end.key}), connection.bridges[0].concept.key


def _abstain(hypothesis: Hypothesis, says: str) -> Assessment:
    safe = safety_score(f"{hypothesis.draft.title}. {hypothesis.draft.summary}")
    return Assessment(
        ReviewScores(plausibility=None, novelty=None, testability=None, safety=safe, overall=None),
        (),
        (says,),
        (
            "Add papers on what it names, or word it in terms that these papers use, then review "
            "it again.",
        ),
        (),
        reasons={"subject": says},
    )


def _explain_best(leading: Sequence[Hypothesis]) -> str:
    if any(one.rating.match_count for one in leading):
        return "an end of one of the hypotheses that lead the tournament so far"
    if any(one.review_count for one in leading):
        return "an end of a reviewed hypothesis; no match has been played yet"
    return "an end proposed before; nothing has been reviewed or ranked yet"


@contextmanager
def translate_discovery_errors() -> Iterator[None]:
    """Convert errors of the discovery library to those of the room."""
    try:
        yield
    except NotInCorpus as error:
        raise GoalNotInCorpusError(
            str(error),
            next_step=error.next_step,
            details={
                "searched": list(error.searched),
                "not_found": [name.text for name in error.missing],
                "papers": {name.text: name.papers for name in error.missing},
                "near": [near for name in error.missing for near in name.near],
                "found": list(error.found),
            },
        ) from error
    except Unclear as error:
        raise GoalUnclearError(
            str(error),
            next_step=error.next_step,
            details={"questions": list(error.questions), "subjects": list(error.subjects)},
        ) from error
    except NoConnectionError as error:
        raise NoConnectionFoundError(
            error.why
            or f"From {papers(error.documents)} on {error.start} nothing further leads on that is "
            f"not already studied with it",
            next_step="Add papers, widen the goal, or try another method.",
            details={"start": error.start, "papers": error.documents},
        ) from error
