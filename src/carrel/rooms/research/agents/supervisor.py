"""The supervisor: decides a job's next step from the finished ones, so it can resume anywhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from carrel.core.errors import ConflictError
from carrel.libraries.discovery.connections.candidates import (
    EvolutionStrategy,
    GenerationMethod,
    ReviewType,
)
from carrel.libraries.ranking import LEAST_OPPONENTS, Judging
from carrel.rooms.research.agents import (
    AgentContext,
    StepResult,
    evolve,
    generate,
    meta_review,
    read_goal,
    reflect,
    relate,
)
from carrel.rooms.research.agents.outside import (
    FindBridges,
    look_for_hypothesis,
    outside_changes,
    survey,
)
from carrel.rooms.research.agents.ranking import (
    MATCHES_EACH,
    RankingAgent,
    count_unmet_pairs,
    players,
)
from carrel.rooms.research.errors import (
    HypothesisNotFoundError,
    NoConnectionFoundError,
    NoHypothesisError,
    NothingToEvolveError,
    StepTakenError,
    UnreadableAnswerError,
)
from carrel.rooms.research.hypothesis_views import rank_by_strength
from carrel.rooms.research.ports import OutsideLiterature
from carrel.rooms.research.reasoners import Brief
from carrel.rooms.research.records import (
    Changes,
    EvolveWork,
    GenerateWork,
    Hypothesis,
    Job,
    Project,
    RankWork,
    ResearchWork,
    ReviewWork,
    StepDone,
    StepKey,
    StepKind,
)

BATCH = 10
MOST_EVOLVED = 5
_STRATEGIES = tuple(EvolutionStrategy)
# Shares of a run's hypotheses: half from the best paths, the rest by the other methods.
_SHARES = (
    (GenerationMethod.LITERATURE_BASED, 0.5),
    (GenerationMethod.DEBATE, 0.2),
    (GenerationMethod.ASSUMPTIONS, 0.15),
    (GenerationMethod.EXPANSION, 0.15),
)
# So many batches without a hypothesis end the generation.
_FRUITLESS = 2
# With fewer, one of them evolved would leave the tournament without a pair.
_FEWEST_WITH_EVOLVED = 3
# Rounds of a run: the generated ones, the evolved ones, and what people added meanwhile.
_GENERATED, _EVOLVED, _ADDED = 1, 2, 3

StepWork = Callable[[Brief], Awaitable[StepResult]]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a job that is still to be done."""

    key: StepKey
    work: StepWork


