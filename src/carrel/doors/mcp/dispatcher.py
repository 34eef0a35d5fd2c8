"""The dispatcher: answers MCP messages itself, in microseconds, through the gate."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from carrel.core.answer import Job
from carrel.core.answer_encoding import quoted_sources
from carrel.core.caller import Caller, ReportProgress, Visit
from carrel.core.errors import CarrelError, InternalError, InvalidInputError
from carrel.doors.errors import (
    APPLICATION,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
    error_mapping,
)
from carrel.doors.mcp.answer_budget import AnswerPageRequest
from carrel.doors.mcp.argument_help import add_example, mend_call
from carrel.doors.mcp.completions import complete
from carrel.doors.mcp.endpoint import (
    LIST_TTL_MS,
    READ_TTL_MS,
    Endpoint,
    ServedTool,
    encode_prompt,
    encode_resource,
)
from carrel.doors.mcp.json_rpc import (
    FIRST_VERSION_WITH_VIEWS,
    HANDSHAKE_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
    META_SERVER_INFO,
    MODERN_VERSIONS,
    SUPPORTED_VERSIONS,
    UI_EXTENSION,
    VERSIONS_WITHOUT_COMPLETIONS,
    ProtocolError,
    Reply,
    announces_extension,
    check_envelope,
    check_message,
    error_facts,
    progress_token,
    protocol_failure,
    refusal,
    success,
    tool_error,
)
from carrel.doors.mcp.tasks import Tasks, knows_tasks, task_created
from carrel.policy.gate import Gate

if TYPE_CHECKING:
    from carrel.core.call_observer import CallObserver

log = logging.getLogger("carrel.dispatcher")

ProgressFor = Callable[[object], ReportProgress]


@dataclass(slots=True)
class Request:
    """A request with a valid envelope."""

    request_id: object
    method: str
    params: Mapping[str, Any]
    caller: Caller
    visit: Visit
    is_modern: bool
    progress_for: ProgressFor | None


Handler = Callable[[Request], Awaitable[bytes]]


class Dispatcher:
    """Answers the messages of one endpoint."""

    def __init__(
        self, endpoint: Endpoint, gate: Gate, observer: CallObserver | None = None
    ) -> None:
        self.endpoint = endpoint
        self._gate = gate
        self._observer = observer
        shared: dict[str, Handler] = {
            "tools/list": lambda request: self._list(request, "tools"),
            "tools/call": self._call_tool,
            "resources/list": lambda request: self._list(request, "resources"),
            "resources/templates/list": lambda request: self._list(request, "resourceTemplates"),
            "resources/read": self._read_resource,
        }
        if endpoint.has_prompts:
            shared["prompts/list"] = lambda request: self._list(request, "prompts")
            shared["prompts/get"] = self._get_prompt
        if endpoint.offers_completions:
            shared["completion/complete"] = self._suggest
        self._legacy: dict[str, Handler] = {
            **shared,
            "initialize": self._initialize,
            "ping": self._ping,
        }
        self._modern: dict[str, Handler] = {**shared, "server/discover": self._discover}
        if endpoint.jobs is not None:
            self._tasks = Tasks(endpoint, gate, endpoint.jobs)
            self._modern.update(
                {
                    "tasks/get": self._get_task,
                    "tasks/update": self._update_task,
                    "tasks/cancel": self._cancel_task,
                }
            )
        if observer is not None:
            observer.know({*self._legacy, *self._modern}, endpoint.tools, endpoint.prompts)

    async def answer(
        self,
        message: object,
        caller: Caller,
        visit: Visit,
        *,
        is_modern: bool,
        progress_for: ProgressFor | None = None,
    ) -> Reply | None:
        """The reply to one message; None for a notification or a response."""
        checked = check_message(message, is_modern=is_modern)
        if not isinstance(checked, tuple):
            return checked
        request_id, method, params = checked
        observer = self._observer
        if observer is not None:
            if visit.began and visit.mcp_request is None:
                # A single request over HTTP, whose beginning is noted already.
                visit.mcp_request = checked
            else:
                observer.mcp_began(visit, checked)
        handler = (self._modern if is_modern else self._legacy).get(method)
        try:
            if is_modern:
                check_envelope(params)
            if handler is None:
                raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method[:100]}")
            request = Request(request_id, method, params, caller, visit, is_modern, progress_for)
            reply = success(request_id, await handler(request))
        except ProtocolError as error:
            if not error.has_run:
                reason = InvalidInputError(error.message)
                self._gate.record_refusal(visit, f"mcp:{method[:100]}", "mcp://", reason, caller)
            reply = protocol_failure(request_id, error, is_modern=is_modern)
        except CarrelError as error:
            reply = refusal(request_id, error)
        except Exception:
            error_id = secrets.token_hex(8)
            facts = {
                "error_id": error_id,
                "request_id": visit.request_id,
                "user": caller.user_id,
                "path": visit.path,
            }
            log.exception("message failed", extra={**facts, "method": method[:100]})
            reply = refusal(request_id, InternalError(error_id))
        if observer is not None:
            visit.mcp_code = reply.error_code
            if visit.door != "http":
                observer.mcp_answered(visit, checked)
                visit.mcp_request = None
        return reply

    async def _initialize(self, request: Request) -> bytes:
        asked = request.params.get("protocolVersion")
        if not isinstance(asked, str):
            raise ProtocolError(INVALID_PARAMS, "protocolVersion is required and must be a string")
        version = asked if asked in HANDSHAKE_VERSIONS else LATEST_HANDSHAKE_VERSION
        capabilities = self.endpoint.capabilities
        if version in VERSIONS_WITHOUT_COMPLETIONS:
            capabilities = {
                name: facts for name, facts in capabilities.items() if name != "completions"
            }
        if self.endpoint.offers_views and version >= FIRST_VERSION_WITH_VIEWS:
            capabilities = {**capabilities, "extensions": {UI_EXTENSION: {}}}
        result: dict[str, object] = {
            "protocolVersion": version,
            "capabilities": capabilities,
            "serverInfo": self.endpoint.describe_server(version),
        }
        if self.endpoint.instructions:
            result["instructions"] = self.endpoint.instructions
        return orjson.dumps(result)

    async def _discover(self, request: Request) -> bytes:
        result: dict[str, object] = {
            "resultType": "complete",
            "supportedVersions": list(SUPPORTED_VERSIONS),
            "capabilities": self._modern_capabilities(),
            "serverInfo": self.endpoint.server_info,
            "ttlMs": LIST_TTL_MS,
            "cacheScope": "public",
            # Title and icons stand here alone: other answers carry the short form.
            "_meta": {META_SERVER_INFO: self.endpoint.describe_server(MODERN_VERSIONS[-1])},
        }
        if self.endpoint.instructions:
            result["instructions"] = self.endpoint.instructions
        return orjson.dumps(result)

    def _modern_capabilities(self) -> dict[str, dict[str, object]]:
        extensions = self.endpoint.extensions
        more: dict[str, dict[str, object]] = {"extensions": {**extensions}} if extensions else {}
        return {**self.endpoint.capabilities, **more}

    async def _ping(self, request: Request) -> bytes:
        return b"{}"

    async def _list(self, request: Request, kind: str) -> bytes:
        cursor = request.params.get("cursor")
        if cursor is not None:
            raise ProtocolError(
                INVALID_PARAMS,
                "Invalid cursor: every list here is one page",
                {"cursor": str(cursor)[:100]},
            )
        # A handshake names extensions once, and over HTTP nobody remembers it: there all see them.
        return self.endpoint.listed(
            kind,
            request.caller.scopes,
            is_modern=request.is_modern,
            names_views=not request.is_modern or announces_extension(request.params, UI_EXTENSION),
        )

    async def _call_tool(self, request: Request) -> bytes:
        name = _text(request.params, "name")
        arguments = request.params.get("arguments")
        if arguments is None:
            arguments = {}
        elif not isinstance(arguments, dict):
            raise ProtocolError(INVALID_PARAMS, "arguments must be an object")
        tool = self.endpoint.tools.get(name)
        if tool is None:
            near = self.endpoint.near_tools(name)
            raise ProtocolError(
                INVALID_PARAMS,
                f"Unknown tool: {name[:100]}{_suggest_tools(near, self.endpoint)}",
                {"near": near, "tools": sorted(self.endpoint.tools)[:50]},
            )
        progress = None
        if request.progress_for is not None:
            token = progress_token(request.params)
            if token is not None:
                progress = request.progress_for(token)
        can_follow = (
            request.is_modern and tool.operation.may_outlast_call and knows_tasks(request.params)
        )
        operation = tool.operation
        arguments, question = mend_call(operation, arguments)
        try:
            page = self._open_page(tool, arguments, request)
            if page is not None:
                operation, arguments, question = page.operation, page.arguments, None
            answer = await self._gate.call(
                operation,
                arguments,
                request.caller,
                request.visit,
                progress,
                can_follow=can_follow,
                question=question,
            )
            if isinstance(answer, Job):
                return b"{" + task_created(answer) + b"," + self.endpoint.stamp + b"}"
            encoded = tool.encode(
                answer, arguments, request.caller, page, takes_links=request.visit.takes_links
            )
        except CarrelError as error:
            shown = error_mapping(error)
            if shown.is_refusal:
                raise
            add_example(error, operation, arguments)
            error.next_step = self.endpoint.served_names.put_into(error.next_step)
            if self.endpoint.speaks_json_rpc_errors:
                code = INVALID_PARAMS if error.code == "invalid_input" else APPLICATION
                raise ProtocolError(code, error.message, error_facts(error), has_run=True) from None
            return self._complete(tool_error(error), request.is_modern)
        return self._complete(encoded, request.is_modern)

    def _open_page(
        self, tool: ServedTool, arguments: Mapping[str, Any], request: Request
    ) -> AnswerPageRequest | None:
        try:
            return tool.open_page(arguments, request.caller)
        except CarrelError as error:
            operation = tool.operation
            self._gate.record_refusal(
                request.visit, operation.action, operation.address, error, request.caller
            )
            raise

    async def _get_task(self, request: Request) -> bytes:
        return self._complete(
            await self._tasks.get(request.params, request.caller, request.visit), is_modern=True
        )

    async def _update_task(self, request: Request) -> bytes:
        await self._tasks.update(request.params, request.caller, request.visit)
        return self._empty_result()

    async def _cancel_task(self, request: Request) -> bytes:
        await self._tasks.cancel(request.params, request.caller, request.visit)
        return self._empty_result()

    def _empty_result(self) -> bytes:
        return b'{"resultType":"complete",' + self.endpoint.stamp + b"}"

    async def _read_resource(self, request: Request) -> bytes:
        uri = _text(request.params, "uri")
        found = self.endpoint.find_resource(uri)
        if found is None:
            raise self._no_such_resource(
                uri, request.is_modern, f"Unknown resource: {uri[:200]}", {"uri": uri[:1000]}
            )
        resource, variables = found
        try:
            content = await self._gate.read(resource, variables, request.caller, request.visit)
        except CarrelError as error:
            shown = error_mapping(error)
            if shown.is_refusal:
                raise
            data = {"uri": uri[:1000], **error_facts(error)}
            if shown.json_rpc_code == RESOURCE_NOT_FOUND:
                raise self._no_such_resource(
                    uri, request.is_modern, error.message, data, has_run=True
                ) from None
            raise ProtocolError(shown.json_rpc_code, error.message, data, has_run=True) from None
        sources = quoted_sources(resource.quotes, variables, content, request.caller)
        views = self.endpoint.views
        meta = views.find_meta(uri) if views is not None else None
        inside = b'"contents":' + encode_resource(uri, content, sources, meta)
        if request.is_modern:
            inside = b'"ttlMs":%d,"cacheScope":"private",' % READ_TTL_MS + inside
        return self._complete(inside, request.is_modern)

    def _no_such_resource(
        self,
        uri: str,
        is_modern: bool,
        message: str,
        data: dict[str, object],
        *,
        has_run: bool = False,
    ) -> ProtocolError:
        is_ours = uri.startswith(self.endpoint.json_rpc_error_schemes)
        legacy = APPLICATION if is_ours else RESOURCE_NOT_FOUND
        return ProtocolError(
            INVALID_PARAMS if is_modern else legacy, message, data, has_run=has_run
        )

    async def _get_prompt(self, request: Request) -> bytes:
        name = _text(request.params, "name")
        served = self.endpoint.prompts.get(name)
        if served is None:
            raise ProtocolError(
                INVALID_PARAMS,
                f"Unknown prompt: {name[:100]}",
                {"prompts": sorted(self.endpoint.prompts)},
            )
        arguments = request.params.get("arguments") or {}
        if not isinstance(arguments, dict) or not all(
            isinstance(value, str) for value in arguments.values()
        ):
            raise ProtocolError(INVALID_PARAMS, "arguments must be an object of strings")
        missing = [
            item.name
            for item in served.prompt.arguments
            if item.is_required and item.name not in arguments
        ]
        if missing:
            raise ProtocolError(
                INVALID_PARAMS,
                f"Missing prompt argument: {', '.join(missing)}",
                {"missing": missing},
            )
        try:
            expanded = await self._gate.expand(
                served.prompt, arguments, request.caller, request.visit
            )
        except CarrelError as error:
            if error_mapping(error).is_refusal:
                raise
            raise ProtocolError(
                INVALID_PARAMS, error.message, error_facts(error), has_run=True
            ) from None
        return self._complete(encode_prompt(expanded), request.is_modern)

    async def _suggest(self, request: Request) -> bytes:
        inside = await complete(
            self.endpoint, self._gate, request.params, request.caller, request.visit
        )
        return self._complete(inside, request.is_modern)

    def _complete(self, inside: bytes, is_modern: bool) -> bytes:
        if is_modern:
            return b'{"resultType":"complete",' + inside + b"," + self.endpoint.stamp + b"}"
        return b"{" + inside + b"}"


def _suggest_tools(near: list[str], endpoint: Endpoint) -> str:
    if near:
        return f". Did you mean {' or '.join(near)}?"
    if len(endpoint.tools) == 1:
        return f". The only tool is {next(iter(endpoint.tools))}, which finds and runs all others."
    return (
        ". tools/list names all."
        if "find_operation" not in endpoint.tools
        else (". find_operation finds an operation by plain words.")
    )


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise ProtocolError(INVALID_PARAMS, f"{name} is required and must be a string")
    return value
