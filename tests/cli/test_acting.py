"""`--user NAME`: the operator of a home acts for one of its users, with that user's rights and a
record of both.
"""

from __future__ import annotations

import getpass
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.cli.command_index import read_index
from carrel.rooms import declared_rooms
from tests.cli.served import CARREL, invoke, serve


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CARREL_AUTH_MODE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def people(home: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Two people, and a token of each; ada may write notes, ben only read them."""
    tokens = {}
    for name, scopes in {
        "ada": "knowledge:write,references:write,research:write,hypotheses:generate",
        "ben": "knowledge:read,references:read",
    }.items():
        assert main(["users", "add", name, "--generate", "--scopes", scopes]) == 0
        capsys.readouterr()
        assert main(["tokens", "create", f"{name}-1", "--user", name, "--scopes", scopes]) == 0
        tokens[name] = capsys.readouterr().out.strip()
    return tokens


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main([*words]) == code
    said = capsys.readouterr()
    return said.out, said.err


def test_a_desk_of_one_person_has_nobody_to_act_for(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, said = run(capsys, "knowledge", "save", "Mine", "--user", "ada", code=5)
    assert "This desk has no users" in said and "carrel users add" in said
    assert not list(home.glob("access*"))
    assert json.loads(run(capsys, "knowledge", "search", "*", "--json")[0]) == []


def test_an_unknown_user_is_refused_with_those_there_are(
    people: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    _, said = run(capsys, "knowledge", "save", "Mine", "--user", "eve", code=3)
    assert "ada, ben" in said and "carrel users list" in said


@pytest.mark.parametrize(
    "name",
    ["local", "LOCAL", "anonymous", "local:root", "../ada", "..", "/etc/passwd", "", " ada",
     "ada\n", "token:nothing", "operator:root", "admin", "a" * 300, "ada\x00", "ａｄａ"],
)  # fmt: skip
def test_a_name_reaches_nothing_but_a_user(
    people: dict[str, str], home: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    before = sorted(str(path) for path in home.rglob("*"))
    for words in (
        ["references", "add", "@book{one, title = {First}, year = 2001}"],
        ["knowledge", "search", "*"],
    ):
        out, said = run(capsys, *words, f"--user={name}", code=3 if _is_name(name) else 2)
        assert not out and said.startswith("carrel: ")
    libraries = [path for path in home.rglob("*") if path.name == "library.json"]
    assert not libraries
    assert not (home.parent / "ada").exists()
    assert {Path(path).name for path in before} <= {path.name for path in home.rglob("*")}


def _is_name(name: str) -> bool:
    """Whether it could be somebody's; else it is refused by its form."""
    return name in {
        "../ada",
        "..",
        "/etc/passwd",
        "token:nothing",
        "operator:root",
        "admin",
        "ａｄａ",
    }


@pytest.mark.promise("D18")
def test_nobody_gains_scopes_by_being_acted_for(
    people: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "one.md").write_text("Some text", encoding="utf-8")
    for words in (
        ["knowledge", "save", "Text", "--user", "ben"],
        ["knowledge", "import", "notes", "--user", "ben"],
        ["knowledge", "import", "notes", "--source", "team", "--user", "ada"],
        ["papers", "build", "notes", "--user", "ada", "--quiet"],
    ):
        capsys.readouterr()
        code = main(words)
        assert code not in {0, 1}, words
        assert f"{words[words.index('--user') + 1]} may not do this" in capsys.readouterr().err
    assert json.loads(run(capsys, "knowledge", "search", "*", "--json")[0]) == []


def test_a_disabled_user_is_not_acted_for(
    people: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "users", "disable", "ada")
    _, said = run(capsys, "knowledge", "save", "Text", "--user", "ada", code=4)
    assert "carrel users enable ada" in said


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else"
)
def test_who_may_not_write_the_home_reads_nothing_of_others(
    people: dict[str, str], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "knowledge", "save", "Private", "--user", "ada")
    open_home = Path(f"/tmp/carrel-read-only-{os.getpid()}")
    shutil.copytree(home, open_home)
    try:
        for path in [open_home, *open_home.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        done = subprocess.run(
            [*CARREL, "knowledge", "search", "*", "--user", "ada", "--home", str(open_home)],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            user=65534,
            group=65534,
            extra_groups=[],
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
        )
    except PermissionError:
        pytest.skip("the interpreter lies in a folder that is closed to other users")
    finally:
        shutil.rmtree(open_home)
    assert done.returncode != 0 and "Private" not in done.stdout + done.stderr


def test_what_the_operator_adds_for_a_user_is_theirs_alone(
    people: dict[str, str], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = "@book{one, title = {First}, year = 2001}"
    goal = "Find new treatments for Raynaud disease"
    run(capsys, "knowledge", "save", "Private to ada", "--title", "Hers", "--user", "ada")
    run(capsys, "references", "add", book, "--user", "ada")
    started = json.loads(run(capsys, "research", "start", goal, "--user", "ada", "--json")[0])
    with serve(home, "tokens") as url:
        for name, count in {"ada": 1, "ben": 0}.items():
            token = people[name]
            notes = invoke(url, token, "search_knowledge", query="*")["result"]
            assert [note["title"] for note in notes] == ["Hers"] * count
            references = invoke(url, token, "list_references")["result"]
            assert references["total"] == count
        projects = invoke(url, people["ada"], "list_research_projects")["result"]
        assert [project["id"] for project in projects] == [started["research_id"]]
    for words in (["knowledge", "search", "*"], ["references", "search", "First"]):
        assert json.loads(run(capsys, *words, "--user", "ada", "--json")[0])
        for others in ([], ["--user", "ben"]):
            answer = json.loads(run(capsys, *words, *others, "--json")[0])
            assert not (answer if isinstance(answer, list) else answer.get("items"))
    (found,) = json.loads(run(capsys, "find", "private", "--user", "ada", "--json")[0])["hits"]
    assert found["title"] == "Hers"


@pytest.mark.promise("D18")
def test_the_log_has_the_user_and_the_operator(
    people: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "one.md").write_text("Some text", encoding="utf-8")
    run(capsys, "knowledge", "save", "Private to ada", "--user", "ada")
    run(capsys, "knowledge", "import", "notes", "--user", "ada")
    exported, _ = run(capsys, "audit", "export", "--user", "ada")
    records = [json.loads(line) for line in exported.splitlines()]
    changes = [
        each for each in records if each["action"] in {"tool:save_knowledge", "knowledge:import"}
    ]
    assert {(each["action"], each["phase"]) for each in changes} == {
        (action, phase)
        for action in ("tool:save_knowledge", "knowledge:import")
        for phase in ("started", "ended")
    }
    assert {each["client_id"] for each in changes} == {f"operator:{getpass.getuser()}"}


def test_a_token_of_its_own_is_a_user(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    token, _ = run(capsys, "tokens", "create", "nightly", "--scopes", "knowledge:write")
    _, said = run(capsys, "knowledge", "save", "Text", "--user", "nightly", code=3)
    assert "--user token:nightly" in said
    run(capsys, "knowledge", "save", "Text of the night", "--user", "token:nightly")
    with serve(home, "tokens", "--rooms", "knowledge") as url:
        (note,) = invoke(url, token.strip(), "search_knowledge", query="*")["result"]
    assert note["content"] == "Text of the night"


def test_users_of_another_provider_are_taken_by_the_form_of_their_names(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_AUTH_MODE", "jwt")
    monkeypatch.setenv("CARREL_AUTH_ISSUER", "https://id.example.org")
    monkeypatch.setenv("CARREL_AUTH_JWKS_URL", "https://id.example.org/keys")
    monkeypatch.setenv("CARREL_AUTH_AUDIENCE", "carrel")
    run(capsys, "knowledge", "save", "Text", "--user", "auth0|ada@example.org")
    _, said = run(capsys, "knowledge", "save", "Text", "--user", "local:root", code=2)
    assert "reserved" in said


def test_every_command_of_a_room_can_be_run_for_a_user() -> None:
    rooms = {*declared_rooms(), "jobs"}
    for path, command in read_index().items():
        if (path.split()[0] in rooms and not command.commands) or path in {"add", "find", "watch"}:
            if path == "literature retractions":
                # It names two commands, which take it.
                continue
            assert "--user" in command.options, path
            assert command.options["--user"].completes == "users"
