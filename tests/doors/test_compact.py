"""`--compact`: one tool that finds and calls the others, through the same gate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from carrel.policy.scopes import ALL_SCOPES
from carrel.settings import AuditSettings, Settings
from carrel.wiring.desk import open_desk
from carrel.wiring.mcp import desk_endpoints
from carrel.wiring.papers_build import with_demo
from tests.doors.house import MODERN, Answer, House, TokenTable, build_house

pytestmark = pytest.mark.promise("D10")


def carrel(house: House, **arguments: Any) -> Answer:
    return house.ask(
        MODERN,
        "tools/call",
        {"name": "carrel", "arguments": arguments},
        authorization="Bearer reader",
    )


@pytest.fixture
def compact() -> House:
    return build_house(server={"compact": True}, identity=TokenTable({"reader": ["papers:read"]}))


def test_what_a_caller_may_not_do_is_refused_and_not_found(compact: House) -> None:
    answer = carrel(compact, run="write_note", arguments={"text": "milk"})
    assert (answer.status, answer.json["error"]["message"]) == (
        403,
        "knowledge:write scope required",
    )
    found = orjson.loads(carrel(compact, find="note").json["result"]["content"][0]["text"])
    assert "write_note" not in {row["name"] for row in found["operations"]}


def test_a_wrong_name_or_wrong_arguments_can_be_corrected(compact: House) -> None:
    for arguments in (
        {"run": "no_such"},
        {"run": "add_numbers", "arguments": {"a": 1}},
        {"run": 5},
        {"find": "x", "x": 1},
    ):
        answer = carrel(compact, **arguments)
        assert answer.status == 200
        assert answer.json["result"]["isError"] is True
        assert answer.json["result"]["structuredContent"]["error"]["code"] == "invalid_input"


def test_one_tool_is_listed_and_reaches_all_others(compact: House) -> None:
    tools = compact.ask(MODERN, "tools/list", authorization="Bearer reader").json["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["carrel"]
    everything = orjson.loads(carrel(compact).json["result"]["content"][0]["text"])
    assert len(everything["operations"]) == len(compact.desk.catalogue.operations) - 1
    found = orjson.loads(carrel(compact, find="add numbers").json["result"]["content"][0]["text"])
    assert found["operations"][0]["name"] == "add_numbers"
    assert found["operations"][0]["parameters"]["required"] == ["a", "b"]
    answer = carrel(compact, run="add_numbers", arguments={"a": 2, "b": 40})
    assert orjson.loads(answer.json["result"]["content"][0]["text"]) == {"total": 42}
    assert (
        carrel(compact, run="say", arguments={"text": "hi"}).json["result"]["content"][0]["text"]
        == "hi"
    )
    part = orjson.loads(carrel(compact, run="count_in_part").json["result"]["content"][0]["text"])
    assert (part["pending"], part["job_id"]) == (2, "job-7")


def test_what_a_model_reads_of_all_tools_is_short(tmp_path: Path) -> None:
    desk = open_desk(with_demo(Settings(home=tmp_path, audit=AuditSettings(enabled=False))))
    listed = (
        desk_endpoints(desk)
        .common(has_everything=False)
        .listed("tools", ALL_SCOPES, is_modern=False)
    )
    tools = orjson.loads(listed)["tools"]
    read = [
        {key: tool[key] for key in ("name", "title", "description", "inputSchema")}
        for tool in tools
    ]
    assert len(tools) > 30
    assert len(orjson.dumps(read)) <= 24_000


def test_the_one_tool_costs_less_than_all_of_them(compact: House) -> None:
    one = compact.ask(MODERN, "tools/list", authorization="Bearer reader").body
    all_of_them = build_house().ask(MODERN, "tools/list").body
    assert len(one) * 3 < len(all_of_them)
