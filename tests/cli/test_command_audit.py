"""Every command that changes something leaves its start and its end in the audit log, or is refused
when it cannot.
"""

from __future__ import annotations

import getpass
import io
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import carrel.cli
from carrel.cli import main
from carrel.rooms import declared_rooms
from tests.stores.first_home import first_home


@dataclass(frozen=True)
class Command:
    """A command that writes, what it is called in the log, and what it needs to succeed."""

    words: tuple[str, ...]
    action: str
    typed: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    exit_code: int = 0


NOBODY_THERE = {"ELASTICSEARCH_URL": "http://127.0.0.1:9"}
MODEL = ("--template", "three_pass", "--model", "m", "--model-url", "http://127.0.0.1:9/v1")
RECORDED = (
    Command(("users", "add", "eve", "--generate"), "users:add"),
    Command(("users", "add", "eve"), "users:add", typed="short\n", exit_code=2),
    Command(("users", "disable", "ada"), "users:disable"),
    Command(("users", "enable", "ada"), "users:enable"),
    Command(("users", "reset-password", "ada", "--generate"), "users:reset-password"),
    Command(("tokens", "create", "nightly", "--scopes", "papers:read"), "tokens:create"),
    Command(("tokens", "revoke", "nothing"), "tokens:revoke", exit_code=3),
    Command(("papers", "build", "in", "--into", "corpus", "--quiet"), "papers:build"),
    Command(
        ("papers", "build", "nowhere", "--into", "corpus", "--quiet"), "papers:build", exit_code=2
    ),
    Command(("papers", "index"), "papers:index"),
    Command(("papers", "load", "arxiv", "nowhere"), "papers:load", exit_code=2),
    Command(("papers", "summarise", "--into", "home", *MODEL), "papers:summarise", exit_code=2),
    Command(("knowledge", "import", "in"), "knowledge:import"),
    Command(("knowledge", "export", "out"), "knowledge:export"),
    Command(("knowledge", "import-nodes", "nodes.jsonl"), "knowledge:import-nodes"),
    Command(("knowledge", "import-nodes", "--from-notes"), "knowledge:import-nodes"),
    Command(("add", "in"), "knowledge:import"),
    Command(("watch", "in", "--once", "--quiet"), "papers:watch"),
    Command(("search", "sync"), "search:sync", environment=NOBODY_THERE, exit_code=5),
    Command(("connect", "cursor", "--write"), "connect:write"),
    Command(("connect", "cursor", "--remove"), "connect:remove", exit_code=3),
    Command(("backup", "desk.tar.gz", "--quiet"), "backup:make"),
    Command(
        ("references", "add", "@book{one, title = {First}, year = 2001}"), "tool:add_references"
    ),
    Command(("references", "restore", "nothing-there"), "references:restore", exit_code=3),
    Command(("knowledge", "save", "Some text"), "tool:save_knowledge"),
    Command(("doctor", "--fix"), "doctor:fix"),
    Command(("vocabularies", "add", "terms.tsv"), "vocabularies:add"),
    Command(("vocabularies", "remove", "nothing"), "vocabularies:remove", exit_code=3),
    Command(("databases", "accept", "knowledge"), "databases:accept"),
    Command(("databases", "reset", "knowledge"), "databases:reset"),
    Command(("databases", "reset", "nothing"), "databases:reset", exit_code=2),
    Command(("quotas", "set", "ada", "--calls", "200"), "quotas:set"),
    Command(("people", "revoke", "nobody", "--all"), "people:revoke", exit_code=3),
)
# Those that must work where the log cannot be written: data are saved first, and are got back
# first.
GO_ON_UNRECORDED = {"backup", "doctor", "restore"}
# Modules of commands that change nothing, or only through operations that pass the gate.
CHANGE_NOTHING_THEMSELVES = {
    "alerts", "audit", "catalogue", "completing", "completion", "find", "literature_retractions",
    "mcp", "papers_corrections", "papers_export", "papers_figure",
    "reference_manager", "research", "rooms", "serve",
}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("CARREL_", "DATABASE_URL", "ELASTICSEARCH_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    # Nothing here may reach the network: services are looked for where nobody answers.
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "note.md").write_text("# A note\n\nIts text.\n", encoding="utf-8")
    (tmp_path / "terms.tsv").write_text("grain boundary\tGB\n", encoding="utf-8")
    (tmp_path / "nodes.jsonl").write_text(
        json.dumps({"name": "a", "content": "b"}) + "\n", encoding="utf-8"
    )
    return first_home(tmp_path / "home")


