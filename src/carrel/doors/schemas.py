"""JSON Schemas of questions and answers, as small as they can be without losing meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, get_origin

from pydantic import TypeAdapter

from carrel.core.answer import Blocks, Text
from carrel.core.catalogue import Catalogue
from carrel.core.operation import Operation

Schema = dict[str, Any]


def input_schema(operation: Operation[Any]) -> Schema:
    """The schema of the operation's input, without the docstring of its question."""
    schema = cast(Schema, _compact_schema(operation.question.model_json_schema(mode="validation")))
    schema.pop("description", None)
    return schema


def result_schema(operation: Operation[Any]) -> Schema:
    """The schema of `result` at the REST gateway: the list, the model or the text itself."""
    if operation.answer is Text:
        return {"type": "string"}
    if operation.answer is Blocks:
        return {"type": "array"}
    return cast(
        Schema, _compact_schema(TypeAdapter(operation.answer).json_schema(mode="serialization"))
    )


def answers_with_list(operation: Operation[Any]) -> bool:
    return get_origin(operation.answer) is list


def _compact_schema(node: Any, *, is_properties: bool = False) -> Any:
    """Drops generated titles and writes `anyOf [X, null]` as one type list."""
    if isinstance(node, list):
        return [_compact_schema(item) for item in node]
    if not isinstance(node, dict):
        return node
    if is_properties:
        return {name: _compact_schema(schema) for name, schema in node.items()}
    kept = {
        key: _compact_schema(value, is_properties=key in {"properties", "$defs"})
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


_ERRORS = {
    "400": "The request does not fit: invalid parameters, or an unknown tool",
    "401": "The caller is not recognised",
    "403": "The caller may not do this, or the Origin is not allowed",
    "404": "Something named in the request does not exist",
    "405": "The method is not supported here",
    "408": "The body did not arrive in time",
    "409": "Somebody else changed the same thing first",
    "413": "The body is too large",
    "415": "The body is not JSON",
    "421": "The server does not answer under that Host",
    "422": "The request is refused as unsafe",
    "429": "Too many calls; Retry-After says when to try again",
    "500": "An unexpected error; the log has the cause under error_id",
    "503": "A store or service that the answer needs cannot be reached",
    "504": "The answer took too long",
}


_NEED_NO_TOKEN = ("/health", "/ready", "/mcp/health")


def describe(
    catalogue: Catalogue,
    *,
    name: str,
    version: str,
    public_url: str | None,
    needs_token: bool,
    more_paths: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The whole document; `more_paths` are those of doors beside the gateway."""
    operations = list(catalogue.operations.values())
    definitions: dict[str, Schema] = {}
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": f"{name} REST gateway",
            "version": version,
            "summary": "Every operation of the research desk as plain JSON over HTTP",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            "/mcp/tools": {
                "get": _get(
                    "list_tools",
                    "List every tool with its parameters",
                    _TOOL_LIST,
                    ["401", "403", "421"],
                )
            },
            "/mcp/tools/{name}": {"get": _show_tool()},
            "/mcp/invoke": {"post": _invoke(operations, definitions)},
            "/mcp/health": {
                "get": _get(
                    "gateway_health", "Whether the gateway answers", _HEALTH, ["403", "421"]
                )
            },
            "/health": {"get": _get("health", "Whether the process lives", _HEALTH, [])},
            "/ready": {"get": _ready()},
            **(more_paths or {}),
        },
        "components": {"schemas": {"Error": _ERROR, "Tool": _TOOL, **definitions}},
    }
    if public_url:
        document["servers"] = [{"url": public_url}]
    if needs_token:
        document["components"]["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"bearer": []}]
        for path in _NEED_NO_TOKEN:
            document["paths"][path]["get"]["security"] = []
    return document


def _invoke(operations: list[Operation[Any]], definitions: dict[str, Schema]) -> dict[str, Any]:
    """What `POST /mcp/invoke` takes and answers; named parts of schemas go to `definitions`."""
    return {
        "operationId": "invoke",
        "summary": "Invoke a tool",
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"oneOf": [_invocation(each, definitions) for each in operations]}
                }
            },
        },
        "responses": {
            "200": _json("The tool's result", {"oneOf": [_RESULT]}),
            **_errors(list(_ERRORS)),
        },
        "x-results": {
            each.name: _move_definitions(result_schema(each), f"{each.name}.result", definitions)
            for each in operations
        },
    }


def _move_definitions(schema: Schema, owner: str, definitions: dict[str, Schema]) -> Schema:
    """The schema with its own `$defs` among the document's components.

    References count from the root of the document, so what stands inside of it is not found.
    """
    own = {f"#/$defs/{name}": f"{owner}.{name}" for name in schema.get("$defs", {})}
    if not own:
        return schema

    def point_to_components(node: Any) -> Any:
        if isinstance(node, list):
            return [point_to_components(each) for each in node]
        if isinstance(node, dict):
            return {key: point_to_components(value) for key, value in node.items()}
        if isinstance(node, str) and node in own:
            return f"#/components/schemas/{own[node]}"
        return node

    for name, definition in schema["$defs"].items():
        definitions[own[f"#/$defs/{name}"]] = point_to_components(definition)
    kept = {key: value for key, value in schema.items() if key != "$defs"}
    return cast(Schema, point_to_components(kept))


def _invocation(operation: Operation[Any], definitions: dict[str, Schema]) -> dict[str, Any]:
    params = _move_definitions(input_schema(operation), f"{operation.name}.input", definitions)
    required = ["tool_name", "params"] if params.get("required") else ["tool_name"]
    return {
        "type": "object",
        "title": operation.name,
        "properties": {"tool_name": {"const": operation.name}, "params": params},
        "required": required,
        "additionalProperties": False,
    }


def _show_tool() -> dict[str, Any]:
    shown = _get(
        "show_tool",
        "One tool with its parameters",
        {"$ref": "#/components/schemas/Tool"},
        ["401", "403", "404", "421"],
    )
    shown["parameters"] = [
        {
            "name": "name",
            "in": "path",
            "required": True,
            "schema": {"type": "string", "minLength": 1},
        }
    ]
    return shown


def _ready() -> dict[str, Any]:
    shown = _get("ready", "Whether every store can be reached", _READY, [])
    shown["responses"]["503"] = _json("Some store cannot be reached", _READY)
    return shown


def _get(
    operation_id: str, summary: str, schema: dict[str, Any], errors: list[str]
) -> dict[str, Any]:
    return {
        "operationId": operation_id,
        "summary": summary,
        "responses": {"200": _json(summary, schema), **_errors(errors)},
    }


def _json(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _errors(statuses: list[str]) -> dict[str, Any]:
    return {
        status: _json(_ERRORS[status], {"$ref": "#/components/schemas/Error"})
        for status in statuses
    }


_RESULT = {
    "type": "object",
    "properties": {
        "success": {"const": True},
        "result": {},
        "error": {"type": "null"},
        "quoted_from": {"type": "array"},
        "explanation": {"type": "object"},
    },
    "required": ["success", "result", "error"],
}
_TOOL = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "title": {"type": "string"},
        "description": {"type": "string"},
        "parameters": {"type": "object"},
        "room": {"type": "string"},
        "effect": {"enum": ["reads", "writes", "destroys"]},
        "scopes": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "description", "parameters", "scopes"],
}
_TOOL_LIST = {
    "type": "object",
    "properties": {"tools": {"type": "array", "items": {"$ref": "#/components/schemas/Tool"}}},
    "required": ["tools"],
}
_HEALTH = {"type": "object", "properties": {"status": {"const": "healthy"}}, "required": ["status"]}
_READY = {
    "type": "object",
    "properties": {"status": {"enum": ["ready", "not ready"]}, "checks": {"type": "object"}},
    "required": ["status", "checks"],
}
_ERROR = {
    "type": "object",
    "properties": {
        "success": {"const": False},
        "error": {"type": "string"},
        "error_type": {"type": "string"},
        "details": {"type": "object"},
        "error_id": {"type": "string"},
        "request_id": {"type": "string"},
        "retryable": {"type": "boolean"},
        "retry_after": {"type": ["integer", "null"]},
        "timestamp": {"type": "string", "format": "date-time"},
        "recovery_suggestions": {"type": "array", "items": {"type": "string"}},
    },
    "required": [
        "success",
        "error",
        "error_type",
        "details",
        "error_id",
        "request_id",
        "retryable",
        "timestamp",
    ],
}
