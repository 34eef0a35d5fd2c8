"""Help: the pages of `carrel help`, drawn from descriptions for the width at hand."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrel.cli.command_descriptions import ArgumentDescription, CommandDescription

_WIDEST, _USUAL, _NARROWEST = 100, 80, 30
# Where the meaning of an option begins, unless the names are shorter.
_WIDEST_NAMES = 26

# What `carrel help options` says of each common option.
COMMON_MEANINGS = {
    "--home DIR": "the folder where everything is kept (CARREL_HOME; by default the platform's "
    "data folder, which carrel doctor names)",
    "--config FILE": "a settings file instead of carrel.toml (CARREL_CONFIG)",
    "--rooms NAMES": "the rooms to open, separated by commas: papers, references, knowledge, "
    "research (all by default)",
    "--snapshot FILE": "a corpus of papers other than the desk's own",
    "--static DIR|URL": "the texts of that corpus, where they are not beside it",
    "--library FILE": "a library of references (CSL-JSON) other than the desk's own",
    "--log-level LEVEL": "what is logged on standard error: debug, info, warning or error "
    "(default: warning)",
    "--json": "print the answer as JSON, for programs",
}


def terminal_width() -> int:
    """The width for text: of the terminal or COLUMNS, within what is good to read."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdecimal() and int(given) > 0:
        columns = int(given)
    else:
        try:
            columns = os.get_terminal_size().columns or _USUAL
        except OSError:
            columns = _USUAL
    return max(_NARROWEST, min(_WIDEST, columns - 1))


def draw_command(command: CommandDescription) -> str:
    """The help of one command."""
    width = terminal_width()
    said = command.meaning or command.details
    parts = [_paragraph(f"{said[:1].upper()}{said[1:]}", width)]
    parts.append(_paragraph(f"usage: {_usage(command)}", width, "         "))
    if command.examples:
        parts.append("\n".join(["examples:", *(f"  {line}" for line in command.examples)]))
    if command.commands:
        parts.append("\n".join(["commands:", *_rows(command.commands.items(), width)]))
    values = [each for each in command.arguments if not each.is_option]
    options = [each for each in command.arguments if each.is_option]
    for title, described in (("arguments:", values), ("options:", options)):
        if described:
            rows = [(_names(each), each.meaning) for each in described]
            parts.append("\n".join([title, *_rows(rows, width)]))
    if command.meaning and command.details:
        parts.append(_paragraph(command.details, width))
    parts.append(_last_line(command, width))
    return "\n\n".join(part for part in parts if part) + "\n"


def draw_options() -> str:
    """The page of the common options."""
    width = terminal_width()
    before = _paragraph(
        "Options that most commands take, before or after the command: "
        "carrel --home ~/desk papers search WORDS is carrel papers search WORDS --home ~/desk. "
        "A command refuses those that mean nothing to it.",
        width,
    )
    after = _paragraph(
        "Settings, and the variables of the environment for each, stand in docs/reference.md; "
        "a value that begins with - follows = or stands after --; where a long text is wanted, "
        "@FILE reads it from a file, - from standard input, and @@ begins a text with @.",
        width,
    )
    rows = "\n".join(_rows(COMMON_MEANINGS.items(), width))
    return f"{before}\n\n{rows}\n\n{after}\n"


def draw_overview(groups: Mapping[str, Mapping[str, str]]) -> str:
    """The help of `carrel` itself: every command with its meaning, in groups."""
    width = terminal_width()
    parts = ["carrel: a research desk for AI assistants", "usage: carrel COMMAND [options]"]
    widest = max(len(verb) for commands in groups.values() for verb in commands)
    for title, commands in groups.items():
        parts.append("\n".join([f"{title}:", *_rows(commands.items(), width, least=widest)]))
    parts.append(
        _paragraph(
            "carrel help COMMAND says more (as carrel COMMAND --help), carrel help options "
            "what most commands take, carrel --version the version.",
            width,
        )
    )
    return "\n\n".join(parts)


def _usage(command: CommandDescription) -> str:
    words = [command.program, command.path] if command.path else [command.program]
    if command.commands:
        return " ".join([*words, "COMMAND", "[options]"])
    for each in command.arguments:
        if each.is_option and not each.is_required:
            continue
        word = f"{each.names[0]} {each.value}".strip() if each.is_option else each.value
        word = f"{word}…" if each.is_many else word
        words.append(word if each.is_required else f"[{word}]")
    has_options = any(each.is_option and not each.is_required for each in command.arguments)
    return " ".join([*words, *(["[options]"] if has_options or command.common else [])])


def _names(each: ArgumentDescription) -> str:
    if not each.is_option:
        return each.value
    return f"{', '.join(each.names)} {each.value}".strip()


def _last_line(command: CommandDescription, width: int) -> str:
    if command.commands and command.program != "carrel":
        return _paragraph(f"{command.program} COMMAND --help says more of each.", width)
    if command.commands:
        return _paragraph(f"carrel help {command.path} COMMAND says more of each.", width)
    if not command.common:
        return ""
    return _paragraph(f"Common options: {' '.join(command.common)} (carrel help options).", width)


def _rows(rows: Iterable[tuple[str, str]], width: int, least: int = 0) -> list[str]:
    """Names and their meanings in two columns; a long name has its meaning below."""
    listed = list(rows)
    longest = max((len(name) for name, _ in listed if len(name) <= _WIDEST_NAMES), default=0)
    column = max(longest, least) + 4
    lines: list[str] = []
    for name, meaning in listed:
        first = f"  {name}".ljust(column)
        if len(name) + 4 > column:
            lines.append(f"  {name}")
            first = " " * column
        lines += textwrap.wrap(
            meaning or " ",
            width,
            initial_indent=first,
            subsequent_indent=" " * column,
            break_on_hyphens=False,
            drop_whitespace=True,
        ) or [first.rstrip()]
    return lines


def _paragraph(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(
        text, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
