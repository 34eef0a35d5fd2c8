"""The REST gateway: its shapes, its statuses, and that nothing of the inside comes out."""

from __future__ import annotations

import logging
from typing import Any

import orjson
import pytest
from openapi_spec_validator import validate

from tests.doors.house import House, build_house

ERROR_FIELDS = {
    "success",
    "error",
    "error_type",
    "details",
    "error_id",
    "request_id",
    "retryable",
    "retry_after",
    "timestamp",
    "recovery_suggestions",
}


def invoke(house: House, tool_name: object, params: object = None) -> tuple[int, Any]:
    body = (
        {"tool_name": tool_name} if params is None else {"tool_name": tool_name, "params": params}
    )
    answer = house.post("/mcp/invoke", body)
    assert answer.header("content-type") == "application/json"
    return answer.status, answer.json


@pytest.mark.promise("D7")
@pytest.mark.parametrize("name", ["no_such_tool", "", "add", "\u2028", "x" * 5000])
def test_an_unknown_tool_is_400(house: House, name: str) -> None:
    status, body = invoke(house, name, {})
    assert (status, body["error"], body["error_type"]) == (400, "unknown tool", "unknown_tool")
    assert set(body) == ERROR_FIELDS
    assert house.audit.records[-1].error_code == "unknown_tool"


@pytest.mark.promise("D7")
@pytest.mark.parametrize(
    ("params", "field", "problem"),
    [
        ({"a": 1}, "b", "b is required"),
        ({"a": 1, "b": "2"}, "b", "input should be a valid integer"),
        ({"a": 1, "b": 1001}, "b", "less than or equal to 1000"),
        ({"a": 1, "b": 2, "c": 3}, "c", "c is not a parameter"),
        ({"a": True, "b": 2}, "a", "integer"),
    ],
)
def test_invalid_parameters_are_400_and_say_which(
    house: House, params: dict[str, object], field: str, problem: str
) -> None:
    status, body = invoke(house, "add_numbers", params)
    assert (status, body["success"], body["error_type"]) == (400, False, "invalid_input")
    shown = {item["field"]: item["problem"] for item in body["details"]["errors"]}
    assert problem in shown[field]
    assert problem in body["error"]


@pytest.mark.promise("D7")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"5",
        b'"x"',
        b"{}",
        b'{"tool_name":5}',
        b'{"tool_name":"say","params":[]}',
        b"\xff",
    ],
)
def test_a_body_of_another_shape_is_400(house: House, body: bytes) -> None:
    answer = house.send("POST", "/mcp/invoke", body, [("content-type", "application/json")])
    assert (answer.status, answer.json["error_type"]) == (400, "invalid_input")


@pytest.mark.promise("D7")
def test_a_body_that_is_not_json_is_415(house: House) -> None:
    answer = house.send(
        "POST",
        "/mcp/invoke",
        b"tool_name=say",
        [("content-type", "application/x-www-form-urlencoded")],
    )
    assert answer.status == 415


@pytest.mark.promise("D7")
@pytest.mark.parametrize(
    ("name", "params", "status", "code", "is_retryable"),
    [
        ("find_thing", {"name": "x"}, 404, "resource_not_found", False),
        ("reach", {}, 503, "unavailable", True),
        ("dawdle", {}, 504, "timed_out", True),
        ("fail", {}, 500, "internal_error", False),
        ("answer_nonsense", {}, 500, "internal_error", False),
    ],
)
def test_each_failure_has_its_status(
    house: House, name: str, params: dict[str, object], status: int, code: str, is_retryable: bool
) -> None:
    got, body = invoke(house, name, params)
    assert (got, body["error_type"], body["retryable"], body["success"]) == (
        status,
        code,
        is_retryable,
        False,
    )
    assert set(body) == ERROR_FIELDS


