"""The REST gateway: the catalogue as plain JSON over HTTP."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from carrel.core.answer import split_explanation
from carrel.core.answer_encoding import encode_answer, encode_explanation, quoted_sources
from carrel.core.caller import Caller, Visit
from carrel.core.catalogue import Catalogue
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, InvalidInputError, UnknownOperationError
from carrel.core.operation import Operation
from carrel.core.quoting import quoted_facts
from carrel.doors.errors import error_mapping, find_retry_after
from carrel.doors.http import Route
from carrel.doors.http.messages import JSON_TYPE, Challenge, Header, HttpRequest, Response
from carrel.doors.http.request_checks import is_from_browser
from carrel.doors.json_input import parse_json
from carrel.doors.schemas import input_schema
from carrel.policy.gate import Gate, to_invalid_input_error

log = logging.getLogger("carrel.rest")


class Invocation(BaseModel):
    """The body of POST /mcp/invoke."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tool_name: str
    params: dict[str, Any] = {}


class RestDoor:
    """Lists the tools and invokes them."""

    def __init__(
        self, catalogue: Catalogue, gate: Gate, clock: Clock, challenge: Challenge
    ) -> None:
        self._gate = gate
        self._clock = clock
        self._challenge = challenge
        self._tools = dict(catalogue.operations)
        self._rows = {name: _row(operation) for name, operation in catalogue.operations.items()}
        self._list = orjson.dumps({"tools": list(self._rows.values())})

    def routes(self) -> dict[str, Route]:
        """The addresses of the gateway."""
        return {
            "/mcp/tools": Route({"GET": self.list_tools}),
            "/mcp/tools/": Route({"GET": self.show_tool}, has_tail=True),
            "/mcp/invoke": Route({"POST": self.invoke}, refuse_stranger=self.refuse_stranger),
            "/mcp/health": Route({"GET": self.health}),
        }

    async def list_tools(self, request: HttpRequest) -> Response:
        return await self._with_log(request, "list tools", self._answer_list)

    async def show_tool(self, request: HttpRequest) -> Response:
        return await self._with_log(request, "show tool", self._answer_one)

    async def invoke(self, request: HttpRequest) -> Response:
        return await self._with_log(request, "invoke", self._answer_invocation)

    async def health(self, request: HttpRequest) -> Response:
        return Response.json(200, {"status": "healthy", "tools": len(self._tools)})

    async def _answer_list(self, request: HttpRequest, caller: Caller) -> Response:
        return Response(200, self._list)

    async def _answer_one(self, request: HttpRequest, caller: Caller) -> Response:
        name = request.path_tail
        row = self._rows.get(name)
        if row is None:
            return self.failed(
                UnknownOperationError(name, next_step="GET /mcp/tools lists the names."),
                request.visit,
                404,
            )
        return Response.json(200, row)

    async def _answer_invocation(self, request: HttpRequest, caller: Caller) -> Response:
        untyped = b"" if is_from_browser(request.headers) else b"application/json"
        content_type = (
            request.headers.get(b"content-type", untyped).partition(b";")[0].strip().lower()
        )
        if content_type != b"application/json":
            error = InvalidInputError(
                "Content-Type must be application/json", next_step="Send the body as JSON."
            )
            return self._refuse_malformed(error, request, caller, 415)
        try:
            invocation = Invocation.model_validate(parse_json(request.body))
        except orjson.JSONDecodeError as error:
            return self._refuse_malformed(
                InvalidInputError(f"The body is not JSON: {error}", next_step=_SHAPE),
                request,
                caller,
            )
        except ValidationError as error:
            return self._refuse_malformed(
                to_invalid_input_error(error, list(Invocation.model_fields)), request, caller
            )
        operation = self._tools.get(invocation.tool_name)
        if operation is None:
            error_unknown = UnknownOperationError(
                invocation.tool_name[:100], next_step="GET /mcp/tools lists the names."
            )
            self._gate.record_refusal(
                request.visit,
                f"tool:{invocation.tool_name[:100]}",
                "mcp://tools",
                error_unknown,
                caller,
            )
            return self.failed(error_unknown, request.visit)
        given = await self._gate.call(operation, invocation.params, caller, request.visit)
        answer, explanation = split_explanation(given)
        sources = quoted_sources(operation.quotes, invocation.params, answer, caller)
        result = encode_answer(operation.answer, answer)
        beside = b',"quoted_from":' + orjson.dumps(quoted_facts(sources)) if sources else b""
        if explanation is not None:
            beside += b',"explanation":' + encode_explanation(explanation)
        return Response(
            200, b'{"success":true,"result":' + result + b',"error":null' + beside + b"}"
        )

    def _refuse_malformed(
        self, error: CarrelError, request: HttpRequest, caller: Caller, status: int | None = None
    ) -> Response:
        self._gate.record_refusal(request.visit, "rest", "/mcp/invoke", error, caller)
        return self.failed(error, request.visit, status)

    async def _with_log(
        self, request: HttpRequest, what: str, answer: Callable[[HttpRequest, Caller], Any]
    ) -> Response:
        began = self._clock.monotonic()
        try:
            caller = request.caller or await self._gate.identify(request.visit)
            response: Response = await answer(request, caller)
        except CarrelError as error:
            response = self.failed(error, request.visit)
        response = _with_request_id(response, request.visit)
        if log.isEnabledFor(logging.INFO):
            spent_ms = round((self._clock.monotonic() - began) * 1000.0, 2)
            facts = {
                "request_id": request.visit.request_id,
                "status": response.status,
                "duration_ms": spent_ms,
            }
            log.info(what, extra=facts)
        return response

    def refuse_stranger(self, error: CarrelError, visit: Visit) -> Response:
        """The answer to an unidentified caller, before the body is read."""
        return _with_request_id(self.failed(error, visit), visit)

    def failed(self, error: CarrelError, visit: Visit, status: int | None = None) -> Response:
        """The error body every REST failure has, under an id that is in the log too."""
        http_status = status or error_mapping(error).http_status
        error_id = str(error.details.get("error_id") or secrets.token_hex(8))
        facts = {
            "error_id": error_id,
            "request_id": visit.request_id,
            "code": error.code,
            "path": visit.path,
        }
        log.log(
            logging.ERROR if http_status >= 500 else logging.INFO,
            "refused or failed",
            extra={**facts, "status": http_status},
        )
        retry_after = find_retry_after(error)
        body = {
            "success": False,
            "error": error.message,
            "error_type": error.code,
            "details": error.details,
            "error_id": error_id,
            "request_id": visit.request_id,
            "retryable": error.is_retryable,
            "retry_after": retry_after,
            "timestamp": self._clock.now().isoformat(),
            "recovery_suggestions": [error.next_step] if error.next_step else [],
        }
        headers: tuple[Header, ...] = ()
        if retry_after is not None:
            headers = ((b"retry-after", str(retry_after).encode()),)
        if http_status in {401, 403}:
            headers = (*headers, *self._challenge(error))
        return Response(http_status, orjson.dumps(body, default=str), (JSON_TYPE, *headers))


_SHAPE = 'Send {"tool_name": "…", "params": {…}}.'


def _with_request_id(response: Response, visit: Visit) -> Response:
    return Response(
        response.status,
        response.body,
        (*response.headers, (b"x-request-id", visit.request_id.encode())),
    )


def _row(operation: Operation[Any]) -> dict[str, object]:
    return {
        "name": operation.name,
        "title": operation.title,
        "description": operation.description,
        "parameters": input_schema(operation),
        "room": operation.room,
        "effect": operation.effect.value,
        "scopes": sorted(operation.scopes),
    }
