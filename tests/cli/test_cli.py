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
from tests.processes import warm

ROOT = Path(__file__).parent.parent.parent


def carrel(home: Path, *words: str, **changes: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CARREL_HOME": str(home), "HOME": str(home), **changes}
    command = [
        sys.executable,
        "-c",
        "import sys; from carrel.cli import main; sys.exit(main())",
        *words,
    ]
    return warm.run(
        command, capture_output=True, text=True, env=environment, cwd=home, timeout=60, check=False
    )


@pytest.mark.promise("D11")
def test_the_version_is_printed(tmp_path: Path) -> None:
    assert carrel(tmp_path, "--version").stdout == f"carrel {__version__}\n"


@pytest.mark.promise("D9")
def test_speaking_mcp_imports_no_server_framework(tmp_path: Path) -> None:
    heavy = {"fastmcp", "mcp", "starlette", "uvicorn", "httpx2"}
    code = (
        "import sys; from carrel.cli import main; main(['mcp']); "
        f"print(sorted({heavy} & set(sys.modules)), file=sys.stderr)"
    )
    environment = {**os.environ, "CARREL_HOME": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr.strip()) == (0, "[]")


def test_an_unknown_command_says_where_they_are_listed(tmp_path: Path) -> None:
    done = carrel(tmp_path, "fly")
    assert done.returncode == 2
    assert done.stderr == "carrel: there is no command 'fly'. carrel help lists them.\n"
    near = carrel(tmp_path, "serv")
    assert "Did you mean carrel serve?" in near.stderr


@pytest.mark.promise("Q1")
def test_the_doctor_says_what_is_missing_and_what_to_do(tmp_path: Path) -> None:
    done = carrel(tmp_path, "doctor", "--snapshot", "missing.db")
    assert done.returncode == 1
    assert "MISS papers" in done.stdout
    assert "carrel papers build" in done.stdout


def test_a_question_to_a_named_corpus_that_is_missing_is_an_error(tmp_path: Path) -> None:
    done = carrel(tmp_path, "papers", "search", "anything", "--snapshot", "missing.db")
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
    assert written == {
        "mcpServers": {
            "other": {"url": "http://x"},
            "carrel": {"url": "http://127.0.0.1:8080/mcp"},
        },
        "kept": 1,
    }
    assert (file.parent / "mcp.json.before-carrel").exists()


def test_claude_desktop_reaches_a_running_server_through_a_bridge(tmp_path: Path) -> None:
    done = carrel(tmp_path, "connect", "claude-desktop", "--url", "https://desk.example.org/mcp")
    entry = json.loads(done.stdout)["mcpServers"]["carrel"]
    assert entry == {"command": "npx", "args": ["-y", "mcp-remote", "https://desk.example.org/mcp"]}


@pytest.mark.parametrize(
    "words",
    [
        ("cursor", "--wirte"),
        ("cursor", "--write", "--", "--snapshto", "x"),
        ("cursor", "--url", "http://x/mcp", "--", "--compact"),
    ],
)
def test_connect_refuses_words_it_does_not_know(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = carrel(tmp_path, "connect", *words)
    assert done.returncode == 2
    assert not (tmp_path / ".cursor").exists()


def test_connect_writes_what_a_client_in_another_folder_needs(tmp_path: Path) -> None:
    done = carrel(
        tmp_path, "connect", "cursor", "--", "--snapshot", "near/paper_snapshot.db", "--compact"
    )
    arguments = json.loads(done.stdout)["mcpServers"]["carrel"]["args"]
    assert arguments[0] == "mcp"
    assert Path(arguments[arguments.index("--snapshot") + 1]).is_absolute()
    assert Path(arguments[arguments.index("--home") + 1]).is_absolute()
    assert arguments[-1] == "--compact"


def test_the_first_original_of_a_clients_file_is_kept_with_its_mode(tmp_path: Path) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{"kept": 1}', encoding="utf-8")
    file.chmod(0o600)
    for name in ("one", "two"):
        assert carrel(tmp_path, "connect", "cursor", "--write", "--name", name).returncode == 0
    kept = file.with_name("mcp.json.before-carrel")
    assert kept.read_text(encoding="utf-8") == '{"kept": 1}'
    assert kept.stat().st_mode & 0o777 == file.stat().st_mode & 0o777 == 0o600
    assert set(json.loads(file.read_text(encoding="utf-8"))["mcpServers"]) == {"one", "two"}


def test_several_inputs_are_added_by_one_command(tmp_path: Path) -> None:
    one, two = tmp_path / "one.bib", tmp_path / "two.bib"
    one.write_text("@book{one, title = {First}, author = {A, B}, year = 2001}")
    two.write_text("@book{two, title = {Second}, author = {C, D}, year = 2002}")
    done = carrel(tmp_path, "references", "add", str(one), str(two), "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["added"]) == 2


def test_a_command_opens_no_room_but_its_own(tmp_path: Path) -> None:
    code = (
        "import sys; from carrel.cli import main; code = main(['references', 'list']); "
        "print(sorted(name for name in sys.modules if name in "
        "{'carrel.wiring.knowledge', 'carrel.wiring.research'})); sys.exit(code)"
    )
    environment = {**os.environ, "CARREL_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "[]"), done.stderr


def test_a_search_of_papers_does_not_load_the_discovery_of_connections(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text("---\ntitle: Gremlin and fibrosis\n---\nA text.\n")
    assert carrel(tmp_path, "papers", "build", "one.md", "--quiet").returncode == 0
    code = (
        "import sys; from carrel.cli import main; code = main(['papers', 'search', 'fibrosis']); "
        "print('carrel.libraries.discovery' in sys.modules); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "CARREL_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Gremlin and fibrosis" in done.stdout, done.stderr
    assert done.stdout.splitlines()[-1] == "False"


def test_a_citation_is_printed_once_and_ready_to_be_copied(tmp_path: Path) -> None:
    one = tmp_path / "one.bib"
    one.write_text("@book{one, title = {First}, author = {Abel, Bo}, year = 2001}")
    assert carrel(tmp_path, "references", "add", str(one)).returncode == 0
    done = carrel(tmp_path, "references", "cite", "one")
    assert done.stdout == "Abel, B. (2001). First.\n"
    inside = carrel(tmp_path, "references", "cite", "one", "--kind", "in_text")
    assert inside.stdout == "(Abel, 2001)\n"
    as_json = json.loads(carrel(tmp_path, "references", "cite", "one", "--json").stdout)
    assert [entry["id"] for entry in as_json["entries"]] == ["one"]


@pytest.mark.parametrize(
    "command",
    [
        ("references", "add", "@book{"),
        ("papers", "build", "empty"),
        ("knowledge", "import", "empty"),
    ],
)
def test_a_command_that_did_nothing_of_what_was_asked_does_not_succeed(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "bad.md").write_bytes(b"\xff\xfe\xfa")
    words = [str(empty) if word == "empty" else word for word in command]
    assert carrel(tmp_path, *words).returncode != 0


def test_a_corpus_is_built_into_the_home_and_seen_by_every_command(tmp_path: Path) -> None:
    papers = tmp_path / "papers-of-mine"
    papers.mkdir()
    (papers / "one.md").write_text(
        "---\ntitle: Gremlin and fibrosis\nyear: 2020\n---\nGremlin changed fibrosis.\n"
    )
    built = carrel(tmp_path, "papers", "build", str(papers))
    assert built.returncode == 0, built.stderr
    assert "Next:" in built.stderr
    assert "Gremlin and fibrosis" in carrel(tmp_path, "papers", "search", "fibrosis").stdout


@pytest.mark.promise("P9")
def test_a_second_folder_joins_the_corpus_and_only_leaves_the_first_out(tmp_path: Path) -> None:
    for name, title in (("one", "Gremlin and fibrosis"), ("two", "Reelin and memory")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "paper.md").write_text(f"---\ntitle: {title}\n---\nA text.\n")
        assert carrel(tmp_path, "papers", "build", str(tmp_path / name), "--quiet").returncode == 0
    assert "Gremlin and fibrosis" in carrel(tmp_path, "papers", "search", "fibrosis").stdout
    assert "Reelin and memory" in carrel(tmp_path, "papers", "search", "memory").stdout
    (tmp_path / "one" / "paper.md").unlink()
    (tmp_path / "one" / "other.md").write_text("---\ntitle: Netrin and axons\n---\nA text.\n")
    assert carrel(tmp_path, "papers", "build", str(tmp_path / "one"), "--quiet").returncode == 0
    assert "Gremlin" not in carrel(tmp_path, "papers", "search", "fibrosis").stdout, (
        "a file that is gone takes its paper along"
    )
    assert "Reelin and memory" in carrel(tmp_path, "papers", "search", "memory").stdout
    assert (
        carrel(tmp_path, "papers", "build", str(tmp_path / "two"), "--only", "--quiet").returncode
        == 0
    )
    assert "Netrin" not in carrel(tmp_path, "papers", "search", "axons").stdout


def test_a_corpus_built_elsewhere_says_how_it_is_opened(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text(
        "---\ntitle: Gremlin and fibrosis\n---\nGremlin changed fibrosis.\n"
    )
    built = carrel(
        tmp_path, "papers", "build", str(tmp_path / "one.md"), "--into", str(tmp_path / "else")
    )
    assert f"--snapshot {tmp_path / 'else' / 'paper_snapshot.db'}" in built.stderr


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
