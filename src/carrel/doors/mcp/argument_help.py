"""Arguments of MCP calls: read leniently, and where they do not fit, shown as they should be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import orjson
from pydantic import ValidationError

from carrel.core.errors import CarrelError, InvalidInputError
from carrel.core.lenient_arguments import choices_of, fits, mend_arguments
from carrel.core.name_suggestions import near_names
from carrel.core.operation import Operation, Question
from carrel.doors.listed_schemas import listed_input_schema
from carrel.doors.mcp.answer_budget import CURSOR, MAX_CHARS

# Characters of an example in an error; a longer one would be somebody's text.
_LONGEST_EXAMPLE = 400
_LONGEST_VALUE = 80
_LONGEST_NUMBER = 12
_LONGEST_HINT = 60


class MendedCall(NamedTuple):
    """The arguments as they were meant, and the question that they are, where they fitted at once.

    Who runs the operation need not read the arguments again then.
    """

    arguments: Mapping[str, Any]
    question: Question | None = None


def mend_call(operation: Operation[Any], arguments: Mapping[str, Any]) -> MendedCall:
    """The arguments as they were meant; those of pages, which no operation has, stay."""
    try:
        question: Question = operation.question.__pydantic_validator__.validate_python(arguments)
    except ValidationError:
        return MendedCall(_mend_unfit_call(operation, arguments))
    return MendedCall(arguments, question)


def _mend_unfit_call(operation: Operation[Any], arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    fields = operation.question.model_fields
    beside = {
        name: arguments[name]
        for name in (CURSOR, MAX_CHARS)
        if name in arguments and name not in fields
    }
    if isinstance(wanted := beside.get(MAX_CHARS), str) and wanted.isascii() and wanted.isdigit():
        beside[MAX_CHARS] = int(wanted[:_LONGEST_NUMBER])
        arguments = {**arguments, **beside}
    own = {name: arguments[name] for name in arguments if name not in beside}
    mended = mend_arguments(operation.question, own)
    return arguments if mended is own else {**mended, **beside}


def add_example(
    error: CarrelError, operation: Operation[Any], arguments: Mapping[str, Any]
) -> None:
    """Show how the call should look, in the details and the next step of an invalid one."""
    if not isinstance(error, InvalidInputError) or "errors" not in error.details:
        return
    if "example" in error.details:
        return
    example = example_arguments(operation, arguments)
    text = "" if example is None else orjson.dumps(example).decode()
    if text and len(text) <= _LONGEST_EXAMPLE:
        error.details["example"] = example
        error.next_step = f"{error.next_step} For example: {text}"


def example_arguments(
    operation: Operation[Any], arguments: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The arguments with the wrong ones made right, and places where a value is missing.

    None if the operation refuses them together, which no single value can mend.
    """
    fields = operation.question.model_fields
    example = {name: value for name, value in arguments.items() if name in fields}
    schemas = listed_input_schema(operation)["properties"]
    problems = fits(operation.question, example)
    for problem in problems.errors(include_url=False) if problems is not None else ():
        if not problem["loc"]:
            return None
        name = str(problem["loc"][0])
        example[name] = _example_value(name, cast(dict[str, Any], problem), schemas)
    _move_filters_into_query(operation, arguments, example)
    return {name: _shorten(value) for name, value in example.items()}


def _move_filters_into_query(
    operation: Operation[Any], arguments: Mapping[str, Any], example: dict[str, Any]
) -> None:
    """Filters such as year, which the query's own language has."""
    for name, value in arguments.items():
        is_filter = name not in example and f"{name}:" in operation.description
        if is_filter and isinstance(example.get("query"), str) and isinstance(value, str | int):
            word = f'"{value}"' if " " in str(value) else value
            example["query"] = f"{example['query']} {name}:{word}"


def _example_value(name: str, problem: dict[str, Any], schemas: Mapping[str, Any]) -> Any:
    schema = schemas.get(name, {})
    bounds = problem.get("ctx", {})
    for bound in ("le", "ge"):
        if bound in bounds and len(problem["loc"]) == 1:
            return bounds[bound]
    choices = choices_of(problem) or schema.get("enum", [])
    if choices:
        given = str(problem.get("input")).lower()
        begun = [each for each in choices if given.startswith(str(each).lower())]
        return (begun or near_names(given, choices, most=1) or choices)[0]
    place = f"<{str(schema.get('description', name))[:_LONGEST_HINT]}>"
    match schema.get("type"):
        case "array":
            return [place]
        case "object":
            return {}
        case "integer" | "number":
            return schema.get("default", schema.get("minimum", 1))
        case "boolean":
            return True
        case _:
            return place


def _shorten(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST_VALUE:
        return value[:_LONGEST_VALUE] + "…"
    return value
