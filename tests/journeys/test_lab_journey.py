"""One who sets up a desk for colleagues: two accounts, one server, and nobody sees too much."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.journeys.installed import build_wheel, install_wheel
from tests.journeys.typed.sample_home import fill
from tests.journeys.typed.terminal import Terminal

pytestmark = [pytest.mark.promise("A6"), pytest.mark.timeout(600)]

# Clients whose file takes the address of a server, and where that file lies on Linux.
FILES = {
    "cursor": ".cursor/mcp.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "vscode": ".config/Code/User/mcp.json",
    "codex": ".codex/config.toml",
    "zed": ".config/zed/settings.json",
    "goose": ".config/goose/config.yaml",
}


@dataclass(frozen=True, slots=True)
class Lab:
    """A server that tells people apart, its operator's terminal, and a folder for colleagues."""

    carrel: Path
    operator: Terminal
    tokens: dict[str, str]
    colleagues: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.operator.port}"

    def ask(self, person: str | None, tool: str, **arguments: Any) -> httpx2.Response:
        """A call over plain HTTP with a person's token, or with none."""
        headers = {} if person is None else {"authorization": f"Bearer {self.tokens[person]}"}
        return httpx2.post(
            f"{self.url}/mcp/invoke",
            json={"tool_name": tool, "params": arguments},
            headers=headers,
            timeout=60,
        )

    def type_as(self, colleague: str, *words: str) -> subprocess.CompletedProcess[str]:
        """A command on a colleague's own machine: another account, another home."""
        home = self.colleagues / colleague
        home.mkdir(exist_ok=True)
        return subprocess.run(
            [self.carrel, *words],
            env={"HOME": str(home), "PATH": os.defpath, "LANG": "C.UTF-8"},
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    carrel = install_wheel(build_wheel(folder / "wheels"), folder / "environment")
    home, colleagues = folder / "operator", folder / "colleagues"
    home.mkdir()
    colleagues.mkdir()
    fill(home)
    with Terminal(carrel.parent, home) as operator:
        tokens: dict[str, str] = {}
        for line in ("carrel add ~/papers", "carrel knowledge import ~/notes"):
            assert operator.type(line).status == 0, line
        for person in ("ada", "ben"):
            scopes = "papers:read,references:read,knowledge:read,knowledge:write"
            made = operator.type(f"carrel tokens create {person} --scopes {scopes} 2>/dev/null")
            assert made.status == 0 and "\n" not in made.output, made.output
            tokens[person] = made.output
        started = operator.start_server("CARREL_AUTH_MODE=tokens carrel serve")
        assert started.status == 0, started.output
        yield Lab(carrel, operator, tokens, colleagues)


def test_without_a_token_nobody_gets_in(lab: Lab) -> None:
    assert lab.ask(None, "search_papers", query="viscosity").status_code == 401


def test_an_imported_note_is_shared_by_importing_it_for_the_team(lab: Lab) -> None:
    before = lab.ask("ada", "search_knowledge", query="text:viscosity").json()
    assert before["result"] == []
    shared = lab.operator.type("carrel knowledge import ~/notes --source team")
    assert shared.status == 0 and "2 shared" in shared.output, shared.output
    for person in ("ada", "ben"):
        found = lab.ask(person, "search_knowledge", query="text:viscosity").json()
        assert [note["title"] for note in found["result"]] == ["Measuring viscosity"]
    again = lab.operator.type("carrel knowledge import ~/notes --source team")
    assert again.status == 0 and "shared" not in again.output.split("Next")[0], again.output


def test_what_ada_keeps_ben_does_not_see(lab: Lab) -> None:
    saved = lab.ask("ada", "save_knowledge", content="The umbra dataset is not published.")
    assert saved.json()["success"], saved.text
    assert "umbra" in lab.ask("ada", "search_knowledge", query="text:umbra").text
    assert lab.ask("ben", "search_knowledge", query="text:umbra").json()["result"] == []


def test_the_operator_writes_for_a_person(lab: Lab) -> None:
    saved = lab.operator.type('carrel knowledge save "Penumbra is due on Friday." --user token:ben')
    assert saved.status == 0, saved.output
    assert "Penumbra" in lab.ask("ben", "search_knowledge", query="text:penumbra").text
    assert lab.ask("ada", "search_knowledge", query="text:penumbra").json()["result"] == []


@pytest.mark.parametrize("client", FILES)
def test_a_colleague_pastes_one_line_and_is_connected(lab: Lab, client: str) -> None:
    words = ("connect", client, "--url", f"{lab.url}/desk/mcp", "--token", lab.tokens["ada"])
    done = lab.type_as("ada", *words, "--write", "--check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "search_papers" in done.stdout
    file = lab.colleagues / "ada" / FILES[client]
    assert lab.tokens["ada"] in file.read_text(encoding="utf-8")
    assert file.stat().st_mode & 0o077 == 0, "a file with a token is its owner's alone"


def test_a_wrong_token_is_told_in_one_line(lab: Lab) -> None:
    words = ("connect", "cursor", "--url", f"{lab.url}/desk/mcp", "--token", "wrong")
    done = lab.type_as("cleo", *words, "--write", "--check")
    assert done.returncode != 0
    assert "token" in done.stdout + done.stderr and "Traceback" not in done.stderr


def test_what_people_did_is_written_down(lab: Lab) -> None:
    listed = lab.operator.type("carrel audit export")
    assert listed.status == 0, listed.output
    people = {json.loads(line)["user_id"] for line in listed.output.splitlines()}
    assert {"token:ada", "token:ben"} <= people
