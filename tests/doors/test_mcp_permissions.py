"""Who may what at the MCP and REST doors: strangers, wrong scopes, too many calls; and lists that
show what one may call.
"""

from __future__ import annotations

import pytest

from carrel.policy.limits import Rate
from tests.doors.house import HANDSHAKES, MODERN, House, TokenTable, build_house

ERAS = (HANDSHAKES[0], HANDSHAKES[-1], MODERN)
NOTE = {"name": "write_note", "arguments": {"text": "milk"}}


@pytest.fixture
def guarded() -> House:
    return build_house(
        identity=TokenTable(
            {"reader": ["papers:read"], "writer": ["papers:read", "knowledge:write"], "nobody": []}
        )
    )


@pytest.mark.parametrize("era", ERAS)
def test_a_stranger_is_refused_and_it_is_written_down(guarded: House, era: str) -> None:
    for headers in ({}, {"authorization": "Bearer wrong"}):
        answer = guarded.ask(era, "tools/call", NOTE, **headers)
        assert answer.status == 401
        assert answer.header("www-authenticate") == "Bearer"
        assert (answer.json["id"], answer.json["error"]["code"]) == (None, -32001), (
            "a stranger's body is not read"
        )
        assert guarded.audit.records[-1].error_code == "unauthenticated"
    assert guarded.held.notes == []


@pytest.mark.parametrize("era", ERAS)
def test_a_hidden_tool_is_forbidden_and_not_unknown(guarded: House, era: str) -> None:
    answer = guarded.ask(era, "tools/call", NOTE, authorization="Bearer reader")
    assert answer.status == 403
    assert (
        answer.header("www-authenticate")
        == 'Bearer error="insufficient_scope", scope="knowledge:write"'
    )
    error = answer.json["error"]
    assert (error["code"], error["message"]) == (-32003, "knowledge:write scope required")
    assert error["data"]["error"]["code"] == "insufficient_permissions"
    assert error["data"]["error"]["details"]["required"] == ["knowledge:write"]
    record = guarded.audit.records[-1]
    assert (record.user_id, record.action, record.error_code) == (
        "reader",
        "tool:write_note",
        "insufficient_permissions",
    )
    assert guarded.held.notes == []


@pytest.mark.parametrize("era", ERAS)
def test_hidden_resources_and_prompts_are_forbidden_too(guarded: House, era: str) -> None:
    read = guarded.ask(
        era, "resources/read", {"uri": "sample://drawer"}, authorization="Bearer reader"
    )
    prompt = guarded.ask(
        era, "prompts/get", {"name": "secret_plan"}, "/sample/mcp", authorization="Bearer reader"
    )
    assert (read.status, prompt.status) == (403, 403)
    assert b"cupboard" not in read.body


@pytest.mark.parametrize("era", ERAS)
def test_lists_show_what_the_caller_may_call(guarded: House, era: str) -> None:
    def names(token: str, kind: str, path: str = "/sample/mcp") -> set[str]:
        answer = guarded.ask(era, f"{kind}/list", path=path, authorization=f"Bearer {token}")
        return {item["name"] for item in answer.json["result"][kind]}

    assert "write_note" not in names("reader", "tools") and "say" in names("reader", "tools")
    assert "write_note" in names("writer", "tools")
    assert names("nobody", "tools") == set()
    assert names("reader", "resources") == {"greeting", "picture"}
    assert names("writer", "resources") == {"greeting", "picture", "drawer"}
    assert names("reader", "prompts") == {"plan"}
    assert names("writer", "prompts") == {"plan", "secret_plan"}


def test_who_may_write_writes(guarded: House) -> None:
    answer = guarded.ask(MODERN, "tools/call", NOTE, authorization="Bearer writer")
    assert answer.json["result"]["content"][0]["text"] == "written down for writer"
    phases = [(record.phase, record.result) for record in guarded.audit.records]
    assert phases == [("started", "started"), ("ended", "success")]


@pytest.mark.parametrize("era", ERAS)
def test_too_many_calls_are_refused_with_the_time_to_wait(era: str) -> None:
    house = build_house(
        identity=TokenTable({"reader": ["papers:read"], "other": ["papers:read"]}),
        rate=Rate(per_minute=1, burst=2),
    )
    params = {"name": "say", "arguments": {"text": "hi"}}
    statuses = [
        house.ask(era, "tools/call", params, authorization="Bearer reader").status for _ in range(3)
    ]
    assert statuses == [200, 200, 429]
    refused = house.ask(era, "tools/call", params, authorization="Bearer reader")
    wait = int(refused.header("retry-after") or 0)
    assert 1 <= wait <= 60
    assert refused.json["error"]["code"] == -32004
    assert refused.json["error"]["data"]["retry_after"] == wait
    assert house.audit.records[-1].error_code == "rate_limit_exceeded"
    assert house.ask(era, "tools/call", params, authorization="Bearer other").status == 200
    assert house.ask(era, "tools/list", authorization="Bearer reader").status == 200


@pytest.mark.promise("D7")
def test_rest_refuses_strangers_wrong_scopes_and_too_many_calls() -> None:
    house = build_house(
        identity=TokenTable({"reader": ["papers:read"]}), rate=Rate(per_minute=1, burst=1)
    )
    body = {"tool_name": "write_note", "params": {"text": "milk"}}
    stranger = house.post("/mcp/invoke", body)
    assert (stranger.status, stranger.json["error_type"]) == (401, "unauthenticated")
    assert stranger.header("www-authenticate") == "Bearer"
    forbidden = house.post("/mcp/invoke", body, authorization="Bearer reader")
    assert (forbidden.status, forbidden.json["error"]) == (403, "knowledge:write scope required")
    assert "insufficient_scope" in (forbidden.header("www-authenticate") or "")
    allowed = {"tool_name": "say", "params": {"text": "hi"}}
    assert house.post("/mcp/invoke", allowed, authorization="Bearer reader").status == 200
    limited = house.post("/mcp/invoke", allowed, authorization="Bearer reader")
    assert (limited.status, limited.json["error_type"], limited.json["retryable"]) == (
        429,
        "rate_limit_exceeded",
        True,
    )
    assert limited.header("retry-after") == str(limited.json["retry_after"])
    assert house.send("GET", "/mcp/tools").status == 401
    listed = house.send("GET", "/mcp/tools", headers=[("authorization", "Bearer reader")])
    assert {"write_note", "say"} <= {tool["name"] for tool in listed.json["tools"]}
