"""The shapes that models are asked to answer in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model


class Written(BaseModel):
    """Base: nothing left out, nothing added, as strict structured output wants it. Models write in
    the order of the fields, so
    reasons come before what is decided."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# Asked for, so that a model that cannot stop is stopped; one that writes more is read all the same.
Texts = Annotated[list[str], Field(json_schema_extra={"maxItems": 8})]
# A score on another scale says nothing on this one, so it is asked for again.
Share = Annotated[float, Field(ge=0, le=1)]


class WrittenHypothesis(Written):
    title: str
    summary: str
    rationale: str
    objective: str
    steps: Texts
    required_resources: Texts
    success_metrics: Texts
    potential_challenges: Texts
    safety_considerations: Texts
    predictions: Texts
    refutations: Texts
    assumptions: Texts
    novelty: str
    citations: Texts


class WrittenHypotheses(Written):
    hypotheses: list[WrittenHypothesis]


def hypotheses_of(count: int) -> type[WrittenHypotheses]:
    """The shape of one to so many."""
    bounded = Annotated[
        list[WrittenHypothesis], Field(json_schema_extra={"minItems": 1, "maxItems": count})
    ]
    return create_model("WrittenHypotheses", __base__=WrittenHypotheses, hypotheses=(bounded, ...))


class WrittenTurn(Written):
    speaker: str
    says: str


class WrittenDebate(Written):
    turns: Annotated[list[WrittenTurn], Field(json_schema_extra={"minItems": 1, "maxItems": 6})]


class WrittenReview(Written):
    strengths: Texts
    weaknesses: Texts
    recommendations: Texts
    quotations: Texts
    citations: Texts
    plausibility: Share
    novelty: Share
    testability: Share
    safety: Share


class WrittenVerdict(Written):
    reason: str
    winner: Literal["first", "second", "draw"]


class WrittenMetaReview(Written):
    text: str


class WrittenOpinion(Written):
    reason: str
    allowed: bool


class WrittenSafety(Written):
    """Base of `safety_of`: an opinion on each text, under a name of its own, so that none can be
    left out.
    """

    def opinions(self) -> list[WrittenOpinion]:
        return [getattr(self, name) for name in type(self).model_fields]


def safety_of(count: int) -> type[WrittenSafety]:
    """The shape of opinions on so many texts."""
    names: dict[str, Any] = {
        f"text_{number}": (WrittenOpinion, ...) for number in range(1, count + 1)
    }
    return create_model("WrittenSafety", __base__=WrittenSafety, **names)


def schema_of(shape: type[Written]) -> dict[str, Any]:
    """The shape as a JSON schema; only its own name stays, since models pay for every word of
    it.
    """
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
