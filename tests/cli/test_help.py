"""Help: every command says what it is for, shows examples that work, and explains its options."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.cli import all_verbs, main, run_reference_manager
from carrel.cli.command_descriptions import CommandDescription
from carrel.cli.command_index import INDEX, read_index
from carrel.cli.command_index_writer import describe_commands, render_index
from carrel.cli.common_options import COMMON_OPTIONS
from carrel.settings import Settings
from carrel.wiring.desk import open_desk

COMMANDS = read_index()
LEAVES = {path: command for path, command in COMMANDS.items() if not command.commands}
# Read, and not run: what they need is not on every machine.
NOT_RUN = "  # "


def help_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words) == 0
    said = capsys.readouterr()
    assert not said.err
    return said.out


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_the_index_is_what_the_commands_are() -> None:
    written = INDEX.read_text(encoding="utf-8")
    assert written == render_index(describe_commands()), "run: make docs"


def test_every_verb_has_its_place_in_the_index_and_in_the_overview(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = help_of(["--help"], capsys)
    assert shown == help_of(["help"], capsys)
    widest = max(map(len, all_verbs()))
    for verb, (_, meaning) in all_verbs().items():
        assert verb in COMMANDS
        assert f"  {verb:{widest}}  {meaning}\n" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


@pytest.mark.parametrize("path", COMMANDS)
def test_help_is_short_whole_and_fits(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = COMMANDS[path]
    words = path.split()
    shown = help_of([*words, "--help"], capsys)
    assert shown == help_of(["help", *words], capsys) == help_of([*words, "-h"], capsys)
    assert f"usage: carrel {path}" in shown
    assert command.meaning
    examples = {f"  {line}" for line in command.examples}
    assert all(len(line) <= 80 for line in shown.splitlines() if line not in examples)
    for argument in command.arguments:
        assert argument.meaning and not argument.meaning.startswith("("), argument
        assert argument.value in shown
    if command.commands:
        # One line each, so that all of a room can be seen at once.
        rows = [line for line in shown.splitlines() if line.startswith("  ")]
        assert len(rows) == len(command.commands)
        assert all(command.commands.values())
    else:
        assert 1 <= len(command.examples) <= 4
        assert all(shlex.split(line.split("|")[-1])[0] == "carrel" for line in command.examples)
        assert any(line.startswith(f"carrel {path}") for line in command.examples)
        if command.common:
            assert " ".join(shown.split()).endswith("(carrel help options).")


def test_help_names_commands_and_no_operations() -> None:
    settings = Settings.model_validate({"audit": {"enabled": False}})
    names = [name for name in open_desk(settings).catalogue.operations if "_" in name]
    for command in COMMANDS.values():
        text = " ".join(
            [command.meaning, command.details, *(each.meaning for each in command.arguments)]
        )
        # The audit log calls operations by their names.
        found = [name for name in names if name in text.replace("tool:search_papers", "")]
        assert not found, command.path


def test_common_options_are_explained_in_one_place(capsys: pytest.CaptureFixture[str]) -> None:
    shown = help_of(["help", "options"], capsys)
    for name in COMMON_OPTIONS:
        assert f"\n  {name}" in shown
    for command in COMMANDS.values():
        assert not set(command.options) & set(COMMON_OPTIONS)


def test_a_wide_terminal_is_used_and_a_narrow_one_respected(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for columns in (40, 60, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        shown = help_of(["help", "options"], capsys)
        assert all(len(line) < columns for line in shown.splitlines())
        assert max(map(len, shown.splitlines())) <= 100


@pytest.mark.parametrize("words", [["serch"], ["help", "serch"], ["papers", "serch"], ["--hom"]])
def test_an_unknown_command_is_one_line_with_the_next_step(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(words)
    except SystemExit as stopped:
        code = int(str(stopped.code))
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert said.err.startswith("carrel: ") and said.err.count("\n") == 1
    assert "help" in said.err


def test_a_mistyped_command_of_a_room_is_named_with_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["papers", "serch"])
    assert capsys.readouterr().err == (
        "carrel: papers: there is no command 'serch'. Did you mean carrel papers search? "
        "carrel papers --help lists them.\n"
    )


def test_an_unknown_option_is_one_line_with_the_next_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["papers", "search", "fish", "--limt", "3"])
    said = capsys.readouterr().err
    assert said.startswith("carrel: papers search: it has no option --limt. Did you mean --limit?")
    assert "carrel papers search --help" in said and said.count("\n") == 1


def placeholders(command: CommandDescription) -> Iterator[str]:
    for line in command.examples:
        yield from (word for word in shlex.split(line) if word.isupper() and "_" in word)


def test_common_options_may_stand_before_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "other"))
    note = tmp_path / "notes" / "one.md"
    note.parent.mkdir()
    note.write_text("# Capsules\n\nThree grams a day.\n", encoding="utf-8")
    home = ["--home", str(tmp_path / "home")]
    assert main([*home, "knowledge", "import", str(note.parent)]) == 0
    capsys.readouterr()
    for words in (
        [*home, "--json", "knowledge", "search", "text:grams"],
        [f"--home={tmp_path / 'home'}", "knowledge", "search", "text:grams", "--json"],
        ["knowledge", "search", *home, "--json", "text:grams"],
    ):
        assert main(words) == 0
        assert '"title": "Capsules"' in capsys.readouterr().out
    assert not (tmp_path / "other" / "knowledge.db").exists()


def test_reference_manager_has_help_under_its_own_name(capsys: pytest.CaptureFixture[str]) -> None:
    for words, usage in (
        (["--help"], "usage: reference-manager COMMAND [options]"),
        (["mcp", "--help"], "usage: reference-manager mcp [options]"),
    ):
        with pytest.raises(SystemExit, match="0"):
            run_reference_manager(words)
        said = capsys.readouterr().out
        assert usage in said
        assert "usage: carrel" not in said and "carrel help" not in said
