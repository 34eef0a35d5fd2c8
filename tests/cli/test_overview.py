"""`carrel` alone: counts that are true, what is doubtful, the next command, and nothing made."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.stores.home.inventory import take_inventory

PAPER = """# Fish oil and blood viscosity

Ada Lovelace

## Abstract

Fish oil lowers blood viscosity in patients. It was measured twice in one year.
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "DATABASE_URL", "PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def fill(folder: Path) -> None:
    folder.mkdir()
    (folder / "fish.md").write_text(PAPER, encoding="utf-8")
    (folder / "refs.bib").write_text(
        "@book{knuth, title={The art}, author={Knuth, Donald}, year=1968}", encoding="utf-8"
    )
    assert main(["papers", "build", str(folder), "--quiet"]) == 0
    assert main(["references", "add", str(folder / "refs.bib")]) == 0
    assert main(["knowledge", "save", "Remember the herring."]) == 0


def test_an_empty_machine_is_told_the_first_commands(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == 0
    told = capsys.readouterr()
    assert "Nothing is on the desk yet" in told.out
    for command in ("carrel add", "carrel find", "carrel connect"):
        assert command in told.out
    assert not home.exists()


def test_it_says_what_is_there_and_the_next_command(
    tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path / "in")
    before = sorted(home.rglob("*"))
    log = (home / "audit" / "audit.jsonl").read_bytes()
    capsys.readouterr()
    assert main([]) == 0
    told = capsys.readouterr()
    assert "last: The art" in told.out
    assert "last: Remember the herring." in told.out
    assert "no assistant is connected" in told.out
    assert "Next: carrel connect CLIENT --write" in told.err
    assert log == (home / "audit" / "audit.jsonl").read_bytes()
    after = sorted(home.rglob("*"))
    assert before == after


def test_its_counts_are_those_of_the_operations(
    tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path / "in")

    def ask(*words: str) -> object:
        capsys.readouterr()
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    papers, references = ask("papers", "stats"), ask("references", "list")
    review, projects = ask("papers", "review"), ask("research", "list")
    found = take_inventory(home)
    assert isinstance(papers, dict) and isinstance(references, dict)
    assert isinstance(review, list) and isinstance(projects, list)
    assert found.papers.count == papers["papers"]
    assert found.references.count == references["total"]
    assert found.notes.count == 1
    assert found.projects.count == len(projects)
    assert found.doubtful_papers == len(review)
    assert found.unreadable == ()


def test_only_files_that_lost_something_are_named_with_the_reason(
    tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "in"
    fill(folder)
    # A mended entry is a note: the file was read.
    (folder / "mended.bib").write_text(
        "@article{one, title={A whole title}, author={Lovelace, Ada, year=1999}", encoding="utf-8"
    )
    capsys.readouterr()
    assert main(["papers", "build", str(folder)]) == 0
    told = capsys.readouterr()
    assert "mended.bib" in told.out + told.err
    assert main([]) == 0
    assert "only in part" not in capsys.readouterr().out
    broken = folder / "broken one.pdf"
    broken.write_bytes(b"%PDF-1.4\nnothing more")
    main(["papers", "build", str(folder), "--quiet"])
    capsys.readouterr()
    assert main([]) == 0
    named = capsys.readouterr().out
    assert "1 file not read, or only in part:" in named
    assert "broken one.pdf: " in named
    assert f"carrel add '{broken}'" in named
    assert "mended.bib" not in named
    broken.unlink()
    assert main([]) == 0
    assert "broken one.pdf" not in capsys.readouterr().out


def test_a_connected_client_is_named_and_one_without_its_program_is_doubtful(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["knowledge", "save", "A note."]) == 0
    file = tmp_path / "person" / ".cursor" / "mcp.json"
    file.parent.mkdir(parents=True)
    entry = {"command": sys.executable, "args": ["-m", "carrel", "mcp"]}
    file.write_text(json.dumps({"mcpServers": {"carrel": entry}}), encoding="utf-8")
    capsys.readouterr()
    assert main([]) == 0
    told = capsys.readouterr().out
    assert "cursor" in told
    assert "no assistant is connected" not in told
    entry["command"] = str(tmp_path / "gone" / "carrel")
    file.write_text(json.dumps({"mcpServers": {"carrel": entry}}), encoding="utf-8")
    assert main([]) == 0
    assert "carrel doctor --fix" in capsys.readouterr().out


def test_an_empty_desk_names_the_server_that_assistants_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "person").mkdir()
    for client in ("cursor", "windsurf", "claude-desktop"):
        assert main(["connect", client, "--url", "https://lab.example.org", "--write"]) == 0
    capsys.readouterr()
    assert main([]) == 0
    told = capsys.readouterr().out
    desk = "https://lab.example.org/desk/mcp"
    assert f"Assistants here use the desk at {desk}: claude-desktop, cursor, windsurf." in told
    assert told.index(desk) < told.index("Nothing is on the desk yet")


def test_a_server_is_looked_for_at_one_address_which_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["knowledge", "save", "A note."]) == 0
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        monkeypatch.setenv("PORT", str(port))
        capsys.readouterr()
        assert main([]) == 0
    told = capsys.readouterr().out
    assert f"no server at 127.0.0.1:{port}" in told
    assert "not running" not in told


def test_what_cannot_be_read_is_said_and_not_counted_as_none(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["knowledge", "save", "A note."]) == 0
    (home / "knowledge.sqlite").write_bytes(b"no database" * 900)
    capsys.readouterr()
    assert main([]) == 0
    told = capsys.readouterr()
    assert "cannot be read" in told.out
    assert "Next: carrel doctor" in told.err


def test_it_imports_no_room_and_no_settings_on_a_plain_desk(home: Path) -> None:
    code = (
        "import sys; from carrel.cli import main; main([]); "
        "sys.exit('pydantic' in sys.modules or 'rich' in sys.modules)"
    )
    environment = {
        name: value
        for name, value in os.environ.items()
        if name != "PORT" and not name.startswith("CARREL_TEST_")
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
