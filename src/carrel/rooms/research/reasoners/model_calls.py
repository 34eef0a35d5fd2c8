"""Calls to a model: answer schemas, budget, context window, and answers never paid for twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.json_schema import SkipJsonSchema

from carrel.core.clock import Clock
from carrel.rooms.research.errors import (
    BudgetExhaustedError,
    ModelUnavailableError,
    UnreadableAnswerError,
)
from carrel.rooms.research.ports import (
    Completion,
    LanguageModel,
    ModelUse,
    ResearchStore,
    UnusableCompletion,
)
from carrel.rooms.research.reasoners import Brief
from carrel.rooms.research.reasoners.prompt_material import (
    MaterialPart,
    PromptMaterial,
    agent_text,
    count_tokens,
    fit_material,
    list_part,
    shorten,
)
from carrel.rooms.research.records import AgentOutput, Changes


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


def hypotheses_schema(count: int) -> type[WrittenHypotheses]:
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


def _drop_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


class WrittenVerdict(Written):
    # The margin is asked for; a verdict without one is read all the same.
    model_config = ConfigDict(json_schema_extra={"required": ["reason", "winner", "margin"]})

    reason: str
    winner: Literal["first", "second", "draw"]
    margin: Literal["clear", "slight"] | SkipJsonSchema[None] = Field(
        default=None, json_schema_extra=_drop_default
    )


class WrittenMetaReview(Written):
    text: str


class WrittenOpinion(Written):
    reason: str
    allowed: bool


class WrittenSafety(Written):
    """Base of `safety_schema`: an opinion on each text, each under a name of its own."""

    def opinions(self) -> list[WrittenOpinion]:
        return [getattr(self, name) for name in type(self).model_fields]


def safety_schema(count: int) -> type[WrittenSafety]:
    """The shape of opinions on so many texts."""
    names: dict[str, Any] = {
        f"text_{number}": (WrittenOpinion, ...) for number in range(1, count + 1)
    }
    return create_model("WrittenSafety", __base__=WrittenSafety, **names)


def json_schema_of(shape: type[Written]) -> dict[str, Any]:
    """The JSON schema of a shape, without descriptions, since models pay for every word of it."""
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


WrittenT = TypeVar("WrittenT", bound=Written)
_MAX_ATTEMPTS = 3
# What a chat format puts around the texts.
_FRAME_TOKENS = 64
_LEAST_MATERIAL_TOKENS = 200
_LESSONS_TOKENS = 400


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one project's model use; None is no limit."""

    calls: int | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """One call: its agent, instructions and material, and its number within the step."""

    agent: str
    instructions: str
    parts: Sequence[MaterialPart]
    number: int = 1


