"""Writes the index of commands from their parsers and from `command_texts.toml`."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from carrel.cli import all_verbs
from carrel.cli.command_descriptions import ArgumentDescription, CommandDescription
from carrel.cli.command_index import INDEX
from carrel.cli.command_names import in_commands
from carrel.cli.parser_descriptions import child_parsers, describe_parser
from carrel.core.room import load
from carrel.rooms import declared_rooms

TEXTS = Path(__file__).with_name("command_texts.toml")
# What the values of an argument are taken from, by the room and the field.
_COMPLETED = {
    "references id": "references",
    "references ids": "references",
    "references style": "styles",
    "references path": "files",
    "papers path": "files",
    "research research_id": "projects",
    "jobs job_id": "",
    " user": "users",
}


class _CapturedError(Exception):
    """Carries the parser of a command out of it, before it reads its words."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__(parser.prog)
        self.parser = parser


def write_index() -> int:
    INDEX.write_text(render_index(describe_commands()), encoding="utf-8")
    return 0


def render_index(commands: dict[str, CommandDescription]) -> str:
    """The text of the file: one line for each argument, so that changes can be read."""
    lines = []
    for path, command in commands.items():
        facts = {name: value for name, value in asdict(command).items() if value and name != "path"}
        arguments = [_without_empty(each) for each in facts.pop("arguments", ())]
        body = json.dumps(facts, ensure_ascii=False)[:-1]
        if arguments:
            rows = ",\n".join(f"  {json.dumps(each, ensure_ascii=False)}" for each in arguments)
            body += f'{", " if facts else ""}"arguments": [\n{rows}]'
        lines.append(f"{json.dumps(path)}: {body}}}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _without_empty(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value}


def describe_commands() -> dict[str, CommandDescription]:
    """Every command of the shipped program, in the order of its texts."""
    texts = tomllib.loads(TEXTS.read_text(encoding="utf-8"))
    found: dict[str, CommandDescription] = {}
    for verb, (module, meaning) in all_verbs().items():
        for command in _describe_verb(verb, module, meaning):
            found[command.path] = _with_text(command, texts)
    ordered = [path for path in _paths(texts) if path in found]
    rest = [path for path in found if path not in ordered]
    everything = {path: found[path] for path in [*ordered, *rest]}
    return {path: _with_order(command, everything) for path, command in everything.items()}


def _describe_verb(verb: str, module: str, meaning: str) -> Iterator[CommandDescription]:
    if verb in {*declared_rooms(), "jobs"}:
        yield from _describe_room(verb, meaning)
        return
    parser = capture_parser(import_module(module).run, [verb])
    described = replace(describe_parser(parser), path=verb, meaning=meaning)
    yield described
    for child in map(describe_parser, child_parsers(parser)):
        yield replace(child, meaning=described.commands[child.path.split()[1]])


def _describe_room(room: str, meaning: str) -> Iterator[CommandDescription]:
    from carrel.cli.rooms import room_parser

    own = declared_rooms()[room].commands if room in declared_rooms() else {}
    parser = room_parser(room)
    described = {
        command.path.split()[1]: command for command in map(describe_parser, child_parsers(parser))
    }
    for name, reference in own.items():
        captured = capture_parser(load(reference), [name])
        # A command that only adds options to an operation reads its words with the room's parser.
        of_room = {each.prog: each for each in child_parsers(captured)}
        described[name] = describe_parser(of_room.get(f"carrel {room} {name}", captured))
    yield CommandDescription(room, meaning, commands=dict.fromkeys(described, ""))
    yield from described.values()


def capture_parser(run: Callable[[list[str]], int], words: list[str]) -> argparse.ArgumentParser:
    """The parser that a command would read its words with; the command is not run."""
    with _capturing():
        try:
            run(words)
        except _CapturedError as captured:
            return captured.parser
    raise ValueError(f"{words} parses nothing")


@contextmanager
def _capturing() -> Iterator[None]:
    """While inside, a parser that has help is raised where it would read words."""
    read = argparse.ArgumentParser.parse_known_args

    def capture(self: argparse.ArgumentParser, *given: Any, **named: Any) -> Any:
        if self.add_help:
            raise _CapturedError(self)
        return read(self, *given, **named)

    before = os.environ.get("CARREL_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CARREL_HOME"] = folder
        argparse.ArgumentParser.parse_known_args = capture  # type: ignore[method-assign]
        try:
            yield
        finally:
            argparse.ArgumentParser.parse_known_args = read  # type: ignore[method-assign]
            os.environ.pop("CARREL_HOME")
            if before is not None:
                os.environ["CARREL_HOME"] = before


def _with_text(command: CommandDescription, texts: dict[str, Any]) -> CommandDescription:
    """The command with what the texts say of it and of its fields."""
    room, _, name = command.path.partition(" ")
    own = texts.get(room, {})
    own = own.get(name, {}) if name else own.get("_", {})
    shared = texts.get("fields", {})
    meanings = {**shared.get("all", {}), **shared.get(room, {}), **own.get("fields", {})}
    arguments = [
        replace(
            each,
            meaning=_joined(meanings.get(each.field) if _is_bare(each) else None, each),
            completes=_COMPLETED.get(
                f"{room} {each.field}", _COMPLETED.get(f" {each.field}", each.completes)
            ),
        )
        for each in command.arguments
    ]
    meaning = own.get("meaning") or command.meaning or in_commands(_first_sentence(command.details))
    return replace(
        command,
        meaning=meaning,
        details=own.get("details", ""),
        examples=tuple(own.get("examples", ())),
        arguments=tuple(arguments),
    )


def _is_bare(each: ArgumentDescription) -> bool:
    """Whether the command itself says nothing of an argument but its values and its default."""
    return not each.meaning or each.meaning.startswith((" (", "("))


def _joined(text: str | None, each: ArgumentDescription) -> str:
    """The meaning of an argument, where operations are called by their commands."""
    return in_commands(each.meaning if text is None else f"{text} {each.meaning.strip()}".strip())


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")


def _with_order(
    command: CommandDescription, everything: dict[str, CommandDescription]
) -> CommandDescription:
    if not command.commands:
        return command
    children = {
        path.split()[1]: each.meaning
        for path, each in everything.items()
        if path.startswith(f"{command.path} ")
    }
    return replace(command, commands=children)


def _paths(texts: dict[str, Any]) -> Iterator[str]:
    for verb, commands in texts.items():
        if verb == "fields":
            continue
        yield verb
        yield from (f"{verb} {name}" for name in commands if name != "_")
