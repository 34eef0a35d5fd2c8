"""The fixtures that need more of the protocol than a catalogue offers: guests on the FastMCP server
behind the lane.
"""

from __future__ import annotations

from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    ClientCapabilities,
    CompletionArgument,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    PromptReference,
    SamplingMessage,
    TextContent,
)

MISSING_CLIENT_CAPABILITY = -32021


class SamplingIsRequired(Middleware):
    """test_missing_capability may only run for a client that can sample; a refusal there is a
    protocol error, not a result.
    """

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        capabilities = _capabilities(context.fastmcp_context)
        if context.message.name == "test_missing_capability" and capabilities.sampling is None:
            needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(
                code=MISSING_CLIENT_CAPABILITY,
                message="The client must declare sampling",
                data=needed,
            )
        return await call_next(context)


def _capabilities(context: Context | None) -> ClientCapabilities:
    request = None if context is None else context.request_context
    found = None if request is None else request.session.client_capabilities
    return found or ClientCapabilities()


def _form(message: str, **properties: Any) -> ElicitRequest:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequest(
        params=CreateMessageRequestParams(messages=[message], max_tokens=100)
    )


def _ask(state: str | None = None, **requests: InputRequest) -> InputRequiredResult:
    return InputRequiredResult(input_requests=requests, request_state=state)


def _accepted(context: Context, key: str) -> dict[str, Any] | None:
    """What the person filled in for one form, or None where they have not."""
    answer = (context.input_responses or {}).get(key)
    return (
        dict(answer.content or {})
        if isinstance(answer, ElicitResult) and answer.action == "accept"
        else None
    )


_STRING = {"type": "string"}
_YES_OR_NO = {"type": "boolean"}


def add_guests(server: FastMCP[Any]) -> None:
    """Adds every guest."""
    server.add_middleware(SamplingIsRequired())
    _add_rounds(server)
    _add_conversations(server)
    _add_the_rest(server)


