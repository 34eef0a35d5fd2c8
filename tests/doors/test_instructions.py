"""The instructions of the doors that serve all rooms: short, true of the tools there are, silent
about rooms that are closed.
"""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from typing import Any

import pytest

from carrel.doors.mcp.handshake import desk_instructions, handshake_dispatcher
from carrel.rooms import declared_rooms, room_names
from carrel.settings import Settings
from carrel.wiring.desk import open_desk
from carrel.wiring.mcp import desk_endpoints

pytestmark = pytest.mark.promise("D13")

_MOST_TOKENS = 250
_TOOL = re.compile(r"\b[a-z]+_[a-z_]+\b")
# Fields and parameters that the instructions name beside tools.
_FIELDS = {"paper_id", "paper_ids", "job_id", "quoted_from"}


def estimate_tokens(text: str) -> int:
    """More than tokenizers make of it: words and signs each alone, or four characters.

    For the instructions as they are, o200k has 218, cl100k 213 and this 236.
    """
    return max(len(re.findall(r"[A-Za-z]+|[^\sA-Za-z]", text)), math.ceil(len(text) / 4))


def every_choice_of_rooms() -> list[tuple[str, ...]]:
    names = room_names()
    return [
        chosen
        for size in range(1, len(names) + 1)
        for chosen in itertools.combinations(names, size)
    ]


@pytest.mark.parametrize("is_compact", [False, True])
@pytest.mark.parametrize("rooms", every_choice_of_rooms(), ids="+".join)
def test_instructions_are_short(rooms: tuple[str, ...], is_compact: bool) -> None:
    chosen = [declared_rooms()[name] for name in rooms]
    text = desk_instructions(chosen, has_jobs=True, is_compact=is_compact)
    assert estimate_tokens(text) < _MOST_TOKENS


def test_a_real_tokenizer_counts_fewer_than_the_estimate() -> None:
    tokenizer = pytest.importorskip("bpe_openai", reason="pip install bpe-openai")
    text = desk_instructions(declared_rooms().values(), has_jobs=True, is_compact=False)
    for name in ("o200k_base", "cl100k_base"):
        assert len(tokenizer.get_encoding(name).encode(text)) <= estimate_tokens(text)


@pytest.mark.parametrize("is_compact", [False, True])
@pytest.mark.parametrize("rooms", every_choice_of_rooms(), ids="+".join)
def test_instructions_name_only_tools_that_are_there(
    tmp_path: Path, rooms: tuple[str, ...], is_compact: bool
) -> None:
    settings: dict[str, Any] = {
        "home": tmp_path,
        "rooms": rooms,
        "audit": {"enabled": False},
        "server": {"compact": is_compact},
    }
    desk = open_desk(Settings.model_validate(settings))
    for has_everything in (False, True):
        endpoint = desk_endpoints(desk).common(has_everything=has_everything)
        named = set(_TOOL.findall(endpoint.instructions)) - _FIELDS
        if is_compact:
            assert named <= set(desk.catalogue.operations)
            assert "tool carrel" in endpoint.instructions
        else:
            assert named <= {tool.name for tool in endpoint.listed_tools}
            assert {"find_operation", "run_operation"} <= named
        early = handshake_dispatcher(
            [declared_rooms()[name] for name in rooms], desk.settings.server
        )
        if len(rooms) > 1 or is_compact:
            assert early.endpoint.instructions == endpoint.instructions


@pytest.mark.promise("S11")
@pytest.mark.parametrize("is_compact", [False, True])
@pytest.mark.parametrize("rooms", [("research",), ("papers", "research")], ids="+".join)
def test_wherever_research_is_served_the_instructions_lead_to_its_tasks(
    tmp_path: Path, rooms: tuple[str, ...], is_compact: bool
) -> None:
    settings = {"home": tmp_path, "rooms": rooms, "server": {"compact": is_compact}}
    desk = open_desk(Settings.model_validate({**settings, "audit": {"enabled": False}}))
    endpoints = desk_endpoints(desk)
    told = [endpoints.common(has_everything=each).instructions for each in (False, True)]
    told.append(endpoints.room(desk.catalogue.room("research")).instructions)
    declared = [declared_rooms()[name] for name in rooms]
    told.append(handshake_dispatcher(declared, desk.settings.server).endpoint.instructions)
    for text in told:
        words = ("start_research", "next_research_task", "submit_research_task", "get_results")
        places = [text.find(word) for word in words]
        assert -1 not in places
        assert places == sorted(places)
        assert estimate_tokens(text) < _MOST_TOKENS


def test_instructions_tell_the_flow_in_its_order() -> None:
    text = desk_instructions(declared_rooms().values(), has_jobs=True, is_compact=False)
    flow = re.findall(
        r"\w+",
        "search_desk search_papers find_passages read_passage locate_quote add_paper "
        "add_references cite_references save_knowledge start_research find_operation",
    )
    places = [text.index(name) for name in flow]
    assert places == sorted(places)
    assert "page" in text and "empty" in text
