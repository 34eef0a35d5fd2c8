"""MCP over HTTP: one POST in, one JSON answer out, every revision, no session.

An endpoint that `streams_progress` sends progress as server-sent events that end with the answer,
to callers who asked for it; without progress before the answer it is plain JSON.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import AsyncGenerator

import orjson

from carrel.core.caller import Caller, ReportProgress
from carrel.core.errors import CarrelError, InvalidInputError
from carrel.doors.errors import HEADER_MISMATCH, INVALID_REQUEST, PARSE_ERROR
from carrel.doors.http.app import Route
from carrel.doors.http.messages import JSON_TYPE, Challenge, HttpRequest, Response, StreamedResponse
from carrel.doors.http.request_checks import is_from_browser
from carrel.doors.json_input import parse_json
from carrel.doors.mcp.dispatcher import Dispatcher
from carrel.doors.mcp.json_rpc import (
    ASSUMED_VERSION,
    HANDSHAKE_VERSIONS,
    META_VERSION,
    MODERN_VERSIONS,
    NAME_IN_PARAMS,
    VERSIONS_WITHOUT_LINKS,
    ProtocolError,
    Reply,
    check_batch,
    failure,
    is_request_id,
    names_modern_version,
    progress_notification,
    progress_token,
    refusal,
    unsupported_version,
)
from carrel.policy.gate import Gate

_ROUTING_HEADERS = frozenset({b"mcp-protocol-version", b"mcp-method", b"mcp-name"})
# The extension wants the header, but FastMCP 4.1 omits it; each of our servers knows every task.
_MAY_LEAVE_NAME_OUT = frozenset({"tasks/get", "tasks/update", "tasks/cancel"})
_JSON_HEADERS = (JSON_TYPE,)
_ACCEPTED = Response(202, b"", ())
_EVENT_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)


class McpHttp:
    """Serves one endpoint over HTTP."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        gate: Gate,
        challenge: Challenge,
        *,
        streams_progress: bool = False,
    ) -> None:
        self._dispatcher = dispatcher
        self._gate = gate
        self._challenge = challenge
        self._streams_progress = streams_progress

    def route(self) -> Route:
        """The route; callers are identified before a body is read."""
        return Route(
            {"POST": self.post},
            refuse_stranger=lambda error, visit: self._response(refusal(None, error)),
        )

    async def post(self, request: HttpRequest) -> Response | StreamedResponse:
        """Answers one POST."""
        headers = request.headers
        refused = _check_media_type(headers)
        if refused is not None:
            return self._refuse_malformed(request, refused)
        version = (
            _header(headers, b"mcp-protocol-version")
            if b"mcp-protocol-version" in headers
            else ASSUMED_VERSION
        )
        is_modern = version in MODERN_VERSIONS
        if version in VERSIONS_WITHOUT_LINKS:
            request.visit.takes_links = False
        try:
            message = parse_json(request.body)
        except orjson.JSONDecodeError as error:
            return self._refuse_malformed(
                request, failure(None, PARSE_ERROR, f"Parse error: {error}", status=400)
            )
        if not is_modern and version not in HANDSHAKE_VERSIONS:
            wrong = unsupported_version(version)
            return self._refuse_malformed(
                request,
                failure(_request_id(message), wrong.code, wrong.message, wrong.data, status=400),
            )
        try:
            caller = request.caller or await self._gate.identify(request.visit)
        except CarrelError as error:
            return self._response(refusal(_request_id(message), error))
        if isinstance(message, list):
            return await self._batch(message, request, caller, version)
        try:
            if is_modern:
                _check_headers(message, request)
            elif names_modern_version(message):
                raise ProtocolError(
                    HEADER_MISMATCH,
                    "mcp-protocol-version header does not match the version in params._meta",
                )
        except ProtocolError as error:
            return self._refuse_malformed(
                request,
                failure(_request_id(message), error.code, error.message, error.data, status=400),
            )
        if self._streams_progress and _wants_progress(message, headers):
            return await self._stream(message, request, caller, is_modern=is_modern)
        reply = await self._dispatcher.answer(message, caller, request.visit, is_modern=is_modern)
        return _ACCEPTED if reply is None else self._response(reply)

    async def _stream(
        self, message: object, request: HttpRequest, caller: Caller, *, is_modern: bool
    ) -> Response | StreamedResponse:
        told: asyncio.Queue[bytes | None] = asyncio.Queue()

        def progress_for(token: object) -> ReportProgress:
            async def report(done: float, total: float | None, message: str | None) -> None:
                told.put_nowait(progress_notification(token, done, total, message))

            return report

        answering = asyncio.create_task(
            self._dispatcher.answer(
                message, caller, request.visit, is_modern=is_modern, progress_for=progress_for
            )
        )
        answering.add_done_callback(lambda _: told.put_nowait(None))
        first = await told.get()
        if first is None:
            reply = await answering
            return _ACCEPTED if reply is None else self._response(reply)

        async def events() -> AsyncGenerator[bytes, None]:
            try:
                said: bytes | None = first
                while said is not None:
                    yield _event(said)
                    said = await told.get()
                reply = await answering
                if reply is not None:
                    yield _event(reply.body)
            finally:
                answering.cancel()

        return StreamedResponse(200, events(), _EVENT_HEADERS)

    async def _batch(
        self, messages: list[object], request: HttpRequest, caller: Caller, version: str
    ) -> Response:
        refused = check_batch(messages, version)
        if refused is not None:
            return self._refuse_malformed(request, refused)
        replies = [
            await self._dispatcher.answer(message, caller, request.visit, is_modern=False)
            for message in messages
        ]
        answered = [reply.body for reply in replies if reply is not None]
        return (
            Response(200, b"[" + b",".join(answered) + b"]", _JSON_HEADERS)
            if answered
            else _ACCEPTED
        )

    def _refuse_malformed(self, request: HttpRequest, reply: Reply) -> Response:
        self._gate.record_refusal(
            request.visit, "mcp", request.visit.path, InvalidInputError("malformed message")
        )
        return self._response(reply)

    def _response(self, reply: Reply) -> Response:
        headers = _JSON_HEADERS if not reply.headers else (*_JSON_HEADERS, *reply.headers)
        if reply.refusal is not None and reply.status in {401, 403}:
            headers = (*headers, *self._challenge(reply.refusal))
        return Response(reply.status, reply.body, headers)


