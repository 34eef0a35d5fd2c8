"""The agents: shared context, generation and evolution, review and meta-review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from carrel.core.clock import Clock
from carrel.libraries.discovery.connections.candidates import (
    EvolutionStrategy,
    GenerationMethod,
    ReviewType,
)
from carrel.libraries.discovery.paths.literatures import jaccard
from carrel.rooms.research.errors import (
    NoConnectionFoundError,
    NothingToEvolveError,
    UnreadableAnswerError,
    UnsafeGoalError,
)
from carrel.rooms.research.outside_models import OutsideLook, OutsideLooks
from carrel.rooms.research.people import describe_rejected, leave_out_rejected
from carrel.rooms.research.ports import ResearchStore
from carrel.rooms.research.reasoners import Brief, Opinion, Reasoner
from carrel.rooms.research.reasoners.outside_review import add_outside
from carrel.rooms.research.records import (
    AgentOutput,
    Changes,
    Draft,
    Event,
    Hypothesis,
    Job,
    MetaReview,
    Project,
    Rating,
    Review,
    SafetyRecord,
    StepKey,
    UnderstoodAs,
)
from carrel.rooms.research.safety import check_hypothesis
from carrel.rooms.research.work_notices import (
    NoPaperNotices,
    NoticesOfPapers,
    warn_of_retracted,
)

GOAL_READING = "goal reading"
META_REVIEW = "meta-review"


@dataclass(frozen=True, slots=True)
class StepResult:
    """The changes of a step to store, and the ids of its results."""

    changes: Changes = field(default_factory=Changes)
    ids: tuple[str, ...] = ()


async def find_understanding(store: ResearchStore, research_id: str) -> UnderstoodAs | None:
    """The interpretation of the goal, or None before there is one."""
    outputs = await store.outputs(research_id, agent=GOAL_READING)
    finding = outputs[-1].finding if outputs else None
    return finding if isinstance(finding, UnderstoodAs) else None


async def find_meta_review(store: ResearchStore, research_id: str) -> MetaReview:
    """The latest meta-review; an empty one before there is any."""
    outputs = await store.outputs(research_id, agent=META_REVIEW)
    finding = outputs[-1].finding if outputs else None
    return finding if isinstance(finding, MetaReview) else MetaReview(text="")


@dataclass(frozen=True, slots=True)
class AgentContext:
    """What every agent works with."""

    store: ResearchStore
    reasoner: Reasoner
    clock: Clock
    start_elo: float = 1000.0
    notices: NoticesOfPapers = field(default_factory=NoPaperNotices)

    def now(self) -> str:
        return self.clock.now().isoformat()

    async def brief(self, project: Project, job: Job, step: StepKey) -> Brief:
        hypotheses = await self.store.hypotheses(project.id)
        meta_review = await find_meta_review(self.store, project.id)
        reviews = await self.store.reviews(project.id)
        return Brief(project, job.id, step, hypotheses, meta_review, reviews)

    async def place_drafts(
        self,
        brief: Brief,
        drafts: Sequence[Draft],
        parents: Sequence[str] = (),
        *,
        is_evolved: bool = False,
    ) -> tuple[list[Hypothesis], list[SafetyRecord]]:
        """The drafts that pass the safety check, and all decisions; a retry gives the same ids."""
        hypotheses: list[Hypothesis] = []
        decisions: list[SafetyRecord] = []
        texts = [f"{draft.title}. {draft.summary}" for draft in drafts]
        opinions = await self._ask_opinions(brief, texts)
        for number, draft in enumerate(drafts):
            found = [self._decide_by_rules(brief, draft, number)]
            if opinions:
                opinion = opinions[number]
                found.append(self.record_opinion(brief, "hypothesis", draft.title, opinion, number))
            decisions.extend(found)
            if all(decision.is_allowed for decision in found):
                hypotheses.append(
                    Hypothesis(
                        id=derived_id("hyp", brief.job_id, brief.step.label, number),
                        research_id=brief.project.id,
                        draft=draft,
                        parents=tuple(parents) or _parents_of(draft, brief.hypotheses),
                        start_elo=self.start_elo,
                        created_at=self.now(),
                        status="evolved" if is_evolved else "pending",
                        rating=Rating(elo_score=self.start_elo),
                    )
                )
        return hypotheses, decisions

    async def _ask_opinions(self, brief: Brief, texts: Sequence[str]) -> list[Opinion]:
        try:
            return await self.reasoner.check(brief, texts)
        except UnreadableAnswerError:
            # Nobody has said that it is safe.
            reason = "The model's opinion on its safety could not be read."
            return [Opinion(False, reason)] * len(texts)

    def _decide_by_rules(self, brief: Brief, draft: Draft, number: int) -> SafetyRecord:
        found = check_hypothesis(draft.title, draft.summary)
        return SafetyRecord(
            id=derived_id("safe", brief.job_id, brief.step.label, number),
            owner=brief.project.owner,
            research_id=brief.project.id,
            subject="hypothesis",
            text=draft.title,
            is_allowed=not found.is_refused,
            rule=found.rule,
            reason=found.reason,
            created_at=self.now(),
        )

    def record_opinion(
        self,
        brief: Brief,
        subject: Literal["goal", "hypothesis"],
        text: str,
        opinion: Opinion,
        number: int,
    ) -> SafetyRecord:
        return SafetyRecord(
            id=derived_id("safe", brief.job_id, brief.step.label, "mind", number),
            owner=brief.project.owner,
            research_id=brief.project.id,
            subject=subject,
            text=text,
            is_allowed=opinion.is_allowed,
            rule="model",
            reason=opinion.reason,
            checked_by=self.reasoner.name,
            created_at=self.now(),
        )

    def output(
        self,
        brief: Brief,
        agent: str,
        given: str,
        answered: str,
        finding: UnderstoodAs | MetaReview | OutsideLooks | None = None,
    ) -> AgentOutput:
        return AgentOutput(
            id=derived_id("out", brief.job_id, brief.step.label, agent),
            research_id=brief.project.id,
            agent=agent,
            step=brief.step.label,
            mind=self.reasoner.name,
            given=given,
            answered=answered,
            created_at=self.now(),
            finding=finding,
        )

    def event(self, brief: Brief, kind: str, says: str, reason: str | None = None) -> Event:
        return Event(
            id=derived_id("evt", brief.job_id, brief.step.label, kind),
            research_id=brief.project.id,
            kind=kind,
            says=says,
            created_at=self.now(),
            reason=reason,
        )


def _parents_of(draft: Draft, hypotheses: Sequence[Hypothesis]) -> tuple[str, ...]:
    """Discovery names parents by the keys of their connections."""
    if draft.connection is None or not draft.connection.origin.parents:
        return ()
    ids = {one.draft.connection.key: one.id for one in hypotheses if one.draft.connection}
    return tuple(ids[key] for key in draft.connection.origin.parents if key in ids)


def derived_id(prefix: str, *parts: object) -> str:
    """An id that is the same for the same parts, and as hard to guess as they are."""
    return f"{prefix}_{sha256('/'.join(map(str, parts)).encode()).hexdigest()[:16]}"


# Weights and thresholds set by hand: no data was at hand to fit them on.
_NAMES_WEIGHT, _CITATIONS_WEIGHT = 0.7, 0.3
_SAME_GROUP = 0.35
_NEARLY_THE_SAME = 0.9
# Drafts asked for beyond those wanted, since some may be of a kind that people rejected.
_MOST_SPARE = 5


async def generate(
    context: AgentContext, brief: Brief, method: GenerationMethod, count: int
) -> StepResult:
    """Up to `count` new hypotheses, none of a rejected kind; unsafe ones are recorded, left out."""
    spare = sum(one.decision.approval == "rejected" for one in brief.hypotheses)
    avoided = describe_rejected(brief.project.goal, brief.hypotheses)
    try:
        written = await context.reasoner.generate(brief, method, count + min(spare, _MOST_SPARE))
    except NoConnectionFoundError as error:
        if not avoided:
            raise
        raise NoConnectionFoundError(
            f"{error.message}. {avoided.rstrip('.')}",
            next_step=error.next_step,
            details=error.details,
        ) from error
    drafts, rejected = leave_out_rejected(written, brief.project.goal, brief.hypotheses)
    hypotheses, decisions = await context.place_drafts(brief, drafts[:count])
    titles = "\n".join(f"{one.id}: {one.draft.title}" for one in hypotheses)
    given = f"{method.value}, {count} wanted, {len(brief.hypotheses)} there already"
    refused = min(count, len(drafts)) - len(hypotheses)
    says = f"{len(hypotheses)} hypotheses by {method.value}"
    if refused:
        says += f", {refused} left out as unsafe"
    events = [context.event(brief, "generated", says)]
    if avoided:
        left = [f"Left out: “{one.title}” is {one.reason}." for one in rejected]
        events.append(context.event(brief, "avoided", " ".join((avoided, *left))))
    changes = Changes(
        hypotheses=tuple(hypotheses),
        safety=tuple(decisions),
        outputs=(context.output(brief, "generation", given, titles),),
        events=tuple(events),
    )
    return StepResult(changes, tuple(one.id for one in hypotheses))


async def evolve(
    context: AgentContext, brief: Brief, hypothesis: Hypothesis, strategy: EvolutionStrategy
) -> StepResult:
    """A child of the hypothesis; to combine, the most fitting other one is its second parent."""
    partner = None
    if strategy is EvolutionStrategy.COMBINE:
        partner = find_partner(hypothesis, brief.hypotheses)
    draft = await context.reasoner.evolve(brief, hypothesis, strategy, partner)
    title = draft.title.casefold()
    same = next((one for one in brief.hypotheses if one.draft.title.casefold() == title), None)
    if same is not None:
        raise NothingToEvolveError(
            f"{strategy.value} leads to what is there already: {same.id}",
            next_step="Try another strategy or another hypothesis.",
        )
    _, rejected = leave_out_rejected([draft], brief.project.goal, brief.hypotheses)
    if rejected:
        raise NothingToEvolveError(
            f"{strategy.value} leads to what is {rejected[0].reason}",
            next_step="Try another strategy or another hypothesis.",
        )
    parents = (hypothesis.id,) if partner is None else (hypothesis.id, partner.id)
    children, decisions = await context.place_drafts(brief, [draft], parents, is_evolved=True)
    titles = "\n".join(f"{child.id}: {child.draft.title}" for child in children)
    answered = titles or "left out as unsafe"
    given = f"{strategy.value} of {', '.join(parents)}"
    changes = Changes(
        hypotheses=tuple(children),
        safety=tuple(decisions),
        outputs=(context.output(brief, "evolution", given, answered),),
        events=(context.event(brief, "evolved", f"{strategy.value}: {answered}"),),
    )
    return StepResult(changes, tuple(child.id for child in children))


async def relate(context: AgentContext, brief: Brief) -> StepResult:
    """Records which hypotheses are close to one another."""
    groups = group_by_closeness(brief.hypotheses)
    answered = "\n".join(", ".join(member.id for member in group) for group in groups)
    given = f"{len(brief.hypotheses)} hypotheses"
    return StepResult(Changes(outputs=(context.output(brief, "proximity", given, answered),)))


def closeness(one: Hypothesis, other: Hypothesis) -> float:
    """From 0, nothing in common, to 1, the same bridges, ends and papers."""
    named = _overlap(_names(one), _names(other))
    cited = _overlap(set(one.draft.citations), set(other.draft.citations))
    return _NAMES_WEIGHT * named + _CITATIONS_WEIGHT * cited


def group_by_closeness(hypotheses: Sequence[Hypothesis]) -> list[list[Hypothesis]]:
    """Groups connected by close pairs; the largest group first."""
    waiting = list(hypotheses)
    groups: list[list[Hypothesis]] = []
    while waiting:
        group = [waiting.pop(0)]
        for member in group:
            near = [other for other in waiting if closeness(member, other) >= _SAME_GROUP]
            group.extend(near)
            waiting = [other for other in waiting if other not in near]
        groups.append(group)
    return sorted(groups, key=len, reverse=True)


def find_partner(hypothesis: Hypothesis, hypotheses: Sequence[Hypothesis]) -> Hypothesis | None:
    """The one to combine with: close yet not the same, rated well, neither parent nor child."""
    kin = {hypothesis.id, *hypothesis.parents}
    others = [
        other
        for other in hypotheses
        if other.id not in kin
        and hypothesis.id not in other.parents
        and other.decision.approval != "rejected"
    ]

    def rank(other: Hypothesis) -> tuple[bool, float, str]:
        close = closeness(hypothesis, other)
        worth = close + (other.rating.elo_score - 1000.0) / 1000.0
        return close < _NEARLY_THE_SAME, worth, other.id

    return max(others, key=rank, default=None)


def _names(hypothesis: Hypothesis) -> set[str]:
    connection = hypothesis.draft.connection
    bridges = {name.lower() for name in hypothesis.draft.bridges}
    if connection is None:
        return bridges | {word.lower() for word in hypothesis.draft.title.split() if len(word) > 4}
    return bridges | {connection.end.key, *(end.key for end in connection.also_ends)}


def _overlap(one: set[str], other: set[str]) -> float:
    return jaccard(len(one & other), len(one), len(other))


async def read_goal(context: AgentContext, brief: Brief) -> StepResult:
    """The reasoner's safety opinion on the goal, and its reading unless that is stored already."""
    goal = brief.project.goal
    opinions = await context.reasoner.check(brief, [goal])
    records = tuple(context.record_opinion(brief, "goal", goal, opinion, 0) for opinion in opinions)
    if not all(record.is_allowed for record in records):
        await context.store.save(Changes(safety=records))
        raise UnsafeGoalError(
            "goal",
            "model",
            f"{context.reasoner.name} refused it, saying: {records[0].reason}",
            "Questions of prevention, treatment, detection or history are welcome.",
        )
    if await find_understanding(context.store, brief.project.id) is not None:
        return StepResult(Changes(safety=records))
    reading = await context.reasoner.understand(goal)
    output = context.output(brief, GOAL_READING, goal, reading.model_dump_json(), reading)
    return StepResult(Changes(safety=records, outputs=(output,)))


