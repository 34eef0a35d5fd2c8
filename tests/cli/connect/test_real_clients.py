"""Real clients read what was written: `make interop-clients` installs them from npm and runs this.

`CARREL_TEST_CLIENTS` names the folder that npm installed them into.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.connect.conftest import Connect
from tests.cli.connect.test_check import program
from tests.cli.test_private_home import serving

# Absolute, because each test works in a folder of its own.
TOOLS = Path(os.environ.get("CARREL_TEST_CLIENTS", "nowhere")).absolute() / "node_modules" / ".bin"
pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.skipif(not TOOLS.is_dir(), reason="CARREL_TEST_CLIENTS names no clients"),
]
__all__ = ["program"]


def run_client(*words: str) -> str:
    """What a client prints, with its own Node.js first on the path."""
    program = TOOLS / words[0]
    if not program.exists():
        pytest.skip(f"{words[0]} is not installed")
    environment = {**os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("CARREL_HOME", None)
    done = subprocess.run(
        [str(program), *words[1:]],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    # Gemini lists on standard error.
    return done.stdout or done.stderr


@pytest.fixture
def server(home: Path) -> Iterator[str]:
    with serving(home / "desk", "--secret") as (url, _):
        yield url


def write_both(connect: Connect, client: str, server: str, *more: str) -> None:
    for words in ((), ("--name", "desk", "--url", server)):
        done = connect(client, "--write", *more, *words)
        assert done.code == 0, done.err


@pytest.mark.parametrize("scope", ["user"])
def test_claude_code_connects_to_both(
    connect: Connect, program: Path, server: str, scope: str
) -> None:
    write_both(connect, "claude-code", server, "--scope", scope)
    listed = run_client("claude", "mcp", "list")
    assert re.search(rf"carrel: {program} mcp .*Connected", listed), listed
    assert re.search(rf"desk: {server}/desk/mcp .*Connected", listed), listed


def test_codex_reads_both(connect: Connect, program: Path, server: str) -> None:
    write_both(connect, "codex", server)
    listed = json.loads(run_client("codex", "mcp", "list", "--json"))
    transports = {entry["name"]: entry["transport"] for entry in listed}
    assert transports["carrel"]["command"] == str(program)
    assert transports["desk"]["url"] == f"{server}/desk/mcp"
    assert transports["desk"]["http_headers"]["Authorization"].startswith("Bearer ")


def test_gemini_connects_to_both(connect: Connect, home: Path, program: Path, server: str) -> None:
    write_both(connect, "gemini", server)
    trusted = {str(home / "project"): "TRUST_FOLDER"}
    (home / ".gemini" / "trustedFolders.json").write_text(json.dumps(trusted))
    listed = run_client("gemini", "mcp", "list")
    assert re.search(rf"carrel: {program} mcp .*Connected", listed), listed
    assert re.search(rf"desk: {server}/desk/mcp .*Connected", listed), listed


def test_cline_writes_the_same_and_removes_ours(connect: Connect, home: Path, server: str) -> None:
    connect("cline", "--scope", "cli", "--write", "--url", server)
    file = home / ".cline" / "data" / "settings" / "cline_mcp_settings.json"
    ours = json.loads(file.read_text())["mcpServers"]["carrel"]
    url = f"{server}/desk/mcp"
    run_client("cline", "mcp", "install", "--yes", "--transport", "streamableHttp", "theirs", url)
    written = json.loads(file.read_text())["mcpServers"]
    assert written["carrel"] == ours
    theirs = written["theirs"].get("transport", written["theirs"])
    assert (theirs["type"], theirs["url"]) == (ours["type"], ours["url"])
    assert "Uninstalled" in run_client("cline", "mcp", "uninstall", "carrel")
    assert "carrel" not in json.loads(file.read_text())["mcpServers"]


@pytest.mark.skipif(shutil.which("npx") is None, reason="Node.js is not installed")
def test_the_bridge_of_claude_desktop_reaches_the_server(connect: Connect, server: str) -> None:
    done = connect("claude-desktop", "--url", server, "--write", "--check")
    assert done.code == 0, done.err
    assert "search_papers" in done.out