def _wants_progress(message: object, headers: dict[bytes, bytes]) -> bool:
    """Whether a call has a progress token and accepts server-sent events."""
    if (
        not isinstance(message, dict)
        or message.get("method") != "tools/call"
        or "id" not in message
    ):
        return False
    params = message.get("params")
    if not isinstance(params, dict) or progress_token(params) is None:
        return False
    return b"text/event-stream" in headers.get(b"accept", b"")


def _event(body: bytes) -> bytes:
    return b"event: message\ndata: " + body + b"\n\n"


def _check_media_type(headers: dict[bytes, bytes]) -> Reply | None:
    content_type = headers.get(b"content-type")
    if content_type is None and is_from_browser(headers):
        # Without a type a page needs no permission to send it.
        content_type = b""
    if (
        content_type is not None
        and content_type.partition(b";")[0].strip().lower() != b"application/json"
    ):
        return failure(
            None,
            INVALID_REQUEST,
            "Invalid request: Content-Type must be application/json",
            status=415,
        )
    accept = headers.get(b"accept")
    if (
        accept
        and b"application/json" not in accept
        and b"*/*" not in accept
        and b"application/*" not in accept
    ):
        return failure(
            None,
            INVALID_REQUEST,
            "Invalid request: answers are application/json; Accept must allow it",
            status=406,
        )
    return None


def _check_headers(message: object, request: HttpRequest) -> None:
    """Check that the routing headers of 2026-07-28 occur once and agree with the body."""
    if not isinstance(message, dict) or "id" not in message:
        return
    repeated = request.repeated & _ROUTING_HEADERS
    if repeated:
        raise ProtocolError(
            HEADER_MISMATCH, f"{min(repeated).decode()} header appears more than once"
        )
    headers = request.headers
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if isinstance(meta, dict) and META_VERSION in meta:
        said = meta[META_VERSION]
        if _header(headers, b"mcp-protocol-version") != said:
            raise ProtocolError(
                HEADER_MISMATCH,
                "mcp-protocol-version header does not match the version in params._meta",
            )
    method = message.get("method")
    if not isinstance(method, str):
        return
    if _header(headers, b"mcp-method") != method:
        raise ProtocolError(HEADER_MISMATCH, "mcp-method header must be the method of the body")
    name_key = NAME_IN_PARAMS.get(method)
    if name_key is not None and isinstance(params, dict):
        name = params.get(name_key)
        if method in _MAY_LEAVE_NAME_OUT and b"mcp-name" not in headers:
            return
        if isinstance(name, str) and _decode_header(headers.get(b"mcp-name")) != name:
            raise ProtocolError(
                HEADER_MISMATCH, f"mcp-name header must be the {name_key} of the body"
            )


def _header(headers: dict[bytes, bytes], name: bytes) -> str:
    """A header value without the white space that HTTP allows around it."""
    return headers.get(name, b"").strip().decode("latin-1")


def _decode_header(value: bytes | None) -> str | None:
    """A header value, decoded if base64; None if the encoding is broken."""
    if value is None:
        return None
    value = value.strip()
    if not (value.startswith(b"=?base64?") and value.endswith(b"?=")):
        return value.decode("latin-1")
    payload = value[9:-2]
    try:
        decoded = base64.b64decode(payload, validate=True)
        return decoded.decode() if base64.b64encode(decoded) == payload else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _request_id(message: object) -> object:
    found = message.get("id") if isinstance(message, dict) else None
    return found if is_request_id(found) else None
