"""Answers to tasks: read leniently, checked for shape and citations, faults named by their path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from carrel.core.operation import Answer
from carrel.libraries.text.budget import InputTooCostlyError, check_nesting
from carrel.rooms.research.tasks.records import ResearchTask, Role

MOST_ANSWER_CHARACTERS = 60_000
_FENCE = re.compile(r"```[a-z]*\s*\n?(.*?)```", re.DOTALL | re.IGNORECASE)
_NAMED_SOURCE = re.compile(
    r"\b10\.\d{4,9}/[^\s\]),;]+|\bPMID:?\s*\d+|\barXiv:\s*\d{4}\.\d{4,5}", re.IGNORECASE
)
_MOST_SHOWN = 40
_MOST_PROBLEMS = 8


class Problem(Answer):
    """One fault of an answer: where it is, what is wrong, and what would be right."""

    path: str
    what: str
    allowed: str = ""


class AnswerError(Exception):
    """An answer that cannot be kept, with its faults."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems[0].what if problems else "")
        self.problems = list(problems[:_MOST_PROBLEMS])


def _as_list(value: Any) -> Any:
    if value is None:
        return []
    if isinstance(value, str):
        lines = [line.strip(" -*•\t") for line in value.splitlines()]
        return [line for line in lines if line]
    return value


def _as_text(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return "\n".join(str(one) for one in value)
    return str(value) if isinstance(value, int | float) else value


def _as_number(value: Any) -> Any:
    if isinstance(value, str):
        text = value.strip().replace(",", ".")
        if text.endswith("%"):
            return float(text[:-1]) / 100.0 if _is_number(text[:-1]) else value
        return float(text) if _is_number(text) else value
    return value


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*-?\d{1,9}(\.\d{1,9})?\s*", text) is not None


def _as_id(value: Any) -> Any:
    if isinstance(value, Mapping):
        value = value.get("id") or value.get("passage_id") or value.get("passage") or value
    return value.strip().strip("[]()<>`\"' ") if isinstance(value, str) else value


def _as_word(value: Any) -> Any:
    return value.strip().strip(".").lower() if isinstance(value, str) else value


_Title = Annotated[str, BeforeValidator(_as_text), Field(min_length=10, max_length=300)]
_Summary = Annotated[str, BeforeValidator(_as_text), Field(min_length=20, max_length=1500)]
_Rationale = Annotated[str, BeforeValidator(_as_text), Field(min_length=20, max_length=4000)]
_Novelty = Annotated[str, BeforeValidator(_as_text), Field(max_length=1500)]
_Line = Annotated[str, BeforeValidator(_as_text), Field(min_length=1, max_length=1000)]
_Lines = Annotated[list[_Line], BeforeValidator(_as_list), Field(max_length=8)]
_SomeLines = Annotated[list[_Line], BeforeValidator(_as_list), Field(min_length=1, max_length=8)]
_Id = Annotated[str, BeforeValidator(_as_id), Field(max_length=400)]
_Ids = Annotated[list[_Id], BeforeValidator(_as_list), Field(max_length=30)]
_Score = Annotated[float, BeforeValidator(_as_number), Field(ge=0, le=1)]


class _Written(BaseModel):
    model_config = ConfigDict(extra="ignore", defer_build=True, populate_by_name=True)


class WrittenIdea(_Written):
    """A hypothesis as an assistant writes it."""

    title: _Title
    summary: _Summary
    rationale: _Rationale
    predictions: _SomeLines
    refutations: _SomeLines
    experiment: _SomeLines
    novelty: _Novelty = ""
    citations: _Ids = Field(validation_alias=AliasChoices("citations", "passages", "evidence"))


class WrittenIdeas(_Written):
    hypotheses: Annotated[list[WrittenIdea], Field(min_length=1, max_length=10)]


class WrittenChild(WrittenIdea):
    parents: _Ids
    strategy: Annotated[
        Literal["refine", "combine", "simplify", "paradigm_shift"], BeforeValidator(_as_word)
    ] = "refine"


class WrittenChildren(_Written):
    children: Annotated[list[WrittenChild], Field(min_length=1, max_length=10)]


class WrittenTaskReview(_Written):
    hypothesis_id: _Id = ""
    plausibility: _Score
    novelty: _Score
    testability: _Score
    safety: _Score
    verdict: Annotated[
        Literal["supports", "contradicts", "mixed", "silent", "undecided"],
        BeforeValidator(_as_word),
    ]
    strengths: _SomeLines
    weaknesses: _SomeLines
    recommendations: _Lines = Field(default_factory=list)
    supporting: _Ids = Field(default_factory=list)
    contradicting: _Ids = Field(default_factory=list)


class WrittenTaskReviews(_Written):
    reviews: Annotated[list[WrittenTaskReview], Field(min_length=1, max_length=10)]


class WrittenTaskVerdict(_Written):
    pair: Annotated[int, BeforeValidator(_as_number), Field(ge=1, le=20)]
    better: Annotated[Literal["a", "b", "draw"], BeforeValidator(_as_word)]
    margin: Annotated[Literal["clear", "slight"], BeforeValidator(_as_word)] = "slight"
    why: _Line


class WrittenTaskVerdicts(_Written):
    verdicts: Annotated[list[WrittenTaskVerdict], Field(min_length=1, max_length=20)]


class WrittenSummary(_Written):
    summary: _Rationale
    strong: _Lines = Field(default_factory=list)
    weak: _Lines = Field(default_factory=list)


WrittenAnswer = (
    WrittenIdeas | WrittenTaskReviews | WrittenTaskVerdicts | WrittenChildren | WrittenSummary
)
_MODELS: Mapping[Role, tuple[type[WrittenAnswer], str]] = {
    "generate": (WrittenIdeas, "hypotheses"),
    "review": (WrittenTaskReviews, "reviews"),
    "compare": (WrittenTaskVerdicts, "verdicts"),
    "evolve": (WrittenChildren, "children"),
    "summarise": (WrittenSummary, ""),
}


def _strings(least: int = 0, most: int = 8) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "minItems": least, "maxItems": most}


