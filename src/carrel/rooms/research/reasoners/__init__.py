"""The port of reasoners, implemented by discovery and by language models, and its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from carrel.libraries.discovery.connections.candidates import (
    EvolutionStrategy,
    GenerationMethod,
    ReviewType,
)
from carrel.libraries.ranking import Judging
from carrel.rooms.research.claim_models import CheckedStatement
from carrel.rooms.research.records import (
    Draft,
    Hypothesis,
    Margin,
    MetaReview,
    Mind,
    Project,
    Review,
    ReviewScores,
    StepKey,
    UnderstoodAs,
)


@dataclass(frozen=True, slots=True)
class Brief:
    """The input of every step: the project, all that is in it, and the step's key."""

    project: Project
    job_id: str
    step: StepKey
    hypotheses: Sequence[Hypothesis] = ()
    meta_review: MetaReview = field(default_factory=lambda: MetaReview(text=""))
    reviews: Sequence[Review] = ()


@dataclass(frozen=True, slots=True)
class Assessment:
    """The content of a review before it is stored."""

    scores: ReviewScores
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    recommendations: tuple[str, ...]
    citations: tuple[str, ...]
    quotations: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    statements: tuple[CheckedStatement, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """Which of two hypotheses is better, in the order given, by how much if asked, and why."""

    verdict: Literal["first", "second", "draw", "unreadable"]
    reason: str
    margin: Margin | None = None


@dataclass(frozen=True, slots=True)
class Opinion:
    """A safety opinion and its reason, given after the rules have passed."""

    is_allowed: bool
    reason: str


class Reasoner(Protocol):
    """The reasoning behind the agents.

    Every method but `check` raises ModelUnavailableError, and UnreadableAnswerError for a useless
    answer.
    """

    @property
    def name(self) -> str: ...

    @property
    def mind(self) -> Mind: ...

    @property
    def judging(self) -> Judging:
        """The reliability of its pairwise verdicts: an exact judge need not be asked twice."""
        ...

    async def understand(self, goal: str) -> UnderstoodAs:
        """Its interpretation of a goal; raises GoalNotInCorpusError if it has none."""
        ...

    async def check(self, brief: Brief, texts: Sequence[str]) -> list[Opinion]:
        """A safety opinion on each text; empty if it has none beyond the rules."""
        ...

    async def generate(self, brief: Brief, method: GenerationMethod, count: int) -> list[Draft]:
        """Up to `count` new drafts; raises NoConnectionFoundError if there is none."""
        ...

    async def review(
        self, brief: Brief, hypothesis: Hypothesis, review_type: ReviewType
    ) -> Assessment: ...

    async def judge(self, brief: Brief, first: Hypothesis, second: Hypothesis) -> Judgement:
        """Which of two is better; `unreadable` if the verdict cannot be parsed."""
        ...

    async def evolve(
        self,
        brief: Brief,
        hypothesis: Hypothesis,
        strategy: EvolutionStrategy,
        partner: Hypothesis | None,
    ) -> Draft:
        """A child; raises NothingToEvolveError if the strategy would change nothing."""
        ...

    async def meta_review(self, brief: Brief, reviews: Sequence[Review]) -> MetaReview: ...
