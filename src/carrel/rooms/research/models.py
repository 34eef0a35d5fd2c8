"""Questions and answers of the research room."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from carrel.core.jobs import MAX_WAIT_SECONDS
from carrel.core.note_links import NoteLink
from carrel.core.operation import Answer, Question
from carrel.core.work_notices import WorkNotice
from carrel.rooms.research.claim_models import CheckedStatement
from carrel.rooms.research.outside_models import OutsideLook
from carrel.rooms.research.records import ReviewScores, UnderstoodAs

ResearchId = Annotated[str, Field(min_length=1, max_length=100, description="From start_research")]
HypothesisId = Annotated[
    str, Field(min_length=1, max_length=100, description="From list_hypotheses")
]
Reason = Annotated[str, Field(max_length=2000)]
Method = Literal["literature_based", "debate", "assumptions", "expansion"]
Strategy = Literal["refine", "combine", "simplify", "paradigm_shift"]
ReviewKind = Literal["initial", "deep_verification", "simulation"]


class StartResearch(Question):
    goal: str = Field(
        min_length=10,
        max_length=2000,
        description='Such as "Find novel therapeutic targets for liver fibrosis"',
    )
    domain: str | None = Field(
        default=None, max_length=100, description="biology, chemistry, physics…; inferred if absent"
    )
    hypothesis_count: int = Field(default=20, ge=1, le=100, description="How many to make")
    look_outside: bool = Field(
        default=False, description="Also ask literature services; finds join the corpus"
    )


class UnderstandGoal(Question):
    goal: str = Field(min_length=1, max_length=2000, description="As for start_research")


class GetResearchStatus(Question):
    research_id: ResearchId
    wait_seconds: int = Field(
        default=0, ge=0, le=MAX_WAIT_SECONDS, description="Wait this long for its end"
    )


class ListResearchProjects(Question):
    status: (
        Literal["held", "initializing", "active", "paused", "completed", "cancelled", "failed"]
        | None
    ) = None
    limit: int = Field(default=20, ge=1, le=100)


class GenerateHypotheses(Question):
    research_id: ResearchId
    count: int = Field(default=10, ge=1, le=50)
    method: Method = Field(
        default="literature_based",
        description="literature_based: from the papers; debate: rivals argued; assumptions: a "
        "shared belief dropped; "
        "expansion: around the best so far",
    )


class EvolveHypothesis(Question):
    hypothesis_id: HypothesisId
    strategy: Strategy = Field(
        default="refine",
        description="refine: more specific, testable; combine: with a fitting other; simplify: "
        "less complex, same insight; "
        "paradigm_shift: challenge assumptions",
    )


class ListHypotheses(Question):
    research_id: ResearchId
    status: Literal["pending", "reviewed", "evolved"] | None = None
    min_elo: float | None = Field(default=None, description="Only from this Elo on")
    limit: int = Field(default=50, ge=1, le=200)


class GetHypothesis(Question):
    hypothesis_id: HypothesisId


class ReviewHypothesis(Question):
    hypothesis_id: HypothesisId
    review_type: ReviewKind = Field(
        default="initial",
        description="initial: quick; deep_verification: every link against the literature; "
        "simulation: walks the chain to its weakest link",
    )


class RankHypotheses(Question):
    research_id: ResearchId
    method: Literal["tournament", "direct_comparison"] = Field(
        default="tournament",
        description="tournament: pairwise, recommended; direct_comparison: by review scores",
    )


class GetResults(Question):
    research_id: ResearchId
    format: Literal["summary", "detailed", "nih_aims"] = Field(
        default="summary",
        description="summary: overview; detailed: with protocols; nih_aims: NIH Specific Aims page",
    )
    top_n: int = Field(default=10, ge=1, le=200, description="How many hypotheses")


class SubmitHypothesis(Question):
    research_id: ResearchId
    title: str = Field(min_length=5, max_length=300)
    summary: str = Field(min_length=10, max_length=5000)
    rationale: str = Field(default="", max_length=20_000)
    experimental_protocol: str = Field(default="", max_length=20_000)
    citations: list[str] = Field(
        default_factory=list, max_length=200, description="paper_ids, DOIs"
    )


class RateHypothesis(Question):
    hypothesis_id: HypothesisId
    score: float = Field(ge=0, le=1)
    comment: Reason = ""


class DecideHypothesis(Question):
    hypothesis_id: HypothesisId
    reason: Reason = ""


class OneProject(Question):
    research_id: ResearchId


class DecideGoal(Question):
    research_id: ResearchId
    reason: str = Field(min_length=3, max_length=2000, description="Why, in a sentence: it is kept")


class DeleteResearch(Question):
    research_id: ResearchId
    force: bool = Field(default=False, description="Must be true")


class ExportResearch(Question):
    research_id: ResearchId
    format: Literal["json", "markdown", "html"] = "json"


class ImportHypotheses(Question):
    hypotheses: str = Field(
        min_length=2, description="hypotheses.json of the earlier system, as text"
    )
    goal: str = Field(default="Imported hypotheses", min_length=10, max_length=2000)


class StartedResearch(Answer):
    research_id: str
    goal: str
    domain: str
    status: str
    estimated_time_hours: float
    understood_as: UnderstoodAs | None = None
    mind: str = ""
    # Why nothing runs yet, where a person has to approve the goal first.
    problem: str = ""


class TopHypothesis(Answer):
    id: str
    title: str = ""
    summary: str
    elo_score: float
    status: str


class ResearchStatus(Answer):
    research_id: str
    goal: str
    status: str
    progress: float
    hypotheses_generated: int
    hypotheses_reviewed: int
    hypotheses_in_tournament: int
    top_hypothesis: TopHypothesis | None
    last_update: str
    estimated_completion_minutes: int | None
    stage: str | None = None
    matches_played: int = 0
    model_calls: int = 0
    cost: float = 0.0
    working_on: list[str] = Field(default_factory=list)
    problem: str | None = None
    understood_as: UnderstoodAs | None = None
    mind: str = ""
    # About how many tasks of each kind an assistant has left.
    tasks_left: dict[str, int] = Field(default_factory=dict)


class ProjectSummary(Answer):
    id: str
    goal: str
    domain: str
    status: str
    hypothesis_count: int
    created_at: str
    last_updated: str
    read_as: str = ""
    problem: str = ""


class GoalUnderstood(Answer):
    """How a goal would be read; `problem` and `next_step` say why it cannot start as it is."""

    goal: str
    can_start: bool
    understood_as: UnderstoodAs | None = None
    problem: str | None = None
    next_step: str | None = None
    questions: list[str] = Field(default_factory=list)


class EvidenceShown(Answer):
    """A sentence of a paper, with its place, and the bridge it holds up."""

    paper_id: str
    year: int | None = None
    place: str
    sentence: str
    bridge: str | None = None
    speaks_against: bool = False
    names_both: bool = True
    speaks_only_of: str | None = None


class StrengthShown(Answer):
    """Bradley-Terry strength in log-odds, with its 95 % interval.

    Once fitted: the chance to be the best of all, and the ranks that hold its own in 95 %.
    """

    value: float
    low: float
    high: float
    chance_to_be_best: float | None = Field(default=None, exclude_if=lambda value: value is None)
    best_rank: int | None = Field(default=None, exclude_if=lambda value: value is None)
    worst_rank: int | None = Field(default=None, exclude_if=lambda value: value is None)


class HypothesisRow(Answer):
    """A hypothesis among others: what it says and where it stands. The rest of it is in
    `get_hypothesis`.
    """

    id: str
    research_id: str
    title: str
    summary: str
    bridges: list[str]
    citation_count: int
    origin: str
    method: str
    parents: list[str]
    elo_score: float
    strength: StrengthShown
    wins: int
    losses: int
    draws: int
    place: str
    status: str
    review_count: int
    approval: str
    approval_reason: str = ""
    # What people said of it, and what that counts for in its strength.
    people_count_as: str = Field(default="", exclude_if=lambda value: not value)
    created_at: str
    # The research task whose answer took its place.
    superseded_by: str | None = Field(default=None, exclude_if=lambda value: value is None)


class HypothesisShown(HypothesisRow):
    """A hypothesis with what it argues from and how it could be tested."""

    rationale: str
    experimental_protocol: str
    predictions: list[str]
    refutations: list[str]
    novelty: str
    citations: list[str]
    citations_removed: int = 0


class SubmittedHypothesis(HypothesisShown):
    """A person's new hypothesis; `next_step` says how it gets reviewed where no run does so."""

    next_step: str = Field(default="", exclude_if=lambda value: not value)


