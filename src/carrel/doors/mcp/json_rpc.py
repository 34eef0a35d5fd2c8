"""JSON-RPC and MCP on the wire: revisions, envelopes, and replies as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from carrel.core.errors import CarrelError
from carrel.doors.errors import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
)

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
SUPPORTED_VERSIONS = HANDSHAKE_VERSIONS + MODERN_VERSIONS
LATEST_HANDSHAKE_VERSION = HANDSHAKE_VERSIONS[-1]
ASSUMED_VERSION = "2025-03-26"
BATCH_VERSIONS = frozenset({"2024-11-05", "2025-03-26"})
# The method is there, but the capability has no name yet.
VERSIONS_WITHOUT_COMPLETIONS = frozenset({"2024-11-05"})
MOST_MESSAGES_IN_A_BATCH = 100

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_SERVER_INFO = "io.modelcontextprotocol/serverInfo"

TASKS_EXTENSION = "io.modelcontextprotocol/tasks"

NAME_IN_PARAMS = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}

_HTTP_STATUS_OF_MODERN_ERROR = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
    MISSING_CAPABILITY: 400,
    METHOD_NOT_FOUND: 404,
}


@dataclass(slots=True)
class Reply:
    """One JSON-RPC reply, with the HTTP status it travels under."""

    body: bytes
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    refusal: CarrelError | None = None


class ProtocolError(Exception):
    """A message that breaks the protocol, or asks for what is not there."""

    def __init__(
        self, code: int, message: str, data: object = None, *, has_run: bool = False
    ) -> None:
        super().__init__(message)
        self.has_run = has_run
        self.code = code
        self.message = message
        self.data = data


def success(request_id: object, result: bytes) -> Reply:
    return Reply(
        b'{"jsonrpc":"2.0","id":' + orjson.dumps(request_id) + b',"result":' + result + b"}"
    )


def failure(
    request_id: object, code: int, message: str, data: object = None, *, status: int = 200
) -> Reply:
    error: dict[str, object] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return Reply(
        orjson.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}, default=str), status
    )


def protocol_failure(request_id: object, error: ProtocolError, *, is_modern: bool) -> Reply:
    """A protocol error in the form its era wants: the modern one also speaks through the HTTP
    status.
    """
    status = _HTTP_STATUS_OF_MODERN_ERROR.get(error.code, 200) if is_modern else 200
    return failure(request_id, error.code, error.message, error.data, status=status)


def error_facts(error: CarrelError) -> dict[str, object]:
    return {"error": error.to_facts()}


def tool_error(error: CarrelError) -> bytes:
    """The inside of a tool result that says what went wrong."""
    facts = orjson.dumps(error_facts(error), default=str)
    content = orjson.dumps([{"type": "text", "text": facts.decode()}])
    return b'"content":' + content + b',"structuredContent":' + facts + b',"isError":true'


def progress_notification(
    token: object, done: float, total: float | None, message: str | None
) -> bytes:
    params: dict[str, object] = {"progressToken": token, "progress": done}
    if total is not None:
        params["total"] = total
    if message is not None:
        params["message"] = message
    return orjson.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def progress_token(params: Mapping[str, Any]) -> object | None:
    """The token under which a caller wants to be told how far its call is."""
    meta = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if is_request_id(token) else None


def unsupported_version(requested: object) -> ProtocolError:
    return ProtocolError(
        UNSUPPORTED_VERSION,
        "Unsupported protocol version",
        {"supported": list(SUPPORTED_VERSIONS), "requested": str(requested)},
    )


def refused_batch(messages: list[object], version: str) -> Reply | None:
    """Why a batch is not taken: the revision has none, or it is empty or too long."""
    if version not in BATCH_VERSIONS:
        problem = f"revision {version} has no batches; send one message at a time"
    elif not messages:
        problem = "an empty batch"
    elif len(messages) > MOST_MESSAGES_IN_A_BATCH:
        problem = (
            f"a batch of {len(messages)} messages; at most {MOST_MESSAGES_IN_A_BATCH} are "
            f"taken at once"
        )
    else:
        return None
    return failure(None, INVALID_REQUEST, f"Invalid request: {problem}", status=400)


def names_modern_version(message: object) -> bool:
    """Whether a message says in its own `_meta` that it is of the stateless era."""
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and META_VERSION in meta


def is_request_id(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))
