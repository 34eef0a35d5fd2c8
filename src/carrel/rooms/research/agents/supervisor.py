"""The supervisor: decides what a job does next from what is finished, so that it can stop and go on
at any step.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from carrel.libraries.discovery.connections import EvolutionStrategy, GenerationMethod
from carrel.libraries.discovery.review import ReviewType
from carrel.libraries.ranking import LEAST_OPPONENTS, Judging
from carrel.rooms.research.agents import Made, Workshop
from carrel.rooms.research.agents.generation import evolve, generate, relate
from carrel.rooms.research.agents.ranking import MATCHES_EACH, RankingAgent, players, unmet
from carrel.rooms.research.agents.reflection import begin, meta_review, reflect
from carrel.rooms.research.errors import (
    HypothesisNotFoundError,
    NoConnectionFoundError,
    NoHypothesisError,
    NothingToEvolveError,
    UnreadableAnswerError,
)
from carrel.rooms.research.hypothesis_views import leading
from carrel.rooms.research.reasoners import Brief
from carrel.rooms.research.records import Changes, Hypothesis, Job, Project, StepDone

BATCH = 10
EVOLVED = 5
_STRATEGIES = tuple(EvolutionStrategy)
# How a run's hypotheses are come by: half from the best paths, the rest by the methods that
# question and widen them.
_SHARES = (
    (GenerationMethod.LITERATURE_BASED, 0.5),
    (GenerationMethod.DEBATE, 0.2),
    (GenerationMethod.ASSUMPTIONS, 0.15),
    (GenerationMethod.EXPANSION, 0.15),
)
_FRUITLESS = 2


# With fewer, one of them evolved would leave the tournament without a pair.
_FEWEST_WITH_EVOLVED = 3


def places_for_evolved(project: Project) -> int:
    """How many of the hypotheses that were asked for are evolved from the best of the others: a
    fifth, one to five.
    """
    count = project.hypothesis_count
    return 0 if count < _FEWEST_WITH_EVOLVED else min(EVOLVED, max(1, count // 5))


def _children(project: Project, generated: int) -> int:
    """How many to evolve, so that a run makes no more than was asked for; some more where too few
    could be generated.
    """
    return max(0, min(EVOLVED, generated, project.hypothesis_count - generated))


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a job: a name of its own in it, a kind that tells how long it may take, and the
    work.
    """

    name: str
    kind: str
    work: Callable[[Brief], Awaitable[Made]]


