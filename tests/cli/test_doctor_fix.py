"""A home broken in each way that the doctor can mend, mended; and nothing that was kept is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from carrel.cli import main
from tests.processes import warm

PAPER = """# Fish oil and blood viscosity

Ada Lovelace

## Abstract

Fish oil lowers blood viscosity in patients. It was measured twice in one year.
"""
DRAFT = ".manifest.json.4194999-44cce4cdd49e"


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "person"


@pytest.fixture
def home(tmp_path: Path, person: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "fish.md").write_text(PAPER, encoding="utf-8")
    assert main(["papers", "build", "in", "--quiet"]) == 0
    assert main(["references", "add", "@book{knuth, title={The art}, year=1968}"]) == 0
    assert main(["knowledge", "save", "Remember the herring."]) == 0
    return tmp_path / "home"


def doctor(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, object]]:
    capsys.readouterr()
    code = main(["doctor", "--json", *options])
    facts: dict[str, object] = json.loads(capsys.readouterr().out)
    return code, facts


def states(facts: dict[str, object]) -> dict[str, str]:
    repairs = facts["repairs"]
    assert isinstance(repairs, list)
    return {repair["part"]: repair["state"] for repair in repairs}


def assert_nothing_lost(capsys: pytest.CaptureFixture[str]) -> None:
    for words, kept in (
        (("papers", "search", "viscosity"), "Fish oil"),
        (("references", "search", "art"), "The art"),
        (("knowledge", "search", "herring"), "herring"),
    ):
        capsys.readouterr()
        assert main([*words, "--json"]) == 0
        assert kept in capsys.readouterr().out


def test_a_well_home_needs_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, facts = doctor(capsys, "--fix")
    assert (code, facts["is_well"], facts["repairs"]) == (0, True, [])


@pytest.mark.promise("D19")
def test_a_damaged_index_is_made_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in (home / "papers" / "segments").rglob("meta.json"):
        file.write_text("{", encoding="utf-8")
    assert main(["papers", "search", "viscosity"]) == 5
    assert "carrel doctor --fix" in capsys.readouterr().err
    code, facts = doctor(capsys, "--fix", "--dry-run")
    assert (code, states(facts)) == (1, {"papers": "would"})
    code, facts = doctor(capsys, "--fix")
    assert (code, states(facts)) == (0, {"papers": "fixed"})
    assert_nothing_lost(capsys)


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_modes_are_mended(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "references" / "library.json").chmod(0o400)
    (home / "papers").chmod(0o500)
    code, facts = doctor(capsys, "--fix")
    assert (code, states(facts)) == (0, {"modes": "fixed"})
    assert (home / "papers").stat().st_mode & 0o777 == 0o700
    assert (home / "references" / "library.json").stat().st_mode & 0o200
    assert_nothing_lost(capsys)


@pytest.mark.promise("D19")
def test_drafts_of_killed_writes_are_moved_aside(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "papers" / DRAFT).write_text("half", encoding="utf-8")
    code, facts = doctor(capsys, "--fix", "--dry-run")
    assert (code, states(facts)) == (0, {"leftovers": "would"})
    assert (home / "papers" / DRAFT).exists()
    code, facts = doctor(capsys, "--fix")
    assert (code, states(facts)) == (0, {"leftovers": "fixed"})
    assert not (home / "papers" / DRAFT).exists()
    assert next(home.glob("leftovers-*/papers/*")).read_text(encoding="utf-8") == "half"
    assert_nothing_lost(capsys)


def test_drafts_are_left_alone_while_others_work_in_the_home(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "papers" / DRAFT).write_text("half", encoding="utf-8")
    held = warm.start(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from carrel.stores.home.lock import share_home\n"
            "with share_home(Path(sys.argv[1])):\n    print('held', flush=True)\n    input()",
            str(home),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert held.stdout is not None
    assert held.stdout.readline() == b"held\n"
    _, facts = doctor(capsys, "--fix")
    held.communicate(b"\n", timeout=60)
    assert states(facts) == {"leftovers": "could not"}
    assert (home / "papers" / DRAFT).exists()


def test_a_client_that_names_a_moved_program_is_mended_and_the_rest_of_its_file_kept(
    home: Path, person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = person / ".cursor" / "mcp.json"
    file.parent.mkdir(parents=True)
    entry = {"command": "/gone/bin/carrel", "args": ["mcp", "--home", str(home)]}
    file.write_text(
        json.dumps({"mcpServers": {"carrel": entry, "other": {"command": "x"}}}), encoding="utf-8"
    )
    code, facts = doctor(capsys)
    assert code == 1
    code, facts = doctor(capsys, "--fix")
    assert (code, states(facts)) == (0, {"client cursor": "fixed"})
    servers = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]
    assert servers["other"] == {"command": "x"}
    assert servers["carrel"]["args"] == entry["args"]
    assert Path(servers["carrel"]["command"]).exists()


def test_what_a_person_added_to_the_entry_stays(
    home: Path, person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = person / ".cursor" / "mcp.json"
    file.parent.mkdir(parents=True)
    own = {"disabled": True, "env": {"CARREL_HOME": str(home)}, "alwaysAllow": ["search_papers"]}
    entry = {"command": "/gone/bin/python3", "args": ["-m", "carrel", "mcp"], **own}
    file.write_text(json.dumps({"mcpServers": {"carrel": entry}}), encoding="utf-8")
    assert doctor(capsys, "--fix")[0] == 0
    mended = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["carrel"]
    assert mended["args"] == ["mcp"]
    assert {key: mended[key] for key in own} == own


@pytest.mark.parametrize("words", [("docker", "run", "-i", "carrel"), ("uvx", "carrel", "mcp")])
def test_a_launcher_that_is_missing_is_left_and_said(
    home: Path,
    person: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    monkeypatch.setenv("PATH", str(person))
    file = person / ".cursor" / "mcp.json"
    file.parent.mkdir(parents=True)
    written = json.dumps({"mcpServers": {"carrel": {"command": words[0], "args": words[1:]}}})
    file.write_text(written, encoding="utf-8")
    code, facts = doctor(capsys, "--fix")
    assert (code, states(facts)) == (1, {"client cursor": "left"})
    assert file.read_text(encoding="utf-8") == written


@pytest.mark.promise("D19")
@pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")
def test_links_are_not_followed(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    kept = outside / "folder" / DRAFT
    kept.write_text("not ours", encoding="utf-8")
    kept.chmod(0o444)
    (outside / "folder").chmod(0o555)
    (home / "papers" / "link").symlink_to(outside / "folder")
    (home / "link.txt").symlink_to(kept)
    (home / "papers" / DRAFT).symlink_to(kept)
    _, facts = doctor(capsys, "--fix")
    assert states(facts) == {"leftovers": "fixed"}
    assert kept.read_text(encoding="utf-8") == "not ours"
    assert kept.stat().st_mode & 0o777 == 0o444
    assert (outside / "folder").stat().st_mode & 0o777 == 0o555
    assert (home / "papers" / "link").is_symlink()
    (outside / "folder").chmod(0o755)


def test_a_damaged_database_is_left_and_said(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = b"no database at all " * 500
    (home / "knowledge.sqlite").write_bytes(damaged)
    code, facts = doctor(capsys, "--fix")
    assert (code, states(facts)) == (1, {"databases": "left"})
    assert (home / "knowledge.sqlite").read_bytes() == damaged


def test_a_clock_that_is_behind_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ahead = time.time() + 40_000_000
    os.utime(home / "references" / "library.json", (ahead, ahead))
    code, facts = doctor(capsys)
    assert code == 1
    assert "clock" in json.dumps(facts)


def test_a_dry_run_without_a_repair_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--dry-run"])
    assert ended.value.code == 2
    assert "--fix" in capsys.readouterr().err


def test_damaged_records_of_papers_are_said_with_what_to_do(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in (home / "papers").rglob("*"):
        if file.is_file():
            file.write_bytes(b"noise" * 300)
    capsys.readouterr()
    assert main(["doctor", "--fix"]) == 1
    said = capsys.readouterr()
    assert "the records themselves are damaged. carrel restore FILE --force" in said.out + said.err
    assert "error id" not in said.out + said.err
