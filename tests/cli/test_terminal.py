"""What the command line prints of what others wrote."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.libraries.text.control_characters import escape_controls, remove_controls
from tests.journeys.doors import ENVIRONMENT, PROGRAM
from tests.processes import warm

pytestmark = pytest.mark.promise("A8")

CONTENT = "Kälte \x1b]0;owned\x07\x1b[2J \x9b31m \u202egnp.exe\u2069 ok\tend"


def test_controls_are_shown_by_number_and_text_stays() -> None:
    shown = escape_controls(CONTENT)
    assert "\\x1b]0;owned\\x07" in shown
    assert "\\u202egnp.exe\\u2069 ok\tend" in shown
    assert "\x1b" not in shown
    assert remove_controls("a\x1bb\nc\td\u2066") == "ab\nc\td"


def run_in(words: list[str], *, at_terminal: bool) -> str:
    if not at_terminal:
        return warm.run(
            [*PROGRAM, *words], env=ENVIRONMENT, capture_output=True, text=True, check=True
        ).stdout
    ours, theirs = pty.openpty()
    with warm.start(
        [*PROGRAM, *words],
        env={**ENVIRONMENT, "NO_COLOR": "1"},
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(ours, 65536):
                said += piece
        except OSError:
            # The other end is closed: Linux says so with an error.
            pass
        process.wait()
    os.close(ours)
    return said.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
def test_a_note_cannot_command_the_terminal_and_a_pipe_gets_every_byte(tmp_path: Path) -> None:
    home = ["--home", str(tmp_path)]
    run_in(["knowledge", "save", CONTENT, *home], at_terminal=False)
    at_terminal = run_in(["knowledge", "search", "*", *home], at_terminal=True)
    assert "\\x1b]0;owned\\x07" in at_terminal
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(at_terminal)
    assert "\x1b]0;owned\x07" in run_in(["knowledge", "search", "*", *home], at_terminal=False)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
def test_a_name_is_no_markup_of_the_table_and_a_pipe_gets_tabs(tmp_path: Path) -> None:
    home = ["--home", str(tmp_path)]
    name = "[red]mine[/red]"
    run_in(["tokens", "create", name, "--scopes", "papers:read", *home], at_terminal=False)
    at_terminal = run_in(["tokens", "list", *home], at_terminal=True)
    assert name in at_terminal
    assert "acts for" in at_terminal
    assert "\t" not in at_terminal
    line = run_in(["tokens", "list", *home], at_terminal=False)
    assert line.split("\t")[:2] == [name, "active"]
    assert "acts for" not in line