class ReviewShown(Answer):
    review_id: str
    hypothesis_id: str
    review_type: str
    scores: ReviewScores
    strengths: list[str]
    weaknesses: list[str]
    recommendations: list[str]
    citations: list[str]
    created_at: str
    quotations: list[str] = Field(default_factory=list)
    reasons: dict[str, str] = Field(default_factory=dict)
    reviewer: str = ""
    # The research task that reviewed anew.
    superseded_by: str | None = Field(default=None, exclude_if=lambda value: value is None)
    # What papers say of each statement, for and against.
    statements: list[CheckedStatement] = Field(
        default_factory=list, exclude_if=lambda value: not value
    )
    # What services outside were asked for it and found.
    outside: OutsideLook | None = Field(default=None, exclude_if=lambda value: value is None)
    # Retractions and corrections of papers named above, by paper_id.
    notices: dict[str, tuple[WorkNotice, ...]] = Field(
        default_factory=dict, exclude_if=lambda value: not value
    )


class MatchShown(Answer):
    """One match of a hypothesis, from its side, with the judge's reason."""

    number: int
    opponent: str
    result: Literal["won", "lost", "draw", "unreadable"]
    reason: str
    elo_after: float
    # By how much, where the judge was asked: clear or slight.
    margin: Literal["clear", "slight"] | None = None
    judged_by: str = ""


