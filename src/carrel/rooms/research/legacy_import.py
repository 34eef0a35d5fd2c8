"""Hypotheses of the earlier system (`kv_store/hypotheses.json`), read as drafts of ours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from carrel.core.errors import CostlyInputError, InvalidInputError
from carrel.core.parsing import translate_budget_errors
from carrel.libraries.discovery.protocols import ExperimentalProtocol
from carrel.libraries.text.budget import check_nesting, too_deep
from carrel.rooms.research.records import (
    Draft,
    Hypothesis,
    OutsideReference,
    Rating,
)

_METHODS = {
    "literature_exploration": "literature_based",
    "literature": "literature_based",
    "simulated_debate": "debate",
    "iterative_assumptions": "assumptions",
    "research_expansion": "expansion",
    "enhancement": "refine",
    "combination": "combine",
    "simplification": "simplify",
    "out_of_box": "paradigm_shift",
}
EVOLVED = frozenset({"refine", "combine", "simplify", "paradigm_shift"})


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True, defer_build=True)


class _Reference(_Lenient):
    title: str = ""
    authors: list[str] = Field(default_factory=list)
    journal: str | None = None
    year: int | None = None
    doi: str | None = None
    url: str | None = None


class _Protocol(_Lenient):
    objective: str = ""
    methodology: str | list[str] = ""
    required_resources: list[str] = Field(default_factory=list)
    timeline: str | None = None
    success_metrics: list[str] = Field(default_factory=list)
    potential_challenges: list[str] = Field(default_factory=list)
    safety_considerations: list[str] = Field(default_factory=list)


class _Stored(_Lenient):
    id: str = Field(min_length=1)
    summary: str = Field(min_length=1)
    category: str = ""
    full_description: str = ""
    novelty_claim: str = ""
    assumptions: list[str] = Field(default_factory=list)
    experimental_protocol: _Protocol = _Protocol()
    supporting_evidence: list[_Reference] = Field(default_factory=list)
    confidence_score: float | None = None
    generation_method: str = ""
    created_at: str | None = None
    elo_rating: float = 1200.0
    review_count: int = 0
    evolution_count: int = 0


@dataclass(frozen=True, slots=True)
class Imported:
    """One hypothesis of the earlier system."""

    earlier_id: str
    draft: Draft
    elo: float
    review_count: int
    created_at: str | None


@dataclass(frozen=True, slots=True)
class NotImported:
    """One that could not be read, by its place in the file."""

    place: int
    reason: str


def read_legacy_hypotheses(text: str) -> tuple[list[Imported], list[NotImported]]:
    """Reads a list of hypotheses, or an object that has them as values or under `hypotheses`."""
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInputError(
            f"The file is not JSON: line {error.lineno}, {error.msg}",
            next_step="Give the hypotheses.json of the earlier system.",
        ) from None
    except ValueError:
        raise InvalidInputError(
            "The file is not JSON that can be read: a number has too many digits",
            next_step="Give the hypotheses.json of the earlier system.",
        ) from None
    except RecursionError:
        raise CostlyInputError(too_deep("the file")) from None
    with translate_budget_errors():
        check_nesting(whole, "the file")
    read: list[Imported] = []
    failed: list[NotImported] = []
    for place, entry in enumerate(_entries(whole), start=1):
        try:
            read.append(_imported(_Stored.model_validate(entry)))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            failed.append(
                NotImported(place, f"{'.'.join(map(str, first['loc'])) or 'entry'}: {first['msg']}")
            )
    return read, failed


def _entries(whole: Any) -> list[Any]:
    if isinstance(whole, dict):
        whole = whole.get("hypotheses", list(whole.values()))
    if isinstance(whole, dict):
        whole = list(whole.values())
    if not isinstance(whole, list):
        raise InvalidInputError(
            "The file has no list of hypotheses",
            next_step="Give the hypotheses.json of the earlier system.",
        )
    return whole


def _imported(stored: _Stored) -> Imported:
    protocol = stored.experimental_protocol
    steps = (
        [protocol.methodology] if isinstance(protocol.methodology, str) else protocol.methodology
    )
    sure = "" if stored.confidence_score is None else f", confidence {stored.confidence_score:g}"
    draft = Draft(
        title=stored.summary,
        summary=stored.summary,
        rationale=stored.full_description or stored.summary,
        protocol=ExperimentalProtocol(
            objective=protocol.objective,
            methodology=tuple(step for step in steps if step),
            required_resources=tuple(protocol.required_resources),
            success_metrics=tuple(protocol.success_metrics),
            potential_challenges=tuple(protocol.potential_challenges),
            safety_considerations=tuple(protocol.safety_considerations),
            timeline=protocol.timeline,
        ),
        assumptions=tuple(stored.assumptions),
        novelty=stored.novelty_claim,
        outside_references=tuple(
            OutsideReference(
                title=each.title,
                authors=tuple(each.authors),
                journal=each.journal,
                year=each.year,
                doi=each.doi,
                url=each.url,
            )
            for each in stored.supporting_evidence
        ),
        origin=f"imported from the earlier system ({stored.category or 'no category'}{sure})",
        method=_METHODS.get(stored.generation_method, stored.generation_method or "imported"),
    )
    return Imported(stored.id, draft, stored.elo_rating, stored.review_count, stored.created_at)


def imported_hypothesis(
    hypothesis_id: str, research_id: str, one: Imported, now: str
) -> Hypothesis:
    """Keeps its rating: an imported project goes on from where it stood."""
    is_evolved = one.draft.method in EVOLVED
    return Hypothesis(
        id=hypothesis_id,
        research_id=research_id,
        draft=one.draft,
        start_elo=one.elo,
        created_at=one.created_at or now,
        status="evolved" if is_evolved else "reviewed" if one.review_count else "pending",
        review_count=one.review_count,
        rating=Rating(elo_score=one.elo),
    )
