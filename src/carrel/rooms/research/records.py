"""Records of the research room: projects, hypotheses, reviews, matches, outputs of agents, jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from carrel.core.clock import Clock
from carrel.core.operation import Answer
from carrel.libraries.discovery.connections.candidates import (
    CandidateConnection,
    EvolutionStrategy,
    ExperimentalProtocol,
    GenerationMethod,
    ReviewType,
)
from carrel.rooms.research.claim_models import CheckedStatement
from carrel.rooms.research.outside_models import OutsideLook, OutsideLooks

ProjectStatus = Literal[
    "held", "initializing", "active", "paused", "completed", "cancelled", "failed"
]
HypothesisStatus = Literal["pending", "reviewed", "evolved"]
Margin = Literal["clear", "slight"]
Approval = Literal["undecided", "approved", "rejected"]
JobKind = Literal["research", "generate", "review", "rank", "evolve"]
JobState = Literal["waiting", "running", "paused", "cancelled", "completed", "failed"]
# Who thinks: a configured model, discovery in the papers, or the caller's own assistant.
Mind = Literal["model", "discovery", "assistant"]


class Record(BaseModel):
    """Base of everything that is stored."""

    # Built when first used: a process that only lists its tools never pays for it.
    model_config = ConfigDict(
        frozen=True, extra="ignore", defer_build=True, serialize_by_alias=True
    )


class Project(Record):
    """A research project. `seed` makes its tournaments repeatable.

    A `held` one waits for a person's approval of its goal; `problem` says why.
    """

    id: str
    owner: str
    goal: str
    domain: str
    hypothesis_count: int
    seed: int
    created_at: str
    updated_at: str
    status: ProjectStatus = "initializing"
    problem: str | None = None
    # None in projects stored before there were assistants.
    mind: Mind | None = None
    # Whether literature services are asked, and what they find joins the corpus.
    looks_outside: bool = False


class SubjectUnderstood(Answer):
    """A subject that the goal names; `use` says what became of it."""

    name: str
    use: str
    concept: str | None = None
    papers: int = 0
    suggestions: list[str] = Field(default_factory=list)


class ConstraintUnderstood(Answer):
    """A constraint of the goal, and whether the search keeps to it."""

    text: str
    kind: str
    is_used: bool
    says: str


class UnderstoodAs(Answer):
    """How the goal was read, in a sentence and in its parts."""

    says: str
    question: Literal["open", "closed"]
    start: str | None = None
    start_papers: int = 0
    end: str | None = None
    end_papers: int = 0
    through: str | None = None
    wanted: str | None = None
    not_found: list[str] = Field(default_factory=list)
    ignored: list[str] = Field(default_factory=list)
    in_short: str = ""
    asked_for: str | None = None
    relation: str | None = None
    subjects: list[SubjectUnderstood] = Field(default_factory=list)
    constraints: list[ConstraintUnderstood] = Field(default_factory=list)
    out_of_scope: list[str] = Field(default_factory=list)
    questions: list[str] = Field(default_factory=list)


class OutsideReference(Record):
    """A work cited by an imported hypothesis, which need not be in the corpus."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    title: str = ""
    authors: tuple[str, ...] = ()
    journal: str | None = None
    year: int | None = None
    doi: str | None = None
    url: str | None = None


class CitedPassage(Record):
    """A passage of a paper, as it was handed to whoever cites it."""

    id: str
    paper_id: str
    title: str = ""
    year: int | None = None
    section: str = ""
    text: str = ""


class Draft(Record):
    """A hypothesis as it was written; `origin` says by whom or what."""

    title: str
    summary: str
    rationale: str
    protocol: ExperimentalProtocol
    predictions: tuple[str, ...] = ()
    refutations: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    novelty: str = ""
    bridges: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    passages: tuple[CitedPassage, ...] = ()
    removed_citations: int = 0
    outside_references: tuple[OutsideReference, ...] = ()
    origin: str
    method: str
    connection: CandidateConnection | None = None


class Decision(Record):
    """What a person decided, and why."""

    approval: Approval = "undecided"
    by: str | None = None
    at: str | None = None
    reason: str = ""


class Rating(Record):
    """A hypothesis's Elo by matches alone, and its Bradley-Terry strength with the interval.

    The strength counts matches, reviews and people's words; `people_log_odds` and `people_say`
    are what the latter were counted as.
    """

    elo_score: float
    strength: float = 0.0
    strength_low: float = 0.0
    strength_high: float = 0.0
    chance_to_lead: float = 0.0
    chance_to_be_best: float = 0.0
    best_rank: int = 0
    worst_rank: int = 0
    people_log_odds: float = 0.0
    people_say: str = ""
    wins: int = 0
    losses: int = 0
    draws: int = 0

    @property
    def match_count(self) -> int:
        return self.wins + self.losses + self.draws


class Hypothesis(Record):
    """A draft in its project, with its parents, its rating and what people decided.

    `superseded_by` is the research task whose answer took its place: it stays readable, but plays
    no more.
    """

    id: str
    research_id: str
    draft: Draft
    parents: tuple[str, ...] = ()
    start_elo: float
    created_at: str
    status: HypothesisStatus = "pending"
    review_count: int = 0
    # Exports have always called it `standing`.
    rating: Rating = Field(
        validation_alias=AliasChoices("rating", "standing"), serialization_alias="standing"
    )
    decision: Decision = Decision()
    superseded_by: str | None = None


class ReviewScores(Answer):
    """Null where the reviewer abstains."""

    plausibility: float | None
    novelty: float | None
    testability: float | None
    safety: float
    overall: float | None
    specificity: float | None = None
    relevance: float | None = None


