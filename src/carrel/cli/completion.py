"""`carrel completion SHELL` prints or writes a shell's script; `carrel __complete` answers it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from carrel.cli.completion_scripts import MARK, SCRIPTS
from carrel.cli.completion_values import Completions, complete_words
from carrel.cli.shell_words import find_open_quote, quote_for_bash, quote_for_powershell

_LONGEST_MEANING = 60
# What bash takes for the end of a word, of what stands in our words.
_BASH_BREAKS = "=:@"


def run(words: list[str]) -> int:
    from carrel.cli.output import say_next_step, show
    from carrel.cli.parsers import CommandParser
    from carrel.core.errors import ConflictError, InvalidInputError

    parser = CommandParser(
        prog="carrel completion", description="Print the completion script of a shell."
    )
    parser.add_argument("shell", choices=list(SCRIPTS), help="the shell")
    parser.add_argument(
        "--write",
        action="store_true",
        help="write it where the shell looks for it; a file of somebody else is left alone",
    )
    options = parser.parse_args(words[1:])
    shell: str = options.shell
    if not options.write:
        show(SCRIPTS[shell], end="")
        return 0
    target = _target(shell)
    if target is None:
        raise InvalidInputError(
            "PowerShell has no folder for completion scripts",
            next_step="Run in PowerShell: carrel completion powershell >> $PROFILE",
        )
    if target.exists() and MARK not in target.read_text(encoding="utf-8", errors="replace"):
        raise ConflictError(
            f"{target} is there, and Carrel did not write it",
            next_step=f"Move it away, or add the script yourself: carrel completion {shell}",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.new")
    fresh.write_text(SCRIPTS[shell], encoding="utf-8")
    fresh.replace(target)
    show(f"Written to {target}.")
    say_next_step(_use(shell, target))
    return 0


def _target(shell: str) -> Path | None:
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return {
        "bash": data / "bash-completion" / "completions" / "carrel",
        "zsh": data / "zsh" / "site-functions" / "_carrel",
        "fish": config / "fish" / "completions" / "carrel.fish",
    }.get(shell)


def _use(shell: str, target: Path) -> str:
    place = shlex.quote(str(target))
    return {
        "bash": "open a new shell. Without the package bash-completion, add to ~/.bashrc: "
        f"source {place}",
        "zsh": f"add to ~/.zshrc, before compinit: fpath+=({shlex.quote(str(target.parent))}) ; "
        "then open a new shell.",
        "fish": "open a new shell.",
    }[shell]


def answer_shell(words: Sequence[str]) -> int:
    """Prints what may stand at the cursor; a prompt is no place for errors, so there are none."""
    try:
        _answer(list(words))
        sys.stdout.flush()
    except Exception:  # noqa: BLE001 - whatever it is, the person is typing
        _silence()
    return 0


def _silence() -> None:
    """Lets what could not be written go nowhere."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def _answer(words: list[str]) -> None:
    shell, rest = (words[0], words[1:]) if words else ("bash", [])
    line = os.environ.get("COMP_LINE", "")
    if shell in {"bash", "powershell"}:
        rest = split_line(line)[1:]
    elif rest:
        rest[-1] = rest[-1].lstrip("\"'")
    found = complete_words(rest or [""])
    if found.places:
        print(f":{found.places}")
        return
    for each in _lines(shell, found, rest[-1] if rest else "", find_open_quote(line)):
        print(each)


def _lines(shell: str, found: Completions, current: str, open_quote: str) -> list[str]:
    """One line for each value; bash and PowerShell insert them as they are, so quoted."""
    values = [
        (_plain(value), _plain(meaning)[:_LONGEST_MEANING]) for value, meaning in found.values
    ]
    if shell == "bash":
        breaks = "" if open_quote else _BASH_BREAKS
        cut = max((current.rfind(mark) for mark in breaks), default=-1) + 1
        return [quote_for_bash(value[cut:], open_quote) for value, _ in values]
    if shell == "zsh":
        return [
            value.replace("\\", "\\\\").replace(":", "\\:") + (f":{meaning}" if meaning else "")
            for value, meaning in values
        ]
    if shell == "powershell":
        values = [(quote_for_powershell(value), meaning) for value, meaning in values]
    return [f"{value}\t{meaning}" if meaning else value for value, meaning in values]


def _plain(text: str) -> str:
    """One line without anything that a terminal obeys."""
    return "".join(mark if mark.isprintable() else " " for mark in text)


def split_line(line: str) -> list[str]:
    """The words of a line up to the cursor, the last one perhaps empty or with an open quote."""
    for closing in ("", "'", '"'):
        try:
            words = shlex.split(line + closing)
        except ValueError:
            continue
        is_ended = not closing and line.endswith((" ", "\t", "\n")) and not line.endswith("\\ ")
        return [*words, ""] if is_ended or not words else words
    return line.split() or [""]
