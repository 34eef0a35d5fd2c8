"""Questions of the research room."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from carrel.core.operation import Question

ResearchId = Annotated[str, Field(min_length=1, max_length=100)]
HypothesisId = Annotated[str, Field(min_length=1, max_length=100)]
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
    hypothesis_count: int = Field(default=20, ge=1, le=100)


class GetResearchStatus(Question):
    research_id: ResearchId


class ListResearchProjects(Question):
    status: (
        Literal["initializing", "active", "paused", "completed", "cancelled", "failed"] | None
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
    min_elo: float | None = None
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
    top_n: int = Field(default=10, ge=1, le=200)


class SubmitHypothesis(Question):
    research_id: ResearchId
    title: str = Field(min_length=5, max_length=300)
    summary: str = Field(min_length=10, max_length=5000)
    rationale: str = Field(default="", max_length=20_000)
    experimental_protocol: str = Field(default="", max_length=20_000)
    citations: list[str] = Field(default_factory=list, max_length=200, description="paper_ids")


class RateHypothesis(Question):
    hypothesis_id: HypothesisId
    score: float = Field(ge=0, le=1)
    comment: Reason = ""


class DecideHypothesis(Question):
    hypothesis_id: HypothesisId
    reason: Reason = ""


class OneProject(Question):
    research_id: ResearchId


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
