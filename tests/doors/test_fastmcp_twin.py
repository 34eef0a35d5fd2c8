"""The FastMCP server with the same catalogue: the lane's manners, the same gate, and guests behind
the lane.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import fastmcp
import orjson
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents

from carrel.doors.mcp.fastmcp_server import fastmcp_server
from carrel.wiring.mcp import room_endpoint
from tests.doors.house import MODERN, Answer, House, TokenTable, build_house, modern
from tests.interop.fixture_server import FixtureApp, fixture_desk

Visit = Callable[[fastmcp.Client[Any]], Coroutine[Any, Any, Any]]


def visit(house: House, talk: Visit, mode: str = "auto", **options: Any) -> Any:
    """One conversation in memory."""
    endpoint = room_endpoint(house.desk, house.desk.catalogue.room("sample"))

    async def conversation() -> Any:
        async with fastmcp.Client(
            fastmcp_server(endpoint, house.desk.gate), mode=mode, **options
        ) as client:
            return await talk(client)

    return asyncio.run(conversation())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_stranger_sees_nothing_and_is_refused_as_the_protocol_says(mode: str) -> None:
    house = build_house(identity=TokenTable({}))
    for talk in (
        lambda client: client.list_tools(),
        lambda client: client.list_resources(),
        lambda client: client.list_prompts(),
        lambda client: client.call_tool_mcp("say", {"text": "hi"}),
        lambda client: client.read_resource("sample://greeting"),
    ):
        with pytest.raises(MCPError) as refused:
            visit(house, talk, mode)
        assert refused.value.code == -32001


def test_lists_show_what_the_caller_may_use() -> None:
    class Reader(TokenTable):
        async def identify(self, visit: Any) -> Any:
            return self._callers["Bearer reader"]

    house = build_house(identity=Reader({"reader": ["papers:read"]}))
    names = {tool.name for tool in visit(house, lambda client: client.list_tools())}
    assert "write_note" not in names and "add" in names
    assert {
        str(resource.uri) for resource in visit(house, lambda client: client.list_resources())
    } == {
        "sample://greeting",
        "sample://picture",
    }
    assert {prompt.name for prompt in visit(house, lambda client: client.list_prompts())} == {
        "plan"
    }
    with pytest.raises(MCPError) as refused:
        visit(house, lambda client: client.call_tool_mcp("write_note", {"text": "milk"}))
    assert refused.value.code == -32003
    assert house.held.notes == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_answers_and_failures_are_those_of_the_lane(mode: str) -> None:
    house = build_house()
    cases: tuple[tuple[str, dict[str, Any]], ...] = (
        ("add", {"a": 2, "b": 40}),
        ("say", {"text": "ä"}),
        ("count", {"limit": 2}),
        ("show", {}),
        ("find_thing", {"name": "x"}),
        ("add", {"a": 1}),
        ("reach", {}),
    )
    for name, arguments in cases:

        async def talk(
            client: fastmcp.Client[Any], name: str = name, arguments: dict[str, Any] = arguments
        ) -> Any:
            return await client.call_tool_mcp(name, arguments)

        result = visit(house, talk, mode)
        lane = house.ask(
            "2025-11-25", "tools/call", {"name": name, "arguments": arguments}, "/sample/mcp"
        ).json["result"]
        assert _without_error_id(result.structured_content) == _without_error_id(
            lane.get("structuredContent")
        )
        assert bool(result.is_error) is lane.get("isError", False)
        shown = [block.text for block in result.content if isinstance(block, TextContent)]
        if result.is_error:
            assert [_without_error_id(orjson.loads(text)) for text in shown] == [
                _without_error_id(lane["structuredContent"])
            ]
        else:
            assert shown == [block["text"] for block in lane["content"] if block["type"] == "text"]


def _without_error_id(content: Any) -> Any:
    """A failure is logged under an id of its own each time."""
    error = content.get("error") if isinstance(content, dict) else None
    if not isinstance(error, dict):
        return content
    details = {
        name: value for name, value in error.get("details", {}).items() if name != "error_id"
    }
    return {**content, "error": {**error, "details": details}}


def test_an_unknown_tool_is_a_protocol_error() -> None:
    with pytest.raises(MCPError) as refused:
        visit(build_house(), lambda client: client.call_tool_mcp("no_such_tool", {}))
    assert refused.value.code == -32602


def test_resources_prompts_and_progress_work_as_in_the_lane() -> None:
    house = build_house()
    (content,) = visit(house, lambda client: client.read_resource("sample://things/tea"))
    assert isinstance(content, TextResourceContents) and content.text == "The thing called tea"
    prompt = visit(house, lambda client: client.get_prompt("plan", {"topic": "tea"}))
    assert prompt.messages[0].content.text == "Plan work on tea."
    seen: list[float] = []

    async def watch(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    visit(house, lambda client: client.call_tool_mcp("report", {}, progress_handler=watch))
    assert seen == [1.0, 2.0, 3.0]


def behind(*requests: tuple[str, dict[str, Any]]) -> list[Answer]:
    """What the test build says at /fixtures/mcp, where FastMCP stands behind the lane."""

    async def conversation() -> list[Answer]:
        desk = fixture_desk()
        app = FixtureApp(desk)
        house = build_house()
        house.app = app  # type: ignore[assignment]
        answers = []
        async with app.behind.lifespan():
            for method, params in requests:
                headers = [
                    ("content-type", "application/json"),
                    ("mcp-protocol-version", MODERN),
                    ("mcp-method", method),
                ]
                headers.append(("accept", "application/json, text/event-stream"))
                if "name" in params:
                    headers.append(("mcp-name", params["name"]))
                answers.append(
                    await house.request(
                        "POST", "/fixtures/mcp", orjson.dumps(modern(method, params)), headers
                    )
                )
        return answers

    return asyncio.run(conversation())


def test_what_the_lane_does_not_answer_is_answered_behind_it_and_always_as_json() -> None:
    asked = {"name": "test_input_required_result_elicitation", "arguments": {}}
    given = {
        **asked,
        "inputResponses": {"user_name": {"action": "accept", "content": {"name": "Ada"}}},
    }
    listed, lane, first, second, unknown, stream = behind(
        ("tools/list", {}),
        ("tools/call", {"name": "test_simple_text"}),
        ("tools/call", asked),
        ("tools/call", given),
        ("tools/call", {"name": "no_such_tool"}),
        ("subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
    )
    names = {tool["name"] for tool in listed.json["result"]["tools"]}
    assert {"test_simple_text", "test_input_required_result_elicitation"} <= names
    assert (
        lane.json["result"]["content"][0]["text"] == "This is a simple text response for testing."
    )
    assert first.json["result"]["resultType"] == "input_required"
    assert second.json["result"]["content"][0]["text"] == "Hello, Ada!"
    assert (unknown.status, unknown.json["error"]["code"]) == (400, -32602)
    assert (stream.status, stream.json["error"]["code"]) == (404, -32601)
    for answer in (listed, lane, first, second, unknown, stream):
        assert answer.header("content-type") == "application/json"


@pytest.mark.promise("D14")
def test_arguments_nested_too_deep_are_refused_and_never_a_crash() -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    house = build_house()
    server = fastmcp_server(
        room_endpoint(house.desk, house.desk.catalogue.room("sample")), house.desk.gate
    )
    # As a server that has mounted this one calls it: no JSON is read on the way.
    answer = asyncio.run(server.call_tool("say", {"text": deep}))
    assert answer.is_error
    assert answer.structured_content is not None
    assert "input_too_costly" in str(answer.structured_content)
