"""What a client shows of the server: its title and icon, which nothing foreign is fetched for."""

from __future__ import annotations

import asyncio
import base64
import runpy
import zlib
from pathlib import Path
from typing import Any

import fastmcp
import pytest

from carrel.doors.mcp.fastmcp_server import fastmcp_server
from carrel.doors.mcp.handshake import handshake_dispatcher
from carrel.doors.mcp.icon import server_icons
from carrel.rooms import declared_rooms
from carrel.settings import ServerSettings
from carrel.wiring.mcp import desk_endpoints
from tests.doors.house import HANDSHAKES, House, build_house

pytestmark = pytest.mark.promise("D4")

_STAMP = "io.modelcontextprotocol/serverInfo"
_DRAWING = Path(__file__).parents[2] / "packaging" / "draw_icon.py"
_FOLDER = Path(__file__).parents[2] / "src" / "carrel" / "doors" / "mcp"


@pytest.fixture(scope="module")
def house() -> House:
    return build_house()


def greet(house: House, path: str, version: str) -> dict[str, Any]:
    params = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    info: dict[str, Any] = house.post(path, message).json["result"]["serverInfo"]
    return info


@pytest.mark.parametrize("path", ["/mcp", "/desk/mcp"])
@pytest.mark.parametrize("version", HANDSHAKES)
def test_a_handshake_has_the_fields_that_its_revision_knows(
    house: House, path: str, version: str
) -> None:
    info = greet(house, path, version)
    assert info.get("title") == ("Carrel research desk" if version >= "2025-06-18" else None)
    assert ("icons" in info) is (version >= "2025-11-25")


def test_a_room_alone_is_named_in_the_title(house: House) -> None:
    title = house.desk.catalogue.room("sample").title
    assert greet(house, "/sample/mcp", "2025-11-25")["title"] == f"Carrel: {title}"


def test_discovery_stamps_title_and_icons_and_other_answers_stay_short(house: House) -> None:
    stamp = house.ask_modern("server/discover").json["result"]["_meta"][_STAMP]
    assert stamp["title"] == "Carrel research desk" and stamp["icons"]
    other = house.ask_modern("tools/list").json["result"]["_meta"][_STAMP]
    assert set(other) == {"name", "version"}


@pytest.mark.parametrize("rooms", [("papers",), ("papers", "knowledge")])
def test_the_early_handshake_tells_the_same_title(rooms: tuple[str, ...]) -> None:
    chosen = [declared_rooms()[name] for name in rooms]
    early = handshake_dispatcher(chosen, ServerSettings()).endpoint.server_title
    assert early == ("Carrel: Papers" if len(rooms) == 1 else "Carrel research desk")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_reads_title_and_icons(house: House, mode: str) -> None:
    endpoint = desk_endpoints(house.desk).common(has_everything=True)

    async def look() -> Any:
        server = fastmcp_server(endpoint, house.desk.gate)
        async with fastmcp.Client(server, mode=mode) as client:
            called = await client.call_tool_mcp("find_operation", {"what": "add"})
            return client.session.server_info, called.meta

    info, meta = asyncio.run(look())
    assert info.title == "Carrel research desk"
    assert [icon.mime_type for icon in info.icons] == ["image/png", "image/svg+xml"]
    assert "icons" not in str(meta)


def test_icons_are_data_that_is_drawn_by_our_own_code() -> None:
    drawing = runpy.run_path(str(_DRAWING))
    small, drawn = server_icons()
    assert all(str(icon["src"]).startswith("data:") for icon in (small, drawn))
    assert base64.b64decode(str(drawn["src"]).split(",")[1]).decode() == drawing["svg"]()
    kept = base64.b64decode(str(small["src"]).split(",")[1])
    assert pixels(kept) == pixels(drawing["png"](48))
    assert sum(len(str(icon["src"])) for icon in (small, drawn)) < 2_000
    large = (_FOLDER / "icon.png").read_bytes()
    assert large[16:24] == (512).to_bytes(4) * 2
    assert len(pixels(large)) == 512 * 513


def pixels(png: bytes) -> bytes:
    """The uncompressed rows, which do not depend on the compressor."""
    at = png.index(b"IDAT")
    return zlib.decompress(png[at + 4 : at + 4 + int.from_bytes(png[at - 4 : at])])
