"""Describes commands by the parsers that read their words."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from carrel.cli.command_descriptions import PROGRAM, ArgumentDescription, CommandDescription
from carrel.cli.common_options import COMMON_OPTIONS

# Of the values of an argument that stand in its usage; more are named in its meaning.
_LONGEST_CHOICES = 22


def describe_parser(parser: argparse.ArgumentParser) -> CommandDescription:
    """The description of a command, from the parser that reads its words."""
    program, _, path = parser.prog.partition(" ")
    arguments: list[ArgumentDescription] = []
    common: list[str] = []
    commands: dict[str, str] = {}
    for action in parser._actions:
        shared = [name for name in action.option_strings if name in COMMON_OPTIONS]
        if isinstance(action, argparse._SubParsersAction):
            commands = {each.dest: each.help or "" for each in action._choices_actions}
        elif shared and program == PROGRAM:
            common += shared
        elif action.help != argparse.SUPPRESS and action.dest != "help":
            arguments.append(_describe_action(action))
    ordered = tuple(name for name in COMMON_OPTIONS if name in common)
    arguments.sort(key=lambda each: each.is_option)
    return CommandDescription(
        path,
        details=parser.description or "",
        arguments=tuple(arguments),
        common=ordered,
        commands=commands,
        program=program,
    )


def child_parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers of the commands that begin with this one's words."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


def _describe_action(action: argparse.Action) -> ArgumentDescription:
    takes_value = action.nargs != 0
    choices = tuple(str(each) for each in action.choices or ())
    metavar = action.metavar if isinstance(action.metavar, str) else None
    shown = "|".join(choices)
    is_short = bool(choices) and len(shown) <= _LONGEST_CHOICES
    value = metavar or (shown if is_short else action.dest.lstrip("_").upper())
    is_repeated = isinstance(action, argparse._AppendAction | argparse._ExtendAction)
    return ArgumentDescription(
        names=tuple(action.option_strings),
        value=value if takes_value else "",
        meaning=_meaning(action, () if is_short and not metavar else choices),
        choices=choices,
        is_required=bool(action.required),
        is_many=is_repeated or action.nargs in {"+", "*"},
        completes=str(getattr(action, "completes", "") or _completed_by(action)),
        field=action.dest.lstrip("_"),
    )


def _meaning(action: argparse.Action, choices: tuple[str, ...]) -> str:
    """What it means, with the values it takes and the one it has when it is not given."""
    meaning = action.help or ""
    if choices and not all(each in meaning for each in choices):
        meaning = f"{meaning}: {', '.join(choices)}".lstrip(": ")
    default: Any = action.default
    is_said = default in (None, False, argparse.SUPPRESS) or default == []
    if is_said or isinstance(action, argparse._StoreConstAction) or f"({default})" in meaning:
        return meaning
    return meaning if "default" in meaning else f"{meaning} (default: {default})"


_COMPLETED_BY_VALUE = {
    "FILE": "files",
    "PATH": "files",
    "SOURCE": "files",
    "THING": "files",
    "FOLDER": "folders",
    "DIR": "folders",
}


def _completed_by(action: argparse.Action) -> str:
    return "" if action.choices else _COMPLETED_BY_VALUE.get(str(action.metavar or ""), "")
