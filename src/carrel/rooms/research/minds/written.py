"""The shapes that models are asked to answer in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, create_model


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
    """Base of `safety_of`: an opinion on each text, under a name of its own, so that none can be left out."""

    def opinions(self) -> list[WrittenOpinion]:
        return [getattr(self, name) for name in type(self).model_fields]


def safety_of(count: int) -> type[WrittenSafety]:
    """The shape of opinions on so many texts."""
    names: dict[str, Any] = {f"text_{number}": (WrittenOpinion, ...) for number in range(1, count + 1)}
    return create_model("WrittenSafety", __base__=WrittenSafety, **names)


def schema_of(shape: type[Written]) -> dict[str, Any]:
    """The shape as a JSON schema; only its own name stays, since models pay for every word of it."""
    schema: dict[str, Any] = _without_titles(shape.model_json_schema())
    return {"title": shape.__name__, **schema}


def _without_titles(schema: Any) -> Any:
    match schema:
        case Mapping():
            return {
                key: _without_titles(inner)
                for key, inner in schema.items()
                if key not in {"description", "title"} or isinstance(inner, Mapping)
            }
        case list():
            return [_without_titles(inner) for inner in schema]
        case _:
            return schema
