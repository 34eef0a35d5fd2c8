"""The command line as a person uses it: real processes, what they print, how they exit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from carrel import __version__
from carrel.cli.reference import reference
from carrel.settings import Settings
from carrel.wiring.desk import open_desk

ROOT = Path(__file__).parent.parent.parent


def carrel(home: Path, *words: str, **changes: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CARREL_HOME": str(home), "HOME": str(home), **changes}
    command = [sys.executable, "-c", "import sys; from carrel.cli import main; sys.exit(main())", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=home, timeout=60, check=False)


@pytest.mark.promise("D11")
def test_the_version_is_printed(tmp_path: Path) -> None:
    assert carrel(tmp_path, "--version").stdout == f"carrel {__version__}\n"


@pytest.mark.promise("D9")
@pytest.mark.parametrize("heavy", ["fastmcp", "mcp", "starlette", "uvicorn", "httpx2"])
def test_speaking_mcp_imports_no_server_framework(tmp_path: Path, heavy: str) -> None:
    code = f"import sys; from carrel.cli import main; main(['mcp']); sys.exit(1 if {heavy!r} in sys.modules else 0)"
    environment = {**os.environ, "CARREL_HOME": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, f"{heavy} was imported; {done.stderr}"


def test_an_unknown_command_says_what_there_is(tmp_path: Path) -> None:
    done = carrel(tmp_path, "fly")
    assert done.returncode == 2
    assert "no command 'fly'" in done.stderr
    assert "serve" in done.stderr


@pytest.mark.promise("Q1")
def test_the_doctor_says_what_is_missing_and_what_to_do(tmp_path: Path) -> None:
    done = carrel(tmp_path, "doctor")
    assert done.returncode == 1
    assert "MISS papers" in done.stdout
    assert "carrel papers build" in done.stdout


def test_a_question_without_a_corpus_says_what_to_do(tmp_path: Path) -> None:
    done = carrel(tmp_path, "papers", "search", "anything")
    assert done.returncode == 5
    assert "snapshot cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.promise("Q3")
def test_a_path_that_cannot_be_used_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("not a folder", encoding="utf-8")
    done = carrel(tmp_path, "papers", "build", str(tmp_path), "--into", str(tmp_path / "a-file"))
    assert done.returncode == 5
    assert "a-file" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.promise("D11")
@pytest.mark.parametrize("client", ["claude-code", "claude-desktop", "cursor", "codex", "gemini"])
def test_a_clients_configuration_is_printed(tmp_path: Path, client: str) -> None:
    done = carrel(tmp_path, "connect", client)
    assert done.returncode == 0
    assert "mcp" in done.stdout


@pytest.mark.promise("D11")
def test_writing_a_clients_configuration_keeps_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": {"other": {"url": "http://x"}}, "kept": 1}', encoding="utf-8")
    done = carrel(tmp_path, "connect", "cursor", "--write", "--url", "http://127.0.0.1:8080/mcp")
    assert done.returncode == 0, done.stderr
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written == {"mcpServers": {"other": {"url": "http://x"}, "carrel": {"url": "http://127.0.0.1:8080/mcp"}}, "kept": 1}
    assert (file.parent / "mcp.json.before-carrel").exists()


def test_a_clients_broken_configuration_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text("{broken", encoding="utf-8")
    done = carrel(tmp_path, "connect", "cursor", "--write")
    assert done.returncode == 2
    assert "is not JSON" in done.stderr
    assert file.read_text(encoding="utf-8") == "{broken"


def test_the_reference_is_up_to_date() -> None:
    catalogue = open_desk(Settings.model_validate({"audit": {"enabled": False}})).catalogue
    written = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert written == reference(catalogue), "run `make docs`"