class Review(Record):
    """One review; a person's rating is one too. `superseded_by` is the research task that
    reviewed anew.
    """

    id: str
    research_id: str
    hypothesis_id: str
    review_type: str
    scores: ReviewScores
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    quotations: tuple[str, ...] = ()
    reasons: dict[str, str] = Field(default_factory=dict)
    statements: tuple[CheckedStatement, ...] = ()
    # What services outside were asked for it, in projects that look outside.
    outside: OutsideLook | None = None
    reviewer: str
    created_at: str
    superseded_by: str | None = None


class MatchPlayed(Record):
    """One match, in the order the judge saw the two, with the verdict and its reason.

    `margin` is None where the judge was not asked for it, `judged_by` empty in matches stored
    before judges were named.
    """

    research_id: str
    number: int
    first: str
    second: str
    verdict: Literal["first", "second", "draw", "unreadable"]
    margin: Margin | None = None
    reason: str = ""
    judged_by: str = ""
    method: str = "tournament"
    first_elo: float
    second_elo: float
    created_at: str


class Advice(Record):
    """Names of concepts: bridges that did well or badly, and ends not to be proposed again."""

    strong: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    unsafe: tuple[str, ...] = ()


class MetaReview(Record):
    """What the reviews say together: a text for people and models, advice for discovery."""

    text: str
    advice: Advice = Advice()


class AgentOutput(Record):
    """What one agent did once: what it was given and answered, by which reasoner, at what cost.

    `finding` is the answer where later steps read it; exports have its text in `answered`.
    """

    id: str
    research_id: str
    agent: str
    step: str
    mind: str
    given: str
    answered: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    is_model_call: bool = False
    created_at: str
    finding: UnderstoodAs | MetaReview | OutsideLooks | None = Field(default=None, exclude=True)


class SafetyRecord(Record):
    """One decision of the safety check."""

    id: str
    owner: str
    research_id: str | None = None
    subject: Literal["goal", "hypothesis"]
    text: str
    is_allowed: bool
    rule: str
    reason: str
    checked_by: str = "rules"
    created_at: str


class Event(Record):
    """Something that happened to a project; `reason` is why, where something was left undone."""

    id: str
    research_id: str
    kind: str
    says: str
    created_at: str
    reason: str | None = Field(default=None, exclude=True)


def make_event(
    new_id: Callable[[str], str], clock: Clock, project: Project, kind: str, says: str
) -> Event:
    """An event of a project that happens now."""
    return Event(
        id=new_id("evt"),
        research_id=project.id,
        kind=kind,
        says=says,
        created_at=clock.now().isoformat(),
    )


class ResearchWork(Record):
    """A whole run: so many hypotheses from the goal to the ranking."""

    kind: Literal["research"] = "research"
    count: int


class GenerateWork(Record):
    """So many new hypotheses by one method."""

    kind: Literal["generate"] = "generate"
    count: int
    method: GenerationMethod


class ReviewWork(Record):
    """One review of one hypothesis."""

    kind: Literal["review"] = "review"
    hypothesis_id: str
    review_type: ReviewType


class RankWork(Record):
    """Matches between all hypotheses of the project."""

    kind: Literal["rank"] = "rank"
    method: Literal["tournament", "direct_comparison"]


class EvolveWork(Record):
    """A child of one hypothesis."""

    kind: Literal["evolve"] = "evolve"
    hypothesis_id: str
    strategy: EvolutionStrategy


Work = Annotated[
    ResearchWork | GenerateWork | ReviewWork | RankWork | EvolveWork, Field(discriminator="kind")
]


class Job(Record):
    """A piece of durable work on one project."""

    id: str
    research_id: str
    work: Work
    state: JobState = "waiting"
    planned_steps: int = 0
    problem: str | None = None
    problem_code: str | None = None
    created_at: str

    @property
    def kind(self) -> JobKind:
        return self.work.kind

    @property
    def is_open(self) -> bool:
        return self.state in {"waiting", "running"}


class StepKind(StrEnum):
    """What a step does."""

    OUTSIDE = "outside"
    GOAL = "goal"
    GENERATE = "generate"
    REVIEW = "review"
    MATCH = "match"
    SETTLE = "settle"
    PROXIMITY = "proximity"
    META_REVIEW = "meta-review"
    EVOLVE = "evolve"
    COMPARE = "compare"


@dataclass(frozen=True, slots=True)
class StepKey:
    """Which step of a job: each field is given where the job has several steps of that kind."""

    kind: StepKind
    round: int = 0
    number: int = 0
    hypothesis_id: str = ""

    @property
    def label(self) -> str:
        """The key as text, for logs and derived ids; it is never parsed."""
        parts = (self.kind, self.round or "", self.number or "", self.hypothesis_id)
        return ":".join(str(part) for part in parts if part)


class StepDone(Record):
    """A finished step of a job. What it made was stored in the same transaction."""

    job_id: str
    key: StepKey
    seconds: float
    result_ids: tuple[str, ...] = ()
    finished_at: str

    @property
    def kind(self) -> StepKind:
        return self.key.kind


class Changes(Record):
    """What is stored together or not at all.

    `expected_match_count` is how many matches the project had when the ratings were computed:
    where it has others by now, nothing is stored, so that ratings never rest on fewer.
    What is superseded is named with the research task that did so.
    """

    projects: tuple[Project, ...] = ()
    jobs: tuple[Job, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    ratings: tuple[tuple[str, Rating], ...] = ()
    reviews: tuple[Review, ...] = ()
    matches: tuple[MatchPlayed, ...] = ()
    expected_match_count: int | None = None
    superseded_hypotheses: tuple[tuple[str, str], ...] = ()
    superseded_reviews: tuple[tuple[str, str], ...] = ()
    outputs: tuple[AgentOutput, ...] = ()
    safety: tuple[SafetyRecord, ...] = ()
    events: tuple[Event, ...] = ()
