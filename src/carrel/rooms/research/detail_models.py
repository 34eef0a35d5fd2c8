"""Questions and answers that show a project from the inside: its plan, tournament and record."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from carrel.core.operation import Answer, Question
from carrel.core.work_notices import WorkNotice
from carrel.rooms.research.models import ResearchId, StartResearch, StrengthShown
from carrel.rooms.research.outside_models import OutsideLook


class PlanResearch(StartResearch):
    """The same fields as start_research; nothing is started."""


class GetTournament(Question):
    research_id: ResearchId


class ListEvidence(Question):
    research_id: ResearchId
    hypothesis_id: str | None = Field(
        default=None, max_length=100, description="Only of this one; else of the best"
    )
    limit: int = Field(default=10, ge=1, le=200, description="Of how many hypotheses")


class GetResearchRecord(Question):
    research_id: ResearchId


class ListResearchTasks(Question):
    research_id: ResearchId
    limit: int = Field(default=100, ge=1, le=500)


class ListHeldGoals(Question):
    limit: int = Field(default=50, ge=1, le=200)


class PlannedPhase(Answer):
    """A kind of step and how many of it a run is expected to take; `done` of them are finished."""

    kind: str
    expected: int
    done: int = 0
    seconds: float = 0.0


class ResearchPlan(Answer):
    """Every setting a run would have, and whether its goal may start."""

    goal: str
    domain: str
    is_domain_inferred: bool
    hypothesis_count: int
    look_outside: bool
    # Why services outside cannot be asked; empty where they can.
    outside_problem: str = ""
    mind: str
    reasoner: str
    phases: list[PlannedPhase]
    estimated_seconds: float
    max_model_calls: int | None = None
    max_cost: float | None = None
    start_elo: float
    # None where there is no corpus yet.
    corpus_papers: int | None
    # start: at once; hold: a person approves first; refuse: not at all.
    outcome: Literal["start", "hold", "refuse"]
    outcome_reason: str = ""
    advice: str = ""


class RatingStep(Answer):
    """The Elo of a hypothesis after a match, which is counted from 1; 0 is before the first."""

    match: int
    elo: float


class Entrant(Answer):
    """A hypothesis in the tournament, with its rating over the matches."""

    id: str
    rank: int
    title: str
    place: str
    origin: str
    approval: str
    elo_score: float
    strength: StrengthShown
    wins: int
    losses: int
    draws: int
    course: list[RatingStep]


class TournamentMatch(Answer):
    """A match as it was judged."""

    number: int
    first: str
    second: str
    verdict: Literal["first", "second", "draw", "unreadable"]
    margin: str | None = None
    reason: str = ""
    judged_by: str = ""
    at: str


class Tournament(Answer):
    """Everybody who plays, best first, and every match in its order."""

    research_id: str
    goal: str
    entrants: list[Entrant]
    matches: list[TournamentMatch]


class EvidenceSentence(Answer):
    """A sentence of a paper, word for word; `passage_id` names the passage that holds it."""

    paper_id: str
    title: str = ""
    year: int | None = None
    place: str = ""
    sentence: str
    passage_id: str | None = None


class EvidenceStatement(Answer):
    """A statement with the sentences for it, against it, and of it without taking a side."""

    statement: str
    verdict: str
    supporting: list[EvidenceSentence] = Field(default_factory=list)
    contradicting: list[EvidenceSentence] = Field(default_factory=list)
    bearing: list[EvidenceSentence] = Field(default_factory=list)


class BridgeLink(Answer):
    """A bridging concept: papers that name it with the start and with the end.

    `near` and `far` are the places of their statements in the list of statements, from 0.
    """

    concept: str
    near_papers: int
    far_papers: int
    near: int
    far: int


class BridgeShown(Answer):
    """From the start over concepts to the end; `direct_papers` name start and end together."""

    start: str
    end: str
    links: list[BridgeLink]
    direct_papers: int
    papers_searched: int


class CitedPaper(Answer):
    """A paper that a hypothesis cites or quotes; without a title where it left the corpus."""

    paper_id: str
    title: str = ""
    year: int | None = None


class HypothesisEvidence(Answer):
    """What a hypothesis rests on and what reviews checked, with every paper it names."""

    hypothesis_id: str
    rank: int
    title: str
    bridge: BridgeShown | None = None
    statements: list[EvidenceStatement]
    papers: list[CitedPaper] = Field(default_factory=list)
    # Retractions and corrections of papers named above, by paper_id.
    notices: dict[str, tuple[WorkNotice, ...]] = Field(
        default_factory=dict, exclude_if=lambda value: not value
    )


class ProjectEvent(Answer):
    """Something that happened to a project."""

    at: str
    kind: str
    message: str


class RecordSection(Answer):
    """A part of the record as rows of a label and a text."""

    heading: str
    rows: list[tuple[str, str]]


class ResearchRecord(Answer):
    """How a project's results came about."""

    research_id: str
    goal: str
    status: str
    domain: str
    hypothesis_count: int
    look_outside: bool
    mind: str
    created_at: str
    phases: list[PlannedPhase]
    events: list[ProjectEvent]
    sections: list[RecordSection]
    looked_outside: list[OutsideLook] = Field(default_factory=list)


class TaskSummary(Answer):
    """A research task: who has it until when, or what its answer became."""

    id: str
    role: str
    state: Literal["waiting", "leased", "done"]
    worker: str = ""
    lease_until: str = ""
    failures: int = 0
    message: str = ""
    made: list[str] = Field(default_factory=list)
    created_at: str
    finished_at: str | None = None


class GetResearchOverview(Question):
    newest: int = Field(default=5, ge=1, le=50, description="How many projects, newest first")


class ProjectNews(Answer):
    """A project, who thinks in it, and when it last changed."""

    research_id: str
    goal: str
    status: str
    mind: str
    updated_at: str


class ResearchOverview(Answer):
    """What the caller has here, and what waits for a person or an assistant.

    `undecided` counts hypotheses of completed projects that nobody has approved or rejected,
    `waiting_for_assistant` projects whose tasks an assistant is to do.
    """

    projects: int
    hypotheses: int
    running: int
    held: int
    undecided: int
    # The newest project that has some of them.
    undecided_in: str | None = None
    waiting_for_assistant: int
    newest: list[ProjectNews]


class HeldGoal(Answer):
    """A goal that waits for an administrator, whoever started it."""

    research_id: str
    owner: str
    goal: str
    problem: str
    created_at: str
