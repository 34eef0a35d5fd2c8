"""Every command that prints an answer prints it as JSON, too."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main
from carrel.cli.command_index_writer import describe_commands

# Commands whose output is no answer of their own, and why.
WITHOUT_JSON = {
    "audit export": "--format chooses between JSON lines and CSV",
    "completion": "prints a script for a shell",
    "literature retractions": "names two commands, which take it",
    "mcp": "speaks MCP on standard output",
    "serve": "runs until it is stopped",
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "APPDATA", "LOCALAPPDATA", "DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def read(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_every_command_takes_json_or_says_why_not() -> None:
    commands = {path: each for path, each in describe_commands().items() if not each.commands}
    lacking = {path for path, each in commands.items() if "--json" not in each.common}
    assert lacking == set(WITHOUT_JSON)


def test_users_and_tokens(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert read(capsys, "users", "list") == []
    added = read(capsys, "users", "add", "ada", "--generate")
    assert (added["name"], len(added["password"])) == ("ada", 23)
    assert _TIME.match(added["created_at"])
    created = read(capsys, "tokens", "create", "ci", "--scopes", "papers:read", "--user", "ada")
    assert created["token"]
    reset = read(capsys, "users", "reset-password", "ada", "--generate")
    assert reset["tokens"] == ["ci"]
    assert read(capsys, "users", "disable", "ada") == {"name": "ada", "is_disabled": True}
    (user,) = read(capsys, "users", "list")
    assert (user["name"], user["is_disabled"], "password" in user) == ("ada", True, False)
    assert read(capsys, "users", "enable", "ada")["is_disabled"] is False
    assert read(capsys, "tokens", "revoke", "ci")["state"] == "revoked"
    (token,) = read(capsys, "tokens", "list")
    assert (token["name"], token["state"], token["acts_for"]) == ("ci", "revoked", "ada")
    assert _TIME.match(token["revoked_at"]) and "token" not in token


def test_the_audit_log(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read(capsys, "users", "add", "ada", "--generate")
    rows = read(capsys, "audit", "list", "--action", "users:add", "--limit", "1")
    assert [row["action"] for row in rows] == ["users:add"]
    assert read(capsys, "audit", "verify")["is_whole"] is True
    assert read(capsys, "audit", "head")["head"]
    log = next(file for file in home.rglob("*.jsonl") if b"users:add" in file.read_bytes())
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[1:]))
    broken = read(capsys, "audit", "verify", code=1)
    assert broken["is_whole"] is False and broken["problems"]


def test_databases_backup_and_restore(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read(capsys, "users", "add", "ada", "--generate")
    assert {row["name"] for row in read(capsys, "databases", "list")} >= {"access", "knowledge"}
    assert read(capsys, "databases", "accept", "access")["name"] == "access"
    made = read(capsys, "backup", "desk.tar.gz", "--quiet")
    checked = read(capsys, "backup", "desk.tar.gz", "--verify", "--quiet")
    assert made == checked and checked["is_whole"] and checked["files"]
    restored = read(capsys, "restore", "desk.tar.gz", "--force", "--quiet")
    assert restored["made_at"] == made["made_at"] and restored["moved_aside"]
    assert read(capsys, "databases", "reset", "access")["moved_to"]


def test_papers_and_notes(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    papers, notes = tmp_path / "papers", tmp_path / "notes"
    papers.mkdir()
    notes.mkdir()
    paper = (
        "---\ntitle: Warm rooms\nauthors: [Lind, Ben]\nyear: 1971\ndoi: 10.5555/w.1\n---\nText.\n"
    )
    (papers / "one.md").write_text(paper)
    (notes / "note.md").write_text("# A note\n\nGloves help.\n")
    assert read(capsys, "papers", "build", str(papers), "--quiet")["papers"]["total"] == 1
    (papers / "two.md").write_text(paper.replace("Warm", "Cold").replace("w.1", "w.2"))
    watched = read(capsys, "watch", str(papers), "--once", "--quiet")
    assert watched["is_in_step"] and [Path(row["path"]).name for row in watched["changes"]] == [
        "two.md"
    ]
    assert read(capsys, "knowledge", "import", str(notes))["counts"] == {"new": 1}
    assert read(capsys, "knowledge", "export", str(tmp_path / "out"))["counts"]
    (tmp_path / "nodes.jsonl").write_text('{"name": "a"}\nnonsense\n')
    nodes = read(capsys, "knowledge", "import-nodes", "nodes.jsonl")
    assert (nodes["saved"], nodes["refused"][0]["line"]) == (1, 2)


def test_clients(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = read(capsys, "connect", "cursor", "--write")
    assert (written["client"], written["change"]) == ("cursor", "added")
    assert read(capsys, "connect", "cursor", "--write")["change"] == "already there"
    rows = {row["client"]: row for row in read(capsys, "connect", "--list")}
    assert rows["cursor"]["connected_to"]
    assert "carrel connect open-webui" in rows["open-webui"]["file"]
    assert "mcpServers" in read(capsys, "connect", "cursor")["snippet"]
    assert read(capsys, "connect", "cursor", "--remove")["change"] == "removed"


def test_the_catalogue(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = read(capsys, "operations", "cite", "a", "work")
    assert {"name", "command", "title"} == set(rows[0])
    assert any(row["address"].startswith("paper://") for row in read(capsys, "read"))
    prompts = read(capsys, "prompt")
    assert all(isinstance(row["arguments"], list) for row in prompts)


def test_a_client_is_given_the_desk_that_home_names(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = str(tmp_path / "other")
    for words in (["--home", other, "connect", "cursor"], ["connect", "cursor", "--home", other]):
        entry = json.loads(read(capsys, *words)["snippet"])["mcpServers"]["carrel"]
        assert entry["args"] == ["mcp", "--home", other]
    with pytest.raises(SystemExit):
        main(["connect", "cursor", "--home", other, "--url", "http://127.0.0.1:8080"])
    assert "--home is for a client that starts Carrel itself" in capsys.readouterr().err