class ModelCalls:
    """Asks on behalf of the agents, and remembers in the context store."""

    def __init__(
        self,
        model: LanguageModel,
        store: ResearchStore,
        clock: Clock,
        budget: Budget,
        use: ModelUse | None = None,
    ) -> None:
        self._use = use
        self._model = model
        self._store = store
        self._clock = clock
        self._budget = budget
        # Answers that could not be kept: they were paid for, so they wait here until they can be.
        self._unsaved: dict[str, AgentOutput] = {}

    async def ask(
        self,
        brief: Brief,
        question: ModelQuestion,
        shape: type[WrittenT],
        find_fault: Callable[[WrittenT], str | None] = lambda _: None,
    ) -> tuple[WrittenT, PromptMaterial]:
        """The answer (stored or new) and its material; an unusable one is stored and asked again.

        `find_fault` says what a readable answer lacks. Raises UnreadableAnswerError,
        BudgetExhaustedError or ModelUnavailableError.
        """
        instructions = f"{agent_text('common')}\n\n{question.instructions}"
        schema = json_schema_of(shape)
        material = fit_material(
            (*question.parts, _meta_review_part(brief)),
            self._material_tokens(instructions, json.dumps(schema)),
        )
        call_id = f"call_{brief.job_id}_{brief.step.label}_{question.agent}" + (
            f"_{question.number}" if question.number > 1 else ""
        )
        await self._save_unsaved()
        kept = await self._store.output(call_id)
        if kept is not None:
            written, _ = _parse_answer(json.loads(kept.answered), shape, find_fault)
            if written is not None:
                return written, material
        reason = ""
        for attempt in range(_MAX_ATTEMPTS):
            await self._check_budget(brief)
            if self._use is not None:
                await self._use.check(brief.project.owner)
            completion = await self._model.complete(
                instructions, material.text, schema, shape.__name__
            )
            if self._use is not None:
                tokens = completion.input_tokens + completion.output_tokens
                await self._use.add(brief.project.owner, tokens)
            match completion:
                case Completion(answer=answer):
                    written, reason = _parse_answer(dict(answer), shape, find_fault)
                    answered = json.dumps(dict(answer), ensure_ascii=False)
                case UnusableCompletion(text=answered, reason=reason):
                    written = None
            now = self._clock.now().isoformat()
            output = AgentOutput(
                id=call_id if written is not None else f"{call_id}_unreadable_{now}_{attempt}",
                research_id=brief.project.id,
                agent=f"{question.agent} (model)",
                step=brief.step.label,
                mind=self._model.name,
                given=f"{instructions}\n\n{material.text}",
                answered=answered
                if written is not None
                else f"Not used: the answer {reason}.\n\n{answered}",
                input_tokens=completion.input_tokens,
                output_tokens=completion.output_tokens,
                cost=completion.cost,
                is_model_call=True,
                created_at=now,
            )
            self._unsaved[output.id] = output
            await self._save_unsaved()
            if written is not None:
                return written, material
        raise UnreadableAnswerError(
            f"{self._model.name} was asked {_MAX_ATTEMPTS} times, as {question.agent}, and the "
            f"answer {reason}",
            next_step="Try another model.",
            details={"agent": question.agent, "reason": reason},
        )

    async def _save_unsaved(self) -> None:
        """Store pending outputs; raises if that fails, before another answer is paid for."""
        for output in tuple(self._unsaved.values()):
            if await self._store.project(output.research_id) is not None:
                await self._store.save(Changes(outputs=(output,)))
            self._unsaved.pop(output.id, None)

    def _material_tokens(self, instructions: str, schema: str) -> int | None:
        """Tokens that are left for the material."""
        most = self._model.window.input_tokens
        if most is None:
            return None
        room = most - count_tokens(instructions) - count_tokens(schema) - _FRAME_TOKENS
        if room < _LEAST_MATERIAL_TOKENS:
            raise ModelUnavailableError(
                f"The window of {self._model.name} is too small: of {most} tokens that it may be "
                f"told at once, {max(room, 0)} "
                f"are left for papers, and {_LEAST_MATERIAL_TOKENS} are needed; raise "
                f"model.context_tokens or lower "
                "model.max_output_tokens",
                next_step="Change the [model] settings, then resume_research.",
            )
        return room

    async def _check_budget(self, brief: Brief) -> None:
        if self._budget.calls is None and self._budget.cost is None:
            return
        calls, spent = await self._store.model_usage(brief.project.id)
        is_over = (self._budget.calls is not None and calls >= self._budget.calls) or (
            self._budget.cost is not None and spent >= self._budget.cost
        )
        if is_over:
            raise BudgetExhaustedError(
                f"The budget is used up: {calls} model calls, {spent:.2f} spent",
                next_step="Raise research.max_model_calls or research.max_cost, then "
                "resume_research.",
                details={"calls": calls, "cost": spent},
            )


def _parse_answer(
    answer: object, shape: type[WrittenT], find_fault: Callable[[WrittenT], str | None]
) -> tuple[WrittenT, str] | tuple[None, str]:
    """The parsed answer, or what is wrong with it."""
    try:
        written = shape.model_validate(answer)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return (
            None,
            f"has another shape than was asked for ({'.'.join(map(str, first['loc']))}: "
            f"{first['msg'].lower()})",
        )
    missing = find_fault(written)
    return (written, "") if missing is None else (None, missing)


def _meta_review_part(brief: Brief) -> MaterialPart:
    """The latest meta-review; a model may have written it, so it is no instruction."""
    text = brief.meta_review.text
    rows = [shorten(text, _LESSONS_TOKENS)] if text else []
    return list_part("Lessons from the reviews so far", rows)
