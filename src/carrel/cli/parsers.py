"""The parser of every command: its usage errors are one line, its help is drawn by `help.py`."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

# What argparse says, and what a person is told instead.
_REWORDED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), text)
    for pattern, text in (
        (r"the following arguments are required: ([^,]*)", r"\1 is missing"),
        (r"the following arguments are required: (.*)", r"\1 are missing"),
        (r"argument COMMAND: invalid choice: (.*) \(choose from .*", r"there is no command \1"),
        (r"unrecognized arguments: (-\S+).*", r"it has no option \1"),
        (r"unrecognized arguments: (.*)", r"it does not take \1"),
        (r"argument ([^:]+): expected (?:one|at least one) argument", r"\1 needs a value"),
        (r"argument ([^:]+): invalid (?:int|positive) value: (.*)", r"\1 takes a number, not \2"),
        (r"argument ([^:]+): invalid float value: (.*)", r"\1 takes a number, not \2"),
        (r"argument ([^:]+): invalid choice: (.*) \(choose from (.*)\)", r"\1 takes \3, not \2"),
        (r"argument ([^:]+): (.*)", r"\1 \2"),
    )
)


class CommandParser(argparse.ArgumentParser):
    """An argument parser that takes values beginning with a dash and says errors in one line."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        words = list(sys.argv[1:] if args is None else args)
        known: tuple[argparse.Namespace, list[str]] = super().parse_known_args(
            self._join_dashed_values(words), namespace
        )
        # Said here, because argparse would name the command that this one is a part of.
        if known[1] and self._subparsers is None:
            self.error(f"unrecognized arguments: {' '.join(known[1])}")
        return known

    def _join_dashed_values(self, words: list[str]) -> list[str]:
        """`--title -ase` as `--title=-ase`, where -ase is no option and --title takes one value."""
        joined: list[str] = []
        rest = iter(range(len(words)))
        for at in rest:
            word = words[at]
            if word == "--":
                return [*joined, *words[at:]]
            action = self._option_string_actions.get(word)
            value = words[at + 1] if at + 1 < len(words) else ""
            takes_value = action is not None and action.nargs is None
            if takes_value and self._is_dashed_value(value):
                joined.append(f"{word}={value}")
                next(rest)
            else:
                joined.append(word)
        return joined

    def _is_dashed_value(self, word: str) -> bool:
        is_dashed = len(word) > 1 and word[0] == "-" and word[1] != "-"
        return is_dashed and word not in self._option_string_actions

    def format_help(self) -> str:
        from carrel.cli.help import draw_command
        from carrel.cli.parser_descriptions import describe_parser

        return draw_command(describe_parser(self))

    def error(self, message: str) -> NoReturn:
        said = reword_error(message.replace("argument _", "argument "))
        hint = f"{self.prog} --help shows what it takes."
        if said.startswith("there is no command"):
            meant = self._nearest_command(said.split()[-1].strip("'"))
            hint = f"{meant}{self.prog} --help lists them."
        if said.startswith("it has no option"):
            near = self._nearest_option(said.split()[-1])
            hint = f"Did you mean {near}? {hint}" if near else hint
            hint += " A value that begins with - stands after --."
        self.exit(2, f"carrel: {self.prog.removeprefix('carrel ')}: {said}. {hint}\n")

    def _nearest_command(self, name: str) -> str:
        from carrel.cli.suggestions import find_nearest

        known = [str(name) for each in self._actions for name in each.choices or ()]
        near = find_nearest(name, known)
        return f"Did you mean {self.prog} {near}? " if near else ""

    def _nearest_option(self, name: str) -> str | None:
        from difflib import get_close_matches

        return next(iter(get_close_matches(name, self._option_string_actions, n=1)), None)


def reword_error(message: str) -> str:
    """What was wrong with the words of a command, in the words of a person."""
    for pattern, text in _REWORDED:
        if found := pattern.fullmatch(message):
            return found.expand(text).rstrip(".")
    return message.rstrip(".")
