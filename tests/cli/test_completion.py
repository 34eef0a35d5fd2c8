"""Completion: what is offered at the cursor, by the answer to a shell and in real shells."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.cli.completion import split_line
from carrel.cli.completion_scripts import SCRIPTS
from carrel.cli.completion_values import complete_words
from carrel.core.caller import LOCAL_USER

pty = pytest.importorskip("pty", reason="shells are driven through a terminal of POSIX")
needs = {
    shell: pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")
    for shell in ("bash", "zsh", "fish")
}
BOOK = "@book{kucsko-2013, title = {First}, year = 2013}"
GOAL = "Find new treatments for Raynaud disease"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A desk with a reference, a project and a user."""
    folder = tmp_path_factory.mktemp("desk") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CARREL_HOME", str(folder))
        assert main(["references", "add", BOOK]) == 0
        assert main(["research", "start", GOAL]) == 0
        assert main(["users", "add", "ada", "--generate"]) == 0
        yield folder


@pytest.fixture
def hostile_home(tmp_path: Path) -> Path:
    """A library as a stranger's file may fill it."""
    folder = tmp_path / "hostile"
    (folder / "references").mkdir(parents=True)
    keys = ["evil$(touch${IFS}ran)", "--home=elsewhere"]
    items = [{"id": key, "type": "book", "title": "A book"} for key in keys]
    (folder / "references" / "library.json").write_text(json.dumps(items), encoding="utf-8")
    return folder


def offered(*words: str) -> list[str]:
    return [value for value, _ in complete_words(words).values]


def test_commands_options_and_choices_are_offered() -> None:
    assert "papers" in offered("") and "completion" in offered("")
    assert offered("pap") == ["papers"]
    assert offered("papers", "sea") == ["search", "search-facets"]
    assert offered("users", "re") == ["reset-password"]
    assert offered("papers", "search", "--li") == ["--limit", "--library"]
    assert offered("papers", "export", "--format", "") == ["jsonl", "bibtex", "csl-json", "ris"]
    assert offered("papers", "export", "--format=b") == ["--format=bibtex"]
    assert offered("papers", "facets", "au") == ["author"]
    assert "claude-desktop" in offered("connect", "")
    assert offered("help", "knowledge", "pro") == ["propose", "promote"]
    assert "options" in offered("help", "")
    assert offered("completion", "z") == ["zsh"]
    assert offered("--log-level", "w") == ["warning"]
    assert offered("--home", "x", "--json", "kn") == ["knowledge"]


def test_what_stands_there_already_is_not_offered_again() -> None:
    assert "--limit" not in offered("papers", "search", "fish", "--limit", "3", "--")
    assert "--tags" in offered("knowledge", "save", "Text", "--tags", "a", "--ta")
    assert offered("papers", "search", "fish", "--", "--l") == []
    assert offered("nothing", "") == [] and offered("papers", "nothing", "") == []


def test_files_and_folders_are_left_to_the_shell() -> None:
    assert complete_words(["add", ""]).places == "files"
    assert complete_words(["watch", ""]).places == "folders"
    assert complete_words(["papers", "build", "a", "b", ""]).places == "files"
    assert complete_words(["papers", "search", "x", "--home", ""]).places == "folders"
    assert complete_words(["papers", "search", ""]).places == ""


def test_names_come_from_the_desk(home: Path) -> None:
    assert offered("references", "cite", "ku") == ["kucsko-2013"]
    assert offered("references", "cite", "kucsko-2013", "") == ["kucsko-2013"]
    ((project, goal),) = complete_words(["research", "status", ""]).values
    assert goal == GOAL and offered("research", "results", project[:5]) == [project]
    assert offered("knowledge", "search", "x", "--user", "") == ["ada"]
    assert "vancouver" in offered("references", "cite", "x", "--style", "vanc")
    assert "apa" in offered("references", "cite", "x", "--style", "")
    # A person's own projects, and nobody else's.
    assert offered("research", "status", "--user", "ada", "") == []
    assert LOCAL_USER not in offered("knowledge", "search", "x", "--user", "")


