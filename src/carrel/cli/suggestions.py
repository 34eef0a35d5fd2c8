"""Suggestions for a mistyped command or option: the nearest that there is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from carrel.cli.command_names import all_commands

# How alike two words must be, by difflib's ratio: `serch` and `search` have 0.91, `lst` and
# `list` 0.86, `fly` and `find` 0.57.
_LEAST_ALIKE = 0.7
_LONGEST_WORD = 64


def find_nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant."""
    lower = word[:_LONGEST_WORD].casefold()
    names = list(known)
    near = difflib.get_close_matches(lower, names, n=1, cutoff=_LEAST_ALIKE)
    # `check` is short for `check-claim`, which is not alike enough.
    longer = [name for name in names if name.startswith(f"{lower}-")]
    return next(iter(near or longer), None)


def describe_unknown_command(word: str, verbs: Iterable[str]) -> str:
    """That there is no such command, with what was probably meant."""
    shown = word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}…"
    return f"there is no command {shown!r}. {_meant(word, list(verbs))}carrel help lists them."


def _meant(word: str, verbs: list[str]) -> str:
    """`cite` alone means the command of a room; otherwise the nearest command is named."""
    inside = [command for command in all_commands() if command.split()[-1] == word.casefold()]
    near = find_nearest(word, verbs)
    # `search` fills an Elasticsearch; whoever mistypes it wants to find something.
    near = "find" if near == "search" else near
    meant = inside or ([f"carrel {near}"] if near else [])
    return f"Did you mean {' or '.join(meant)}? " if meant else ""
