"""What all agents share: the store, the reasoner, the clock, and how records get their ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from carrel.core.clock import Clock
from carrel.rooms.research.errors import UnreadableAnswerError
from carrel.rooms.research.ports import ResearchStore
from carrel.rooms.research.reasoners import Brief, Opinion, Reasoner
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
    SafetyRecord,
    StepKey,
    UnderstoodAs,
)
from carrel.rooms.research.safety import check_hypothesis

GOAL_READING = "goal reading"
META_REVIEW = "meta-review"


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step leaves behind: everything to be stored, and the ids of what it was for."""

    changes: Changes = field(default_factory=Changes)
    ids: tuple[str, ...] = ()


async def find_understanding(store: ResearchStore, research_id: str) -> UnderstoodAs | None:
    """How the goal was read; None before it was."""
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

    def now(self) -> str:
        return self.clock.now().isoformat()

    async def brief(self, project: Project, job: Job, step: StepKey) -> Brief:
        hypotheses = await self.store.hypotheses(project.id)
        meta_review = await find_meta_review(self.store, project.id)
        return Brief(project, job.id, step, hypotheses, meta_review)

    async def place_drafts(
        self,
        brief: Brief,
        drafts: Sequence[Draft],
        parents: Sequence[str] = (),
        *,
        is_evolved: bool = False,
    ) -> tuple[list[Hypothesis], list[SafetyRecord]]:
        """The drafts that pass the safety check as hypotheses, and all decisions.

        Ids are the same whenever the step is done again.
        """
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
            is_allowed=found.allowed,
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
        finding: UnderstoodAs | MetaReview | None = None,
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