def _add_rounds(server: FastMCP[Any]) -> None:
    """Tools and a prompt that answer by asking, and are called again with the answers."""

    @server.tool
    async def test_input_required_result_elicitation(ctx: Context) -> str | InputRequiredResult:
        """Asks for a name."""
        given = _accepted(ctx, "user_name")
        if given is None or "name" not in given:
            return _ask(user_name=_form("What is your name?", name=_STRING))
        return f"Hello, {given['name']}!"

    @server.tool
    async def test_streaming_elicitation(ctx: Context) -> str | InputRequiredResult:
        """Asks for a name, for the check that nothing but the answer is on the wire."""
        given = _accepted(ctx, "user_name")
        return (
            _ask(user_name=_form("What is your name?", name=_STRING))
            if given is None
            else f"Hello, {given.get('name')}!"
        )

    @server.tool
    async def test_input_required_result_sampling(ctx: Context) -> str | InputRequiredResult:
        """Asks the client's model."""
        answer = (ctx.input_responses or {}).get("capital_question")
        if not isinstance(answer, CreateMessageResult) or not isinstance(
            answer.content, TextContent
        ):
            return _ask(capital_question=_sample("What is the capital of France?"))
        return f"The model says: {answer.content.text}"

    @server.tool
    async def test_input_required_result_list_roots(ctx: Context) -> str | InputRequiredResult:
        """Asks for the client's roots."""
        answer = (ctx.input_responses or {}).get("client_roots")
        if not isinstance(answer, ListRootsResult):
            return _ask(client_roots=ListRootsRequest())
        return "Roots: " + ", ".join(str(root.uri) for root in answer.roots)

    @server.tool
    async def test_input_required_result_request_state(ctx: Context) -> str | InputRequiredResult:
        """Asks, and checks that its own state came back."""
        if _accepted(ctx, "confirm") is None or ctx.request_state != "confirming":
            return _ask("confirming", confirm=_form("Please confirm", ok=_YES_OR_NO))
        return "state-ok"

    @server.tool
    async def test_input_required_result_tampered_state(ctx: Context) -> str | InputRequiredResult:
        """Asks with a state that nobody may change."""
        if _accepted(ctx, "confirm") is None or ctx.request_state != "sealed":
            return _ask("sealed", confirm=_form("Please confirm", ok=_YES_OR_NO))
        return "The state is as it was."

    @server.tool
    async def test_input_required_result_multiple_inputs(ctx: Context) -> str | InputRequiredResult:
        """Asks for three things at once."""
        answers = ctx.input_responses or {}
        if not {"user_name", "greeting", "client_roots"} <= set(answers):
            return _ask(
                "three things",
                user_name=_form("What is your name?", name=_STRING),
                greeting=_sample("Generate a greeting"),
                client_roots=ListRootsRequest(),
            )
        return f"All {len(answers)} answers are here."

    @server.tool
    async def test_input_required_result_multi_round(ctx: Context) -> str | InputRequiredResult:
        """Asks twice, one after the other."""
        if ctx.request_state is None or not ctx.input_responses:
            return _ask(
                "asked for the name", step1=_form("Step 1: What is your name?", name=_STRING)
            )
        first = _accepted(ctx, "step1")
        if first is not None:
            return _ask(
                str(first["name"]),
                step2=_form("Step 2: What is your favorite color?", color=_STRING),
            )
        second = _accepted(ctx, "step2") or {}
        return f"{ctx.request_state} likes {second.get('color')}"

    @server.tool
    async def test_input_required_result_capabilities(ctx: Context) -> str | InputRequiredResult:
        """Asks only for what the client can give."""
        if ctx.input_responses:
            return "Thank you."
        able = _capabilities(ctx)
        requests: dict[str, InputRequest] = {}
        if able.sampling is not None:
            requests["greeting"] = _sample("Generate a greeting")
        if able.elicitation is not None:
            requests["user_name"] = _form("What is your name?", name=_STRING)
        return (
            InputRequiredResult(input_requests=requests)
            if requests
            else "Nothing to ask this client for."
        )

    @server.prompt
    async def test_input_required_result_prompt(ctx: Context) -> str | InputRequiredResult:
        """A prompt that asks for its context first."""
        given = _accepted(ctx, "user_context")
        if given is None:
            return _ask(user_context=_form("What context should the prompt use?", context=_STRING))
        return f"Work in this context: {given.get('context')}"


def _add_conversations(server: FastMCP[Any]) -> None:
    """Tools that talk back to the client while they run, as revisions before 2026-07-28 do."""

    @server.tool
    async def test_tool_with_logging(ctx: Context) -> str:
        """Logs three times."""
        for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await ctx.info(text)
        return "Three messages were logged."

    @server.tool
    async def test_logging_tool(ctx: Context) -> str:
        """Logs once."""
        await ctx.info("One message")
        return "One message was logged."

    @server.tool
    async def test_sampling(prompt: str, ctx: Context) -> str:
        """Asks the client's model while running."""
        message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
        answer = await ctx.session.create_message(messages=[message], max_tokens=100)
        return (
            f"LLM response: "
            f"{answer.content.text if isinstance(answer.content, TextContent) else answer.content}"
        )

    @server.tool
    async def test_elicitation(message: str, ctx: Context) -> str:
        """Asks the person while running."""
        schema = {
            "type": "object",
            "properties": {"username": _STRING, "email": _STRING},
            "required": ["username", "email"],
        }
        answer = await ctx.session.elicit_form(message, schema)
        return f"User response: action={answer.action}, content={answer.content}"


def _add_the_rest(server: FastMCP[Any]) -> None:
    @server.tool
    async def test_missing_capability() -> str:
        """Runs only for clients that can sample."""
        return "The client can sample."

    @server.completion
    def complete(reference: Any, argument: CompletionArgument, context: Any) -> list[str] | None:
        if (
            isinstance(reference, PromptReference)
            and reference.name == "test_prompt_with_arguments"
        ):
            return [word for word in ("paris", "park", "party") if word.startswith(argument.value)]
        return None
