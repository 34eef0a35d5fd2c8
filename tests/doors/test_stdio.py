"""MCP over stdio: protocol only on standard output, every request that was read is answered,
progress and cancellation.
"""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import orjson
import pytest

from carrel.doors.mcp.stdio import TooLong, read_lines, serve_stdio
from carrel.wiring.mcp import stdio_dispatcher
from tests.doors.house import MODERN, House, TokenTable, build_house, modern
from tests.doors.sample_process import ENVIRONMENT, ROOT, STDIO, started
from tests.processes import warm

pytestmark = pytest.mark.promise("D6")


@pytest.fixture
def house() -> House:
    """A fresh one each time: calls that wait belong to one event loop."""
    return build_house()


def request(request_id: object, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def call(request_id: object, name: str, **params: Any) -> dict[str, Any]:
    return request(request_id, "tools/call", name=name, **params)


def converse(house: House, *lines: object) -> list[Any]:
    """Everything that is said when these lines arrive and the input ends; bytes are sent as they
    are.
    """

    async def session() -> list[bytes]:
        said: list[bytes] = []
        reading, writing = os.pipe()
        raw = b"".join(
            (line if isinstance(line, bytes) else orjson.dumps(line)) + b"\n" for line in lines
        )

        def write() -> None:
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(raw)

        writer = asyncio.get_running_loop().run_in_executor(None, write)
        await serve_stdio(stdio_dispatcher(house.desk), house.desk.gate, reading, said.append)
        await writer
        os.close(reading)
        return said

    return [orjson.loads(line) for line in asyncio.run(session())]


@pytest.mark.parametrize("line", [b"{", b"\xff\xff", b"hello", b"[" * 3000, b'{"jsonrpc":"2.0"'])
def test_a_line_that_is_not_json_is_answered_and_the_next_one_too(
    house: House, line: bytes
) -> None:
    first, second = converse(house, line, request(2, "ping"))
    assert (first["id"], first["error"]["code"]) == (None, -32700)
    assert second == {"jsonrpc": "2.0", "id": 2, "result": {}}


@pytest.mark.parametrize(
    ("line", "answered"),
    [
        (
            b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"q":"cut '  # noqa: E501
            b'\\ud83d"}}}',
            7,
        ),
        (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":{"x":NaN}}', "a"),
        (
            b'{"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":'
            + b"[" * 300
            + b"]" * 300
            + b"}}",
            8,
        ),
        (b'{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping","params":{"x":NaN}}', None),
    ],
)
def test_a_request_whose_id_can_be_read_is_refused_under_it(
    house: House, line: bytes, answered: object
) -> None:
    """A client that cut a text within an emoji would wait for an answer that never comes."""
    first, second = converse(house, line, request(2, "ping"))
    assert (first["id"], first["error"]["code"]) == (answered, -32700)
    assert second["id"] == 2


@pytest.mark.parametrize(
    "message",
    [1, "x", None, {}, {"jsonrpc": "2.0", "id": 1, "method": 2}, {"id": 1, "method": "ping"}],
)
def test_what_is_not_a_request_is_invalid(house: House, message: object) -> None:
    assert converse(house, message)[0]["error"]["code"] == -32600


def test_a_line_longer_than_any_message_is_answered_and_thrown_away() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(b"short\n" + b"x" * 3000 + b"y" * 3000 + b"\n\n  \nlast")
    assert list(read_lines(reading, 1000)) == [b"short", TooLong(), b"last"]
    os.close(reading)


def test_a_stranger_is_refused_at_this_door_too() -> None:
    (answer,) = converse(
        build_house(identity=TokenTable({})), call(1, "say", arguments={"text": "hi"})
    )
    assert (answer["id"], answer["error"]["code"]) == (1, -32001)


def test_batches_follow_the_revision_that_was_agreed(house: House) -> None:
    batch = [
        request(1, "ping"),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request(2, "ping"),
    ]
    (answer,) = converse(house, batch)
    assert [reply["id"] for reply in answer] == [1, 2]
    hello = request(0, "initialize", protocolVersion="2025-03-26")
    assert [reply["id"] for reply in converse(house, hello, batch)[1]] == [1, 2]
    later = request(0, "initialize", protocolVersion="2025-11-25")
    assert converse(house, later, batch)[1]["error"]["code"] == -32600
    assert converse(house, [])[0]["error"]["code"] == -32600


def test_an_unexpected_failure_of_one_answer_does_not_end_the_conversation(house: House) -> None:
    answers = {
        answer["id"]: answer
        for answer in converse(
            house, call(1, "answer_nonsense"), call(2, "fail"), request(3, "ping")
        )
    }
    assert answers[1]["error"]["code"] == -32603
    assert answers[2]["result"]["isError"] is True
    assert answers[3]["result"] == {}


def test_both_eras_are_spoken_message_by_message(house: House) -> None:
    hello = request(
        1,
        "initialize",
        protocolVersion="2025-06-18",
        capabilities={},
        clientInfo={"name": "t", "version": "1"},
    )
    first, second, third, fourth = converse(
        house,
        hello,
        modern("server/discover", request_id=2),
        modern("tools/call", {"name": "add", "arguments": {"a": 2, "b": 40}}, 3),
        call(4, "add", arguments={"a": 1, "b": 1}),
    )
    assert first["result"]["protocolVersion"] == "2025-06-18"
    assert first["result"]["capabilities"] == {
        "tools": {},
        "resources": {},
        "prompts": {},
        "completions": {},
    }
    assert MODERN in second["result"]["supportedVersions"]
    assert third["result"]["resultType"] == "complete"
    assert third["result"]["structuredContent"] == {"total": 42}
    assert "resultType" not in fourth["result"]


def test_every_request_that_was_read_is_answered_before_the_end(house: House) -> None:
    waiting = [call(number, "hold") for number in range(20)]
    answers = converse(house, *waiting, call("last", "release"))
    assert sorted(str(answer["id"]) for answer in answers) == sorted(
        [*(str(number) for number in range(20)), "last"]
    )
    assert all(
        "released" in answer["result"]["content"][0]["text"]
        for answer in answers
        if answer["id"] != "last"
    )


def test_a_cancelled_request_stops_and_is_not_answered(house: House) -> None:
    cancel = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1, "reason": "changed my mind"},
    }
    unknown = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": "never", "reason": 5},
    }

    async def session() -> list[bytes]:
        said: list[bytes] = []
        reading, writing = os.pipe()
        serving = asyncio.create_task(
            serve_stdio(stdio_dispatcher(house.desk), house.desk.gate, reading, said.append)
        )
        os.write(writing, orjson.dumps(call(1, "hold")) + b"\n")
        await house.held.started.wait()
        os.write(
            writing,
            orjson.dumps(unknown)
            + b"\n"
            + orjson.dumps(cancel)
            + b"\n"
            + orjson.dumps(request(2, "ping"))
            + b"\n",
        )
        os.close(writing)
        await serving
        os.close(reading)
        return said

    said = [orjson.loads(line) for line in asyncio.run(session())]
    assert [answer["id"] for answer in said] == [2]
    assert house.held.was_cancelled
    assert house.audit.records[-1].error_code == "cancelled"


