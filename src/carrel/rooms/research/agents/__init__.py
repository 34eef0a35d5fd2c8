"""What all agents share: the store, the reasoner, the clock, and how records get their ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from carrel.core.clock import Clock
from carrel.rooms.research.errors import UnreadableAnswerError
from carrel.rooms.research.ports import ContextMemory
from carrel.rooms.research.reasoners import Brief, Mind, Opinion
from carrel.rooms.research.records import (
    AgentOutput,
    Changes,
    Draft,
    Event,
    Hypothesis,
    HypothesisStanding,
    Job,
    Project,
    SafetyRecord,
)
from carrel.rooms.research.safety import check_hypothesis


@dataclass(frozen=True, slots=True)
class Made:
    """What a step leaves behind: everything to be kept, and the ids of what it was for."""

    changes: Changes
    ids: tuple[str, ...] = ()


META_REVIEW = "meta-review"


async def last_meta_review(memory: ContextMemory, research_id: str) -> str:
    """What the reviews say together, as it was last told; empty before it was."""
    told = await memory.outputs(research_id, agent=META_REVIEW)
    return told[-1].answered if told else ""


@dataclass(frozen=True, slots=True)
class Workshop:
    """The agents' common room."""

    memory: ContextMemory
    mind: Mind
    clock: Clock
    start_elo: float = 1000.0

    def now(self) -> str:
        return self.clock.now().isoformat()

    async def brief(self, project: Project, job: Job, step: str) -> Brief:
        hypotheses = await self.memory.hypotheses(project.id)
        return Brief(
            project, job.id, step, hypotheses, await last_meta_review(self.memory, project.id)
        )

    async def placed(
        self,
        brief: Brief,
        drafts: Sequence[Draft],
        parents: Sequence[str] = (),
        *,
        is_evolved: bool = False,
    ) -> tuple[list[Hypothesis], list[SafetyRecord]]:
        """Drafts that pass the safety check, with ids that are the same whenever the step is done
        again; and the decisions.
        """
        made: list[Hypothesis] = []
        decisions: list[SafetyRecord] = []
        opinions = await self._opinions(
            brief, [f"{draft.title}. {draft.summary}" for draft in drafts]
        )
        for number, draft in enumerate(drafts):
            found = [self._by_rules(brief, draft, number)]
            if opinions:
                found.append(
                    self.by_mind(brief, "hypothesis", draft.title, opinions[number], number)
                )
            decisions.extend(found)
            if all(decision.is_allowed for decision in found):
                made.append(
                    Hypothesis(
                        id=derived_id("hyp", brief.job_id, brief.step, number),
                        research_id=brief.project.id,
                        draft=draft,
                        parents=tuple(parents) or self._parents(brief, draft),
                        start_elo=self.start_elo,
                        created_at=self.now(),
                        status="evolved" if is_evolved else "pending",
                        standing=HypothesisStanding(elo_score=self.start_elo),
                    )
                )
        return made, decisions

    async def _opinions(self, brief: Brief, texts: Sequence[str]) -> list[Opinion]:
        try:
            return await self.mind.check(brief, texts)
        except UnreadableAnswerError:
            # Nobody has said that it is safe.
            return [Opinion(False, "The model's opinion on its safety could not be read.")] * len(
                texts
            )

    def _by_rules(self, brief: Brief, draft: Draft, number: int) -> SafetyRecord:
        found = check_hypothesis(draft.title, draft.summary)
        return SafetyRecord(
            id=derived_id("safe", brief.job_id, brief.step, number),
            owner=brief.project.owner,
            research_id=brief.project.id,
            subject="hypothesis",
            text=draft.title,
            is_allowed=found.allowed,
            rule=found.rule,
            reason=found.reason,
            created_at=self.now(),
        )

    def by_mind(
        self,
        brief: Brief,
        subject: Literal["goal", "hypothesis"],
        text: str,
        opinion: Opinion,
        number: int,
    ) -> SafetyRecord:
        return SafetyRecord(
            id=derived_id("safe", brief.job_id, brief.step, "mind", number),
            owner=brief.project.owner,
            research_id=brief.project.id,
            subject=subject,
            text=text,
            is_allowed=opinion.is_allowed,
            rule="model",
            reason=opinion.reason,
            checked_by=self.mind.name,
            created_at=self.now(),
        )

    def output(self, brief: Brief, agent: str, given: str, answered: str) -> AgentOutput:
        return AgentOutput(
            id=derived_id("out", brief.job_id, brief.step, agent),
            research_id=brief.project.id,
            agent=agent,
            step=brief.step,
            mind=self.mind.name,
            given=given,
            answered=answered,
            created_at=self.now(),
        )

    def event(self, brief: Brief, kind: str, says: str) -> Event:
        return Event(
            id=derived_id("evt", brief.job_id, brief.step, kind),
            research_id=brief.project.id,
            kind=kind,
            says=says,
            created_at=self.now(),
        )

    def _parents(self, brief: Brief, draft: Draft) -> tuple[str, ...]:
        """Discovery names parents by the keys of their connections."""
        if draft.connection is None or not draft.connection.origin.parents:
            return ()
        keys = {
            made.draft.connection.key: made.id
            for made in brief.hypotheses
            if made.draft.connection is not None
        }
        return tuple(keys[key] for key in draft.connection.origin.parents if key in keys)


def derived_id(prefix: str, *parts: object) -> str:
    """An id that is the same for the same parts, and as hard to guess as they are."""
    return f"{prefix}_{sha256('/'.join(map(str, parts)).encode()).hexdigest()[:16]}"
