"""`completion/complete`: values for arguments of prompts and resource addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from carrel.core.caller import Caller, Visit
from carrel.core.completion import Completion, CompletionRequest
from carrel.core.errors import CarrelError
from carrel.core.operation import ArgumentCompletion
from carrel.doors.errors import INVALID_PARAMS, error_mapping
from carrel.doors.mcp.endpoint import Endpoint
from carrel.doors.mcp.json_rpc import ProtocolError, error_facts
from carrel.policy.gate import Gate

_NAME_OF = {"ref/prompt": "name", "ref/resource": "uri"}
# Nobody types more; a value this long fits nothing.
_LONGEST_VALUE = 1000


async def complete(
    endpoint: Endpoint, gate: Gate, params: Mapping[str, Any], caller: Caller, visit: Visit
) -> bytes:
    """The inside of the answer to a completion request."""
    entry, request = parse_completion(endpoint, params)
    try:
        found = await gate.complete(entry, request, caller, visit)
    except CarrelError as error:
        shown = error_mapping(error)
        if shown.is_refusal:
            raise
        raise ProtocolError(
            shown.json_rpc_code, error.message, error_facts(error), has_run=True
        ) from None
    return b'"completion":' + orjson.dumps(completion_facts(found))


def completion_facts(found: Completion) -> dict[str, object]:
    return {"values": list(found.values), "total": found.total, "hasMore": found.has_more}


def parse_completion(
    endpoint: Endpoint, params: Mapping[str, Any]
) -> tuple[ArgumentCompletion, CompletionRequest]:
    """The completion request; raises ProtocolError that says what is missing."""
    reference, argument = _object(params, "ref"), _object(params, "argument")
    kind = reference.get("type")
    if not isinstance(kind, str) or kind not in _NAME_OF:
        raise ProtocolError(INVALID_PARAMS, "ref.type must be ref/prompt or ref/resource")
    subject = _text(reference, _NAME_OF[kind], f"ref.{_NAME_OF[kind]}")
    entry = endpoint.find_completion(kind, subject)
    if entry is None:
        what = "prompt" if kind == "ref/prompt" else "resource template"
        raise ProtocolError(INVALID_PARAMS, f"Unknown {what}: {subject[:200]}")
    name = _text(argument, "name", "argument.name")
    known = entry.subject.argument_names
    if name not in known:
        raise ProtocolError(
            INVALID_PARAMS,
            f"{subject[:200]} has no argument {name[:100]}",
            {"arguments": list(known)},
        )
    value = argument.get("value")
    if not isinstance(value, str) or len(value) > _LONGEST_VALUE:
        raise ProtocolError(
            INVALID_PARAMS,
            f"argument.value must be a string of at most {_LONGEST_VALUE} characters",
        )
    return entry, CompletionRequest(name, value, _given_arguments(params, known))


def _given_arguments(params: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, str]:
    """The arguments that have values already; those of other prompts are left out."""
    context = params.get("context")
    if context is None:
        return {}
    given = (context.get("arguments") or {}) if isinstance(context, dict) else None
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise ProtocolError(INVALID_PARAMS, "context.arguments must be an object of strings")
    return {name: value[:_LONGEST_VALUE] for name, value in given.items() if name in known}


def _object(params: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = params.get(name)
    if not isinstance(value, dict):
        raise ProtocolError(INVALID_PARAMS, f"{name} is required and must be an object")
    return value


def _text(values: Mapping[str, Any], name: str, shown_name: str) -> str:
    value = values.get(name)
    if not isinstance(value, str) or not value:
        raise ProtocolError(INVALID_PARAMS, f"{shown_name} is required and must be a string")
    return value
