"""What a reasoner does for the agents, and what it is told: discovery and language models do it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from carrel.libraries.discovery.connections import EvolutionStrategy, GenerationMethod
from carrel.libraries.discovery.review import ReviewType
from carrel.libraries.ranking import Judging
from carrel.rooms.research.records import (
    AgentOutput,
    Draft,
    Hypothesis,
    Project,
    Review,
    Scores,
    Understanding,
)

VerdictWord = Literal["first", "second", "draw", "unreadable"]


@dataclass(frozen=True, slots=True)
class Brief:
    """What every piece of work is told: the project, what there is already, the latest meta-review,
    and its place in the run.

    `outputs` collects what the mind did, to be kept with the step.
    """

    project: Project
    job_id: str
    step: str
    hypotheses: Sequence[Hypothesis] = ()
    feedback: str = ""
    outputs: list[AgentOutput] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Assessment:
    """A review without its place."""

    scores: Scores
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    recommendations: tuple[str, ...]
    citations: tuple[str, ...]
    quotations: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Which of two is the better, in the order they were shown, and why."""

    verdict: VerdictWord
    reason: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """Whether something may be worked on, and why, as a mind sees it; the rules have been asked
    before.
    """

    is_allowed: bool
    reason: str


class Mind(Protocol):
    """Thinks for the agents."""

    @property
    def name(self) -> str: ...

    @property
    def judging(self) -> Judging:
        """How far its word on a pair can be trusted: an exact judge need not be asked twice."""
        ...

    async def understand(self, goal: str) -> Understanding:
        """How the mind reads a goal. GoalNotInCorpusError where it can do nothing with it."""
        ...

    async def check(self, brief: Brief, texts: Sequence[str]) -> list[Opinion]:
        """An opinion on each text, or none at all where the mind has none beyond the rules."""
        ...

    async def generate(self, brief: Brief, method: GenerationMethod, count: int) -> list[Draft]: ...

    async def review(
        self, brief: Brief, hypothesis: Hypothesis, review_type: ReviewType
    ) -> Assessment: ...

    async def judge(self, brief: Brief, first: Hypothesis, second: Hypothesis) -> Judgement: ...

    async def evolve(
        self,
        brief: Brief,
        hypothesis: Hypothesis,
        strategy: EvolutionStrategy,
        partner: Hypothesis | None,
    ) -> Draft: ...

    async def meta_review(self, brief: Brief, reviews: Sequence[Review]) -> str: ...
