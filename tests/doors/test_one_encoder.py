"""One encoder of answers: an answer has the same bytes at every door."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import fastmcp
import orjson
import pytest

from carrel.cli.rooms import _json_text
from carrel.core.answer import Blocks, Partial, Text
from carrel.core.answer_encoding import content_block, encode_answer
from carrel.core.caller import Visit
from carrel.doors.mcp.dispatcher import Dispatcher
from carrel.doors.mcp.fastmcp_server import fastmcp_server
from carrel.doors.mcp.stdio import serve_stdio
from carrel.wiring.mcp import desk_endpoints
from tests.doors.house import House, build_house, modern

CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("add_numbers", {"a": 2, "b": 40}),
    ("count", {"limit": 3}),
    ("count", {"limit": 0}),
    ("count_in_part", {}),
    ("say", {"text": 'ä \u2028 "quoted" 🙂'}),
    ("show", {}),
)


def answer_of(house: House, name: str, arguments: dict[str, Any]) -> Any:
    gate, visit = house.desk.gate, Visit("memory", "1")

    async def call() -> Any:
        caller = await gate.identify(visit)
        return await gate.call(house.desk.catalogue.operations[name], arguments, caller, visit)

    return asyncio.run(call())


def over_stdio(house: House, message: dict[str, Any]) -> bytes:
    async def talk() -> bytes:
        reading, writing = os.pipe()
        os.write(writing, orjson.dumps(message) + b"\n")
        os.close(writing)
        endpoint = desk_endpoints(house.desk).room(house.desk.catalogue.room("sample"))
        answers: list[bytes] = []
        dispatcher = Dispatcher(endpoint, house.desk.gate)
        await serve_stdio(dispatcher, house.desk.gate, reading, answers.append)
        os.close(reading)
        return b"".join(answers)

    return asyncio.run(talk())


def over_fastmcp(house: House, name: str, arguments: dict[str, Any]) -> Any:
    endpoint = desk_endpoints(house.desk).room(house.desk.catalogue.room("sample"))

    async def talk() -> Any:
        async with fastmcp.Client(fastmcp_server(endpoint, house.desk.gate)) as client:
            return await client.call_tool_mcp(name, arguments)

    return asyncio.run(talk())


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_an_answer_has_the_same_bytes_at_every_door(name: str, arguments: dict[str, Any]) -> None:
    house = build_house()
    operation = house.desk.catalogue.operations[name]
    alone = operation.name_alone or name
    answer = answer_of(house, name, arguments)
    encoded = encode_answer(operation.answer, answer)

    rest = house.post("/mcp/invoke", {"tool_name": name, "params": arguments})
    assert rest.body.startswith(b'{"success":true,"result":' + encoded + b',"error":null')

    call = {"name": alone, "arguments": arguments}
    results = [
        house.ask(era, "tools/call", call, "/sample/mcp").body
        for era in ("2025-11-25", "2026-07-28")
    ]
    results.append(over_stdio(house, modern("tools/call", call)))
    if isinstance(answer, Text | Blocks):
        parts = answer.parts if isinstance(answer, Blocks) else (answer,)
        inside = b'"content":' + orjson.dumps([content_block(part) for part in parts])
    else:
        structured = b'{"result":' + encoded + b"}" if encoded.startswith(b"[") else encoded
        text = orjson.dumps([{"type": "text", "text": encoded.decode()}])
        inside = b'"content":' + text + b',"structuredContent":' + structured
        said = over_fastmcp(house, alone, arguments)
        assert orjson.dumps(said.structured_content) == structured
        assert said.content[0].text == encoded.decode()
        run = house.ask(
            "2025-11-25",
            "tools/call",
            {"name": "run_operation", "arguments": {"name": name, "arguments": arguments}},
        )
        direct = house.ask("2025-11-25", "tools/call", {"name": name, "arguments": arguments})
        assert run.json["result"] == direct.json["result"]
        assert run.json["result"]["content"][0]["text"] == encoded.decode()
        rows = list(answer.result) if isinstance(answer, Partial) else answer
        encoded = encode_answer(operation.answer, rows)
        printed = _json_text(operation, answer)
        assert orjson.dumps(orjson.loads(printed)) == encoded
        assert printed == orjson.dumps(orjson.loads(encoded), option=orjson.OPT_INDENT_2).decode()
    for result in results:
        assert inside in result