def _words(*words: str) -> dict[str, Any]:
    return {"enum": list(words)}


def answer_shape(role: Role, count: int) -> dict[str, Any]:
    """The JSON Schema of an answer; checking is more lenient than it says."""
    text, ids = {"type": "string"}, _strings(0, 30)
    score = {"type": "number", "minimum": 0, "maximum": 1}
    idea = {
        "title": {"type": "string", "maxLength": 300},
        "summary": {"type": "string", "maxLength": 1500},
        "rationale": {"type": "string", "maxLength": 4000},
        "predictions": _strings(1),
        "refutations": _strings(1),
        "experiment": _strings(1),
        "novelty": text,
        "citations": {**_strings(1, 30), "description": "passage ids"},
    }
    review = {
        "hypothesis_id": text,
        **dict.fromkeys(("plausibility", "novelty", "testability", "safety"), score),
        "verdict": _words("supports", "contradicts", "mixed", "silent", "undecided"),
        "strengths": _strings(1),
        "weaknesses": _strings(1),
        "recommendations": _strings(),
        "supporting": {**ids, "description": "passage ids"},
        "contradicting": ids,
    }
    verdict = {
        "pair": {"type": "integer"},
        "better": _words("A", "B", "draw"),
        "margin": _words("clear", "slight"),
        "why": text,
    }
    strategy = _words("refine", "combine", "simplify", "paradigm_shift")
    child = {"parents": _strings(1, 3), "strategy": strategy, **idea}
    match role:
        case "generate":
            return _list_of("hypotheses", idea, count, optional={"novelty"})
        case "review":
            return _list_of("reviews", review, count, optional={"recommendations"})
        case "compare":
            return _list_of("verdicts", verdict, count)
        case "evolve":
            return _list_of("children", child, count, optional={"novelty"})
        case "summarise":
            fields = {"summary": {"type": "string", "maxLength": 4000}}
            told = {**fields, "strong": _strings(), "weak": _strings()}
            return {"type": "object", "required": ["summary"], "properties": told}