def rows(home: Path) -> list[dict[str, object]]:
    file = home / "audit" / "audit.jsonl"
    return [json.loads(line) for line in file.read_bytes().splitlines()] if file.exists() else []


def run(command: Command, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(command.typed))
    for name, value in command.environment.items():
        monkeypatch.setenv(name, value)
    return main(list(command.words))


@pytest.mark.promise("A5")
@pytest.mark.parametrize("command", RECORDED, ids=lambda command: " ".join(command.words[:3]))
def test_a_command_that_writes_is_recorded_when_it_starts_and_when_it_ends(
    command: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(rows(home))
    assert run(command, monkeypatch) == command.exit_code
    ours = [row for row in rows(home)[before:] if row["action"] == command.action]
    assert [row["phase"] for row in ours] == ["started", "ended"]
    if not command.action.startswith("tool:"):
        assert {row["user_id"] for row in ours} == {f"local:{getpass.getuser()}"}
    assert (ours[1]["result"] == "success") == (command.exit_code == 0)
    assert ("error_code" in ours[1]) == (command.exit_code != 0)
    assert float(str(ours[1]["duration_ms"])) >= 0
    assert main(["audit", "verify"]) == 0


@pytest.mark.promise("A5")
def test_a_restore_is_recorded_in_the_log_that_it_brought_back(home: Path) -> None:
    assert main(["backup", "desk.tar.gz", "--quiet"]) == 0
    assert main(["restore", "desk.tar.gz", "--force", "--quiet"]) == 0
    assert [row["phase"] for row in rows(home) if row["action"] == "restore:done"] == [
        "started",
        "ended",
    ]
    assert main(["audit", "verify"]) == 0


def snapshot_of(folder: Path, but: Callable[[Path], bool]) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_size, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not but(path.relative_to(folder))
    }


@pytest.mark.promise("A5")
@pytest.mark.parametrize("command", RECORDED, ids=lambda command: " ".join(command.words[:3]))
def test_a_command_that_writes_is_refused_when_it_cannot_be_recorded(
    command: Command,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "not-a-folder").write_text(
        "a file where the log's folder should be", encoding="utf-8"
    )
    monkeypatch.setenv("CARREL_AUDIT_FILE", str(tmp_path / "not-a-folder" / "audit.jsonl"))

    def is_state(path: Path) -> bool:
        return path.name.endswith(("-wal", "-shm", "lock")) or path.name.startswith(
            ("search.sqlite", ".carrel.lock")
        )

    before = snapshot_of(tmp_path, is_state)
    if command.words[0] in GO_ON_UNRECORDED:
        # The doctor's own code says that the log is not well.
        expected = 1 if command.words[0] == "doctor" else command.exit_code
        assert run(command, monkeypatch) == expected
        assert "going on without a record" in capsys.readouterr().err
        return
    assert run(command, monkeypatch) == 5
    said = capsys.readouterr().err
    assert "audit log cannot be written" in said
    assert snapshot_of(tmp_path, is_state) == before, "nothing was changed"


@pytest.mark.promise("A5")
def test_no_command_is_forgotten() -> None:
    folder = Path(carrel.cli.__file__).parent
    modules = {
        file.stem
        for file in folder.glob("*.py")
        if "(words: list[str]) -> int:" in file.read_text(encoding="utf-8")
    }
    tried = {name for command in RECORDED for name in _modules_of(command.words)}
    # Tried where there is a database: tests/stores/test_postgres_migration.py, test_home_moves.py.
    need_database = {"migrate", "move"}
    assert modules <= tried | CHANGE_NOTHING_THEMSELVES | {"restore"} | need_database


def _modules_of(words: tuple[str, ...]) -> set[str]:
    room = declared_rooms().get(words[0])
    own = room.commands.get(words[1]) if room is not None else None
    return {own.partition(":")[0].rpartition(".")[2]} if own else {words[0]}


def test_a_log_that_is_not_there_is_not_called_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    assert main(["audit", "verify"]) == 0
    said = capsys.readouterr().out
    assert "whole" not in said
    assert "no log here" in said
