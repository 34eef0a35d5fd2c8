"""`--check` starts or opens what a file says, `--list` shows it, and both name what is wrong."""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.cli.connect.checking import poor_environment
from tests.access.serving import serving as serving_people
from tests.cli.connect.conftest import Connect
from tests.cli.terminal import read_terminal
from tests.cli.test_private_home import serving
from tests.journeys.doors import ENVIRONMENT, PROGRAM

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def program(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`carrel` as an installed program: a file that can be started and moved."""
    file = home / "bin" / "carrel"
    file.parent.mkdir()
    file.write_text(
        f"#!{sys.executable}\nimport sys\nfrom carrel.cli import main\nsys.exit(main())\n"
    )
    file.chmod(0o700)
    monkeypatch.setattr(sys, "argv", [str(file)])
    return file


@pytest.fixture
def server(home: Path) -> Iterator[str]:
    with serving(home / "desk", "--secret") as (url, _):
        yield url


@pytest.mark.promise("D11")
@pytest.mark.parametrize("client", ["claude-desktop", "codex", "goose"])
def test_what_was_written_is_started_with_a_poor_environment(
    connect: Connect, program: Path, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert connect(client, "--write").code == 0
    # The file alone must lead to the desk: nothing of this terminal is handed down.
    monkeypatch.setenv("CARREL_HOME", str(program.parent / "elsewhere"))
    monkeypatch.setenv("CARREL_ROOMS", '["papers"]')
    done = connect(client, "--check")
    assert done.code == 0, done.err
    assert str(program) in done.out
    assert "2025-11-25, 2026-07-28" in done.out
    assert "search_papers" in done.out
    assert "list_references, which answered" in done.out
    assert not (program.parent / "elsewhere").exists()


@pytest.mark.promise("D11")
def test_a_running_server_is_opened_with_the_secret_of_the_file(
    connect: Connect, home: Path, server: str
) -> None:
    for client in ("cursor", "codex", "gemini", "windsurf", "goose"):
        assert connect(client, "--url", server, "--write").code == 0
        done = connect(client, "--check")
        assert done.code == 0, done.err
        assert f"{server}/desk/mcp" in done.out
    assert connect("open-webui", "--url", server, "--check").code == 0
    file = home / ".cursor" / "mcp.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text(file.read_text().replace("Bearer ", "Bearer wrong"))
    refused = connect("cursor", "--check")
    assert refused.code == 4
    assert "401" in refused.err
    assert "--replace" in refused.err
    assert "writes the secret of this home" in refused.err
    assert connect("cursor", "--url", server, "--write", "--replace", "--check").code == 0


@pytest.mark.promise("D11")
def test_a_server_where_people_log_in_is_told_from_one_with_a_secret(
    connect: Connect, home: Path
) -> None:
    with serving_people(home / "lab", "builtin") as lab:
        asked = connect("cursor", "--url", lab.url, "--write", "--check")
        assert asked.code == 4
        assert "the server answers, and asks people to log in" in asked.err
        assert "--check cannot log in" in asked.err
        assert "--token TOKEN" in asked.err
        for token in ("nonsense", "carrel_unknown"):
            wrong = connect(
                "cursor", "--url", lab.url, "--token", token, "--write", "--replace", "--check"
            )
            assert wrong.code == 4
            assert "The token is not valid or was revoked" in wrong.err
            assert "secret of this home" not in asked.err + wrong.err


@pytest.mark.promise("D11")
def test_a_server_that_takes_tokens_only_offers_no_log_in(connect: Connect, home: Path) -> None:
    with serving_people(home / "lab", "tokens") as lab:
        asked = connect("cursor", "--url", lab.url, "--write", "--check")
        assert asked.code == 4
        assert "Ask the server's administrator for a token" in asked.err
        assert "log in" not in asked.err


def test_a_server_that_is_not_running_is_named(connect: Connect) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        connect("cursor", "--url", url, "--write")
        done = connect("cursor", "--check")
    assert done.code == 5
    assert f"{url}/desk/mcp cannot be reached" in done.err
    assert "carrel serve" in done.err


def test_an_address_that_does_not_speak_mcp_is_named(connect: Connect, server: str) -> None:
    connect("cursor", "--url", f"{server}/health", "--write")
    done = connect("cursor", "--check")
    assert done.code == 5
    assert "/desk/mcp" in done.err


def test_a_program_that_was_moved_is_named(connect: Connect, program: Path) -> None:
    connect("zed", "--write")
    program.rename(program.with_name("carrel-old"))
    done = connect("zed", "--check")
    assert done.code == 5
    assert str(program) in done.err
    assert "carrel connect zed --write --replace" in done.err
    assert f"missing: {program}" in connect("--list").out


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo no such module >&2; exit 3", ("ended with code 3", "no such module")),
        ("echo hello; cat", ("does not speak MCP", "hello")),
    ],
)
def test_a_program_that_is_no_server_is_named(
    connect: Connect, home: Path, script: str, words: tuple[str, ...]
) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    entry = {"command": "/bin/sh", "args": ["-c", script]}
    file.write_text(json.dumps({"mcpServers": {"carrel": entry}}))
    done = connect("cursor", "--check")
    assert done.code == 5
    assert all(word in done.err for word in words)
    assert "Traceback" not in done.err


def test_a_bridge_without_node_is_named(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("carrel.cli.connect.checking._POOR_PATH", "")
    connect("claude-desktop", "--url", "http://127.0.0.1:9/desk/mcp", "--write")
    done = connect("claude-desktop", "--check")
    assert done.code == 5
    assert "Node.js" in done.err


def test_an_entry_that_is_not_there_is_named(connect: Connect) -> None:
    done = connect("windsurf", "--check")
    assert done.code == 3
    assert "carrel connect windsurf --write" in done.err
    assert connect("windsurf", "--remove").code == 3


@pytest.mark.promise("D11")
def test_the_list_says_what_is_connected_to_which_desk(
    connect: Connect, home: Path, program: Path
) -> None:
    (home / ".gemini" / "tmp").mkdir(parents=True)
    connect("cursor", "--write")
    connect("vscode", "--url", "https://desk.example.org", "--write")
    connect("claude-desktop", "--url", "https://lab.example.org", "--name", "lab", "--write")
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("broken = = 1")
    done = connect("--list")
    assert done.code == 0
    rows = {line.split("\t")[0]: line.split("\t") for line in done.out.splitlines()}
    assert rows["cursor"][2:4] == [str(home / "desk"), str(program)]
    assert rows["vscode"][2] == "https://desk.example.org/desk/mcp"
    assert rows["claude-desktop (lab)"][2] == "https://lab.example.org/desk/mcp"
    assert rows["codex"][2] == "unreadable"
    assert rows["gemini"][1] == "yes"
    assert rows["goose"][2] == "-"
    assert str(home / ".config" / "goose" / "config.yaml") in rows["goose"]


def test_a_poor_environment_has_nothing_of_the_terminal() -> None:
    given = {
        "HOME": "/h",
        "CARREL_HOME": "/x",
        "VIRTUAL_ENV": "/v",
        "PYTHONPATH": "/p",
        "PATH": "/v",
    }
    found = poor_environment(given, {"A": "b"})
    assert set(found) == {"HOME", "PATH", "A"}
    if os.name == "posix":
        assert "/v" not in found["PATH"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
def test_the_list_fits_a_narrow_terminal(tmp_path: Path) -> None:
    environment = {
        **{name: value for name, value in ENVIRONMENT.items() if name != "COLUMNS"},
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / ".config"),
        "NO_COLOR": "1",
        "TERM": "xterm",
    }
    read_terminal([*PROGRAM, "connect", "cursor", "--write"], environment)
    shown = read_terminal([*PROGRAM, "connect", "--list"], environment, width=60)
    lines = shown.replace("\r\n", "\n").split("\n")
    assert "cursor: ~/.cursor/mcp.json" in lines
    assert all(len(line) <= 60 for line in lines if "carrel" not in line)