@pytest.mark.parametrize("token", ["p1", 7])
def test_progress_is_told_to_who_asked_for_it(house: House, token: object) -> None:
    *steps, answer = converse(house, call(1, "report", _meta={"progressToken": token}))
    assert [step["method"] for step in steps] == ["notifications/progress"] * 3
    assert [step["params"]["progress"] for step in steps] == [1.0, 2.0, 3.0]
    assert {step["params"]["progressToken"] for step in steps} == {token}
    assert answer["id"] == 1
    assert len(converse(house, call(1, "report"))) == 1


def test_a_client_that_stops_reading_ends_the_session_quietly(house: House) -> None:
    async def session() -> None:
        reading, writing = os.pipe()
        os.write(writing, orjson.dumps(request(1, "ping")) + b"\n")
        os.close(writing)

        def gone(line: bytes) -> None:
            raise BrokenPipeError

        await serve_stdio(stdio_dispatcher(house.desk), house.desk.gate, reading, gone)
        os.close(reading)

    asyncio.run(session())


def test_standard_output_carries_the_protocol_and_nothing_else() -> None:
    lines = [
        request(
            0,
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "t", "version": "1"},
        ),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call(1, "make_noise"),
        call(2, "fail"),
        b"not json",
        call(3, "hold"),
        call(4, "release"),
    ]
    said = warm.run(
        STDIO,
        input=b"".join(
            (line if isinstance(line, bytes) else orjson.dumps(line)) + b"\n" for line in lines
        ),
        capture_output=True,
        cwd=ROOT,
        env=ENVIRONMENT,
        timeout=60,
        check=True,
    )
    answers = [orjson.loads(line) for line in said.stdout.splitlines()]
    assert sorted(str(answer["id"]) for answer in answers) == ["0", "1", "2", "3", "4", "None"]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert b"noise by print" in said.stderr and b"noise by descriptor" in said.stderr
    assert b"call failed" in said.stderr


def test_an_interrupted_process_leaves_without_a_word_on_standard_output() -> None:
    with started("stdio") as process:
        assert (
            process.stdin is not None and process.stdout is not None and process.stderr is not None
        )
        process.stdin.write(orjson.dumps(request(1, "ping")) + b"\n")
        process.stdin.flush()
        assert orjson.loads(process.stdout.readline())["id"] == 1
        process.send_signal(signal.SIGINT)
        # A process started in the background of a shell is told to ignore interrupts; it ends with
        # its input then.
        process.stdin.close()
        assert process.stdout.read() == b""
        assert b"Fatal Python error" not in process.stderr.read()
        process.wait(timeout=60)
