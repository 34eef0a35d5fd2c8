"""Properties of the doors: no input makes a traceback, a 500 or an unanswered request."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.doors.mcp.dispatcher import Dispatcher
from carrel.doors.mcp.stdio import _Session, read_lines
from carrel.policy.gate import Gate
from carrel.wiring.mcp import stdio_dispatcher
from tests.doors.house import HANDSHAKES, MODERN, NAMED_BY, Answer, House, build_house, modern

HOUSE = build_house()
LANE = stdio_dispatcher(HOUSE.desk)
SAFE_TOOLS = sorted(
    set(HOUSE.desk.catalogue.operations)
    - {"fail", "answer_nonsense", "hold", "wait_until_held", "dawdle"}
)
METHODS = (
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "notifications/initialized",
    "notifications/cancelled",
    "subscriptions/listen",
)

few = settings(max_examples=150, deadline=None, derandomize=True)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
names = st.sampled_from([*SAFE_TOOLS, "plan", "secret_plan", "carrel"]) | st.text(max_size=12)
uris = st.sampled_from(
    ["sample://greeting", "sample://picture", "sample://things/missing"]
) | st.text(max_size=30).map(lambda text: f"sample://things/{text}")
metas = st.fixed_dictionaries(
    {},
    optional={
        "io.modelcontextprotocol/protocolVersion": st.sampled_from([MODERN, "2025-11-25"]) | values,
        "io.modelcontextprotocol/clientCapabilities": values,
        "progressToken": values,
    },
)
params = st.one_of(
    values,
    st.fixed_dictionaries(
        {},
        optional={
            "name": names | values,
            "uri": uris | values,
            "arguments": st.dictionaries(
                st.sampled_from(["a", "b", "text", "name", "limit", "topic"]), values, max_size=4
            )
            | values,
            "cursor": values,
            "protocolVersion": st.sampled_from(HANDSHAKES) | values,
            "_meta": metas | values,
            "requestId": values,
        },
    ),
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | values,
        "id": st.integers(0, 5) | values,
        "method": st.sampled_from(METHODS) | values,
        "params": params,
        "result": values,
        "error": values,
    },
)
visible = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF), max_size=30)
headers = st.lists(
    st.one_of(
        st.tuples(
            st.just("mcp-protocol-version"), st.sampled_from([*HANDSHAKES, MODERN]) | visible
        ),
        st.tuples(st.just("mcp-method"), st.sampled_from(METHODS) | visible),
        st.tuples(
            st.just("mcp-name"),
            st.sampled_from(SAFE_TOOLS) | visible | visible.map(lambda text: f"=?base64?{text}?="),
        ),
        st.tuples(st.just("content-type"), st.just("application/json") | visible),
        st.tuples(st.just("accept"), st.just("application/json, text/event-stream") | visible),
        st.tuples(st.just("origin"), st.just("http://localhost:1") | visible),
        st.tuples(
            st.sampled_from(
                ["authorization", "user-agent", "x-forwarded-for", "content-length", "host"]
            ),
            visible,
        ),
    ),
    max_size=6,
)


def encodable(value: object) -> bytes:
    """As JSON, or as the nearest text where a number or string has no place in JSON."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return repr(value).encode("utf-8", "replace")


def send(house: House, path: str, body: bytes, given_headers: list[tuple[str, str]]) -> Answer:
    answer = house.send("POST", path, body, given_headers)
    assert answer.status < 500, answer
    assert answer.header("content-type") == "application/json" or answer.status in {202, 204}
    return answer


@few
@given(
    body=st.binary(max_size=200) | values.map(encodable) | messages.map(encodable),
    given_headers=headers,
)
@pytest.mark.parametrize("path", ["/mcp", "/sample/mcp", "/mcp/invoke"])
def test_any_bytes_under_any_headers_are_answered(
    path: str, body: bytes, given_headers: list[tuple[str, str]]
) -> None:
    answer = send(HOUSE, path, body, given_headers)
    assert answer.body == b"" if answer.status == 202 else answer.json is not None


@few
@given(message=messages, era=st.sampled_from([*HANDSHAKES, MODERN]))
@pytest.mark.parametrize("path", ["/mcp", "/sample/mcp"])
def test_every_request_gets_one_answer_with_its_own_id(
    path: str, message: dict[str, Any], era: str
) -> None:
    given_headers = [("mcp-protocol-version", era)]
    method = message.get("method")
    if era == MODERN and isinstance(method, str) and method.isascii() and method.isprintable():
        given_headers.append(("mcp-method", method))
    try:
        body = orjson.dumps(message)
    except TypeError:
        return
    sent = orjson.loads(body)
    answer = send(HOUSE, path, body, given_headers)
    request_id = sent.get("id")
    is_request = (
        "id" in sent and isinstance(sent.get("method"), str) and sent.get("jsonrpc") == "2.0"
    )
    if is_request and isinstance(request_id, (int, str)) and not isinstance(request_id, bool):
        assert answer.json["id"] == request_id
        assert ("result" in answer.json) != ("error" in answer.json)


