"""JSON Schemas of questions and answers, as small as they can be without losing meaning."""

from __future__ import annotations

from typing import Any, cast, get_origin

from pydantic import TypeAdapter

from carrel.core.answer import Blocks, Text
from carrel.core.operation import Operation
from carrel.core.quoting import FIELD

Schema = dict[str, Any]


def input_schema(operation: Operation[Any]) -> Schema:
    """What the operation takes. The question's docstring is for developers: the operation's
    description says it to callers.
    """
    schema = cast(Schema, _compacted(operation.question.model_json_schema(mode="validation")))
    schema.pop("description", None)
    return schema


def output_schema(operation: Operation[Any]) -> Schema | None:
    """What the operation answers in structuredContent; None where the answer is text itself.

    A failed call has `error` there instead, and the schema says so: some clients hold failures to
    it too, and would
    show their own complaint in place of ours (TypeScript SDK 1.x).
    """
    if operation.answer is Text or operation.answer is Blocks:
        return None
    schema = cast(
        Schema, _compacted(TypeAdapter(operation.answer).json_schema(mode="serialization"))
    )
    if answers_with_list(operation):
        definitions = schema.pop("$defs", None)
        schema = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
        if definitions is not None:
            schema["$defs"] = definitions
    required = schema.pop("required", [])
    schema["properties"] = {**schema.get("properties", {}), "error": {"type": "object"}}
    if operation.quotes is not None:
        schema["properties"][FIELD] = {"type": "array"}
    return {**schema, "anyOf": [{"required": required}, {"required": ["error"]}]}


def result_schema(operation: Operation[Any]) -> Schema:
    """What the REST gateway puts in `result`: the list, the model or the text itself."""
    if operation.answer is Text:
        return {"type": "string"}
    if operation.answer is Blocks:
        return {"type": "array"}
    return cast(Schema, _compacted(TypeAdapter(operation.answer).json_schema(mode="serialization")))


def answers_with_list(operation: Operation[Any]) -> bool:
    return get_origin(operation.answer) is list


def _compacted(node: Any, *, is_properties: bool = False) -> Any:
    """Drops generated titles and writes `anyOf [X, null]` as one type list."""
    if isinstance(node, list):
        return [_compacted(item) for item in node]
    if not isinstance(node, dict):
        return node
    if is_properties:
        return {name: _compacted(schema) for name, schema in node.items()}
    kept = {
        key: _compacted(value, is_properties=key in {"properties", "$defs"})
        for key, value in node.items()
        if key != "title" or not isinstance(value, str)
    }
    if kept.get("default", ...) is None:
        del kept["default"]
    options = kept.get("anyOf")
    if isinstance(options, list) and len(options) == 2 and {"type": "null"} in options:
        other = next(option for option in options if option != {"type": "null"})
        if isinstance(other.get("type"), str) and "enum" not in other and "const" not in other:
            del kept["anyOf"]
            kept = {**other, "type": [other["type"], "null"], **kept}
    return kept
