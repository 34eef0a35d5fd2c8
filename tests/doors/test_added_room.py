"""A room that is one folder and one line is served, commanded and documented like the others."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import carrel.rooms
from carrel.cli import main
from carrel.cli.reference import reference
from carrel.core.caller import Caller, Visit
from carrel.doors.mcp.handshake import handshake_dispatcher
from carrel.rooms import declared_rooms
from carrel.settings import Settings, read_settings
from carrel.wiring.desk import open_desk
from carrel.wiring.http import http_app
from carrel.wiring.mcp import stdio_dispatcher
from tests.doors.house import House, Notebook


@pytest.fixture
def with_greenhouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    # The one line.
    packages = (*carrel.rooms.ROOM_PACKAGES, "tests.guest_room")
    monkeypatch.setattr(carrel.rooms, "ROOM_PACKAGES", packages)
    return tmp_path / "home"


def house(home: Path, *rooms: str) -> House:
    desk = open_desk(
        Settings.model_validate(
            {"home": home, "audit": {"enabled": False}, **({"rooms": rooms} if rooms else {})}
        )
    )
    return House(http_app(desk), desk, Notebook())


def answered(
    there: House, method: str, params: Mapping[str, object] | None = None, *, path: str
) -> Any:
    return there.ask_modern(method, params, path).json["result"]


def test_it_is_open_by_default_beside_the_others(with_greenhouse: Path) -> None:
    settings = read_settings({("audit", "enabled"): False})
    assert settings.rooms[-1] == "greenhouse"


def test_its_tools_resources_and_prompts_are_at_the_mcp_doors(with_greenhouse: Path) -> None:
    there = house(with_greenhouse)
    for path in ("/desk/mcp", "/greenhouse/mcp"):
        tools = answered(there, "tools/list", path=path)["tools"]
        assert {"list_plants", "water_plant"} <= {tool["name"] for tool in tools}
        call = {"name": "water_plant", "arguments": {"name": "fern"}}
        assert answered(there, "tools/call", call, path=path)["structuredContent"]["name"] == "fern"
        read = answered(there, "resources/read", {"uri": "plant://fern"}, path=path)
        assert read["contents"][0]["text"].startswith("fern: watered")
        prompts = answered(there, "prompts/list", path=path)["prompts"]
        assert "repot" in {prompt["name"] for prompt in prompts}
    instructions = answered(there, "server/discover", path="/desk/mcp")["instructions"]
    assert "Plants: list_plants first, then water_plant." in instructions


def test_it_is_at_the_rest_door_and_in_openapi(with_greenhouse: Path) -> None:
    there = house(with_greenhouse, "greenhouse")
    tools = there.send("GET", "/mcp/tools").json["tools"]
    assert [tool["name"] for tool in tools if tool["room"] == "greenhouse"] == [
        "list_plants",
        "water_plant",
    ]
    assert b"water_plant" in there.send("GET", "/openapi.json").body


@pytest.mark.parametrize("rooms", [("greenhouse",), ("papers", "greenhouse")])
def test_the_greeting_before_it_is_open_says_the_same(
    with_greenhouse: Path, rooms: tuple[str, ...]
) -> None:
    settings = Settings.model_validate(
        {"home": with_greenhouse, "rooms": rooms, "audit": {"enabled": False}}
    )
    params = {"protocolVersion": "2025-11-25"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    caller, visit = Caller("local", frozenset()), Visit("stdio", "test")

    async def both() -> tuple[Any, Any]:
        early = handshake_dispatcher(
            [declared_rooms()[name] for name in settings.rooms], settings.server
        )
        async with open_desk(settings).session() as desk:
            later = stdio_dispatcher(desk)
            return (
                await early.answer(message, caller, visit, is_modern=False),
                await later.answer(message, caller, visit, is_modern=False),
            )

    early, later = asyncio.run(both())
    assert early == later
    assert early is not None


def test_its_commands_are_at_the_command_line(
    with_greenhouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--help"]) == 0
    assert "  greenhouse    list and water plants\n" in capsys.readouterr().out
    assert main(["greenhouse", "water", "ficus"]) == 0
    assert capsys.readouterr().out == "name: ficus\nwaterings: 1\n"
    assert main(["greenhouse", "water", "oak"]) == 3


def test_its_local_operations_are_at_the_command_line_alone(
    with_greenhouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["greenhouse", "paint", "green"]) == 0
    assert main(["greenhouse", "paint"]) == 0
    said = capsys.readouterr()
    assert said.out == "painted green\npainted white\n"
    assert "Next: carrel greenhouse list shows the plants in it." in said.err
    there = house(with_greenhouse)
    assert "paint_greenhouse" not in there.desk.catalogue.operations
    call = {"name": "paint_greenhouse", "arguments": {}}
    for path in ("/mcp", "/desk/mcp", "/greenhouse/mcp"):
        refused = there.ask_modern("tools/call", call, path).json
        assert refused["error"]["code"] == -32602


def test_it_is_in_the_reference(with_greenhouse: Path) -> None:
    page = reference(house(with_greenhouse).desk.catalogue)
    assert "## Greenhouse\n\nKeep plants and say how they are." in page
    assert "Command line: `carrel greenhouse water`." in page
    assert "| `plant://{name}` | How a plant is. | `knowledge:read` |" in page
