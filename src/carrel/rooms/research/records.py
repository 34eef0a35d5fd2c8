"""What the research room remembers: projects, hypotheses, reviews, matches, what agents did, and
the jobs that do it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from carrel.libraries.discovery.connections import CandidateConnection

ProjectStatus = Literal["initializing", "active", "paused", "completed", "cancelled", "failed"]
HypothesisStatus = Literal["pending", "reviewed", "evolved"]
Approval = Literal["undecided", "approved", "rejected"]
JobKind = Literal["research", "generate", "review", "rank", "evolve"]
JobState = Literal["waiting", "running", "paused", "cancelled", "completed", "failed"]


class Record(BaseModel):
    """Something kept as it was; never changed after it is made."""

    # Built when first used: a process that only lists its tools never pays for it.
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class Project(Record):
    """A research project. `seed` makes its tournaments repeatable."""

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


class Understanding(Record):
    """How a goal was read: a plain sentence, and its parts. `start` is what is to be explained or
    changed, `end` what may bear
    on it where the goal names both, `through` a way it names; `wanted` the sort of answer it asks
    for."""

    says: str
    question: Literal["open", "closed"]
    start: str | None = None
    start_papers: int = 0
    end: str | None = None
    end_papers: int = 0
    through: str | None = None
    wanted: str | None = None
    not_found: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


class OutsideReference(Record):
    """A work cited by an imported hypothesis, which need not be in the corpus."""

    title: str
    authors: tuple[str, ...] = ()
    journal: str | None = None
    year: int | None = None
    doi: str | None = None
    url: str | None = None


class Protocol(Record):
    """How a hypothesis could be tested."""

    objective: str
    methodology: tuple[str, ...]
    required_resources: tuple[str, ...] = ()
    success_metrics: tuple[str, ...] = ()
    potential_challenges: tuple[str, ...] = ()
    safety_considerations: tuple[str, ...] = ()
    timeline: str | None = None

    def as_text(self) -> str:
        steps = "\n".join(
            f"{number}. {step}" for number, step in enumerate(self.methodology, start=1)
        )
        rows = (
            ("Needed", self.required_resources),
            ("Success", self.success_metrics),
            ("Difficulties", self.potential_challenges),
            ("Safety", self.safety_considerations),
            ("Timeline", (self.timeline,) if self.timeline else ()),
        )
        return "\n\n".join(
            [
                f"Objective: {self.objective}",
                f"Steps:\n{steps}" if steps else "Steps: none were given.",
                *(f"{name}: {' '.join(lines)}" for name, lines in rows if lines),
            ]
        )


class Draft(Record):
    """A hypothesis as somebody wrote it, before it has a place. `origin` says who or what that was,
    in words.
    """

    title: str
    summary: str
    rationale: str
    protocol: Protocol
    predictions: tuple[str, ...] = ()
    refutations: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    novelty: str = ""
    bridges: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
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


class HypothesisStanding(Record):
    """Where a hypothesis stands in its tournament: Elo, and a Bradley-Terry strength with its
    interval.
    """

    elo_score: float
    strength: float = 0.0
    strength_low: float = 0.0
    strength_high: float = 0.0
    chance_to_lead: float = 0.0
    wins: int = 0
    losses: int = 0
    draws: int = 0

    @property
    def matches(self) -> int:
        return self.wins + self.losses + self.draws


class Hypothesis(Record):
    """A draft with its place: its project, parents, standing and what people decided."""

    id: str
    research_id: str
    draft: Draft
    parents: tuple[str, ...] = ()
    start_elo: float
    created_at: str
    status: HypothesisStatus = "pending"
    review_count: int = 0
    standing: HypothesisStanding
    decision: Decision = Decision()


class Scores(Record):
    """Each from 0 to 1; None where the reviewer abstains, since the papers at hand do not cover
    what it is about.
    """

    plausibility: float | None
    novelty: float | None
    testability: float | None
    safety: float
    overall: float | None
    specificity: float | None = None
    relevance: float | None = None


class Review(Record):
    """One review; a person's rating is one too."""

    id: str
    research_id: str
    hypothesis_id: str
    review_type: str
    scores: Scores
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    quotations: tuple[str, ...] = ()
    reasons: dict[str, str] = Field(default_factory=dict)
    reviewer: str
    created_at: str


class MatchPlayed(Record):
    """One match, in the order the judge saw the two, with the verdict and its reason."""

    research_id: str
    number: int
    first: str
    second: str
    verdict: Literal["first", "second", "draw", "unreadable"]
    reason: str = ""
    method: str = "tournament"
    first_elo: float
    second_elo: float
    created_at: str


class AgentOutput(Record):
    """What one agent did once: what it was given, what it answered, with which mind and at what
    cost.
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
    """Something that happened to a project."""

    id: str
    research_id: str
    kind: str
    says: str
    created_at: str


class Work(Record):
    """What a job is to do; each kind reads the fields it needs."""

    count: int = 0
    method: str = ""
    hypothesis_id: str = ""
    review_type: str = ""
    strategy: str = ""


class Job(Record):
    """A piece of durable work on one project."""

    id: str
    research_id: str
    kind: JobKind
    work: Work = Work()
    state: JobState = "waiting"
    planned_steps: int = 0
    problem: str | None = None
    problem_code: str | None = None
    created_at: str


class StepDone(Record):
    """A finished step of a job. What it made was kept in the same moment as this record."""

    job_id: str
    name: str
    kind: str
    seconds: float
    made: tuple[str, ...] = ()
    at: str


class Changes(Record):
    """What is kept together or not at all. `matches_seen` says how many matches the project had
    when it was made: where there
    are others by now, nothing is kept, so that standings never rest on fewer matches than there
    are."""

    projects: tuple[Project, ...] = ()
    jobs: tuple[Job, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    standings: tuple[tuple[str, HypothesisStanding], ...] = ()
    reviews: tuple[Review, ...] = ()
    matches: tuple[MatchPlayed, ...] = ()
    matches_seen: int | None = None
    outputs: tuple[AgentOutput, ...] = ()
    safety: tuple[SafetyRecord, ...] = ()
    events: tuple[Event, ...] = ()


class Pace(Record):
    """How long steps of one kind have taken so far."""

    seconds: float = Field(ge=0)
    count: int