def test_names_are_read_and_nothing_is_left_beside_them(home: Path) -> None:
    assert offered("knowledge", "search", "x", "--user", "") == ["ada"]
    assert len(offered("research", "status", "")) == 1
    assert not [*home.rglob("*-wal"), *home.rglob("*-shm")]


@pytest.mark.parametrize("place", ["missing", "broken"])
def test_a_desk_that_cannot_be_read_has_no_names_and_is_not_made(
    tmp_path: Path, place: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "home"
    if place == "broken":
        for file in ("references/library.json", "research/research.db", "access.sqlite"):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(b"\xff not a database")
        (folder / "carrel.toml").write_text("[[[", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    for words in (["references", "cite"], ["research", "status"], ["knowledge", "count", "--user"]):
        assert main(["__complete", "fish", "--home", str(folder), *words, ""]) == 0
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")
    assert sorted(tmp_path.rglob("*")) == before


def test_lines_are_split_as_they_stand_at_the_cursor() -> None:
    assert split_line("carrel ") == ["carrel", ""]
    assert split_line("carrel papers se") == ["carrel", "papers", "se"]
    assert split_line("carrel papers search 'fish o") == ["carrel", "papers", "search", "fish o"]
    assert split_line('carrel find "fish oil" ') == ["carrel", "find", "fish oil", ""]
    assert split_line("") == [""]


@pytest.mark.parametrize("line", ["", "'", '"\\', "carrel \x00 ", "carrel " + "x" * 100_000, "🐟"])
def test_odd_lines_are_no_errors(
    line: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if "\x00" not in line:
        monkeypatch.setenv("COMP_LINE", line)
    assert main(["__complete", "bash"]) == 0
    assert main(["__complete", "zsh", line]) == 0
    assert main(["__complete"]) == 0
    assert not capfd.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_a_script_is_written_where_the_shell_looks_and_nobody_elses_is_replaced(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for _ in range(2):
        assert main(["completion", shell, "--write"]) == 0
        capsys.readouterr()
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert file.read_text(encoding="utf-8") == SCRIPTS[shell]
    file.write_text("# my own\n", encoding="utf-8")
    assert main(["completion", shell, "--write"]) == 6
    assert "Carrel did not write it" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == "# my own\n"


def test_powershell_is_told_where_to_put_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "powershell"]) == 0
    assert "Register-ArgumentCompleter" in capsys.readouterr().out
    assert main(["completion", "powershell", "--write"]) == 2
    assert "$PROFILE" in capsys.readouterr().err


class Shell:
    """An interactive shell at a terminal, which is typed into and read."""

    def __init__(self, words: list[str], environment: dict[str, str]) -> None:
        self._child, self._terminal = pty.fork()
        if self._child == 0:
            os.execvpe(words[0], words, environment)

    def type(self, text: str, until: str, seconds: float = 60.0) -> str:
        """What the terminal shows after the text was typed, up to what is waited for."""
        os.write(self._terminal, text.encode())
        shown, end = "", time.monotonic() + seconds
        while until not in shown:
            ready, _, _ = select.select([self._terminal], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{until!r} is not in {shown!r}"
            shown += os.read(self._terminal, 65536).decode("utf-8", "replace")
        return shown

    def close(self) -> None:
        os.close(self._terminal)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child, 9)
        os.waitpid(self._child, 0)


@pytest.fixture
def environment(home: Path, tmp_path: Path) -> dict[str, str]:
    (tmp_path / "drafts").mkdir()
    (tmp_path / "draft.md").write_text("x", encoding="utf-8")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "carrel"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m carrel "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    for shell, script in SCRIPTS.items():
        (tmp_path / f"carrel.{shell}").write_text(script, encoding="utf-8")
    return {
        "PATH": f"{program.parent}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "CARREL_HOME": str(home),
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "PS1": "ready> ",
        "FOLDER": str(tmp_path),
    }


@needs["bash"]
def test_bash_completes(environment: dict[str, str]) -> None:
    shell = Shell(["bash", "--noprofile", "--norc", "-i"], environment)
    try:
        shell.type("bind 'set enable-bracketed-paste off'; PS1='ready> '\n", "ready> ")
        shell.type('cd "$FOLDER" && source ./carrel.bash && echo sour""ced\n', "sourced")
        shell.type("carrel pape\t", "papers ")
        shell.type("fac\t", "facets ")
        shell.type("auth\t", "author ")
        shell.type("--lim\t", "--limit ")
        shell.type("\x15carrel references cite ku\t", "kucsko-2013 ")
        shell.type("--style=vaccine-rep\t", "vaccine-reports ")
        shell.type("\x15carrel knowledge save @x --user a\t", "ada ")
        shell.type("\x15carrel add draft.\t", "draft.md ")
        shell.type("\x15carrel watch dra\t", "drafts/")
        shell.type('\x15carrel nothing \t\x15echo af""ter\n', "after")
    finally:
        shell.close()


@pytest.mark.promise("A8")
@needs["bash"]
@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_bash_obeys_nothing_of_a_stored_key(
    quote: str, environment: dict[str, str], hostile_home: Path
) -> None:
    shell = Shell(
        ["bash", "--noprofile", "--norc", "-i"], {**environment, "CARREL_HOME": str(hostile_home)}
    )
    try:
        shell.type("bind 'set enable-bracketed-paste off'; PS1='ready> '\n", "ready> ")
        shell.type('cd "$FOLDER" && source ./carrel.bash && echo sour""ced\n', "sourced")
        shell.type(f"carrel references cite {quote}evi\t", "ran")
        shell.type('\x01: \x05\necho af""ter\n', "after")
        assert not (Path(environment["FOLDER"]) / "ran").exists()
    finally:
        shell.close()


@needs["zsh"]
def test_zsh_obeys_nothing_of_a_stored_key(environment: dict[str, str], hostile_home: Path) -> None:
    shell = Shell(["zsh", "-f", "-i"], {**environment, "CARREL_HOME": str(hostile_home)})
    try:
        shell.type(
            "PS1='ready> '; unsetopt zle_bracketed_paste; autoload -Uz compinit\n", "ready> "
        )
        shell.type('compinit -u -D; cd "$FOLDER"; source ./carrel.zsh; echo sour""ced\n', "sourced")
        shell.type("carrel references cite evi\t", "ran")
        shell.type('\x01: \x05\necho af""ter\n', "after")
        assert not (Path(environment["FOLDER"]) / "ran").exists()
    finally:
        shell.close()


def test_a_key_that_looks_like_an_option_is_not_offered(
    hostile_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_HOME", str(hostile_home))
    assert offered("references", "cite", "") == ["evil$(touch${IFS}ran)"]


@needs["zsh"]
def test_zsh_completes(environment: dict[str, str]) -> None:
    shell = Shell(["zsh", "-f", "-i"], environment)
    try:
        shell.type(
            "PS1='ready> '; unsetopt zle_bracketed_paste; autoload -Uz compinit\n", "ready> "
        )
        shell.type('compinit -u -D; cd "$FOLDER"; source ./carrel.zsh; echo sour""ced\n', "sourced")
        shell.type("carrel pape\t", "papers ")
        shell.type("fac\t", "facets ")
        shell.type("auth\t", "author ")
        shell.type("--lim\t", "--limit ")
        shell.type("\x15carrel references cite ku\t", "kucsko-2013 ")
        shell.type("\x15carrel add draft.\t", "draft.md ")
        shell.type("\x15carrel watch dra\t", "drafts/")
    finally:
        shell.close()


@needs["fish"]
def test_fish_completes(environment: dict[str, str], tmp_path: Path) -> None:
    def ask(line: str) -> list[str]:
        asked = subprocess.run(
            ["fish", "--no-config", "-c", f"source carrel.fish; complete -C '{line}'"],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env=environment,
        )
        assert not asked.stderr
        return [each.partition("\t")[0] for each in asked.stdout.splitlines()]

    assert ask("carrel pape") == ["papers"]
    assert ask("carrel papers facets auth") == ["author"]
    assert ask("carrel papers search --lim") == ["--limit"]
    assert ask("carrel references cite ku") == ["kucsko-2013"]
    assert "draft.md" in ask("carrel add draft.")
    assert ask("carrel watch dra") == ["drafts/"]
    assert ask("carrel nothing ") == []