async def reflect(
    context: AgentContext,
    brief: Brief,
    hypothesis: Hypothesis,
    review_type: ReviewType,
    look: OutsideLook | None = None,
) -> StepResult:
    """One review, stored with what it rests on and what was found outside before it."""
    found = await context.reasoner.review(brief, hypothesis, review_type)
    if look is not None:
        found = add_outside(found, look)
    retracted = await warn_of_retracted(found.citations, found.statements, context.notices)
    review = Review(
        id=derived_id("rev", brief.job_id, brief.step.label),
        research_id=brief.project.id,
        hypothesis_id=hypothesis.id,
        review_type=review_type.value,
        scores=found.scores,
        strengths=found.strengths,
        weaknesses=(*retracted, *found.weaknesses),
        recommendations=found.recommendations,
        citations=found.citations,
        quotations=found.quotations,
        reasons=dict(found.reasons),
        statements=found.statements,
        outside=look,
        reviewer=context.reasoner.name,
        created_at=context.now(),
    )
    given, answered = f"{review_type.value} of {hypothesis.id}", review.scores.model_dump_json()
    output = context.output(brief, "reflection", given, answered)
    return StepResult(Changes(reviews=(review,), outputs=(output,)), (review.id,))


async def meta_review(context: AgentContext, brief: Brief) -> StepResult:
    """Summarise all reviews; later agents get the summary."""
    reviews = await context.store.reviews(brief.project.id)
    found = await context.reasoner.meta_review(brief, reviews)
    output = context.output(brief, META_REVIEW, f"{len(reviews)} reviews", found.text, found)
    event = context.event(brief, META_REVIEW, found.text)
    return StepResult(Changes(outputs=(output,), events=(event,)))
