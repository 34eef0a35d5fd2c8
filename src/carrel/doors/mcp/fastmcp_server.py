"""The same catalogue as a FastMCP server, importable and mountable; needs the extra `fastmcp`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import orjson
from fastmcp import FastMCP
from fastmcp.exceptions import NotFoundError as FastMcpNotFoundError
from fastmcp.exceptions import ToolError
from fastmcp.prompts.base import Message, Prompt, PromptArgument, PromptResult
from fastmcp.resources.base import Resource as FastMcpResource
from fastmcp.resources.base import ResourceContent, ResourceResult
from fastmcp.resources.template import ResourceTemplate
from fastmcp.server.completions import CompletionHandler, CompletionReference
from fastmcp.server.dependencies import get_context, get_http_headers, get_http_request
from fastmcp.server.middleware import Middleware
from fastmcp.tools.base import Tool, ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import (
    AudioContent,
    CompletionArgument,
    CompletionContext,
    EmbeddedResource,
    ImageContent,
    Implementation,
    ResourceLink,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Completion as FastMcpCompletion
from pydantic import AnyUrl, ConfigDict, PrivateAttr
from starlette.requests import Request
from starlette.responses import JSONResponse

from carrel.core.answer import Binary, Embedded, Text
from carrel.core.answer_encoding import content_block, quoted_sources
from carrel.core.caller import Visit
from carrel.core.errors import CarrelError
from carrel.core.operation import Effect, Resource
from carrel.core.operation import Prompt as CataloguePrompt
from carrel.core.parsing import translate_budget_errors
from carrel.core.process_name import process_name
from carrel.core.quoting import quotation_note, quoted_facts
from carrel.doors.errors import INVALID_PARAMS, error_mapping
from carrel.doors.listed_schemas import listed_input_schema, listed_output_schema
from carrel.doors.mcp.argument_help import add_example, mend_call
from carrel.doors.mcp.completions import parse_completion
from carrel.doors.mcp.endpoint import Endpoint, ServedTool
from carrel.doors.mcp.json_rpc import (
    META_SERVER_INFO,
    MODERN_VERSIONS,
    ProtocolError,
    error_facts,
)
from carrel.libraries.text.budget import check_nesting
from carrel.libraries.text.surrogates import whole_text
from carrel.policy.gate import Gate

_numbers = itertools.count(1)

Lifespan = Callable[[FastMCP[Any]], AbstractAsyncContextManager[Any]]


def fastmcp_server(
    endpoint: Endpoint, gate: Gate, lifespan: Lifespan | None = None
) -> FastMCP[Any]:
    """A FastMCP server that offers exactly what the endpoint offers, through the same gate."""
    server: FastMCP[Any] = FastMCP(
        name=endpoint.server_info["name"],
        version=endpoint.server_info["version"],
        instructions=endpoint.instructions or None,
        middleware=[_PolicyMiddleware(endpoint, gate)],
        mask_error_details=True,
        lifespan=lifespan,
    )
    for tool in endpoint.tools.values():
        server.add_tool(_CatalogueTool.of(tool, gate))
    for served in endpoint.resources:
        if served.resource.is_template:
            server.add_template(_CatalogueTemplate.of(served.resource, gate))
        else:
            server.add_resource(_CatalogueResource.of(served.resource, gate))
    for prompt in endpoint.prompts.values():
        server.add_prompt(_CataloguePrompt.of(prompt.prompt, gate))
    if endpoint.offers_completions:
        server.add_completion_handler(_completion_handler(endpoint, gate))

    async def health(request: Request) -> JSONResponse:
        return JSONResponse({"status": "healthy"})

    server.custom_route("/health", methods=["GET"])(health)
    return server


class _PolicyMiddleware(Middleware):
    """Lists only what the caller may use; an unknown tool or a refusal is a protocol error."""

    def __init__(self, endpoint: Endpoint, gate: Gate) -> None:
        self._gate = gate
        self._endpoint = endpoint
        listed = {tool.name for tool in endpoint.listed_tools}
        self._unlisted = frozenset(f"tool:{name}" for name in endpoint.tools if name not in listed)
        self._scopes: dict[str, frozenset[str]] = {
            **{f"tool:{name}": tool.operation.scopes for name, tool in endpoint.tools.items()},
            **{
                f"resource:{served.resource.uri}": served.resource.scopes
                for served in endpoint.resources
            },
            **{f"prompt:{name}": served.prompt.scopes for name, served in endpoint.prompts.items()},
        }

    async def on_initialize(self, context: Any, call_next: Any) -> Any:
        result = await call_next(context)
        if result is None:
            return None
        info = Implementation.model_validate(
            self._endpoint.describe_server(str(result.protocol_version))
        )
        return result.model_copy(update={"server_info": info})

    async def on_discover(self, context: Any, call_next: Any) -> Any:
        # FastMCP puts what it is given into every answer, and the icons are long.
        result = await call_next(context)
        info = self._endpoint.describe_server(MODERN_VERSIONS[-1])
        if isinstance(result, dict):
            return {**result, "_meta": {**(result.get("_meta") or {}), META_SERVER_INFO: info}}
        meta = {**(result.meta or {}), META_SERVER_INFO: info}
        return result.model_copy(update={"meta": meta})

    async def on_call_tool(self, context: Any, call_next: Any) -> ToolResult:
        try:
            result: ToolResult = await call_next(context)
            return result
        except FastMcpNotFoundError:
            name = context.message.name
            near = self._endpoint.near_tools(name)
            meant = f". Did you mean {' or '.join(near)}?" if near else ""
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {name}{meant}") from None
        except ToolError as error:
            if isinstance(error.__cause__, MCPError):
                raise error.__cause__ from None
            raise

    async def on_list_tools(self, context: Any, call_next: Any) -> Any:
        return await self._visible(await call_next(context), lambda tool: f"tool:{tool.name}")

    async def on_list_resources(self, context: Any, call_next: Any) -> Any:
        return await self._visible(await call_next(context), lambda each: f"resource:{each.uri}")

    async def on_list_resource_templates(self, context: Any, call_next: Any) -> Any:
        found = await call_next(context)
        return await self._visible(found, lambda each: f"resource:{each.uri_template}")

    async def on_list_prompts(self, context: Any, call_next: Any) -> Any:
        return await self._visible(await call_next(context), lambda each: f"prompt:{each.name}")

    async def _visible(self, found: Sequence[Any], key: Callable[[Any], str]) -> Sequence[Any]:
        """What others have added to the server is theirs to hide."""
        try:
            caller = await self._gate.identify(_visit())
        except CarrelError as error:
            raise _protocol_error(error) from None
        shown = [item for item in found if key(item) not in self._unlisted]
        return [item for item in shown if self._scopes.get(key(item), frozenset()) <= caller.scopes]


async def _report_progress(done: float, total: float | None, message: str | None) -> None:
    await get_context().report_progress(done, total, message)


def _visit() -> Visit:
    request_id = f"fastmcp-{process_name()}-{next(_numbers):x}"
    try:
        request = get_http_request()
    except RuntimeError:
        return Visit("memory", request_id)
    headers = get_http_headers(include_all=True)
    address = request.client.host if request.client else "unknown"
    return Visit(
        "fastmcp",
        request_id,
        address,
        headers.get("user-agent", "unknown"),
        headers.get("authorization"),
    )


def _protocol_error(error: CarrelError) -> MCPError:
    return MCPError(
        code=error_mapping(error).json_rpc_code, message=error.message, data=error_facts(error)
    )


class _CatalogueTool(Tool):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    _tool: ServedTool = PrivateAttr()
    _gate: Gate = PrivateAttr()

    @classmethod
    def of(cls, tool: ServedTool, gate: Gate) -> _CatalogueTool:
        operation = tool.operation
        made = cls(
            name=tool.name,
            title=operation.title,
            description=operation.description,
            parameters=listed_input_schema(operation, has_cursor=True),
            output_schema=listed_output_schema(operation),
            annotations=ToolAnnotations(
                title=operation.title,
                read_only_hint=operation.effect is Effect.READS,
                destructive_hint=operation.effect is Effect.DESTROYS,
                idempotent_hint=operation.is_idempotent or operation.effect is Effect.READS,
                open_world_hint=operation.is_open_world,
            ),
        )
        made._tool = tool
        made._gate = gate
        return made

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        visit = _visit()
        try:
            caller = await self._gate.identify(visit)
            # FastMCP has parsed the request with its own depth limit or, in process, with none.
            with translate_budget_errors():
                check_nesting(arguments, "the arguments")
            operation = self._tool.operation
            arguments = dict(mend_call(operation, arguments).arguments)
            page = self._tool.open_page(arguments, caller)
            if page is not None:
                operation, arguments = page.operation, page.arguments
            answer = await self._gate.call(operation, arguments, caller, visit, _report_progress)
            encoded = self._tool.encode(answer, arguments, caller, page)
        except CarrelError as error:
            if error_mapping(error).is_refusal:
                raise _protocol_error(error) from None
            add_example(error, self._tool.operation, arguments)
            facts = orjson.loads(orjson.dumps(error_facts(error), default=str))
            return ToolResult(
                content=orjson.dumps(facts).decode(), structured_content=facts, is_error=True
            )
        result = orjson.loads(b"{" + encoded + b"}")
        return ToolResult(
            content=_blocks(result["content"]), structured_content=result.get("structuredContent")
        )


_KINDS: Mapping[str, Any] = {
    "text": TextContent,
    "image": ImageContent,
    "audio": AudioContent,
    "resource": EmbeddedResource,
    "resource_link": ResourceLink,
}


def _blocks(blocks: list[dict[str, Any]]) -> list[Any]:
    return [_KINDS[item["type"]].model_validate(item) for item in blocks]


async def _read(resource: Resource, variables: Mapping[str, str], gate: Gate) -> ResourceResult:
    visit = _visit()
    try:
        caller = await gate.identify(visit)
        content = await gate.read(resource, variables, caller, visit)
    except CarrelError as error:
        raise _protocol_error(error) from None
    body = whole_text(content.body) if isinstance(content, Text) else content.body
    contents = [ResourceContent(body, mime_type=content.media_type)]
    sources = quoted_sources(resource.quotes, variables, content, caller)
    if sources:
        contents.append(
            ResourceContent(
                quotation_note(sources),
                mime_type="text/plain",
                meta={"quoted_from": quoted_facts(sources)},
            )
        )
    return ResourceResult(contents=contents)


class _CatalogueResource(FastMcpResource):
    _resource: Resource = PrivateAttr()
    _gate: Gate = PrivateAttr()

    @classmethod
    def of(cls, resource: Resource, gate: Gate) -> _CatalogueResource:
        made = cls(
            uri=AnyUrl(resource.uri),
            name=resource.name,
            title=resource.title,
            description=resource.description,
            mime_type=resource.media_type,
        )
        made._resource = resource
        made._gate = gate
        return made

    async def read(self) -> ResourceResult:
        return await _read(self._resource, {}, self._gate)


class _CatalogueTemplate(ResourceTemplate):
    _resource: Resource = PrivateAttr()
    _gate: Gate = PrivateAttr()

    @classmethod
    def of(cls, resource: Resource, gate: Gate) -> _CatalogueTemplate:
        made = cls(
            uri_template=resource.uri,
            name=resource.name,
            title=resource.title,
            description=resource.description,
            mime_type=resource.media_type,
            parameters={"type": "object"},
        )
        made._resource = resource
        made._gate = gate
        return made

    async def _read(self, uri: str, params: dict[str, Any]) -> ResourceResult:
        return await _read(
            self._resource, {name: str(value) for name, value in params.items()}, self._gate
        )


class _CataloguePrompt(Prompt):
    _prompt: CataloguePrompt = PrivateAttr()
    _gate: Gate = PrivateAttr()

    @classmethod
    def of(cls, prompt: CataloguePrompt, gate: Gate) -> _CataloguePrompt:
        made = cls(
            name=prompt.name,
            title=prompt.title,
            description=prompt.description,
            arguments=[
                PromptArgument(
                    name=argument.name,
                    description=argument.description,
                    required=argument.is_required,
                )
                for argument in prompt.arguments
            ],
        )
        made._prompt = prompt
        made._gate = gate
        return made

    async def render(self, arguments: dict[str, Any] | None = None) -> PromptResult:
        visit = _visit()
        try:
            caller = await self._gate.identify(visit)
            with translate_budget_errors():
                check_nesting(arguments, "the arguments")
            given = {name: str(value) for name, value in (arguments or {}).items()}
            text = await self._gate.expand(self._prompt, given, caller, visit)
        except CarrelError as error:
            raise _protocol_error(error) from None
        messages = [
            Message(_content(message.content), role=message.role) for message in text.messages
        ]
        return PromptResult(messages, description=text.description or None)


def _completion_handler(endpoint: Endpoint, gate: Gate) -> CompletionHandler:
    async def handle(
        reference: CompletionReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> FastMcpCompletion | None:
        params: dict[str, Any] = {
            "ref": reference.model_dump(mode="json"),
            "argument": argument.model_dump(mode="json"),
            "context": None if context is None else {"arguments": context.arguments},
        }
        visit = _visit()
        try:
            entry, request = parse_completion(endpoint, params)
            caller = await gate.identify(visit)
            found = await gate.complete(entry, request, caller, visit)
        except ProtocolError as error:
            raise MCPError(code=error.code, message=error.message, data=error.data) from None
        except CarrelError as error:
            raise _protocol_error(error) from None
        return FastMcpCompletion(
            values=list(found.values), total=found.total, has_more=found.has_more
        )

    return handle


def _content(content: Text | Binary | Embedded) -> Any:
    return content.body if isinstance(content, Text) else _blocks([content_block(content)])[0]