class HypothesisInFull(HypothesisShown):
    """Everything there is of a hypothesis: the sentences it rests on, every review and every
    match.
    """

    evidence: list[EvidenceShown]
    reviews: list[ReviewShown]
    matches: list[MatchShown]
    # Retractions and corrections of papers named above, by paper_id.
    notices: dict[str, tuple[WorkNotice, ...]] = Field(
        default_factory=dict, exclude_if=lambda value: not value
    )
    # The newest notes that point at the hypothesis and that the caller may see.
    notes: tuple[NoteLink, ...] = Field(default=(), exclude_if=lambda value: not value)


class ResultHypothesis(Answer):
    """A hypothesis as results show it; `reviews` and the long texts only where they were asked
    for.
    """

    rank: int
    place: str
    id: str
    title: str
    summary: str
    elo_score: float
    strength: StrengthShown
    status: str
    approval: str
    origin: str
    bridges: list[str]
    citations: list[str]
    citation_count: int
    people_count_as: str = Field(default="", exclude_if=lambda value: not value)
    rationale: str | None = None
    experimental_protocol: str | None = None
    predictions: list[str] | None = None
    refutations: list[str] | None = None
    novelty: str | None = None
    reviews: list[ReviewShown] | None = None


class Aim(Answer):
    goal: str
    hypothesis: str
    reasoning: str
    hypothesis_id: str


class Article(Answer):
    paper_id: str
    title: str
    summary: str
    relevance: str


class NihAims(Answer):
    """The parts of an NIH Specific Aims page."""

    disease_description: str
    unmet_need: str
    proposed_solution: str
    aims: list[Aim]
    pilot_evaluation: str
    articles: list[Article]


class Results(Answer):
    research_id: str
    goal: str
    status: str
    format: str
    understood_as: UnderstoodAs | None = None
    executive_summary: str
    top_hypotheses: list[ResultHypothesis]
    total_hypotheses: int
    approved: list[str]
    meta_review: str
    nih_aims: NihAims | None = None
    bibliography: list[dict[str, Any]]
    bibliography_bibtex: str
    markdown: str
    mind: str = ""
    # Each question to literature services, with what became of it.
    looked_outside: list[OutsideLook] = Field(
        default_factory=list, exclude_if=lambda value: not value
    )


class ProjectChanged(Answer):
    research_id: str
    status: str
    message: str


class ImportReport(Answer):
    """What became of every hypothesis of a file."""

    research_id: str | None
    imported: list[str]
    already_here: list[str]
    unsafe: list[str]
    failed: list[str]
