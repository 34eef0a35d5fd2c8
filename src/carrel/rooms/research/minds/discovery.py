"""The mind that needs no key: it reads connections out of the papers at hand, and says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from carrel.rooms.research.discovery.connections import (
    CandidateConnection,
    EvolutionStrategy,
    GenerationMethod,
    Origin,
)
from carrel.rooms.research.discovery.errors import GoalNotInCorpusError as NotInCorpus
from carrel.rooms.research.discovery.errors import NoConnectionError
from carrel.rooms.research.discovery.evolution import NothingToEvolveError as Unchanged
from carrel.rooms.research.discovery.evolution import evolve
from carrel.rooms.research.discovery.generation import Discovery
from carrel.rooms.research.discovery.rendering import render
from carrel.rooms.research.discovery.review import WEIGHTS, ReviewType, review, score
from carrel.rooms.research.discovery.review import Scores as Measured
from carrel.rooms.research.discovery.wording import counted, papers
from carrel.rooms.research.errors import GoalNotInCorpusError, NoConnectionFoundError, NothingToEvolveError
from carrel.rooms.research.minds.mind import Assessment, Brief, Judgement, Opinion
from carrel.rooms.research.ports import Corpus
from carrel.rooms.research.records import Draft, Hypothesis, Protocol, Review, Scores
from carrel.rooms.research.safety import safety_score

LABEL = "literature-based discovery over the paper snapshot"
_MOST_REMEMBERED = 2000


class DiscoveryMind:
    """Thinks in counts of papers. Every citation is a paper of the snapshot."""

    name = "discovery"

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._measures: dict[str, Measured | None] = {}

    async def check(self, brief: Brief, texts: Sequence[str]) -> list[Opinion]:
        return []

    async def generate(self, brief: Brief, method: GenerationMethod, count: int) -> list[Draft]:
        connections = [made.draft.connection for made in brief.hypotheses if made.draft.connection is not None]
        avoid = {end.key for known in connections for end in (known.end, *known.also_ends)}
        best = [made.draft.connection for made in _leading(brief.hypotheses)[:3] if made.draft.connection is not None]

        def work(discovery: Discovery) -> list[Draft]:
            try:
                found = discovery.generate(brief.project.goal, method, count, best, avoid)
            except NotInCorpus as error:
                raise GoalNotInCorpusError(
                    "No paper of this corpus speaks of what the goal names",
                    next_step="Name a disease, substance or process that its papers study, or add papers on it.",
                    details={"searched": list(error.searched)},
                ) from error
            except NoConnectionError as error:
                raise NoConnectionFoundError(
                    f"From {papers(error.documents)} on {error.start} nothing further leads on that is not already studied with it",
                    next_step="Add papers, widen the goal, or try another method.",
                    details={"start": error.start, "papers": error.documents},
                ) from error
            return [drafted(connection) for connection in found]

        return await self._corpus.with_discovery(work)

    async def review(self, brief: Brief, hypothesis: Hypothesis, review_type: ReviewType) -> Assessment:
        def work(discovery: Discovery) -> Assessment:
            connection = _connection(discovery, hypothesis)
            if connection is None:
                return _nothing_known(hypothesis)
            found = review(connection, review_type, safety_score)
            quoted = [quotation for link in found.links for quotation in link.quotations]
            measured = found.scores
            return Assessment(
                Scores(
                    plausibility=measured.plausibility,
                    novelty=measured.novelty,
                    testability=measured.testability,
                    safety=measured.safety,
                    overall=measured.overall,
                ),
                found.strengths,
                found.weaknesses,
                found.recommendations,
                found.citations,
                tuple(dict.fromkeys(quoted)),
            )

        return await self._corpus.with_discovery(work)

    async def judge(self, brief: Brief, first: Hypothesis, second: Hypothesis) -> Judgement:
        one, other = await self._measured(first), await self._measured(second)
        if one is None or other is None:
            if one is other:
                return Judgement("draw", "The papers at hand speak of neither.")
            return Judgement("second" if one is None else "first", "The papers at hand speak of one of the two only.")
        names = tuple(WEIGHTS)
        better = [name for name in names if getattr(one, name) > getattr(other, name)]
        worse = [name for name in names if getattr(one, name) < getattr(other, name)]

        def told(measures: list[str]) -> str:
            return (
                ", ".join(f"{name} ({getattr(one, name):.2f} against {getattr(other, name):.2f})" for name in measures)
                or "nothing"
            )

        reason = f"The first is ahead in {told(better)}; the second in {told(worse)}."
        difference = one.overall - other.overall
        if abs(difference) < 1e-9:
            return Judgement("draw", reason)
        return Judgement("first" if difference > 0 else "second", reason)

    async def evolve(
        self, brief: Brief, hypothesis: Hypothesis, strategy: EvolutionStrategy, partner: Hypothesis | None
    ) -> Draft:
        def work(discovery: Discovery) -> Draft:
            connection = _connection(discovery, hypothesis)
            other = None if partner is None else _connection(discovery, partner)
            if connection is None:
                raise NothingToEvolveError(
                    "The papers at hand speak of no connection in this hypothesis, so there is nothing to change",
                    next_step="Choose another hypothesis, or set up a language model.",
                )
            try:
                return drafted(evolve(discovery, connection, strategy, other))
            except (Unchanged, NoConnectionError, NotInCorpus) as error:
                raise NothingToEvolveError(str(error), next_step="Try another strategy or another hypothesis.") from error

        return await self._corpus.with_discovery(work)

    async def meta_review(self, brief: Brief, reviews: Sequence[Review]) -> str:
        bridges = Counter(name for made in _leading(brief.hypotheses)[:10] for name in made.draft.bridges[:3])
        weak = Counter(weakness for one in reviews for weakness in one.weaknesses)
        lines = [f"{counted(len(brief.hypotheses), 'hypothesis')}, {counted(len(reviews), 'review')}."]
        if bridges:
            lines.append(
                "Bridges that the leading ones share: " + ", ".join(f"{name} ({n})" for name, n in bridges.most_common(5)) + "."
            )
        if weak:
            lines.append("Said most often against them: " + " ".join(f"{text} ({n})" for text, n in weak.most_common(3)))
        return "\n".join(lines)

    async def _measured(self, hypothesis: Hypothesis) -> Measured | None:
        if hypothesis.id not in self._measures:
            if len(self._measures) > _MOST_REMEMBERED:
                self._measures.clear()

            def work(discovery: Discovery) -> Measured | None:
                connection = _connection(discovery, hypothesis)
                return None if connection is None else score(connection, safety_score)

            self._measures[hypothesis.id] = await self._corpus.with_discovery(work)
        return self._measures[hypothesis.id]


def drafted(connection: CandidateConnection) -> Draft:
    """A connection in words."""
    text = render(connection)
    return Draft(
        title=text.title,
        summary=text.summary,
        rationale=text.rationale,
        protocol=Protocol(
            objective=text.protocol.objective,
            methodology=text.protocol.methodology,
            required_resources=text.protocol.required_resources,
            success_metrics=text.protocol.success_metrics,
            potential_challenges=text.protocol.potential_challenges,
            safety_considerations=text.protocol.safety_considerations,
        ),
        predictions=text.predictions,
        refutations=text.refutations,
        novelty=text.novelty,
        bridges=tuple(bridge.concept.label for bridge in connection.bridges),
        citations=text.citations,
        origin=LABEL,
        method=connection.origin.made_by.value,
        connection=connection,
    )


def _connection(discovery: Discovery, hypothesis: Hypothesis) -> CandidateConnection | None:
    """The connection a hypothesis is about; for one that came from elsewhere, the first that its words and the papers allow."""
    if hypothesis.draft.connection is not None:
        return hypothesis.draft.connection
    try:
        reading = discovery.read_goal(f"{hypothesis.draft.title}. {hypothesis.draft.summary}")
    except NotInCorpus:
        return None
    note = "Somebody else's hypothesis; bridges between what it names were searched for."
    origin = Origin(GenerationMethod.LITERATURE_BASED, note)
    for end in reading.others[:5]:
        found = discovery.connection(reading, end, origin)
        if found is not None:
            return found
    return None


def _nothing_known(hypothesis: Hypothesis) -> Assessment:
    safe = safety_score(f"{hypothesis.draft.title}. {hypothesis.draft.summary}")
    parts = {"plausibility": 0.0, "novelty": 0.5, "testability": 0.2}
    return Assessment(
        Scores(**parts, safety=safe, overall=sum(parts.values()) / len(parts) if safe else 0.0),
        (),
        ("The papers at hand hold no connection between the things it names, so nothing here supports or denies it.",),
        ("Add papers on what it names, then review it again.",),
        (),
    )


def _leading(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    return sorted(hypotheses, key=lambda made: -made.standing.elo_score)
