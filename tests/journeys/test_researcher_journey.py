"""A researcher who knows pip and Claude Desktop: the first block of README, at a real terminal."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mcp
import orjson
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.cli.terminal import read_terminal
from tests.journeys.installed import ROOT, build_wheel, install_wheel
from tests.journeys.typed.documents import commands
from tests.journeys.typed.sample_home import fill

pytestmark = [
    pytest.mark.promise("Q6"),
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal"),
]

WIDTH = 80
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# What no person should be shown: braces of JSON, log lines, names of tools, traces.
_FOREIGN = re.compile(
    r"\{\"|Traceback| (?:warning|error) +carrel\.|\b(?:search|get|list|find|cite)_[a-z]+_?[a-z]*\b"
)


@pytest.fixture(scope="module")
def carrel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    return install_wheel(build_wheel(folder / "wheels"), folder / "environment")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    fill(home)
    return home


def _first_block() -> list[str]:
    """The commands of the first section of README that need no network."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.split("\n## ")[1]
    return [each.text for each in commands(section) if each.place == "block" and not each.needs]


def _environment(carrel: Path, home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": f"{carrel.parent}{os.pathsep}{os.defpath}",
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
    }


def _type(command: str, carrel: Path, home: Path) -> str:
    """What a command that succeeds leaves on the screen, without colours."""
    screen = read_terminal(
        ["bash", "-c", f"cd && {command}"], _environment(carrel, home), width=WIDTH
    )
    # What is erased is not on the screen in the end.
    screen = screen.replace("\x1b[2K", "\r")
    lines = _COLOURS.sub("", screen).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rsplit("\r", 1)[-1] for line in lines)


def _cells(line: str) -> int:
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in line
    )


@pytest.fixture(scope="module")
def screens(carrel: Path, home: Path) -> Mapping[str, str]:
    """What each command of the block shows, in the order in which they are typed."""
    shown: dict[str, str] = {}
    for command in ["carrel", *_first_block(), "carrel"]:
        shown[f"{command} again" if command in shown else command] = _type(command, carrel, home)
    return shown


def test_an_empty_desk_names_the_first_command(screens: Mapping[str, str]) -> None:
    assert "carrel add" in screens["carrel"]


def test_the_block_shows_what_went_where(screens: Mapping[str, str]) -> None:
    assert re.search(r"68 (?:new )?papers|papers: +68 new", screens["carrel add ~/papers"])


def test_the_block_answers(screens: Mapping[str, str]) -> None:
    answer = screens["carrel find blood viscosity"]
    assert "Raised blood viscosity in Raynaud disease" in answer
    assert "carrel papers show" in answer


def test_the_block_proves_the_client(screens: Mapping[str, str]) -> None:
    screen = screens["carrel connect claude-desktop --write --check"]
    assert re.search(r"tools +[3-9]\d: search_papers", screen) and "which answered" in screen


def test_carrel_alone_says_what_is_on_the_desk(screens: Mapping[str, str]) -> None:
    assert "68" in screens["carrel again"] and "claude-desktop" in screens["carrel again"]


def test_every_screen_is_for_people(screens: Mapping[str, str], home: Path) -> None:
    for command, screen in screens.items():
        if "connect" in command:
            continue  # Names files and the tools that a client sees.
        foreign = _FOREIGN.search(screen)
        assert foreign is None, f"$ {command}\n{foreign}\n{screen}"
        # A command with a long path is never broken.
        short = [line for line in screen.split("\n") if str(home) not in line]
        wide = [line for line in short if _cells(line) > WIDTH]
        assert not wide, f"$ {command}\n{wide}"


@pytest.mark.anyio
async def test_the_client_finds_what_the_file_says(
    carrel: Path, home: Path, screens: Mapping[str, str]
) -> None:
    file = home / ".config" / "Claude" / "claude_desktop_config.json"
    entry = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["carrel"]
    # A desktop program starts with next to no environment and in a folder of its own.
    server = StdioServerParameters(
        command=entry["command"], args=entry["args"], env={"HOME": str(home)}, cwd="/"
    )
    async with stdio_client(server) as (read, write), mcp.ClientSession(read, write) as session:
        await session.initialize()
        passages = await _ask(session, "find_passages", {"query": "warm rooms and cold fingers"})
        assert any(passage["page"] == 1 for passage in passages), passages


async def _ask(session: mcp.ClientSession, tool: str, arguments: dict[str, Any]) -> Any:
    result = await session.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return orjson.loads(getattr(result.content[0], "text", ""))
