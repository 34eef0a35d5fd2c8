"""Answers to tasks: read leniently, checked for shape and citations, faults named by their path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from carrel.core.operation import Answer
from carrel.libraries.text.budget import InputTooCostlyError, check_nesting
from carrel.rooms.research.records import CitedPassage
from carrel.rooms.research.tasks.records import ResearchTask, Role

MOST_ANSWER_CHARACTERS = 60_000
_FENCE = re.compile(r"```[a-z]*\s*\n?(.*?)```", re.DOTALL | re.IGNORECASE)
_NAMED_SOURCE = re.compile(
    r"\b10\.\d{4,9}/[^\s\]),;]+|\bPMID:?\s*\d+|\barXiv:\s*\d{4}\.\d{4,5}|\bhttps?://[^\s\])]+",
    re.IGNORECASE,
)
_AUTHOR_YEAR = re.compile(
    r"\b([A-Z][\w'’-]+)(?: (?:et al\.?|(?:and|&) [A-Z][\w'’-]+))?,? \(?((?:19|20)\d\d)[a-z]?\b"
)
_PASSAGE_ID = re.compile(r"[\w./:-]+~[0-9a-f]{6,}")
_ID_BREAK = re.compile(r"[,;\s]+")
# Words that judges put around a choice.
_FILLERS = frozenset({"the", "hypothesis", "option", "pair", "is", "better", "side"})
_SHORTEST_START = 8
_MOST_SHOWN = 40
_AS_SHAPE = "what answer_shape says of it"
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


def _as_ids(value: Any) -> Any:
    """A list of ids that may be one text, with commas or lines between them, or one object."""
    if isinstance(value, str):
        value = _ID_BREAK.split(value.strip().strip("[]"))
    elif isinstance(value, Mapping):
        value = [value]
    listed = _as_list(value)
    return [one for one in listed if one != ""] if isinstance(listed, list) else listed


def _as_choice(*words: str, **others: str) -> BeforeValidator:
    """Reads a word of these, however it is spelt: `Hypothesis A`, `paradigm shift`, `supported`."""
    known = {**{word: word for word in words}, **others}

    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        parts = re.findall(r"[a-z]+", value.lower())
        spelt = "_".join(part for part in parts if part not in _FILLERS)
        # Nothing else is guessed: "not supported" and "a tie" are for their writer to mend.
        return known.get(spelt, spelt or value)

    return BeforeValidator(read)


_Title = Annotated[str, BeforeValidator(_as_text), Field(min_length=10, max_length=300)]
_Summary = Annotated[str, BeforeValidator(_as_text), Field(min_length=20, max_length=1500)]
_Rationale = Annotated[str, BeforeValidator(_as_text), Field(min_length=20, max_length=4000)]
_Novelty = Annotated[str, BeforeValidator(_as_text), Field(max_length=1500)]
_Line = Annotated[str, BeforeValidator(_as_text), Field(min_length=1, max_length=1000)]
_Lines = Annotated[list[_Line], BeforeValidator(_as_list), Field(max_length=8)]
_SomeLines = Annotated[list[_Line], BeforeValidator(_as_list), Field(min_length=1, max_length=8)]
_Id = Annotated[str, BeforeValidator(_as_id), Field(max_length=400)]
_Ids = Annotated[list[_Id], BeforeValidator(_as_ids), Field(max_length=30)]
_Strategy = Annotated[
    Literal["refine", "combine", "simplify", "paradigm_shift"],
    _as_choice(
        "refine", "combine", "simplify", "paradigm_shift", refinement="refine", refined="refine",
        combination="combine", combined="combine", simplification="simplify",
        shift="paradigm_shift", paradigm="paradigm_shift",
    ),
]  # fmt: skip
_ReviewVerdict = Annotated[
    Literal["supports", "contradicts", "mixed", "silent", "undecided"],
    _as_choice(
        "supports", "contradicts", "mixed", "silent", "undecided", support="supports",
        supported="supports", supporting="supports", contradict="contradicts",
        contradicted="contradicts", contradicting="contradicts", none="silent",
        unclear="undecided", neutral="undecided",
    ),
]  # fmt: skip
_Better = Annotated[
    Literal["a", "b", "draw"],
    _as_choice("a", "b", "draw", tie="draw", equal="draw", both="draw", neither="draw"),
]
_Margin = Annotated[
    Literal["clear", "slight"],
    _as_choice(
        "clear", "slight", clearly="clear", strong="clear", large="clear", slightly="slight",
        small="slight", weak="slight", none="slight", moderate="slight",
    ),
]  # fmt: skip
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
    strategy: _Strategy = "refine"


class WrittenChildren(_Written):
    children: Annotated[list[WrittenChild], Field(min_length=1, max_length=10)]


class WrittenTaskReview(_Written):
    hypothesis_id: _Id = ""
    plausibility: _Score
    novelty: _Score
    testability: _Score
    safety: _Score
    verdict: _ReviewVerdict
    strengths: _SomeLines
    weaknesses: _SomeLines
    recommendations: _Lines = Field(default_factory=list)
    supporting: _Ids = Field(default_factory=list)
    contradicting: _Ids = Field(default_factory=list)


class WrittenTaskReviews(_Written):
    reviews: Annotated[list[WrittenTaskReview], Field(min_length=1, max_length=10)]


class WrittenTaskVerdict(_Written):
    pair: Annotated[int, BeforeValidator(_as_number), Field(ge=1, le=20)]
    better: _Better
    margin: _Margin = "slight"
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


def answer_shape(role: Role, count: int, *, has_passages: bool = True) -> dict[str, Any]:
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
        "citations": {**_strings(int(has_passages), 30), "description": "passage ids"},
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
    what, allowed = _explain(error["type"], error.get("ctx") or {}, error.get("input"))
    if what is None:
        what = str(error["msg"])
    return Problem(path=path or "answer", what=what, allowed=allowed or _AS_SHAPE)


def _explain(kind: str, bounds: Mapping[str, Any], given: object) -> tuple[str | None, str]:
    """A fault in plain words and what would be right; None where we have no words for it."""
    unit = "entries" if isinstance(given, list | tuple | dict) else "characters"
    match kind:
        case "missing":
            return "is missing", ""
        case "model_type" | "dict_type" | "model_attributes_type":
            return "is not an object", "an object as answer_shape says"
        case "list_type":
            return "is not a list", ""
        case "string_type":
            return "is not text", ""
        case "too_long" | "string_too_long":
            return "is too long", f"at most {bounds.get('max_length')} {unit}"
        case "too_short" | "string_too_short":
            return "is too short", f"at least {bounds.get('min_length')} {unit}"
        case "greater_than_equal":
            return f"is less than {bounds.get('ge')}", ""
        case "less_than_equal":
            return f"is more than {bounds.get('le')}", ""
        case "literal_error":
            return "is none of the choices", str(bounds.get("expected", ""))
        case "int_parsing" | "int_type" | "int_from_float" | "float_parsing" | "float_type":
            return "is not a number", ""
        case _:
            return None, ""


def resolve_citations(task: ResearchTask, ids: Sequence[str]) -> list[str]:
    """The ids, each as it was handed out where only its beginning was given."""
    citable = task.material.citable
    return [_resolve(name, citable) for name in ids]


def _resolve(name: str, citable: Iterable[str]) -> str:
    folded = name.lower()
    if len(folded) < _SHORTEST_START:
        return name
    found = [one for one in citable if one.lower().startswith(folded)]
    return found[0] if len(found) == 1 else name


def check_citations(
    task: ResearchTask, cited: Iterable[tuple[str, Sequence[str]]], texts: Iterable[tuple[str, str]]
) -> list[Problem]:
    """Faults of citations: ids that were not handed out, and sources named in the text."""
    citable = task.material.citable
    # Told once: forty ids for each of eight faults would be longer than a brief.
    shown = iter([", ".join(list(citable)[:_MOST_SHOWN])])
    more = f"one found by find_passages with task_id={task.handed_id}"
    problems = [
        Problem(
            path=path,
            what=f"{name[:200]!r} is no passage handed out with this task",
            allowed=f"{next(shown, 'an id as above')}; or {more}",
        )
        for path, names in cited
        for name in names
        if name not in citable
    ]
    problems += [
        Problem(
            path=path,
            what=f"names a source that was not handed out: {found[:200]}",
            allowed="passage ids in citations, no other sources",
        )
        for path, text in texts
        for found in find_foreign_sources(text, citable)
    ]
    return problems


def find_foreign_sources(text: str, citable: Mapping[str, CitedPassage]) -> list[str]:
    """Identifiers, links, author-year citations and passage ids that no citable passage has."""
    there = " ".join(f"{name} {one.title} {one.text}" for name, one in citable.items())
    named = [found[0] for found in _NAMED_SOURCE.finditer(text)]
    named += [found[0] for found in _PASSAGE_ID.finditer(text)]
    foreign = [one for one in named if one.lower().rstrip(".") not in there.lower()]
    authors = [found for found in _AUTHOR_YEAR.finditer(text) if _is_citation(found)]
    return foreign + [
        found[0] for found in authors if found[1] not in there or found[2] not in there
    ]


def _is_citation(found: re.Match[str]) -> bool:
    """`Liu et al., 2019`, `(Liu, 2019)`; not `In 2019` or `January 2019`."""
    is_in_brackets = found.string[: found.start()].endswith("(") and "," in found[0]
    return "et al" in found[0] or is_in_brackets