@pytest.mark.promise("D7")
def test_the_unexpected_shows_an_id_that_is_in_the_log_and_nothing_else(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        status, body = invoke(house, "fail")
    assert status == 500
    assert body["error"] == "An unexpected error occurred"
    assert "cupboard" not in orjson.dumps(body).decode()
    logged = [
        record for record in caplog.records if getattr(record, "error_id", None) == body["error_id"]
    ]
    assert any(record.exc_info for record in logged)
    assert {getattr(record, "request_id", None) for record in logged} == {body["request_id"]}


@pytest.mark.promise("D7")
def test_requests_are_logged_with_the_id_the_client_gets(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "carrel.rest"):
        answer = house.post("/mcp/invoke", {"tool_name": "say", "params": {"text": "hi"}})
    logged = next(record for record in caplog.records if record.getMessage() == "invoke")
    assert getattr(logged, "request_id", None) == answer.header("x-request-id")
    assert getattr(logged, "status", None) == 200


@pytest.mark.promise("D7")
def test_results_are_plain(house: House) -> None:
    assert invoke(house, "add_numbers", {"a": 2, "b": 40}) == (
        200,
        {"success": True, "result": {"total": 42}, "error": None},
    )
    assert invoke(house, "say", {"text": "ä"})[1]["result"] == "ä"
    assert invoke(house, "count", {"limit": 1})[1]["result"] == [{"number": 1, "square": 1}]
    assert invoke(house, "count_in_part")[1]["result"]["job_id"] == "job-7"
    assert [block["type"] for block in invoke(house, "show")[1]["result"]] == [
        "text",
        "image",
        "resource",
    ]


@pytest.mark.promise("D7")
def test_tools_are_listed_with_their_schemas_and_scopes(house: House) -> None:
    answer = house.send("GET", "/mcp/tools")
    assert answer.status == 200
    tools = {tool["name"]: tool for tool in answer.json["tools"]}
    assert set(tools) == set(house.desk.catalogue.operations)
    assert tools["add_numbers"]["parameters"]["required"] == ["a", "b"]
    assert tools["write_note"]["scopes"] == ["knowledge:write"]
    assert house.send("GET", "/mcp/tools/say").json == tools["say"]
    missing = house.send("GET", "/mcp/tools/nothing")
    assert (missing.status, missing.json["error"]) == (404, "unknown tool")
    assert house.send("GET", "/mcp/health").json["status"] == "healthy"


@pytest.mark.promise("D7")
@pytest.mark.parametrize(
    "path", ["/mcp/tools", "/mcp/tools/say", "/mcp/health", "/openapi.json", "/docs", "/health"]
)
def test_what_is_read_is_not_posted_to(house: House, path: str) -> None:
    answer = house.send("POST", path, b"{}")
    assert (answer.status, answer.header("allow")) == (405, "GET, HEAD")


@pytest.mark.promise("D7")
def test_the_openapi_document_is_valid_and_has_every_tool(house: House) -> None:
    document = house.send("GET", "/openapi.json").json
    validate(document)
    schemas = document["paths"]["/mcp/invoke"]["post"]["requestBody"]["content"][
        "application/json"
    ]["schema"]["oneOf"]
    assert {schema["properties"]["tool_name"]["const"] for schema in schemas} == set(
        house.desk.catalogue.operations
    )
    for status in ("400", "401", "403", "404", "429", "500", "503", "504"):
        assert status in document["paths"]["/mcp/invoke"]["post"]["responses"]


@pytest.mark.promise("D11")
def test_the_openapi_document_names_the_public_address() -> None:
    house = build_house(server={"public_url": "https://desk.example"})
    assert house.send("GET", "/openapi.json").json["servers"] == [{"url": "https://desk.example"}]


def test_the_page_runs_nothing_but_its_own_script(house: House) -> None:
    answer = house.send("GET", "/docs")
    assert answer.status == 200
    policy = answer.header("content-security-policy") or ""
    assert "default-src 'none'" in policy and "unsafe" not in policy
    for name in house.desk.catalogue.operations:
        assert f'data-tool="{name}"' in answer.body.decode()
