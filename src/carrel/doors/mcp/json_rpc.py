"""JSON-RPC and MCP on the wire: revisions, envelopes, and replies as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

import orjson

from carrel.core.caller import McpRequest
from carrel.core.errors import CarrelError
from carrel.doors.errors import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    error_mapping,
    find_retry_after,
)

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
SUPPORTED_VERSIONS = HANDSHAKE_VERSIONS + MODERN_VERSIONS
LATEST_HANDSHAKE_VERSION = HANDSHAKE_VERSIONS[-1]
ASSUMED_VERSION = "2025-03-26"
BATCH_VERSIONS = frozenset({"2024-11-05", "2025-03-26"})
# The method is there, but the capability has no name yet.
VERSIONS_WITHOUT_COMPLETIONS = frozenset({"2024-11-05"})
VERSIONS_WITHOUT_LINKS = frozenset({"2024-11-05", "2025-03-26"})
FIRST_VERSION_WITH_TITLES = "2025-06-18"
FIRST_VERSION_WITH_ICONS = "2025-11-25"
# The revision that the first hosts of MCP Apps speak; clients of older ones never heard of it.
FIRST_VERSION_WITH_VIEWS = "2025-06-18"
MOST_MESSAGES_IN_A_BATCH = 100

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_SERVER_INFO = "io.modelcontextprotocol/serverInfo"

TASKS_EXTENSION = "io.modelcontextprotocol/tasks"
UI_EXTENSION = "io.modelcontextprotocol/ui"

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
    """One JSON-RPC reply, with the HTTP status it travels under, and its error code if it has."""

    body: bytes
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    refusal: CarrelError | None = None
    error_code: int | None = None


class ProtocolError(Exception):
    """A message that violates the protocol, or names something that does not exist."""

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
        orjson.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}, default=str),
        status,
        error_code=code,
    )


def protocol_failure(request_id: object, error: ProtocolError, *, is_modern: bool) -> Reply:
    """A protocol error; clients of 2026-07-28 also get an HTTP status for it."""
    status = _HTTP_STATUS_OF_MODERN_ERROR.get(error.code, 200) if is_modern else 200
    return failure(request_id, error.code, error.message, error.data, status=status)


def error_facts(error: CarrelError) -> dict[str, object]:
    return {"error": error.to_facts()}


def tool_error(error: CarrelError) -> bytes:
    """The fields of a tool result that reports an error."""
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
    """The token under which a caller wants progress notifications, or None."""
    meta = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if is_request_id(token) else None


def unsupported_version(requested: object) -> ProtocolError:
    return ProtocolError(
        UNSUPPORTED_VERSION,
        "Unsupported protocol version",
        {"supported": list(SUPPORTED_VERSIONS), "requested": str(requested)},
    )


def check_batch(messages: list[object], version: str) -> Reply | None:
    """Why a batch is refused: unknown in the revision, empty, or too long."""
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
    """Whether a message names a stateless protocol version in its `_meta`."""
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and META_VERSION in meta


def announces_extension(params: Mapping[str, Any], name: str) -> bool:
    """Whether a 2026-07-28 request names an extension among its client's capabilities."""
    meta = params.get("_meta")
    capabilities = meta.get(META_CAPABILITIES) if isinstance(meta, dict) else None
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    return isinstance(extensions, dict) and name in extensions


def is_request_id(value: object) -> TypeGuard[str | int]:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def check_envelope(params: Mapping[str, Any]) -> None:
    """The fields every 2026-07-28 request must carry in `_meta`."""
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        raise ProtocolError(
            INVALID_PARAMS,
            f"params._meta must be an object with {META_VERSION} and {META_CAPABILITIES}",
        )
    missing = [key for key in (META_VERSION, META_CAPABILITIES) if key not in meta]
    if missing:
        raise ProtocolError(
            INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}", {"missing": missing}
        )
    version = meta[META_VERSION]
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, f"{META_VERSION} must be a string")
    if version not in MODERN_VERSIONS:
        raise unsupported_version(version)
    if not isinstance(meta[META_CAPABILITIES], dict):
        raise ProtocolError(INVALID_PARAMS, f"{META_CAPABILITIES} must be an object")


def refusal(request_id: object, error: CarrelError) -> Reply:
    """A refusal by the gate as a JSON-RPC error with its HTTP status."""
    shown = error_mapping(error)
    data: dict[str, object] = error_facts(error)
    retry_after = find_retry_after(error)
    headers: tuple[tuple[bytes, bytes], ...] = ()
    if retry_after is not None:
        data["retry_after"] = retry_after
        headers = ((b"retry-after", str(retry_after).encode()),)
    return Reply(
        failure(request_id, shown.json_rpc_code, error.message, data).body,
        shown.http_status,
        headers,
        error,
        shown.json_rpc_code,
    )


def check_message(message: object, *, is_modern: bool) -> McpRequest | Reply | None:
    """The request, an error reply if it is malformed, or None if no reply is due."""
    if not isinstance(message, dict):
        return _invalid_request("a message must be a JSON object")
    request_id = message.get("id")
    if message.get("jsonrpc") != "2.0":
        return _invalid_request('"jsonrpc" must be "2.0"', request_id)
    method = message.get("method")
    if not isinstance(method, str):
        is_response = "method" not in message and ("result" in message or "error" in message)
        if is_response and not is_modern:
            return None
        return _invalid_request('"method" must be a string', request_id)
    if "id" not in message:
        return None
    if not is_request_id(request_id):
        return _invalid_request('"id" must be a string or an integer')
    params = message.get("params", {})
    if not isinstance(params, dict):
        status = 400 if is_modern else 200
        return failure(request_id, INVALID_PARAMS, "params must be an object", status=status)
    return request_id, method, params


def _invalid_request(problem: str, request_id: object = None) -> Reply:
    shown_id = request_id if is_request_id(request_id) else None
    return failure(shown_id, INVALID_REQUEST, f"Invalid request: {problem}", status=400)