class Supervisor:
    """Plans every kind of job. The same finished steps give the same next one."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.ranking = RankingAgent(workshop)

    def expected_steps(
        self, job: Job, project: Project, done: Sequence[StepDone], hypotheses: Sequence[Hypothesis]
    ) -> int:
        """How many steps the job will have had, as far as can be told now."""
        match job.kind:
            case "research":
                return sum(self.expected_by_kind(project, done).values())
            case "generate":
                return max(1, -(-job.work.count // BATCH))
            case "rank":
                return (
                    1
                    if job.work.method == "direct_comparison"
                    else _matches_wanted(hypotheses, done)
                ) + 1
            case _:
                return 1

    def expected_by_kind(self, project: Project, done: Sequence[StepDone]) -> dict[str, int]:
        """How many steps of each kind a whole run will have had, as far as can be told now."""
        made = sum(len(step.made) for step in done if step.kind == "generate")
        is_all = any(step.kind == "review" for step in done)
        wanted = project.hypothesis_count - places_for_evolved(project)
        count = made if is_all else wanted
        children = _children(project, count)
        return {
            "goal": 1,
            "generate": sum(step.kind == "generate" for step in done)
            if is_all
            else len(batches_of(wanted)),
            "review": count + children,
            "match": self._most_matches(count, 0) + self._most_matches(children, count),
            "settle": 2,
            "proximity": 1,
            "meta-review": 2,
            "evolve": children,
        }

    async def next_step(self, job: Job, project: Project, done: Sequence[StepDone]) -> Step | None:
        """What to do now, or None when the job is done."""
        match job.kind:
            case "research":
                return await self._in_research(project, done)
            case "generate":
                return self._in_batches(job, done)
            case "review":
                return _once(
                    done,
                    "review",
                    self._reviewing(job.work.hypothesis_id, ReviewType(job.work.review_type)),
                )
            case "evolve":
                return _once(
                    done,
                    "evolve",
                    self._evolving(job.work.hypothesis_id, EvolutionStrategy(job.work.strategy)),
                )
            case "rank":
                return await self._in_ranking(job, project, done)

    async def _in_research(self, project: Project, done: Sequence[StepDone]) -> Step | None:
        names = {step.name for step in done}
        if "goal" not in names:
            return Step("goal", "goal", lambda brief: begin(self.workshop, brief))
        step = self._to_generate(project, done)
        if step is not None:
            return step
        first = [made for part in done if part.kind == "generate" for made in part.made]
        children = [made for part in done if part.kind == "evolve" for made in part.made]
        if not first and not await self.workshop.memory.hypotheses(project.id):
            raise NoHypothesisError(
                "Not one hypothesis came through: all were left out by the safety check",
                next_step="export_research has every decision with its reason; word the goal "
                "differently, or try another model.",
            )
        step = self._to_review_and_rank(first, 0, "1", names)
        if step is not None:
            return step
        if "proximity" not in names:
            return Step("proximity", "proximity", lambda brief: relate(self.workshop, brief))
        if "meta-review:1" not in names:
            return Step(
                "meta-review:1", "meta-review", self._or_without("meta-review", self._looking_back)
            )
        for number in range(1, _children(project, len(first)) + 1):
            if f"evolve:{number}" not in names:
                return Step(
                    f"evolve:{number}",
                    "evolve",
                    self._or_without("evolved", self._evolving_the_best(number)),
                )
        step = self._to_review_and_rank(children, len(first), "2", names)
        if step is None:
            step = await self._left_over(project, {*first, *children}, names)
        if step is not None:
            return step
        if "meta-review:2" not in names:
            return Step(
                "meta-review:2", "meta-review", self._or_without("meta-review", self._looking_back)
            )
        return None

    def _to_generate(self, project: Project, done: Sequence[StepDone]) -> Step | None:
        generated = sorted(
            (step for step in done if step.kind == "generate"),
            key=lambda step: int(step.name.partition(":")[2]),
        )
        if len(generated) + 1 < len(done):
            return None
        wanted = project.hypothesis_count - places_for_evolved(project)
        missing = wanted - sum(len(step.made) for step in generated)
        planned = batches_of(wanted)
        if missing <= 0:
            return None
        if len(generated) < len(planned):
            method, count = planned[len(generated)]
            count = min(count, missing)
        elif any(step.made for step in generated[-_FRUITLESS:]):
            method, count = (
                tuple(GenerationMethod)[len(generated) % len(GenerationMethod)],
                min(missing, BATCH),
            )
        else:
            return None
        return Step(
            f"generate:{len(generated) + 1}",
            "generate",
            self._generating(method, count, is_first=not generated),
        )

    def _to_review_and_rank(
        self, ids: Sequence[str], others: int, round_name: str, names: set[str]
    ) -> Step | None:
        for hypothesis_id in ids:
            if f"review:{hypothesis_id}" not in names:
                reviewing = self._reviewing(hypothesis_id, ReviewType.INITIAL)
                return Step(
                    f"review:{hypothesis_id}", "review", self._or_without("reviewed", reviewing)
                )
        if not ids or f"settle:{round_name}" in names:
            return None
        for number in range(1, self._most_matches(len(ids), others) + 1):
            if f"match:{round_name}:{number}" not in names:
                return Step(f"match:{round_name}:{number}", "match", self._playing)
        return Step(f"settle:{round_name}", "settle", self._settling)

    async def _left_over(self, project: Project, own: set[str], names: set[str]) -> Step | None:
        """What came from elsewhere while the run went on is reviewed and plays, too, before the run
        is complete.
        """
        hypotheses = await self.workshop.memory.hypotheses(project.id)
        for made in hypotheses:
            if not made.review_count and f"review:{made.id}" not in names:
                reviewing = self._reviewing(made.id, ReviewType.INITIAL)
                return Step(f"review:{made.id}", "review", self._or_without("reviewed", reviewing))
        there = players(hypotheses).values()
        others = [made for made in there if made.id not in own]
        least = min(LEAST_OPPONENTS, len(there) - 1)
        played = sum(name.startswith("match:3:") for name in names)
        # The limit is for a judge whose verdicts nobody can read: they never count as matches.
        if any(made.standing.matches < least for made in others) and played < MATCHES_EACH * len(
            others
        ):
            return Step(f"match:3:{played + 1}", "match", self._playing)
        if played and f"settle:3:{played}" not in names:
            return Step(f"settle:3:{played}", "settle", self._settling)
        return None

    def _most_matches(self, newcomers: int, others: int) -> int:
        """Three for each; an exact judge is asked about every pair once at most."""
        if self.workshop.mind.judging is Judging.FALLIBLE:
            return MATCHES_EACH * newcomers
        return min(MATCHES_EACH * newcomers, newcomers * (newcomers - 1) // 2 + newcomers * others)

    def _in_batches(self, job: Job, done: Sequence[StepDone]) -> Step | None:
        missing = job.work.count - sum(len(step.made) for step in done)
        if missing <= 0 or (done and not done[-1].made):
            return None
        method = GenerationMethod(job.work.method)
        return Step(
            f"generate:{len(done) + 1}",
            "generate",
            self._generating(method, min(missing, BATCH), is_first=not done),
        )

    async def _in_ranking(
        self, job: Job, project: Project, done: Sequence[StepDone]
    ) -> Step | None:
        names = {step.name for step in done}
        if "settle" in names:
            return None
        hypotheses = await self.workshop.memory.hypotheses(project.id)
        if job.work.method == "direct_comparison":
            reviewed = {
                review.hypothesis_id for review in await self.workshop.memory.reviews(project.id)
            }
            for hypothesis_id in players(hypotheses):
                if hypothesis_id not in reviewed:
                    return Step(
                        f"review:{hypothesis_id}",
                        "review",
                        self._reviewing(hypothesis_id, ReviewType.INITIAL),
                    )
            if "compare" not in names:
                return Step("compare", "compare", self._comparing)
        else:
            own = sum(step.kind == "match" for step in done)
            is_open = self.workshop.mind.judging is Judging.FALLIBLE or unmet(
                hypotheses, await self.workshop.memory.matches(project.id)
            )
            if is_open and own < _matches_wanted(hypotheses, done):
                return Step(f"match:{own + 1}", "match", self._playing)
        return Step("settle", "settle", self._settling)

    def _generating(
        self, method: GenerationMethod, count: int, *, is_first: bool
    ) -> Callable[[Brief], Awaitable[Made]]:
        async def work(brief: Brief) -> Made:
            try:
                return await generate(self.workshop, brief, method, count)
            except (NoConnectionFoundError, UnreadableAnswerError) as error:
                if is_first or not brief.hypotheses:
                    raise
                return Made(
                    Changes(
                        events=(
                            self.workshop.event(
                                brief, "exhausted", f"{method.value}: {error.message}"
                            ),
                        )
                    )
                )

        return work

    def _or_without(
        self, kind: str, work: Callable[[Brief], Awaitable[Made]]
    ) -> Callable[[Brief], Awaitable[Made]]:
        """In a whole run, an answer that cannot be read costs one piece of work, and is written
        down; the rest goes on.
        """

        async def tolerant(brief: Brief) -> Made:
            try:
                return await work(brief)
            except UnreadableAnswerError as error:
                return Made(
                    Changes(
                        events=(self.workshop.event(brief, kind, f"Left out: {error.message}"),)
                    )
                )

        return tolerant

    async def _looking_back(self, brief: Brief) -> Made:
        return await meta_review(self.workshop, brief)

    def _reviewing(
        self, hypothesis_id: str, review_type: ReviewType
    ) -> Callable[[Brief], Awaitable[Made]]:
        async def work(brief: Brief) -> Made:
            return await reflect(self.workshop, brief, _one(brief, hypothesis_id), review_type)

        return work

    def _evolving(
        self, hypothesis_id: str, strategy: EvolutionStrategy
    ) -> Callable[[Brief], Awaitable[Made]]:
        async def work(brief: Brief) -> Made:
            return await evolve(self.workshop, brief, _one(brief, hypothesis_id), strategy)

        return work

    def _evolving_the_best(self, place: int) -> Callable[[Brief], Awaitable[Made]]:
        async def work(brief: Brief) -> Made:
            best = [made for made in leading(brief.hypotheses) if made.status != "evolved"]
            if place > len(best):
                return Made(Changes())
            # Each leader by a strategy of its own; where that changes nothing, by the next that
            # does.
            refused: list[str] = []
            for turn in range(len(_STRATEGIES)):
                try:
                    strategy = _STRATEGIES[(place - 1 + turn) % len(_STRATEGIES)]
                    return await evolve(self.workshop, brief, best[place - 1], strategy)
                except NothingToEvolveError as error:
                    refused.append(error.message)
            return Made(Changes(events=(self.workshop.event(brief, "evolved", " ".join(refused)),)))

        return work

    async def _playing(self, brief: Brief) -> Made:
        return (
            await self.ranking.play(brief)
            if len(players(brief.hypotheses)) > 1
            else Made(Changes())
        )

    async def _settling(self, brief: Brief) -> Made:
        return (
            await self.ranking.settle(brief)
            if len(players(brief.hypotheses)) > 1
            else Made(Changes())
        )

    async def _comparing(self, brief: Brief) -> Made:
        return await self.ranking.compare_directly(
            brief, await self.workshop.memory.reviews(brief.project.id)
        )


def batches_of(count: int) -> list[tuple[GenerationMethod, int]]:
    """How many by which method, none more than a batch at once."""
    batches: list[tuple[GenerationMethod, int]] = []
    left = count
    for method, share in _SHARES:
        wanted = min(left, max(1, round(count * share))) if left else 0
        left -= wanted
        while wanted > 0:
            batches.append((method, min(wanted, BATCH)))
            wanted -= BATCH
    return batches


def _matches_wanted(hypotheses: Sequence[Hypothesis], done: Sequence[StepDone]) -> int:
    """Everyone's three matches; who asks again gets one more round."""
    there = players(hypotheses).values()
    own = sum(step.kind == "match" for step in done)
    before = sum(made.standing.matches for made in there) // 2 - own
    return max(MATCHES_EACH * len(there) - before, len(there))


def _once(
    done: Sequence[StepDone], name: str, work: Callable[[Brief], Awaitable[Made]]
) -> Step | None:
    return None if done else Step(name, name, work)


def _one(brief: Brief, hypothesis_id: str) -> Hypothesis:
    found = next((made for made in brief.hypotheses if made.id == hypothesis_id), None)
    if found is None:
        raise HypothesisNotFoundError(hypothesis_id)
    return found
