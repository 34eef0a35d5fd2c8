"""Uploads over HTTP: POST begins one, PATCH sends the next piece, HEAD tells how far it is.

In the shape of tus 1.0. A caller whose connection broke, or whose server was restarted, asks for
the offset and goes on from there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from carrel.core.caller import Caller
from carrel.core.errors import CarrelError, InvalidInputError
from carrel.core.operation import Effect, Operation
from carrel.doors.http import Route
from carrel.doors.http.messages import Header, HttpRequest, Response
from carrel.doors.json_input import parse_json
from carrel.doors.rest import RestDoor
from carrel.policy.gate import Gate
from carrel.rooms.papers.uploads import (
    MAX_PIECE_BYTES,
    NamedUpload,
    NewUpload,
    UploadRefusedError,
    Uploads,
    UploadState,
)

PATH = "/uploads"
_SCOPES = frozenset({"papers:write"})
_PIECE_TYPES = frozenset({b"application/offset+octet-stream", b"application/octet-stream"})
# A file of 200 MB comes in fifty pieces.
_PIECE_COST = 0.1
_TIMEOUT_SECONDS = 60.0
_SHAPE = 'Send {"name": "paper.pdf", "size": 12345, "sha256": "…"}; sha256 may be left out.'


class WrongMediaTypeError(InvalidInputError):
    """The body is not of the type that the method takes."""


class UploadDoor:
    """The routes of uploads; where uploads would not last, every one raises what `refuse` gives."""

    def __init__(
        self,
        uploads: Uploads,
        gate: Gate,
        rest: RestDoor,
        refuse: Callable[[], CarrelError] | None = None,
    ) -> None:
        self._uploads = uploads
        self._gate = gate
        self._rest = rest
        self._refuse = refuse
        self._begin = _operation(
            "begin_upload", "Begin an upload", NewUpload, uploads.begin, Effect.WRITES, 1.0
        )
        self._find = _operation(
            "find_upload", "How far an upload is", NamedUpload, uploads.find, Effect.READS
        )
        self._append = _operation(
            "append_upload", "Send a piece", NamedUpload, uploads.find, Effect.WRITES
        )
        self._remove = _operation(
            "remove_upload", "Delete an upload", NamedUpload, uploads.remove, Effect.DESTROYS
        )

    def routes(self) -> dict[str, Route]:
        one = {"GET": self.show, "PATCH": self.append, "DELETE": self.remove}
        return {
            PATH: Route({"POST": self.begin}, refuse_stranger=self._rest.refuse_stranger),
            f"{PATH}/": Route(
                one,
                has_tail=True,
                refuse_stranger=self._rest.refuse_stranger,
                max_body_bytes=MAX_PIECE_BYTES,
            ),
        }

    async def begin(self, request: HttpRequest) -> Response:
        return await self._answer(request, self._begin_upload)

    async def show(self, request: HttpRequest) -> Response:
        return await self._answer(request, self._show_upload)

    async def append(self, request: HttpRequest) -> Response:
        return await self._answer(request, self._append_piece)

    async def remove(self, request: HttpRequest) -> Response:
        return await self._answer(request, self._remove_upload)

    async def _answer(
        self, request: HttpRequest, answer: Callable[[HttpRequest, Caller], Awaitable[Response]]
    ) -> Response:
        visit = request.visit
        try:
            if self._refuse is not None:
                raise self._refuse()
            caller = request.caller or await self._gate.identify(visit)
            response = await answer(request, caller)
        except WrongMediaTypeError as error:
            response = self._rest.failed(error, visit, 415)
        except CarrelError as error:
            response = self._rest.failed(error, visit)
        more = (
            (b"x-request-id", visit.request_id.encode()),
            (b"cache-control", b"no-store"),
        )
        return Response(response.status, response.body, (*response.headers, *more))

    async def _begin_upload(self, request: HttpRequest, caller: Caller) -> Response:
        _refuse_encoding(request)
        if _media_type(request) != b"application/json":
            raise WrongMediaTypeError(
                "Content-Type must be application/json", next_step="Send the body as JSON."
            )
        try:
            given = parse_json(request.body)
        except orjson.JSONDecodeError as error:
            raise InvalidInputError(f"The body is not JSON: {error}", next_step=_SHAPE) from None
        if not isinstance(given, dict):
            raise InvalidInputError("The body must be an object", next_step=_SHAPE)
        state: UploadState = await self._gate.call(self._begin, given, caller, request.visit)
        place = ((b"location", f"{PATH}/{state.upload_id}".encode()),)
        return _response(201, state, place)

    async def _show_upload(self, request: HttpRequest, caller: Caller) -> Response:
        await self._gate.admit_piece(self._find, caller, request.visit)
        return _response(200, await self._uploads.look_at(request.path_tail, caller.user_id))

    async def _append_piece(self, request: HttpRequest, caller: Caller) -> Response:
        visit, upload_id = request.visit, request.path_tail
        await self._gate.admit_piece(self._append, caller, visit)
        _refuse_encoding(request)
        if _media_type(request) not in _PIECE_TYPES:
            raise WrongMediaTypeError(
                "Content-Type must be application/offset+octet-stream",
                next_step="Send the bytes themselves, not a form.",
            )
        offset = _offset(request)
        try:
            state = await self._uploads.append(upload_id, caller.user_id, offset, request.body)
        except UploadRefusedError as refusal:
            self._gate.record_refusal(visit, "upload:end", f"upload:{upload_id}", refusal, caller)
            raise
        if state.is_complete:
            facts = {"name": state.name, "size": state.size, "kind": state.kind}
            self._gate.record_event(visit, "upload:end", f"upload:{upload_id}", caller, facts)
        return _response(200, state)

    async def _remove_upload(self, request: HttpRequest, caller: Caller) -> Response:
        named = {"upload_id": request.path_tail[:100]}
        await self._gate.call(self._remove, named, caller, request.visit)
        return Response(204, b"", ())


def _operation(
    name: str,
    title: str,
    question: type[Any],
    run: Callable[..., Any],
    effect: Effect,
    cost: float = _PIECE_COST,
) -> Operation[Any]:
    """An entry for the gate; it is in no catalogue, since only these addresses run it."""
    return Operation(
        name, "papers", title, f"{title}.", question, UploadState, run, _SCOPES, effect,
        cost=cost, timeout_seconds=_TIMEOUT_SECONDS,
    )  # fmt: skip


def _response(status: int, state: UploadState, headers: tuple[Header, ...] = ()) -> Response:
    progress = (
        (b"upload-offset", b"%d" % state.offset),
        (b"upload-length", b"%d" % state.size),
        (b"upload-expires", state.expires_at.encode()),
    )
    return Response.json(status, state.model_dump(mode="json"), (*progress, *headers))


def _media_type(request: HttpRequest) -> bytes:
    return request.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()


def _refuse_encoding(request: HttpRequest) -> None:
    given = request.headers.get(b"content-encoding", b"").strip().lower()
    if given not in (b"", b"identity") or b"content-encoding" in request.repeated:
        raise WrongMediaTypeError(
            "A body with a Content-Encoding is not taken here",
            next_step="Send the bytes as they are, without Content-Encoding.",
        )


def _offset(request: HttpRequest) -> int:
    given = request.headers.get(b"upload-offset", b"")
    if b"upload-offset" in request.repeated or not given.isdigit() or len(given) > 15:
        raise InvalidInputError(
            "Upload-Offset must be the number of bytes that were sent before",
            next_step="HEAD /uploads/{id} tells it.",
        )
    return int(given)


_ID_PARAMETER = {
    "name": "upload_id", "in": "path", "required": True,
    "schema": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
}  # fmt: skip
_OFFSET_PARAMETER = {
    "name": "Upload-Offset", "in": "header", "required": True,
    "schema": {"type": "integer", "minimum": 0, "maximum": 10**15 - 1},
}  # fmt: skip
_ERROR = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
_STATE = {
    "type": "object",
    "properties": {
        "upload_id": {"type": "string"},
        "name": {"type": "string"},
        "size": {"type": "integer"},
        "offset": {"type": "integer"},
        "expires_at": {"type": "string", "format": "date-time"},
        "is_complete": {"type": "boolean"},
        "kind": {"type": "string"},
        "next_step": {"type": "string"},
    },
    "required": ["upload_id", "name", "size", "offset", "expires_at", "is_complete"],
}
_REASONS = {
    "400": "The request does not fit",
    "401": "The caller is not recognised",
    "403": "The caller may not do this, or the Origin is not allowed",
    "404": "There is no such upload of this caller",
    "408": "The body did not arrive in time",
    "409": "The offset differs, another request writes, the upload is complete, or it is being "
    "added",
    "413": "More than was declared, or than one file or caller may have",
    "415": "The body is of another type or encoded, or the file is no paper",
    "421": "The server does not answer under that Host",
    "429": "Too many calls; Retry-After says when to try again",
    "500": "An unexpected error; the log has the cause under error_id",
    "503": "The server keeps no files, or cannot write them down",
    "504": "The answer took too long",
    "507": "The disk is full",
}


def _described(
    operation_id: str,
    summary: str,
    answer: dict[str, Any],
    *,
    parameters: tuple[Any, ...] = (),
    has_body: bool = True,
) -> dict[str, Any]:
    content = {"content": _ERROR} if has_body else {}
    refusals = {status: {"description": text, **content} for status, text in _REASONS.items()}
    return {
        "operationId": operation_id,
        "summary": summary,
        "parameters": list(parameters),
        "responses": {**answer, **refusals},
    }


def _state_response(status: str, text: str) -> dict[str, Any]:
    content = {"application/json": {"schema": _STATE}}
    return {status: {"description": text, "content": content}}


_PROGRESS_HEADERS = {
    "Upload-Offset": {"schema": {"type": "integer"}, "description": "Bytes on disk"},
    "Upload-Length": {"schema": {"type": "integer"}, "description": "Bytes in all"},
    "Upload-Expires": {"schema": {"type": "string", "format": "date-time"}},
}
# The paths of the OpenAPI document.
DESCRIPTION: dict[str, Any] = {
    PATH: {
        "post": {
            **_described(
                "begin_upload",
                "Begin an upload; Location names it",
                _state_response("201", "The upload"),
            ),
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": NewUpload.model_json_schema()}},
            },
        }
    },
    f"{PATH}/{{upload_id}}": {
        "get": _described(
            "find_upload",
            "How far an upload is; HEAD answers with the headers alone",
            _state_response("200", "The upload"),
            parameters=(_ID_PARAMETER,),
        ),
        "head": _described(
            "head_upload",
            "How far an upload is, in headers alone",
            {"200": {"description": "The upload", "headers": _PROGRESS_HEADERS}},
            parameters=(_ID_PARAMETER,),
            has_body=False,
        ),
        "patch": {
            **_described(
                "append_upload",
                f"Send the next piece, at most {MAX_PIECE_BYTES} bytes",
                _state_response("200", "The upload with the piece on disk"),
                parameters=(_ID_PARAMETER, _OFFSET_PARAMETER),
            ),
            "requestBody": {
                "required": True,
                "content": {
                    "application/offset+octet-stream": {
                        "schema": {"type": "string", "format": "binary"}
                    }
                },
            },
        },
        "delete": _described(
            "remove_upload",
            "Delete an upload",
            {"204": {"description": "It is deleted"}},
            parameters=(_ID_PARAMETER,),
        ),
    },
}
