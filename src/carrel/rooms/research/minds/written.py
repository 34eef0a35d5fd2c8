"""The shapes that models are asked to answer in."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Written(BaseModel):
    """Base: nothing left out, nothing added, as strict structured output wants it."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class WrittenHypothesis(Written):
    title: str
    summary: str
    rationale: str
    objective: str
    steps: list[str]
    required_resources: list[str]
    success_metrics: list[str]
    potential_challenges: list[str]
    safety_considerations: list[str]
    predictions: list[str]
    refutations: list[str]
    assumptions: list[str]
    novelty: str
    citations: list[str]


class WrittenHypotheses(Written):
    hypotheses: list[WrittenHypothesis]


class WrittenTurn(Written):
    speaker: str
    says: str


class WrittenDebate(Written):
    turns: list[WrittenTurn]


class WrittenReview(Written):
    plausibility: float
    novelty: float
    testability: float
    safety: float
    strengths: list[str]
    weaknesses: list[str]
    recommendations: list[str]
    quotations: list[str]
    citations: list[str]


class WrittenVerdict(Written):
    winner: Literal["first", "second", "draw"]
    reason: str


class WrittenMetaReview(Written):
    text: str


class WrittenOpinion(Written):
    allowed: bool
    reason: str


class WrittenSafety(Written):
    opinions: list[WrittenOpinion]
