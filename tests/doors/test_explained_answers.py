"""An answer may have an explanation beside it; what was promised of the answer itself holds."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from tests.doors.house import House, build_house
from tests.sample_room import NOTHING_COUNTED

pytestmark = pytest.mark.promise("D12")

FACTS = NOTHING_COUNTED.model_dump(mode="json")
ERAS = ("2025-11-25", "2026-07-28")


@pytest.fixture(scope="module")
def house() -> House:
    return build_house()


def call(house: House, era: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    asked = {"name": name, "arguments": arguments}
    result: dict[str, Any] = house.ask(era, "tools/call", asked).json["result"]
    assert not result.get("isError"), result
    return result


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("name", "arguments", "text", "structured"),
    [
        ("count_or_explain", {"limit": 0}, "[]", {"result": []}),
        ("total_or_explain", {}, '{"total":0}', {"total": 0}),
    ],
)
def test_an_explanation_stands_beside_the_answer(
    house: House, era: str, name: str, arguments: Any, text: str, structured: Any
) -> None:
    result = call(house, era, name, arguments)
    assert [block["text"] for block in result["content"]] == [text, NOTHING_COUNTED.message]
    assert result["structuredContent"] == {**structured, "explanation": FACTS}
    tools = {
        tool["name"]: tool for tool in house.ask(era, "tools/list", {}).json["result"]["tools"]
    }
    jsonschema_rs.validate(tools[name]["outputSchema"], result["structuredContent"])


@pytest.mark.parametrize("era", ERAS)
def test_a_text_keeps_the_facts_of_its_explanation_in_meta(house: House, era: str) -> None:
    result = call(house, era, "say_nothing", {})
    assert result["content"][1] == {
        "type": "text",
        "text": NOTHING_COUNTED.message,
        "_meta": {"explanation": FACTS},
    }
    assert "structuredContent" not in result


def test_an_answer_without_explanation_has_none(house: House) -> None:
    result = call(house, "2025-11-25", "count_or_explain", {"limit": 1})
    assert result["structuredContent"] == {"result": [{"number": 1, "square": 1}]}
    assert len(result["content"]) == 1


def test_rest_has_the_explanation_beside_the_result(house: House) -> None:
    answer = house.post("/mcp/invoke", {"tool_name": "count_or_explain", "params": {"limit": 0}})
    assert answer.json == {"success": True, "result": [], "error": None, "explanation": FACTS}


def test_run_operation_says_it_too(house: House) -> None:
    run = {"name": "count_or_explain", "arguments": {"limit": 0}}
    result = call(house, "2025-11-25", "run_operation", run)
    assert [block["text"] for block in result["content"]] == ["[]", NOTHING_COUNTED.message]