def _list_of(
    name: str, fields: dict[str, Any], count: int, optional: Iterable[str] = ()
) -> dict[str, Any]:
    required = [field for field in fields if field not in set(optional)]
    items = {"type": "object", "required": required, "properties": fields}
    listed = {"type": "array", "minItems": 1, "maxItems": max(1, count), "items": items}
    return {"type": "object", "required": [name], "properties": {name: listed}}


def read_answer(task: ResearchTask, given: object) -> WrittenAnswer:
    """The answer to a task. Raises AnswerError that names every fault."""
    model, key = _MODELS[task.role]
    value = _unwrap(_load(given), key)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise AnswerError([_to_problem(one) for one in error.errors(include_url=False)]) from None


def _load(given: object) -> Any:
    """The value of an answer that may be text, fenced or wrapped in words."""
    if not isinstance(given, str):
        return given
    if len(given) > MOST_ANSWER_CHARACTERS:
        raise AnswerError([Problem(path="answer", what="is too long",
                                   allowed=f"{MOST_ANSWER_CHARACTERS} characters")])  # fmt: skip
    fenced = _FENCE.search(given)
    text = (fenced[1] if fenced else given).strip()
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    first = min(starts, default=0)
    for candidate in (text, text[first : max(text.rfind("}"), text.rfind("]")) + 1]):
        try:
            return json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
    what = "is not JSON that can be read"
    raise AnswerError([Problem(path="answer", what=what, allowed="an object as answer_shape says")])


def _unwrap(value: Any, key: str) -> Any:
    """The object itself: lists get their name, single entries their list."""
    try:
        check_nesting(value, "the answer")
    except InputTooCostlyError:
        what = "is nested too deeply"
        raise AnswerError([Problem(path="answer", what=what, allowed="answer_shape")]) from None
    if isinstance(value, str):
        value = _load(value)
    if isinstance(value, dict) and key not in value:
        inner = value.get("answer", value.get("arguments"))
        if isinstance(inner, str):
            inner = _load(inner)
        if isinstance(inner, dict | list):
            value = inner
    if key and isinstance(value, list):
        return {key: value}
    if key and isinstance(value, dict):
        if key not in value:
            return {key: [value]}
        if isinstance(value[key], dict):
            return {**value, key: [value[key]]}
        if isinstance(value[key], str):
            return {**value, key: _load(value[key])}
    return value


def _to_problem(error: Any) -> Problem:
    path = ""
    for part in error["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    bounds = error.get("ctx") or {}
    allowed = ", ".join(
        f"{name.replace('_', ' ')} {value}"
        for name, value in bounds.items()
        if name != "actual_length" and isinstance(value, str | int | float)
    )
    if error["type"] == "missing":
        return Problem(path=path, what="is missing", allowed="what answer_shape says of it")
    allowed = allowed or "what answer_shape says of it"
    return Problem(path=path or "answer", what=str(error["msg"]), allowed=allowed)


def check_citations(
    task: ResearchTask, cited: Iterable[tuple[str, Sequence[str]]], texts: Iterable[tuple[str, str]]
) -> list[Problem]:
    """Faults of citations: ids that were not handed out, and sources named in the text."""
    citable = task.material.citable
    allowed = ", ".join(list(citable)[:_MOST_SHOWN])
    problems = [
        Problem(
            path=path,
            what=f"{name[:200]!r} is no passage handed out with this task",
            allowed=f"{allowed}; or one found by find_passages with task_id={task.handed_id}",
        )
        for path, names in cited
        for name in names
        if name not in citable
    ]
    problems += [
        Problem(
            path=path,
            what=f"names a source that was not handed out: {found[0][:200]}",
            allowed="passage ids in citations, no other sources",
        )
        for path, text in texts
        for found in _NAMED_SOURCE.finditer(text)
        if not any(found[0].lower() in name.lower() for name in citable)
    ]
    return problems