@few
@given(
    arguments=st.dictionaries(
        st.sampled_from(["a", "b", "text", "times", "limit", "name"]), values, max_size=4
    ),
    name=st.sampled_from(SAFE_TOOLS),
)
@pytest.mark.parametrize("era", ["2025-11-25", MODERN])
def test_any_arguments_are_answered_with_a_result(
    era: str, name: str, arguments: dict[str, Any]
) -> None:
    wanted = {"name": name, "arguments": arguments}
    try:
        orjson.dumps(wanted)
    except TypeError:
        return
    answer = HOUSE.ask(era, "tools/call", wanted)
    assert answer.status == 200
    assert answer.json["result"].get("isError", False) in {True, False}


@few
@given(uri=uris)
def test_any_address_is_read_or_refused(uri: str) -> None:
    try:
        body = orjson.dumps(modern("resources/read", {"uri": uri}))
    except TypeError:
        return
    encoded = uri if uri.isascii() and uri.isprintable() else None
    given_headers = [("mcp-protocol-version", MODERN), ("mcp-method", "resources/read")]
    if encoded is not None:
        given_headers.append(("mcp-name", encoded))
    answer = send(HOUSE, "/mcp", body, given_headers)
    assert answer.status in {200, 400}


@few
@given(
    tool_name=names | values,
    params=values,
    more=st.dictionaries(st.text(max_size=5), values, max_size=1),
)
def test_any_invocation_is_answered(
    tool_name: object, params: object, more: dict[str, object]
) -> None:
    try:
        body = orjson.dumps({"tool_name": tool_name, "params": params, **more})
    except TypeError:
        return
    answer = HOUSE.send("POST", "/mcp/invoke", body)
    assert answer.status in {200, 400, 404, 503}
    assert answer.json["success"] is (answer.status == 200)


@few
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "BREW"]),
    path=st.text(max_size=30),
    given_headers=headers,
)
def test_any_path_is_answered(method: str, path: str, given_headers: list[tuple[str, str]]) -> None:
    for tail in ("/" + path, "/mcp/tools/" + path):
        try:
            answer = HOUSE.send(method, tail, b"{}", given_headers)
        except UnicodeEncodeError:
            return
        assert answer.status < 500


def answered(lines: list[bytes]) -> list[Any]:
    """What a stdio session says to these lines; the session itself is what `carrel mcp` runs."""

    async def session() -> list[bytes]:
        said: list[bytes] = []
        rooms: asyncio.Future[tuple[Dispatcher, Gate]] = asyncio.get_running_loop().create_future()
        rooms.set_result((LANE, HOUSE.desk.gate))
        conversation = _Session(LANE, rooms, said.append)
        async with asyncio.TaskGroup() as running:
            for line in lines:
                conversation.take(line, running)
        return said

    return [orjson.loads(line) for line in asyncio.run(session())]


@few
@given(
    lines=st.lists(
        st.binary(min_size=1, max_size=60) | messages.map(encodable), min_size=1, max_size=5
    )
)
def test_stdio_answers_every_line_that_wants_an_answer_and_lives_on(lines: list[bytes]) -> None:
    said = answered([*lines, orjson.dumps({"jsonrpc": "2.0", "id": "the end", "method": "ping"})])
    assert {"jsonrpc": "2.0", "id": "the end", "result": {}} in said


@few
@given(message=messages)
def test_stdio_answers_a_request_once_with_its_own_id(message: dict[str, Any]) -> None:
    try:
        line = orjson.dumps(message)
    except TypeError:
        return
    sent = orjson.loads(line)
    said = [answer for answer in answered([line]) if "method" not in answer]
    request_id = sent.get("id")
    is_request = (
        "id" in sent and isinstance(sent.get("method"), str) and sent.get("jsonrpc") == "2.0"
    )
    if is_request and isinstance(request_id, (int, str)) and not isinstance(request_id, bool):
        assert [answer["id"] for answer in said] == [request_id]
    else:
        assert len(said) <= 1


@few
@given(chunks=st.lists(st.binary(max_size=40), max_size=8))
def test_lines_are_the_same_however_they_arrive(chunks: list[bytes]) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"".join(chunks))
    os.close(writing)
    lines = list(read_lines(reading))
    os.close(reading)
    assert lines == [line for line in b"".join(chunks).split(b"\n") if line.strip()]


def test_nothing_unexpected_was_logged_by_a_sample_of_all_this(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        for method in METHODS:
            for era in (*HANDSHAKES, MODERN):
                named = NAMED_BY.get(method, "x")
                odd: tuple[Any, ...] = (None, 5, "", "say", {}, [], "\u0000")
                for value in odd:
                    HOUSE.ask(era, method, {named: value})
    assert caplog.records == []