class Supervisor:
    """Plans every kind of job; the next step depends only on the finished ones."""

    def __init__(
        self,
        context: AgentContext,
        outside: OutsideLiterature | None = None,
        find_bridges: FindBridges | None = None,
    ) -> None:
        self.context = context
        self.outside = outside
        self._find_bridges = find_bridges
        self._ranking = RankingAgent(context)

    async def rerate(self, project: Project) -> None:
        """Rate anew with what people have said; a run that plays on meanwhile does so later."""
        store = self.context.store
        step = StepKey(StepKind.SETTLE)
        hypotheses, reviews = await store.hypotheses(project.id), await store.reviews(project.id)
        brief = Brief(project, "", step, hypotheses, reviews=reviews)
        # An agent of its own, since the run's may be at work.
        changes = await RankingAgent(self.context).rerate(brief)
        with suppress(ConflictError, StepTakenError):
            await store.save(changes)

    def expected_steps(
        self, job: Job, project: Project, done: Sequence[StepDone], hypotheses: Sequence[Hypothesis]
    ) -> int:
        """The estimated total number of steps of the job."""
        match job.work:
            case ResearchWork():
                return sum(self.expected_by_kind(project, done).values())
            case GenerateWork(count=count):
                return max(1, -(-count // BATCH))
            case RankWork(method="direct_comparison"):
                return 2
            case RankWork():
                return _matches_wanted(hypotheses, done) + 1
            case ReviewWork() | EvolveWork():
                return 1

    def expected_by_kind(self, project: Project, done: Sequence[StepDone]) -> dict[StepKind, int]:
        """The estimated total number of steps of each kind in a whole run."""
        generated = [step for step in done if step.kind is StepKind.GENERATE]
        is_generated = any(step.kind is StepKind.REVIEW for step in done)
        wanted = project.hypothesis_count - places_for_evolved(project)
        count = sum(len(step.result_ids) for step in generated) if is_generated else wanted
        children = _child_count(project, count)
        return {
            StepKind.OUTSIDE: int(project.looks_outside),
            StepKind.GOAL: 1,
            StepKind.GENERATE: len(generated) if is_generated else len(plan_batches(wanted)),
            StepKind.REVIEW: count + children,
            StepKind.MATCH: self._most_matches(count, 0) + self._most_matches(children, count),
            StepKind.SETTLE: 2,
            StepKind.PROXIMITY: 1,
            StepKind.META_REVIEW: 2,
            StepKind.EVOLVE: children,
        }

    async def next_step(self, job: Job, project: Project, done: Sequence[StepDone]) -> Step | None:
        """What to do now, or None when the job is done."""
        match job.work:
            case ResearchWork():
                return await self._next_of_run(project, done)
            case GenerateWork(count=count, method=method):
                return self._next_batch(count, method, done)
            case ReviewWork(hypothesis_id=hypothesis_id, review_type=review_type):
                work = self._review(hypothesis_id, review_type)
                return None if done else Step(StepKey(StepKind.REVIEW), work)
            case EvolveWork(hypothesis_id=hypothesis_id, strategy=strategy):
                work = self._evolve(hypothesis_id, strategy)
                return None if done else Step(StepKey(StepKind.EVOLVE), work)
            case RankWork(method="direct_comparison"):
                return await self._next_of_comparison(project, done)
            case RankWork():
                return await self._next_of_tournament(project, done)

    async def _next_of_run(self, project: Project, done: Sequence[StepDone]) -> Step | None:
        keys = {step.key for step in done}
        first = StepKey(StepKind.OUTSIDE)
        if project.looks_outside and first not in keys:
            return Step(first, self._survey)
        goal = StepKey(StepKind.GOAL)
        if goal not in keys:
            return Step(goal, partial(read_goal, self.context))
        generated, evolved = _results(done, StepKind.GENERATE), _results(done, StepKind.EVOLVE)
        step = self._next_generation(project, done)
        if step is None and not generated:
            await self._require_any_hypothesis(project)
        step = (
            step
            or self._next_review_or_match(generated, 0, _GENERATED, keys)
            or self._next_between_rounds(project, len(generated), keys)
            or self._next_review_or_match(evolved, len(generated), _EVOLVED, keys)
            or await self._next_for_added(project, {*generated, *evolved}, done)
        )
        last = StepKey(StepKind.META_REVIEW, round=_EVOLVED)
        if step is None and last not in keys:
            step = self._meta_review_step(last)
        return step

    async def _require_any_hypothesis(self, project: Project) -> None:
        if not await self.context.store.hypotheses(project.id):
            raise NoHypothesisError(
                "Not one hypothesis came through: all were left out by the safety check",
                next_step="export_research has every decision with its reason; word the goal "
                "differently, or try another model.",
            )

    def _next_between_rounds(
        self, project: Project, generated: int, keys: Collection[StepKey]
    ) -> Step | None:
        """Proximity, the first meta-review, and the evolution of the best."""
        proximity = StepKey(StepKind.PROXIMITY)
        if proximity not in keys:
            return Step(proximity, partial(relate, self.context))
        first_review = StepKey(StepKind.META_REVIEW, round=_GENERATED)
        if first_review not in keys:
            return self._meta_review_step(first_review)
        for number in range(1, _child_count(project, generated) + 1):
            key = StepKey(StepKind.EVOLVE, number=number)
            if key not in keys:
                return Step(key, self.skip_unreadable_answer("evolved", self._evolve_best(number)))
        return None

    def _meta_review_step(self, key: StepKey) -> Step:
        work = partial(meta_review, self.context)
        return Step(key, self.skip_unreadable_answer("meta-review", work))

    def _next_generation(self, project: Project, done: Sequence[StepDone]) -> Step | None:
        generated = sorted(
            (step for step in done if step.kind is StepKind.GENERATE),
            key=lambda step: step.key.number,
        )
        # Looking outside and reading the goal come before; anything else ends generation.
        before = {StepKind.OUTSIDE, StepKind.GOAL, StepKind.GENERATE}
        if any(step.kind not in before for step in done):
            return None
        wanted = project.hypothesis_count - places_for_evolved(project)
        missing = wanted - sum(len(step.result_ids) for step in generated)
        planned = plan_batches(wanted)
        number = len(generated)
        if missing <= 0:
            return None
        if number < len(planned):
            method, count = planned[number]
        elif any(step.result_ids for step in generated[-_FRUITLESS:]):
            method, count = tuple(GenerationMethod)[number % len(GenerationMethod)], BATCH
        else:
            return None
        work = self._generate(method, min(count, missing), is_first=not generated)
        return Step(StepKey(StepKind.GENERATE, number=number + 1), work)

    def _next_review_or_match(
        self, ids: Sequence[str], others: int, round: int, keys: Collection[StepKey]
    ) -> Step | None:
        """The next step of a round: reviews of all, then matches, then strengths."""
        for hypothesis_id in ids:
            step = self._review_step(hypothesis_id)
            if step.key not in keys:
                return step
        settle = StepKey(StepKind.SETTLE, round=round)
        if not ids or settle in keys:
            return None
        for number in range(1, self._most_matches(len(ids), others) + 1):
            key = StepKey(StepKind.MATCH, round=round, number=number)
            if key not in keys:
                return Step(key, self._ranking.play)
        return Step(settle, self._ranking.settle)

    async def _next_for_added(
        self, project: Project, own: Collection[str], done: Sequence[StepDone]
    ) -> Step | None:
        """What people added meanwhile is reviewed and plays, too, before the run is complete."""
        keys = {step.key for step in done}
        hypotheses = await self.context.store.hypotheses(project.id)
        for hypothesis in hypotheses:
            step = self._review_step(hypothesis.id)
            if not hypothesis.review_count and step.key not in keys:
                return step
        there = players(hypotheses).values()
        added = [one for one in there if one.id not in own]
        least = min(LEAST_OPPONENTS, len(there) - 1)
        played = sum(key.kind is StepKind.MATCH and key.round == _ADDED for key in keys)
        # The limit is for a judge whose verdicts nobody can read: they never count as matches.
        is_unplayed = any(one.rating.match_count < least for one in added)
        if is_unplayed and played < MATCHES_EACH * len(added):
            key = StepKey(StepKind.MATCH, round=_ADDED, number=played + 1)
            return Step(key, self._ranking.play)
        settle = StepKey(StepKind.SETTLE, round=_ADDED, number=played)
        return Step(settle, self._ranking.settle) if played and settle not in keys else None

    def _most_matches(self, newcomers: int, others: int) -> int:
        """Three per hypothesis; for an exact judge at most one per pair."""
        if self.context.reasoner.judging is Judging.FALLIBLE:
            return MATCHES_EACH * newcomers
        return min(MATCHES_EACH * newcomers, newcomers * (newcomers - 1) // 2 + newcomers * others)

    def _next_batch(
        self, count: int, method: GenerationMethod, done: Sequence[StepDone]
    ) -> Step | None:
        missing = count - sum(len(step.result_ids) for step in done)
        if missing <= 0 or (done and not done[-1].result_ids):
            return None
        work = self._generate(method, min(missing, BATCH), is_first=not done)
        return Step(StepKey(StepKind.GENERATE, number=len(done) + 1), work)

    async def _next_of_comparison(self, project: Project, done: Sequence[StepDone]) -> Step | None:
        kinds = {step.kind for step in done}
        if StepKind.SETTLE in kinds:
            return None
        if step := await self._next_missing_review(project):
            return step
        if StepKind.COMPARE not in kinds:
            return Step(StepKey(StepKind.COMPARE), self._compare)
        return Step(StepKey(StepKind.SETTLE), self._ranking.settle)

    async def _next_missing_review(self, project: Project) -> Step | None:
        """The review of one that has none: judges go by reviews, and without one it would lose."""
        reviews = await self.context.store.reviews(project.id)
        reviewed = {review.hypothesis_id for review in reviews}
        for hypothesis_id in players(await self.context.store.hypotheses(project.id)):
            if hypothesis_id not in reviewed:
                key = StepKey(StepKind.REVIEW, hypothesis_id=hypothesis_id)
                return Step(key, self._review(hypothesis_id, ReviewType.INITIAL))
        return None

    async def _next_of_tournament(self, project: Project, done: Sequence[StepDone]) -> Step | None:
        if any(step.kind is StepKind.SETTLE for step in done):
            return None
        if step := await self._next_missing_review(project):
            return step
        hypotheses = await self.context.store.hypotheses(project.id)
        played = sum(step.kind is StepKind.MATCH for step in done)
        is_open = self.context.reasoner.judging is Judging.FALLIBLE or count_unmet_pairs(
            hypotheses, await self.context.store.matches(project.id)
        )
        if is_open and played < _matches_wanted(hypotheses, done):
            return Step(StepKey(StepKind.MATCH, number=played + 1), self._ranking.play)
        return Step(StepKey(StepKind.SETTLE), self._ranking.settle)

    def _generate(self, method: GenerationMethod, count: int, *, is_first: bool) -> StepWork:
        async def work(brief: Brief) -> StepResult:
            try:
                return await generate(self.context, brief, method, count)
            except (NoConnectionFoundError, UnreadableAnswerError) as error:
                if is_first or not brief.hypotheses:
                    raise
                says, reason = f"{method.value}: {error.message}", error.message
                event = self.context.event(brief, "exhausted", says, reason)
                return StepResult(Changes(events=(event,)))

        return work

    def skip_unreadable_answer(self, kind: str, work: StepWork) -> StepWork:
        """Turn an unreadable answer into an event, so that it costs one step of a run."""

        async def tolerant(brief: Brief) -> StepResult:
            try:
                return await work(brief)
            except UnreadableAnswerError as error:
                event = self.context.event(brief, kind, f"Left out: {error.message}", error.message)
                return StepResult(Changes(events=(event,)))

        return tolerant

    def _review_step(self, hypothesis_id: str) -> Step:
        """A first review in a run."""
        work = self._review(hypothesis_id, ReviewType.INITIAL)
        key = StepKey(StepKind.REVIEW, hypothesis_id=hypothesis_id)
        return Step(key, self.skip_unreadable_answer("reviewed", work))

    def _review(self, hypothesis_id: str, review_type: ReviewType) -> StepWork:
        async def work(brief: Brief) -> StepResult:
            hypothesis, look = _find(brief, hypothesis_id), None
            if brief.project.looks_outside and self.outside is not None:
                look = await look_for_hypothesis(self.outside, brief, hypothesis)
            reviewed = await reflect(self.context, brief, hypothesis, review_type, look)
            if look is None:
                return reviewed
            changes, more = reviewed.changes, outside_changes(self.context, brief, look)
            both = {
                "outputs": (*changes.outputs, *more.outputs),
                "events": (*changes.events, *more.events),
            }
            return replace(reviewed, changes=changes.model_copy(update=both))

        return work

    async def _survey(self, brief: Brief) -> StepResult:
        if self.outside is None or self._find_bridges is None:
            return StepResult()
        return await survey(self.context, self.outside, self._find_bridges, brief)

    def _evolve(self, hypothesis_id: str, strategy: EvolutionStrategy) -> StepWork:
        async def work(brief: Brief) -> StepResult:
            return await evolve(self.context, brief, _find(brief, hypothesis_id), strategy)

        return work

    def _evolve_best(self, place: int) -> StepWork:
        async def work(brief: Brief) -> StepResult:
            best = [one for one in rank_by_strength(brief.hypotheses) if one.status != "evolved"]
            if place > len(best):
                return StepResult()
            # Each leader by its own strategy; if that changes nothing, by the next that does.
            refused: list[str] = []
            for turn in range(len(_STRATEGIES)):
                strategy = _STRATEGIES[(place - 1 + turn) % len(_STRATEGIES)]
                try:
                    return await evolve(self.context, brief, best[place - 1], strategy)
                except NothingToEvolveError as error:
                    refused.append(error.message)
            event = self.context.event(brief, "evolved", " ".join(refused))
            return StepResult(Changes(events=(event,)))

        return work

    async def _compare(self, brief: Brief) -> StepResult:
        reviews = await self.context.store.reviews(brief.project.id)
        return await self._ranking.compare_directly(brief, reviews)


def places_for_evolved(project: Project) -> int:
    """The number of hypotheses to evolve from others: a fifth, at least one, at most five."""
    count = project.hypothesis_count
    return 0 if count < _FEWEST_WITH_EVOLVED else min(MOST_EVOLVED, max(1, count // 5))


def plan_batches(count: int) -> list[tuple[GenerationMethod, int]]:
    """The number of hypotheses per method, in batches."""
    batches: list[tuple[GenerationMethod, int]] = []
    left = count
    for method, share in _SHARES:
        wanted = min(left, max(1, round(count * share))) if left else 0
        left -= wanted
        while wanted > 0:
            batches.append((method, min(wanted, BATCH)))
            wanted -= BATCH
    return batches


def _results(done: Sequence[StepDone], kind: StepKind) -> list[str]:
    return [one for step in done if step.kind is kind for one in step.result_ids]


def _child_count(project: Project, generated: int) -> int:
    """The number to evolve: the missing ones, at most one per generated hypothesis."""
    return max(0, min(MOST_EVOLVED, generated, project.hypothesis_count - generated))


def _matches_wanted(hypotheses: Sequence[Hypothesis], done: Sequence[StepDone]) -> int:
    """Three matches per hypothesis; one more round if all have been played."""
    there = players(hypotheses).values()
    own = sum(step.kind is StepKind.MATCH for step in done)
    before = sum(one.rating.match_count for one in there) // 2 - own
    return max(MATCHES_EACH * len(there) - before, len(there))


def _find(brief: Brief, hypothesis_id: str) -> Hypothesis:
    found = next((one for one in brief.hypotheses if one.id == hypothesis_id), None)
    if found is None:
        raise HypothesisNotFoundError(hypothesis_id)
    return found
