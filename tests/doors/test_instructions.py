"""The instructions of the doors that serve all rooms: short, true of the tools there are, silent
about rooms that are closed.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from carrel.doors.mcp.handshake import desk_instructions
from carrel.rooms import declared_rooms, room_names
from carrel.settings import Settings
from carrel.wiring.desk import open_desk
from carrel.wiring.mcp import desk_endpoints

pytestmark = pytest.mark.promise("D13")

_MOST_TOKENS = 250
_TOOL = re.compile(r"\b[a-z]+_[a-z_]+\b")
# Fields and parameters that the instructions name beside tools.
_FIELDS = {"paper_id", "job_id", "quoted_from"}


def pieces(text: str) -> int:
    """Words, and every sign alone: common English words are one token each, so tokenizers make
    hardly more of it.
    """
    return len(re.findall(r"[A-Za-z]+|[^\sA-Za-z]", text))


@pytest.mark.parametrize("is_compact", [False, True])
def test_instructions_are_short(is_compact: bool) -> None:
    text = desk_instructions(declared_rooms().values(), has_jobs=True, is_compact=is_compact)
    assert pieces(text) < _MOST_TOKENS
    assert len(text) / 4 < _MOST_TOKENS


@pytest.mark.parametrize(
    "rooms", [room_names(), ("papers",), ("papers", "knowledge"), ("references", "research")]
)
def test_instructions_name_only_tools_that_are_there(
    tmp_path: Path, rooms: tuple[str, ...]
) -> None:
    desk = open_desk(
        Settings.model_validate({"home": tmp_path, "rooms": rooms, "audit": {"enabled": False}})
    )
    for has_everything in (False, True):
        endpoint = desk_endpoints(desk).common(has_everything=has_everything)
        named = set(_TOOL.findall(endpoint.instructions)) - _FIELDS
        assert named <= {tool.name for tool in endpoint.listed_tools}
        assert {"find_operation", "run_operation"} <= named
