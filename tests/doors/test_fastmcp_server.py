"""The FastMCP server with the same catalogue: the same gate, lists, answers and failures."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import fastmcp
import orjson
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents

from carrel.doors.mcp.fastmcp_server import fastmcp_server
from carrel.wiring.mcp import desk_endpoints
from tests.doors.house import House, TokenTable, build_house

Visit = Callable[[fastmcp.Client[Any]], Coroutine[Any, Any, Any]]


def visit(house: House, talk: Visit, mode: str = "auto", **options: Any) -> Any:
    """One conversation in memory."""
    endpoint = desk_endpoints(house.desk).room(house.desk.catalogue.room("sample"))

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
def test_answers_and_failures_are_those_of_the_dispatcher(mode: str) -> None:
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
        dispatcher = house.ask(
            "2025-11-25", "tools/call", {"name": name, "arguments": arguments}, "/sample/mcp"
        ).json["result"]
        assert _without_error_id(result.structured_content) == _without_error_id(
            dispatcher.get("structuredContent")
        )
        assert bool(result.is_error) is dispatcher.get("isError", False)
        shown = [block.text for block in result.content if isinstance(block, TextContent)]
        if result.is_error:
            assert [_without_error_id(orjson.loads(text)) for text in shown] == [
                _without_error_id(dispatcher["structuredContent"])
            ]
        else:
            assert shown == [
                block["text"] for block in dispatcher["content"] if block["type"] == "text"
            ]


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


def test_resources_prompts_and_progress_work_as_in_the_dispatcher() -> None:
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


@pytest.mark.promise("D14")
def test_arguments_nested_too_deep_are_refused_and_never_a_crash() -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    house = build_house()
    server = fastmcp_server(
        desk_endpoints(house.desk).room(house.desk.catalogue.room("sample")), house.desk.gate
    )
    # As a server that has mounted this one calls it: no JSON is read on the way.
    answer = asyncio.run(server.call_tool("say", {"text": deep}))
    assert answer.is_error
    assert answer.structured_content is not None
    assert "input_too_costly" in str(answer.structured_content)


def test_without_fastmcp_the_error_names_the_extra() -> None:
    code = "import sys; sys.modules['fastmcp'] = None; import carrel.mcp_server"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "pip install 'carrel[fastmcp]'" in done.stderr


def test_tools_are_described_as_the_dispatcher_describes_them() -> None:
    house = build_house()
    listed = house.ask("2025-11-25", "tools/list", path="/sample/mcp").json["result"]["tools"]
    expected = {tool["name"]: tool for tool in listed}
    found = visit(house, lambda client: client.list_tools())
    assert {tool.name for tool in found} >= set(expected) - {"find_operation", "run_operation"}
    hints = set()
    for tool in found:
        if tool.name in expected:
            shown = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
            for name in ("title", "description", "inputSchema", "annotations"):
                assert shown.get(name) == expected[tool.name].get(name), (tool.name, name)
            annotations = shown["annotations"]
            hints.add((annotations["readOnlyHint"], annotations["idempotentHint"]))
    assert {(True, True), (False, False)} <= hints
