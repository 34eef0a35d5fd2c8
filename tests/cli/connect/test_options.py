"""The words of `carrel connect`: what is refused, what is printed, and secrets."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from carrel.cli.connect import lines_to_paste
from carrel.cli.connect.own_program import is_passing
from carrel.services.mcp_clients.clients import CLIENTS
from carrel.stores.home.local_secret import local_secret
from tests.cli.connect.conftest import Connect

URL = "https://desk.example.org/desk/mcp"


@pytest.mark.promise("D11")
@pytest.mark.parametrize(
    "words",
    [
        (),
        ("emacs",),
        ("cursor", "--wirte"),
        ("cursor", "--list"),
        ("cursor", "--remove", "--write"),
        ("cursor", "--replace"),
        ("cursor", "--token", "x"),
        ("cursor", "--url", URL, "--env", "A=b"),
        ("cursor", "--url", URL, "--", "--rooms", "papers"),
        ("cursor", "--url", "desk.example.org"),
        ("cursor", "--url", "file:///etc/passwd"),
        ("cursor", "--url", "http://a b/mcp"),
        ("cursor", "--url", "http://desk:99999/mcp"),
        ("cursor", "--url", "http://[::1/mcp"),
        ("cursor", "--url", "http://evil.example.org\\@127.0.0.1/desk/mcp"),
        ("cursor", "--url", URL, "--header", "X-Name: é"),
        ("cursor", "--url", URL, "--token", "é"),
        ("cursor", "--url", URL, "--header", "no colon"),
        ("cursor", "--url", URL, "--header", "Bad\nName: x"),
        ("cursor", "--url", URL, "--header", "A: b\r\nC: d"),
        ("cursor", "--env", "=x"),
        ("cursor", "--name", ""),
        ("cursor", "--name", "a\nb"),
        ("cursor", "--name", "x" * 65),
        ("claude-code", "--name", "two words"),
        ("claude-code", "--name=--scope"),
        ("claude-desktop", "--scope", "project"),
        ("cursor", "--scope", "galaxy"),
        ("cursor", "--", "--no-such-option"),
        ("open-webui", "--write"),
    ],
)
def test_words_that_make_no_sense_are_refused(connect: Connect, words: tuple[str, ...]) -> None:
    done = connect(*words)
    assert done.code == 2
    assert done.out == ""
    assert done.err


def test_a_token_can_be_typed_and_the_root_of_a_server_means_its_desk(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("carrel_secret\n"))
    done = connect("cursor", "--url", "https://desk.example.org/", "--token", "-")
    assert json.loads(done.out)["mcpServers"]["carrel"] == {
        "url": URL,
        "headers": {"Authorization": "Bearer carrel_secret"},
    }
    assert URL in done.err


def test_a_token_typed_at_a_terminal_is_not_shown(home: Path) -> None:
    pty = pytest.importorskip("pty", reason="terminals of POSIX")
    child, terminal = pty.fork()
    if child == 0:
        words = ["connect", "cursor", "--url", URL, "--token", "-"]
        os.execv(sys.executable, [sys.executable, "-m", "carrel", *words])
    shown = b""
    while b"Token:" not in shown:
        shown += os.read(terminal, 4096)
    os.write(terminal, b"carrel_secret\n")
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 4096):
            shown += piece
    os.close(terminal)
    assert os.waitpid(child, 0)[1] == 0, shown
    assert shown.count(b"carrel_secret") == 1


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_a_token_in_a_file_that_others_read_is_warned_of(connect: Connect, home: Path) -> None:
    remote = ("cursor", "--url", URL, "--write")
    assert "holds a token" not in connect(*remote, "--token", "t").err
    assert "version control" in connect(*remote, "--token", "t", "--scope", "project").err
    file = home / ".cursor" / "mcp.json"
    file.chmod(0o644)
    assert f"chmod 600 {file}" in connect(*remote, "--token", "u", "--replace").err
    assert "chmod" not in connect(*remote, "--replace").err


def test_a_header_of_ones_own_keeps_the_secret_of_this_home_out(
    connect: Connect, home: Path
) -> None:
    secret = local_secret(home / "desk")
    assert secret in connect("cursor", "--url", "http://127.0.0.1:8080").out
    done = connect("cursor", "--url", "http://127.0.0.1:8080", "--header", "authorization: Basic x")
    assert json.loads(done.out)["mcpServers"]["carrel"]["headers"] == {"authorization": "Basic x"}


def test_a_token_over_plain_http_to_another_machine_is_warned_of(connect: Connect) -> None:
    done = connect("cursor", "--url", "http://desk.example.org/desk/mcp", "--token", "t")
    assert done.code == 0
    assert "not encrypted" in done.err


def test_claude_code_gets_a_command_that_can_be_pasted(connect: Connect) -> None:
    words = shlex.split(connect("claude-code", "--env", "A=b c").out)
    assert words[:6] == ["claude", "mcp", "add", "--scope", "user", "carrel"]
    assert words[words.index("--env") + 1] == "A=b c"
    assert words[words.index("--") + 2] == "mcp"
    over_http = shlex.split(connect("claude-code", "--url", URL, "--token", "t").out)
    assert over_http[-2:] == ["--header", "Authorization: Bearer t"]


def test_open_webui_is_told_what_to_enter(connect: Connect) -> None:
    done = connect("open-webui", "--url", URL, "--token", "t", "--header", "X-Lab: 7")
    variable = done.out.splitlines()[-1].strip().partition("=")[2]
    (connection,) = json.loads(shlex.split(variable)[0])
    assert connection["type"] == "mcp"
    assert (connection["url"], connection["auth_type"], connection["key"]) == (URL, "bearer", "t")
    assert connection["headers"] == {"X-Lab": "7"}
    assert connection["config"]["enable"] is True
    assert connection["info"]["id"] == "carrel"
    assert "database" in connect("open-webui", "--remove").err


def test_the_lines_of_the_server_come_from_the_same_table() -> None:
    lines = lines_to_paste("http://127.0.0.1:8080", "s3cret")
    for client in CLIENTS:
        assert client in lines or CLIENTS[client].title in lines
    assert lines.count("Bearer s3cret") == 3
    assert "carrel connect CLIENT --url http://127.0.0.1:8080/desk/mcp --write" in lines


@pytest.mark.parametrize(
    ("command", "passing"),
    [
        ("/home/ada/.cache/uv/archive-v0/x9/bin/carrel", True),
        ("/home/ada/.cache/uv/environments-v2/c/bin/carrel", True),
        ("C:\\Users\\ada\\AppData\\Local\\uv\\cache\\archive-v0\\x\\Scripts\\carrel.exe", True),
        ("/home/ada/.local/share/uv/tools/carrel/bin/carrel", False),
        ("/home/ada/.local/bin/carrel", False),
    ],
)
def test_a_program_that_uvx_may_throw_away_is_known(command: str, passing: bool) -> None:
    assert is_passing(command) is passing
