"""A client is greeted before the rooms are open, with the very words that the open rooms would
say.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from carrel.core.caller import Caller, Visit
from carrel.doors.mcp.handshake import handshake_dispatcher
from carrel.rooms import declared_rooms, room_names
from carrel.settings import Settings
from carrel.wiring.desk import open_desk
from carrel.wiring.mcp import stdio_dispatcher
from tests.processes import warm

META = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


@pytest.mark.promise("D9")
@pytest.mark.parametrize("is_compact", [False, True])
@pytest.mark.parametrize(
    "rooms", [*((name,) for name in room_names()), ("papers", "knowledge"), room_names()]
)
@pytest.mark.parametrize(
    ("method", "params"),
    [("initialize", {"protocolVersion": "2025-11-25"}), ("server/discover", META), ("ping", {})],
)
def test_the_greeting_says_what_the_open_rooms_would_say(
    tmp_path: Path, rooms: tuple[str, ...], method: str, params: object, is_compact: bool
) -> None:
    settings = Settings.model_validate(
        {
            "home": tmp_path,
            "rooms": rooms,
            "audit": {"enabled": False},
            "server": {"compact": is_compact},
        }
    )
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    caller, visit = Caller("local", frozenset()), Visit("stdio", "test")

    async def both() -> tuple[bytes, bytes]:
        async with open_desk(settings).session() as desk:
            is_modern = method == "server/discover"
            early = await handshake_dispatcher(
                [declared_rooms()[name] for name in settings.rooms], settings.server
            ).answer(message, caller, visit, is_modern=is_modern)
            later = await stdio_dispatcher(desk).answer(message, caller, visit, is_modern=is_modern)
            assert early is not None
            assert later is not None
            return early.body, later.body

    early, later = asyncio.run(both())
    assert json.loads(early) == json.loads(later)


def test_rooms_that_cannot_be_opened_end_the_session_with_the_reason(tmp_path: Path) -> None:
    environment = {**os.environ, "CARREL_HOME": str(tmp_path), "CARREL_KNOWLEDGE_STORE": "postgres"}
    environment.pop("DATABASE_URL", None)
    done = warm.run(
        [
            sys.executable,
            "-c",
            "import sys; from carrel.cli import main; sys.exit(main(['mcp', '--rooms', "
            "'knowledge']))",
        ],
        input='{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n',
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert "DATABASE_URL" in done.stderr
    assert "Traceback" not in done.stderr
