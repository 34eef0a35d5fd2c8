"""Schemas as tool lists show them: short, because clients give them to a model with every request.

The gateway's /openapi.json has the whole schemas, with every type and bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from carrel.core.answer import Blocks, Text
from carrel.core.operation import Effect, Operation
from carrel.doors.schemas import Schema, answers_with_list, input_schema

_CURSOR: Schema = {"type": "string"}
# Characters that nobody types into one argument, and numbers and lists that nobody asks for.
_NEVER_MET = 2_000
_NEVER_ASKED = 100_000
_NEVER_LISTED = 100
# Said of ids in descriptions; their exact form is checked, and told when it is wrong.
_BOUNDS_OF_IDS = frozenset({"maxLength", "minLength", "pattern"})


def listed_input_schema(operation: Operation[Any], *, has_cursor: bool = False) -> Schema:
    """The schema of the input, without what a model does not choose by.

    Left out are what says that it is not listed (`x-unlisted`), bounds of ids, `null` for what
    can be left out, and the refusal of unknown names.
    With `has_cursor` it is that of doors that cut long answers, with the cursor to go on by.
    """
    schema = input_schema(operation)
    required = frozenset(schema.get("required", ()))
    properties = {
        name: _shorten_input(name, facts, is_required=name in required)
        for name, facts in schema.get("properties", {}).items()
        if not facts.get("x-unlisted")
    }
    if has_cursor and not operation.is_whole and operation.effect is Effect.READS:
        properties["cursor"] = _CURSOR
    short: Schema = {"type": "object", "properties": properties}
    if required:
        short["required"] = schema["required"]
    if "$defs" in schema:
        short["$defs"] = {name: _shorten_record(facts) for name, facts in schema["$defs"].items()}
    return short


def _shorten_record(schema: Schema) -> Schema:
    kept = {
        key: value
        for key, value in schema.items()
        if key not in {"additionalProperties", "description"}
    }
    if isinstance(kept.get("properties"), dict):
        required = kept.get("required", ())
        kept["properties"] = {
            name: _shorten_input(name, facts, is_required=name in required)
            for name, facts in kept["properties"].items()
        }
    return kept


def _shorten_input(name: str, schema: Schema, *, is_required: bool = True) -> Schema:
    kept = {key: value for key, value in schema.items() if not _is_plain(key, value)}
    if name == "id" or name.endswith(("_id", "ids")):
        kept = {key: value for key, value in kept.items() if key not in _BOUNDS_OF_IDS}
    if not is_required:
        kept = _without_null(kept)
    if isinstance(kept.get("items"), dict):
        kept["items"] = _shorten_input(name, kept["items"])
        kept["items"].pop("description", None)
    return kept


def _is_plain(key: str, value: object) -> bool:
    """Whether a bound or default is what anybody would take for granted, or is never met."""
    match key:
        case "minLength" | "minItems" | "minimum":
            return value in {0, 1}
        case "default":
            return value is False or value in ("", 0, 1)
        case "additionalProperties":
            return value is True
        case "maxLength":
            return isinstance(value, int) and value >= _NEVER_MET
        case "maximum":
            return isinstance(value, int) and value >= _NEVER_ASKED
        case "maxItems":
            return isinstance(value, int) and value >= _NEVER_LISTED
        case _:
            return False


def _without_null(schema: Schema) -> Schema:
    kind, options = schema.get("type"), schema.get("anyOf")
    if isinstance(kind, list):
        others = [each for each in kind if each != "null"]
        return {**schema, "type": others[0] if len(others) == 1 else others}
    if isinstance(options, list) and {"type": "null"} in options:
        rest = [option for option in options if option != {"type": "null"}]
        beside = {key: value for key, value in schema.items() if key != "anyOf"}
        return {**rest[0], **beside} if len(rest) == 1 else {**beside, "anyOf": rest}
    return schema


def listed_output_schema(operation: Operation[Any]) -> Schema | None:
    """The names of structuredContent's fields, or None where the answer is text.

    Fields of records stand in the description of the list that holds them. Nothing is required:
    TypeScript SDK 1.x holds failed calls to the schema, too.
    """
    if operation.answer is Text or operation.answer is Blocks:
        return None
    whole = TypeAdapter(operation.answer).json_schema(mode="serialization")
    definitions = whole.get("$defs", {})
    if answers_with_list(operation):
        properties = {"result": whole}
    else:
        properties = _resolve(whole, definitions).get("properties", {})
    return {
        "type": "object",
        "properties": {
            name: _shorten_output(facts, definitions) for name, facts in properties.items()
        },
    }


def _shorten_output(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """What holds records, with the names of their fields; nothing of what is simply a value."""
    facts = _resolve(schema, definitions)
    if facts.get("type") == "array":
        fields = _resolve(facts.get("items", {}), definitions).get("properties")
        return {"type": "array", "description": ", ".join(fields)} if fields else {}
    if fields := facts.get("properties"):
        return {"description": ", ".join(fields)}
    return {}


def _resolve(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """The schema that a reference or an optional value stands for."""
    while True:
        options = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
        if "$ref" in schema:
            schema = definitions[schema["$ref"].rpartition("/")[2]]
        elif len(options) == 1:
            schema = options[0]
        else:
            return schema
