"""Reads arguments as an assistant meant them, where only one meaning is possible.

Names that differ in spelling or are a common synonym, numbers and lists as text, and choices in
another case are mended. What stays wrong is left as it was sent, for the error to name it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

import orjson
from pydantic import ValidationError

from carrel.core.operation import Question

Arguments = Mapping[str, Any]

_ONE_ID = frozenset({"id", "identifier", "key"})
# What assistants call a parameter, by its name here. Nothing that confirms, such as force.
SYNONYMS: Mapping[str, frozenset[str]] = {
    "query": frozenset(
        {"q", "question", "search", "search_query", "search_term", "text", "terms", "keywords"}
    ),
    "keyword": frozenset({"query", "q", "keywords", "term", "tag"}),
    "limit": frozenset(
        {"max_results", "top_k", "k", "n", "count", "num_results", "page_size", "per_page", "size"}
    ),
    "page": frozenset({"page_number"}),
    "paper_id": _ONE_ID | {"paper", "doi", "arxiv_id", "arxiv"},
    "id": frozenset(
        {"reference_id", "ref_id", "reference", "citekey", "citation_key", "key", "note_id"}
        | {"knowledge_id", "identifier", "doi", "paper_id"}
    ),
    "ids": frozenset(
        {"id", "reference_ids", "references", "citekeys", "citation_keys", "keys", "dois"}
        | {"paper_ids", "paper_id", "passage_ids", "passage_id", "doi", "reference_id"}
    ),
    "passage_id": _ONE_ID | {"passage"},
    "hypothesis_id": _ONE_ID | {"hypothesis"},
    "research_id": _ONE_ID | {"project_id", "project"},
    "job_id": _ONE_ID | {"task_id", "job"},
    "within": frozenset({"paper_ids", "papers", "paper_id", "in_papers", "paper"}),
    "text": frozenset({"quote", "quotation", "sentence", "query"}),
    "input": frozenset(
        {"doi", "dois", "identifier", "identifiers", "bibtex", "ris", "references", "reference"}
        | {"paper_id", "paper_ids", "ids", "id", "items", "source", "sources", "text", "content"}
    ),
    "content": frozenset({"text", "body", "note"}),
    "tags": frozenset({"tag", "labels"}),
    "goal": frozenset({"question", "research_goal", "objective", "topic", "query"}),
    "hypothesis_count": frozenset({"count", "n", "num_hypotheses", "limit"}),
    "node_names": frozenset({"names", "nodes", "name", "node_name"}),
    "style": frozenset({"citation_style", "csl_style"}),
    "format": frozenset({"output_format"}),
    "category": frozenset({"facet", "type", "field"}),
    "max_chars": frozenset({"max_characters", "max_length"}),
    "path": frozenset({"file", "file_path", "filename"}),
    "what": frozenset({"query", "q", "task", "description", "text"}),
    "name": frozenset({"operation", "tool", "tool_name"}),
    "arguments": frozenset({"args", "params", "parameters", "input"}),
    "papers": frozenset({"paper_ids", "paper_id", "ids"}),
    "seeds": frozenset({"paper_ids", "papers", "paper_id", "seed"}),
    "changes": frozenset({"fields", "updates", "values", "csl"}),
    "section": frozenset({"heading"}),
    "figure": frozenset({"figure_id", "number", "label"}),
}
# Records of new values that are sent in one object where the fields themselves are parameters.
_HOLDERS = frozenset({"changes", "fields", "updates", "values"})
# Objects that hold others' parameters, and what must be given beside them.
_GATHERED_IN: Mapping[str, frozenset[str]] = {
    "changes": frozenset({"id"}),
    "arguments": frozenset({"name", "run"}),
}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CHOICE = re.compile(r"'([^']*)'")
# A list in a text: between commas and semicolons, or by lines.
_BETWEEN = re.compile(r"\s*[,;\n]\s*")


def mend_arguments(question: type[Question], arguments: Arguments) -> Arguments:
    """The arguments, mended where they do not fit and can be read in one way only."""
    if fits(question, arguments) is None:
        return arguments
    mended = dict(copy.deepcopy(arguments))
    _rename(question, mended)
    _spread_or_gather(question, mended)
    # A mended value may show the next problem, as a list's items do.
    for _ in range(2):
        error = fits(question, mended)
        if error is None:
            return mended
        for problem in error.errors(include_url=False):
            _mend_value(question, mended, cast(dict[str, Any], problem))
    return mended


def fits(question: type[Question], arguments: Arguments) -> ValidationError | None:
    """The error of arguments that do not fit."""
    try:
        question.__pydantic_validator__.validate_python(arguments)
    except ValidationError as error:
        return error
    return None


def known_names(question: type[Question]) -> set[str]:
    """Every name that a parameter goes by."""
    fields = question.model_fields
    return set(fields) | {field.alias for field in fields.values() if field.alias is not None}


def likely_field(question: type[Question], name: str, given: Arguments) -> str | None:
    """The one parameter that is meant by an unknown name, if it has no value yet."""
    fields = question.model_fields
    plain = _HUMP.sub("_", name).replace("-", "_").replace(" ", "_").lower()
    if plain in fields:
        return None if plain in given else plain
    meant = [
        field
        for field in fields
        if field not in given and plain in SYNONYMS.get(field, frozenset())
    ]
    required = [field for field in meant if fields[field].is_required()]
    chosen = required if len(required) == 1 else meant
    return chosen[0] if len(chosen) == 1 else None


def _rename(question: type[Question], mended: dict[str, Any]) -> None:
    known = known_names(question)
    for name in [name for name in mended if name not in known]:
        field = likely_field(question, name, mended)
        if field is not None:
            mended[field] = mended.pop(name)


def _spread_or_gather(question: type[Question], mended: dict[str, Any]) -> None:
    """New values in one object where each is a parameter, or the other way round."""
    known = known_names(question)
    unknown = [name for name in mended if name not in known]
    for holder, needs in _GATHERED_IN.items():
        if holder in question.model_fields:
            if holder not in mended and unknown and needs & set(mended):
                mended[holder] = {name: mended.pop(name) for name in unknown}
            return
    for name in unknown:
        held = mended[name]
        if name in _HOLDERS and isinstance(held, dict) and set(held) <= known - set(mended):
            mended.update(mended.pop(name))


def _mend_value(question: type[Question], mended: dict[str, Any], problem: dict[str, Any]) -> None:
    *way, last = problem["loc"] or (None,)
    whole = mended.get(str(problem["loc"][0])) if problem["loc"] else None
    if isinstance(whole, str) and isinstance(read := _read_json(whole), list):
        mended[str(problem["loc"][0])] = read
        return
    place: Any = mended
    try:
        for step in way:
            place = place[step]
        value = place[last]
    except (KeyError, IndexError, TypeError):
        # Inside a union the path names the branch, which the arguments do not have.
        return
    field = question.model_fields.get(str(problem["loc"][0]))
    if value is None and len(problem["loc"]) == 1:
        if field is not None and not field.is_required():
            del place[last]
        return
    mend = _MENDERS.get(problem["type"])
    if mend is not None:
        found = mend(value, str(problem["loc"][0]), problem)
        if found is not None:
            place[last] = found


def _to_integer(value: Any, name: str, problem: Mapping[str, Any]) -> Any:
    number = _to_number(value, name, problem)
    return int(number) if number is not None and float(number).is_integer() else None


def _to_number(value: Any, name: str, problem: Mapping[str, Any]) -> Any:
    if isinstance(value, float):
        return value
    if not isinstance(value, str) or len(value) > 30:
        return None
    if re.fullmatch(r"\s*[+-]?\d+\s*", value):
        return int(value)
    return float(value) if re.fullmatch(r"\s*[+-]?\d+\.\d*\s*", value) else None


def _to_boolean(value: Any, name: str, problem: Mapping[str, Any]) -> Any:
    return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None


def _to_text(value: Any, name: str, problem: Mapping[str, Any]) -> Any:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return value[0]
    # A PubMed id or a year, never a query: a number there is a mistake worth telling.
    is_id = name in {"id", "input", "identifier"} or name.endswith(("_id", "ids"))
    return str(value) if is_id and type(value) is int else None


def _to_list(value: Any, name: str, problem: Mapping[str, Any]) -> Any:
    if not isinstance(value, str) or not value.strip():
        return None
    read = _read_json(value)
    if isinstance(read, list):
        return read
    parts = [part for part in _BETWEEN.split(value.strip()) if part]
    # "doe2020, p. 5" is one id with its page; names and tags may have spaces.
    is_one_id = name in {"ids", "within", "papers", "seeds"} and any(" " in part for part in parts)
    return [value.strip()] if is_one_id else parts


def _to_object(value: Any, name: str, problem: Mapping[str, Any]) -> Any:
    read = _read_json(value) if isinstance(value, str) else None
    return read if isinstance(read, dict) else None


def _to_choice(value: Any, name: str, problem: Mapping[str, Any]) -> Any:
    if not isinstance(value, str):
        return None
    choices = choices_of(problem)
    same = [choice for choice in choices if _fold(choice) == _fold(value)]
    plural = [choice for choice in choices if _fold(f"{choice}s") == _fold(value)]
    return next(iter(same or plural), None)


def choices_of(problem: Mapping[str, Any]) -> list[str]:
    """The values that a choice allows, of its validation error."""
    return _CHOICE.findall(str(problem.get("ctx", {}).get("expected", "")))


def _fold(text: str) -> str:
    return re.sub(r"[\s_-]+", "", text).casefold()


def _read_json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


_MENDERS: Mapping[str, Callable[[Any, str, Mapping[str, Any]], Any]] = {
    "int_type": _to_integer,
    "float_type": _to_number,
    "bool_type": _to_boolean,
    "string_type": _to_text,
    "list_type": _to_list,
    "tuple_type": _to_list,
    "dict_type": _to_object,
    "model_type": _to_object,
    "literal_error": _to_choice,
    "enum": _to_choice,
}
