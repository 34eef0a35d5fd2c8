"""Operations for the operator of the server are refused at every remote door."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from carrel.core.caller import Visit
from carrel.core.catalogue import Catalogue, Room
from carrel.core.decorators import collect_operations
from carrel.core.errors import UnknownOperationError
from carrel.core.operation import Operation
from carrel.wiring.mcp import stdio_dispatcher
from tests.doors.house import HANDSHAKES, MODERN, House, build_house
from tests.sample_room import ROOM, SampleLocalOperations

CALL = {"name": "sweep_floor", "arguments": {}}


def sweeping(house: House) -> Operation[Any]:
    (operation,) = collect_operations("sample", SampleLocalOperations(house.held))
    return operation


@pytest.fixture
def house() -> House:
    return build_house()


@pytest.mark.parametrize("door", ["mcp", "mcp-http", "rest", "stdio", "memory", "http", ""])
def test_the_gate_refuses_a_local_operation_at_every_other_door_and_writes_it_down(
    house: House, door: str
) -> None:
    operation = sweeping(house)
    visit = Visit(door, "1")

    async def call() -> Any:
        caller = await house.desk.gate.identify(visit)
        return await house.desk.gate.call(operation, {}, caller, visit)

    with pytest.raises(UnknownOperationError):
        asyncio.run(call())
    assert house.held.notes == []
    assert [(each.phase, each.action, each.error_code) for each in house.audit.records] == [
        ("refused", "sample:sweep", "unknown_tool")
    ]


def test_the_command_line_runs_it_and_the_log_names_who_typed_it(house: House) -> None:
    operation = sweeping(house)
    visit = Visit("cli", "1", operator="ada")

    async def call() -> Any:
        caller = await house.desk.gate.identify(visit)
        return await house.desk.gate.call(operation, {}, caller, visit)

    assert asyncio.run(call()).body == "swept"
    assert house.held.notes == ["swept"]
    assert [(each.phase, each.user_id, each.result) for each in house.audit.records] == [
        ("started", "local:ada", "started"),
        ("ended", "local:ada", "success"),
    ]


def test_a_catalogue_refuses_to_hold_it(house: House) -> None:
    room = Room.collect(ROOM, SampleLocalOperations(house.held))
    with pytest.raises(ValueError, match="sweep_floor is local and must not reach a door"):
        Catalogue([room])


@pytest.mark.parametrize("path", ["/mcp", "/desk/mcp", "/sample/mcp"])
@pytest.mark.parametrize("era", [MODERN, *HANDSHAKES])
def test_it_is_not_a_tool_at_any_mcp_address(house: House, era: str, path: str) -> None:
    listed = house.ask(era, "tools/list", path=path).json["result"]["tools"]
    assert "sweep_floor" not in {tool["name"] for tool in listed}
    answer = house.ask(era, "tools/call", CALL, path=path).json
    assert answer["error"]["code"] == -32602
    assert house.held.notes == []


@pytest.mark.parametrize("path", ["/mcp", "/desk/mcp"])
def test_it_cannot_be_found_or_run_through_another_tool(house: House, path: str) -> None:
    for what in ("", "sweep the floor"):
        find = {"name": "find_operation", "arguments": {"what": what}}
        assert b"sweep_floor" not in house.ask_modern("tools/call", find, path).body
    run = {"name": "run_operation", "arguments": {"name": "sweep_floor", "arguments": {}}}
    result = house.ask_modern("tools/call", run, path).json["result"]
    assert result["isError"] is True
    assert house.held.notes == []


def test_it_is_not_at_the_rest_door(house: House) -> None:
    assert b"sweep_floor" not in house.send("GET", "/mcp/tools").body
    assert b"sweep_floor" not in house.send("GET", "/openapi.json").body
    assert house.send("GET", "/mcp/tools/sweep_floor").status == 404
    asked = house.post("/mcp/invoke", {"tool_name": "sweep_floor", "params": {}})
    assert (asked.status, asked.json["error"]) == (400, "unknown tool")
    assert house.held.notes == []


def test_it_is_not_a_tool_over_standard_input_and_output(house: House) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}
    visit = Visit("stdio", "1")

    async def call() -> Any:
        caller = await house.desk.gate.identify(visit)
        return await stdio_dispatcher(house.desk).answer(message, caller, visit, is_modern=False)

    assert b'"code":-32602' in asyncio.run(call()).body
    assert house.held.notes == []
