"""MCP over HTTP: revisions, envelopes, headers, batches and errors, in both eras."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import orjson
import pytest

from tests.doors.house import HANDSHAKES, MODERN, House, modern

ERAS = (*HANDSHAKES, MODERN)
ADD = {"name": "add_numbers", "arguments": {"a": 2, "b": 40}}


def error_of(
    house: House, era: str, method: str, params: dict[str, Any] | None = None
) -> tuple[int, dict[str, Any]]:
    answer = house.ask(era, method, params)
    return answer.status, answer.json["error"]


# Refusals of the message as such.


@pytest.mark.promise("D3")
@pytest.mark.parametrize(
    "version", ["2026-07-29", "2024-10-07", "latest", "1", "v999.0.0", "2025-06-18, 2025-11-25"]
)
def test_an_unsupported_revision_is_refused_with_all_that_are_supported(
    house: House, version: str
) -> None:
    answer = house.post("/mcp", {"jsonrpc": "2.0", "id": 7, "method": "ping"}, version)
    assert answer.status == 400
    assert answer.json["id"] == 7
    assert answer.json["error"]["code"] == -32022
    assert answer.json["error"]["data"] == {"supported": list(ERAS), "requested": version}


@pytest.mark.promise("D3")
def test_an_unsupported_revision_in_the_envelope_is_refused_too(house: House) -> None:
    message = modern("tools/list")
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01"
    answer = house.post("/mcp", message, "2099-01-01", mcp_method="tools/list")
    assert (answer.status, answer.json["error"]["code"]) == (400, -32022)


@pytest.mark.promise("D3")
@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ({}, "mcp-method"),
        ({"mcp_method": "tools/list"}, "mcp-method"),
        ({"mcp_method": "TOOLS/CALL", "mcp_name": "add_numbers"}, "mcp-method"),
        ({"mcp_method": "tools/call"}, "mcp-name"),
        ({"mcp_method": "tools/call", "mcp_name": "say"}, "mcp-name"),
        ({"mcp_method": "tools/call", "mcp_name": "=?base64?!!!?="}, "mcp-name"),
        ({"mcp_method": "tools/call", "mcp_name": "=?base64?YWRkX251bWJlcnM?="}, "mcp-name"),
    ],
)
def test_routing_headers_must_say_what_the_body_says(
    house: House, headers: dict[str, str], says: str
) -> None:
    answer = house.post("/mcp", modern("tools/call", ADD, 3), MODERN, **headers)
    assert answer.status == 400
    assert answer.json["id"] == 3
    assert answer.json["error"]["code"] == -32020
    assert says in answer.json["error"]["message"]


@pytest.mark.promise("D3")
@pytest.mark.parametrize(
    "name", ["  add_numbers  ", "=?base64?YWRkX251bWJlcnM=?=", "add_numbers\t"]
)
def test_routing_headers_may_be_padded_or_wrapped(house: House, name: str) -> None:
    answer = house.post(
        "/mcp", modern("tools/call", ADD), f" {MODERN} ", mcp_method=" tools/call ", mcp_name=name
    )
    assert answer.json["result"]["structuredContent"] == {"total": 42}


@pytest.mark.promise("D3")
def test_a_routing_header_that_appears_twice_is_refused(house: House) -> None:
    headers = [
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", "say"),
        ("mcp-name", "add_numbers"),
    ]
    answer = house.send("POST", "/mcp", orjson.dumps(modern("tools/call", ADD)), headers)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


@pytest.mark.promise("D3")
@pytest.mark.parametrize("version", [None, "2025-11-25"])
def test_a_modern_envelope_under_another_revision_is_a_mismatch(
    house: House, version: str | None
) -> None:
    answer = house.post("/mcp", modern("tools/list"), version)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


@pytest.mark.promise("D3")
@pytest.mark.parametrize(
    "meta",
    [
        None,
        5,
        {},
        {"io.modelcontextprotocol/protocolVersion": MODERN},
        {"io.modelcontextprotocol/clientCapabilities": {}},
        {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": [],
        },
    ],
)
def test_the_modern_envelope_must_be_complete(house: House, meta: object) -> None:
    message = {
        "jsonrpc": "2.0",
        "id": "a",
        "method": "tools/list",
        "params": {} if meta is None else {"_meta": meta},
    }
    answer = house.post("/mcp", message, MODERN, mcp_method="tools/list")
    assert answer.status == 400
    assert answer.json["id"] == "a"
    assert answer.json["error"]["code"] == -32602


@pytest.mark.promise("D1")
@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b"[1,", b'{"jsonrpc":"2.0"', b"nul", b"[" * 5000]
)
def test_what_is_not_json_is_a_parse_error(house: House, body: bytes) -> None:
    answer = house.send("POST", "/mcp", body)
    assert answer.status == 400
    assert answer.json["error"]["code"] == -32700
    assert answer.json["id"] is None


@pytest.mark.promise("D1")
@pytest.mark.parametrize(
    "message",
    [
        1,
        "text",
        None,
        True,
        {},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
        {"jsonrpc": "2.0", "id": True, "method": "ping"},
        {"jsonrpc": "2.0", "id": {}, "method": "ping"},
    ],
)
@pytest.mark.parametrize("version", [None, MODERN])
def test_what_is_not_a_request_is_invalid(
    house: House, message: object, version: str | None
) -> None:
    answer = house.post("/mcp", message, version, **({"mcp_method": "ping"} if version else {}))
    assert answer.status == 400
    assert answer.json["error"]["code"] == -32600


@pytest.mark.promise("D1")
def test_params_must_be_an_object(house: House) -> None:
    answer = house.post(
        "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [1]}, "2025-11-25"
    )
    assert answer.json["error"]["code"] == -32602


@pytest.mark.promise("D1")
def test_only_json_goes_in(house: House) -> None:
    answer = house.send("POST", "/mcp", b"{}", [("content-type", "text/plain")])
    assert (answer.status, answer.json["error"]["code"]) == (415, -32600)
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    assert (
        house.send(
            "POST", "/mcp", ping, [("content-type", "Application/JSON; charset=utf-8")]
        ).status
        == 200
    )
    assert house.send("POST", "/mcp", ping).status == 200


@pytest.mark.promise("D1")
@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("text/event-stream", 406),
        ("text/html", 406),
        ("application/json", 200),
        ("application/json, text/event-stream", 200),
        ("*/*", 200),
        ("application/*", 200),
        ("", 200),
        (None, 200),
    ],
)
def test_only_json_comes_out(house: House, accept: str | None, status: int) -> None:
    headers = [] if accept is None else [("accept", accept)]
    answer = house.send("POST", "/mcp", b'{"jsonrpc":"2.0","id":1,"method":"ping"}', headers)
    assert answer.status == status
    assert answer.header("content-type") == "application/json"


@pytest.mark.promise("D5")
@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25", MODERN])
def test_a_batch_is_refused_where_the_revision_has_none(house: House, version: str) -> None:
    answer = house.post("/mcp", [{"jsonrpc": "2.0", "id": 1, "method": "ping"}], version)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32600)
    assert version in answer.json["error"]["message"]


@pytest.mark.promise("D5")
@pytest.mark.parametrize(
    "messages", [[], [{"jsonrpc": "2.0", "id": at, "method": "ping"} for at in range(101)]]
)
def test_an_empty_or_endless_batch_is_refused(house: House, messages: list[object]) -> None:
    answer = house.post("/mcp", messages)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32600)


# What is not there.


@pytest.mark.promise("D3")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "method",
    ["unknown/method", "prompts/list", "prompts/get", "logging/setLevel", "completion/complete"],
)
def test_an_unknown_method_is_32601_and_404_in_the_modern_era(
    house: House, era: str, method: str
) -> None:
    status, error = error_of(house, era, method)
    assert status == (404 if era == MODERN else 200)
    assert error["code"] == -32601


@pytest.mark.promise("D3")
@pytest.mark.parametrize(
    "method", ["initialize", "ping", "resources/subscribe", "subscriptions/listen"]
)
def test_what_the_modern_era_removed_or_a_json_door_cannot_carry_is_404(
    house: House, method: str
) -> None:
    status, error = error_of(house, MODERN, method)
    assert (status, error["code"]) == (404, -32601)


@pytest.mark.promise("D3")
def test_discovery_belongs_to_the_modern_era_alone(house: House) -> None:
    assert error_of(house, "2025-11-25", "server/discover")[1]["code"] == -32601


@pytest.mark.parametrize("era", ERAS)
def test_an_unknown_tool_is_a_protocol_error(house: House, era: str) -> None:
    status, error = error_of(house, era, "tools/call", {"name": "no_such_tool"})
    assert status == (400 if era == MODERN else 200)
    assert error["code"] == -32602
    assert "no_such_tool" in error["message"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": 5},
        {"name": ""},
        {"name": "say", "arguments": []},
        {"name": "say", "arguments": "x"},
    ],
)
def test_a_call_without_a_name_or_with_odd_arguments_is_a_protocol_error(
    house: House, era: str, params: dict[str, Any]
) -> None:
    assert error_of(house, era, "tools/call", params)[1]["code"] == -32602


@pytest.mark.parametrize(
    "uri",
    [
        "sample://nowhere",
        "sample://things/",
        "sample://things/a/b",
        "sample://things/missing",
        "x",
        "library://a",
    ],
)
def test_an_unknown_resource_has_its_code_in_each_era(house: House, uri: str) -> None:
    status, error = error_of(house, MODERN, "resources/read", {"uri": uri})
    assert (status, error["code"], error["data"]["uri"]) == (400, -32602, uri)
    for era in HANDSHAKES:
        status, error = error_of(house, era, "resources/read", {"uri": uri})
        assert (status, error["code"], error["data"]["uri"]) == (
            200,
            -32000 if uri.startswith("library:") else -32002,
            uri,
        )


@pytest.mark.parametrize("era", ERAS)
def test_lists_are_one_page_so_a_cursor_is_invalid(house: House, era: str) -> None:
    assert error_of(house, era, "tools/list", {"cursor": "abc"})[1]["code"] == -32602


# What works.


@pytest.mark.promise("D3")
@pytest.mark.parametrize("version", [None, *HANDSHAKES])
def test_every_handshake_revision_is_served_and_absent_means_2025_03_26(
    house: House, version: str | None
) -> None:
    answer = house.post(
        "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ADD}, version
    )
    assert answer.status == 200
    assert answer.json["result"]["structuredContent"] == {"total": 42}
    batch = house.post("/mcp", [{"jsonrpc": "2.0", "id": 1, "method": "ping"}], version)
    assert batch.status == (200 if version in {None, "2024-11-05", "2025-03-26"} else 400)


@pytest.mark.promise("D3")
@pytest.mark.parametrize(
    ("asked", "got"),
    [
        *((version, version) for version in HANDSHAKES),
        ("2020-01-01", "2025-11-25"),
        (MODERN, "2025-11-25"),
    ],
)
def test_the_handshake_agrees_on_a_revision(house: House, asked: str, got: str) -> None:
    params = {
        "protocolVersion": asked,
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    answer = house.post(
        "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    )
    result = answer.json["result"]
    assert result["protocolVersion"] == got
    assert result["capabilities"] == {"tools": {}, "resources": {}}
    assert result["serverInfo"]["name"] == "Carrel"
    assert answer.header("mcp-session-id") is None


@pytest.mark.promise("D4")
def test_discovery_names_exactly_tools_and_resources_and_every_revision(house: House) -> None:
    result = house.ask_modern("server/discover").json["result"]
    assert result["capabilities"] == {"tools": {}, "resources": {}}
    assert result["supportedVersions"] == list(ERAS)
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "Carrel"


@pytest.mark.promise("D4")
@pytest.mark.parametrize("era", ERAS)
def test_every_tool_has_a_title_a_description_and_schemas(house: House, era: str) -> None:
    tools = house.ask(era, "tools/list").json["result"]["tools"]
    assert {tool["name"] for tool in tools} == {
        *house.desk.catalogue.operations,
        "find_operation",
        "run_operation",
    }
    for tool in tools:
        assert tool["title"] and tool["description"]
        assert tool["inputSchema"]["type"] == "object"
        assert tool["annotations"]["readOnlyHint"] is (
            tool["name"] not in {"write_note", "run_operation"}
        )


@pytest.mark.promise("D4")
def test_a_room_alone_has_its_own_names_and_its_prompts(house: House) -> None:
    result = house.ask(
        "2025-11-25", "initialize", {"protocolVersion": "2025-11-25"}, "/sample/mcp"
    ).json["result"]
    assert result["capabilities"] == {
        "tools": {},
        "resources": {},
        "prompts": {},
        "completions": {},
    }
    names = [
        tool["name"]
        for tool in house.ask("2025-11-25", "tools/list", path="/sample/mcp").json["result"][
            "tools"
        ]
    ]
    assert "add" in names and "add_numbers" not in names
    prompts = house.ask("2025-11-25", "prompts/list", path="/sample/mcp").json["result"]["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["plan", "secret_plan"]
    expanded = house.ask(
        MODERN, "prompts/get", {"name": "plan", "arguments": {"topic": "tea"}}, "/sample/mcp"
    ).json["result"]
    assert expanded["messages"] == [
        {"role": "user", "content": {"type": "text", "text": "Plan work on tea."}}
    ]
    assert (expanded["description"], expanded["resultType"]) == ("A plan", "complete")


@pytest.mark.parametrize(
    "params",
    [
        {"name": "nothing"},
        {"name": "plan"},
        {"name": "plan", "arguments": {"topic": 5}},
        {"name": "plan", "arguments": [1]},
        {},
    ],
)
def test_a_prompt_wants_its_name_and_its_arguments(house: House, params: dict[str, Any]) -> None:
    assert (
        house.ask("2025-11-25", "prompts/get", params, "/sample/mcp").json["error"]["code"]
        == -32602
    )


@pytest.mark.promise("D1")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/list", {}),
        ("tools/call", ADD),
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": "sample://greeting"}),
    ],
)
def test_answers_are_json_in_the_form_of_their_era(
    house: House, era: str, method: str, params: dict[str, Any]
) -> None:
    answer = house.ask(era, method, params)
    assert answer.status == 200
    assert answer.header("content-type") == "application/json"
    assert answer.header("mcp-session-id") is None
    assert answer.header("content-length") == str(len(answer.body))
    result = answer.json["result"]
    if era == MODERN:
        assert result["resultType"] == "complete"
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["version"]
        assert ("ttlMs" in result and result["cacheScope"] in {"public", "private"}) is (
            method != "tools/call"
        )
    else:
        assert not {"resultType", "ttlMs", "_meta"} & set(result)


@pytest.mark.promise("D1")
@pytest.mark.parametrize("era", ERAS)
def test_a_notification_is_accepted_without_a_body(house: House, era: str) -> None:
    for method in (
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/unheard_of",
    ):
        answer = house.post("/mcp", {"jsonrpc": "2.0", "method": method}, era)
        assert (answer.status, answer.body) == (202, b"")


@pytest.mark.promise("D1")
def test_a_response_of_the_client_is_accepted_before_2026_only(house: House) -> None:
    response = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert house.post("/mcp", response, "2025-11-25").status == 202
    assert house.post("/mcp", response, MODERN).status == 400


@pytest.mark.promise("D5")
@pytest.mark.parametrize("version", [None, "2024-11-05", "2025-03-26"])
def test_a_batch_is_answered_in_order_and_notifications_leave_no_trace(
    house: House, version: str | None
) -> None:
    messages = [
        {"jsonrpc": "2.0", "id": "a", "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": ADD},
        7,
        {"jsonrpc": "2.0", "id": 3, "method": "nothing"},
    ]
    answer = house.post("/mcp", messages, version)
    assert answer.status == 200
    assert [reply["id"] for reply in answer.json] == ["a", 2, None, 3]
    assert [reply.get("error", {}).get("code") for reply in answer.json] == [
        None,
        None,
        -32600,
        -32601,
    ]
    silent = house.post(
        "/mcp", [{"jsonrpc": "2.0", "method": "notifications/initialized"}], version
    )
    assert (silent.status, silent.body) == (202, b"")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"name": "find_thing", "arguments": {"name": "x"}}, "resource_not_found"),
        ({"name": "add_numbers", "arguments": {"a": 1}}, "invalid_input"),
        ({"name": "add_numbers", "arguments": {"a": 1, "b": 5000}}, "invalid_input"),
        ({"name": "say", "arguments": {"text": "x", "loudly": True}}, "invalid_input"),
        ({"name": "reach"}, "unavailable"),
        ({"name": "dawdle"}, "timed_out"),
        ({"name": "fail"}, "internal_error"),
    ],
)
def test_a_tool_that_runs_and_fails_says_so_in_its_result(
    house: House, era: str, params: dict[str, Any], code: str
) -> None:
    answer = house.ask(era, "tools/call", params)
    assert answer.status == 200
    result = answer.json["result"]
    assert result["isError"] is True
    error = result["structuredContent"]["error"]
    assert error["code"] == code
    assert {"code", "message", "details"} <= set(error)
    assert orjson.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert b"cupboard" not in answer.body


def test_a_whole_number_may_be_written_with_a_fraction_of_nothing(house: House) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_numbers","arguments":{"a":2.0,"b":4e1}}}'  # noqa: E501
    assert house.send("POST", "/mcp", body).json["result"]["structuredContent"] == {"total": 42}
    for wrong in (b"2.5", b"1e300", b"2000.0", b'"two"', b"null"):
        refused = house.send("POST", "/mcp", body.replace(b'"a":2.0', b'"a":' + wrong)).json[
            "result"
        ]
        assert refused["structuredContent"]["error"]["code"] == "invalid_input"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("add_numbers", {"a": 1, "b": 2}),
        ("add_numbers", {"a": 1}),
        ("count", {"limit": 2}),
        ("count", {"limit": -1}),
        ("count_in_part", {}),
        ("find_thing", {"name": "x"}),
        ("fail", {}),
    ],
)
def test_answers_and_failures_fit_the_output_schema(
    house: House, name: str, arguments: dict[str, object]
) -> None:
    """TypeScript SDK 1.x holds failures to the schema too, and hides them behind a complaint of its
    own if they do not fit.
    """
    tools = {
        tool["name"]: tool for tool in house.ask("2025-11-25", "tools/list").json["result"]["tools"]
    }
    result = house.ask("2025-11-25", "tools/call", {"name": name, "arguments": arguments}).json[
        "result"
    ]
    schema = tools[name]["outputSchema"]
    assert schema["type"] == "object"
    assert jsonschema_rs.validator_for(schema).is_valid(result["structuredContent"])
    if not result.get("isError"):
        assert set(schema["properties"]) & set(result["structuredContent"])


def test_an_answer_that_cannot_be_written_is_an_error_and_not_silence(house: House) -> None:
    answer = house.ask("2025-11-25", "tools/call", {"name": "answer_nonsense"})
    assert (answer.status, answer.json["id"], answer.json["error"]["code"]) == (500, 1, -32603)
    assert answer.json["error"]["data"]["error"]["details"]["error_id"]


def test_a_resource_that_breaks_hides_what_is_inside(house: House) -> None:
    answer = house.ask(MODERN, "resources/read", {"uri": "sample://things/broken"})
    assert answer.json["error"]["code"] == -32603
    assert b"cupboard" not in answer.body


def test_lists_texts_and_pictures_keep_their_form(house: House) -> None:
    def result(name: str, **arguments: object) -> Any:
        return house.ask("2025-11-25", "tools/call", {"name": name, "arguments": arguments}).json[
            "result"
        ]

    counted = result("count", limit=2)
    assert counted["structuredContent"] == {
        "result": [{"number": 1, "square": 1}, {"number": 2, "square": 4}]
    }
    assert orjson.loads(counted["content"][0]["text"]) == counted["structuredContent"]["result"]
    part = result("count_in_part")["structuredContent"]
    assert (part["result"], part["pending"], part["job_id"]) == (
        [{"number": 1, "square": 1}],
        2,
        "job-7",
    )
    assert result("say", text="é\u2028\U0001f600", times=2) == {
        "content": [{"type": "text", "text": "é\u2028\U0001f600 é\u2028\U0001f600"}]
    }
    assert [block["type"] for block in result("show")["content"]] == ["text", "image", "resource"]
    read = house.ask("2025-11-25", "resources/read", {"uri": "sample://things/a%2Fb%20c"}).json[
        "result"
    ]["contents"][0]
    assert read["text"] == "The thing called a/b c"
    assert (
        house.ask("2025-11-25", "resources/read", {"uri": "sample://picture"}).json["result"][
            "contents"
        ][0]["blob"]
        == "iVBORw=="
    )
