"""Reads query strings and forms, and turns a form into the arguments of an operation."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import orjson

from carrel.core.errors import InvalidInputError
from carrel.core.operation import Operation
from carrel.core.pages import FieldValues
from carrel.doors.http.messages import HttpRequest
from carrel.doors.json_input import parse_json
from carrel.doors.schemas import input_schema

_MOST_FIELDS = 5_000
_FORM_TYPE = b"application/x-www-form-urlencoded"
_JSON_SUFFIX = ".json"


def read_fields(text: bytes) -> FieldValues:
    """Raises InvalidInputError."""
    try:
        return FieldValues(
            parse_qs(
                text.decode("ascii"),
                keep_blank_values=True,
                max_num_fields=_MOST_FIELDS,
                encoding="utf-8",
                errors="strict",
            )
        )
    except ValueError:
        raise InvalidInputError(
            "The address or the form cannot be read", next_step="Go back and send it again."
        ) from None


def read_query_fields(request: HttpRequest) -> FieldValues:
    return read_fields(request.scope.get("query_string", b""))


def read_form_fields(request: HttpRequest) -> FieldValues:
    given = request.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if given != _FORM_TYPE:
        raise InvalidInputError(
            "The body must be a form", next_step="Send the form of the page again."
        )
    return read_fields(request.body)


def form_arguments(operation: Operation[Any], form: FieldValues) -> dict[str, Any]:
    """The arguments that a form gives; fields that the operation lacks are refused by the gate.

    Fields beginning with `_` are the console's own. An empty optional field is left out, and
    `name.json` gives any value as JSON. Raises InvalidInputError.
    """
    schema = input_schema(operation)
    properties: dict[str, Any] = schema.get("properties", {})
    arguments: dict[str, Any] = {}
    for field in form.names():
        if field.startswith("_") or field == "csrf":
            continue
        if field.endswith(_JSON_SUFFIX):
            arguments[field.removesuffix(_JSON_SUFFIX)] = _read_json(field, form.whole_text(field))
            continue
        kind = _kind(properties.get(field, {}), schema)
        is_required = field in schema.get("required", ())
        if kind == "array":
            items = _kind(_branch(properties[field], schema).get("items", {}), schema)
            arguments[field] = [_convert(field, each, items) for each in form.texts(field)]
        elif form.text(field) or (is_required and kind == "string"):
            arguments[field] = _convert(field, form.whole_text(field), kind)
    return arguments


def _branch(schema: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """The schema of the value itself: behind a reference, and not the null of an optional one."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return _branch(whole.get("$defs", {}).get(name, {}), whole)
    for each in schema.get("anyOf", schema.get("oneOf", ())):
        if each.get("type") != "null":
            return _branch(each, whole)
    return schema


def _kind(schema: dict[str, Any], whole: dict[str, Any]) -> str:
    found = _branch(schema, whole).get("type", "string")
    if isinstance(found, list):
        found = next((each for each in found if each != "null"), "string")
    return str(found)


def _convert(field: str, text: str, kind: str) -> Any:
    try:
        match kind:
            case "integer":
                return int(text.strip()[:20])
            case "number":
                return float(text.strip()[:40])
            case "boolean":
                return text.strip().lower() in {"1", "on", "true", "yes"}
            case "object":
                return _read_json(field, text)
            case _:
                return text
    except ValueError:
        raise InvalidInputError(f"{field} must be a number", next_step="Correct it.") from None


def _read_json(field: str, text: str) -> Any:
    try:
        return parse_json(text.encode())
    except orjson.JSONDecodeError as error:
        raise InvalidInputError(
            f"{field} is not JSON: {error}", next_step="Correct the text and send it again."
        ) from None
