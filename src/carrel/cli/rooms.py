"""The commands of each room, generated from the operations in the catalogue."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from carrel.cli.calls import Terminal, at_terminal, call_local, local_operations
from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.output import say_next_step, show
from carrel.cli.progress import TerminalProgress
from carrel.core.answer import Blocks, Partial, Text, split_explanation
from carrel.core.answer_encoding import encode_answer
from carrel.core.jobs import JobReport
from carrel.core.operation import Operation
from carrel.core.room import load
from carrel.doors.logs import configure_logs
from carrel.doors.schemas import input_schema
from carrel.rooms import declared_rooms
from carrel.settings import Settings, read_settings
from carrel.wiring.desk import open_desk

_NOTHING_DONE = 1
_JOBS = "jobs"
_LOOK_EVERY_SECONDS = 2


def run(words: list[str]) -> int:
    room = words[0]
    own = declared_rooms()[room].commands if room != _JOBS else {}
    if len(words) > 1 and words[1] in own:
        return int(load(own[words[1]])(words[1:]))
    return run_operation(room, words[1:])


@dataclass(frozen=True, slots=True)
class AskedOperation:
    """An operation that a command ran, and its answer."""

    operation: Operation[Any]
    answer: Any
    as_json: bool


def run_operation(room: str, words: list[str]) -> int:
    """Runs a command that is an operation of a room, named by the first of the words."""
    asked = ask_operation(room, words)
    return _show_answer(asked.operation, asked.answer, asked.as_json)


def ask_operation(room: str, words: list[str]) -> AskedOperation:
    """The same without showing the answer."""
    own = declared_rooms()[room].commands if room != _JOBS else {}
    operations = _operations(room)
    parser = argparse.ArgumentParser(prog=f"carrel {room}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in own:
        if name not in words[:1]:
            commands.add_parser(
                name, help="see carrel " + room + " " + name + " --help", add_help=False
            )
    for name, operation in operations.items():
        if name not in own or name in words[:1]:
            _add_command(commands, name, operation)
    options = parser.parse_args(words)
    settings = _with_rooms_needed(settings_from(options), room)
    configure_logs(options.log_level or "warning", settings.log.format)
    operation = operations[options.command]
    arguments = _arguments(operation, options)
    if operation.is_local:
        answer = call_local(settings, room, operation.name, arguments, progress=TerminalProgress())
    else:
        answer = asyncio.run(_ask(settings, operation.name, arguments))
    return AskedOperation(operation, answer, bool(options.json))


def run_named_operation(
    room: str, name: str, arguments: dict[str, object], options: argparse.Namespace
) -> int:
    """Runs an operation for a command that reads its own words; options as of any command."""
    settings = _with_rooms_needed(settings_from(options), room)
    configure_logs(options.log_level or "warning", settings.log.format)
    operation = next(each for each in _operations(room).values() if each.name == name)
    return _show_answer(operation, asyncio.run(_ask(settings, name, arguments)), options.json)


def _with_rooms_needed(settings: Settings, room: str) -> Settings:
    """The settings with only the command's own room open, unless it searches the others."""
    declared = declared_rooms().get(room)
    if declared is None or declared.searches_other_rooms or room not in settings.rooms:
        return settings
    return settings.model_copy(update={"rooms": (room,)})


def _operations(room: str) -> dict[str, Operation[Any]]:
    """The operations of a room (or of all rooms' jobs) by command, without opening a store."""
    settings = read_settings(
        {("rooms",): None if room == _JOBS else [room], ("audit", "enabled"): False}
    )
    catalogue, local = open_desk(settings).catalogue, local_operations(settings, room)
    return {
        operation.command: operation
        for operation in (*catalogue.operations.values(), *local.values())
        if operation.command and operation.room == room
    }


def _add_command(commands: Any, name: str, operation: Operation[Any]) -> None:
    parser = commands.add_parser(name, help=operation.title, description=operation.description)
    add_desk_options(parser)
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    schema = input_schema(operation)
    required = set(schema.get("required", ()))
    for field, facts in schema.get("properties", {}).items():
        kinds = _kinds(facts)
        about = {"help": facts.get("description"), "metavar": field.upper()}
        if "enum" in facts:
            about = {"help": facts.get("description"), "choices": facts["enum"]}
        if field in required or facts.get("positional"):
            many = {"nargs": "+"} if "array" in kinds else {}
            one = {} if field in required else {"nargs": "?"}
            parser.add_argument(f"_{field}", **{"metavar": field.upper(), **about, **many, **one})
        elif "boolean" in kinds:
            parser.add_argument(
                f"--{field.replace('_', '-')}",
                dest=f"_{field}",
                action="store_true",
                default=None,
                help=about["help"],
            )
        else:
            many = {"nargs": "+"} if "array" in kinds else {}
            parser.add_argument(f"--{field.replace('_', '-')}", dest=f"_{field}", **about, **many)


def _arguments(operation: Operation[Any], options: argparse.Namespace) -> dict[str, object]:
    given: dict[str, object] = {}
    for field, facts in input_schema(operation).get("properties", {}).items():
        value = getattr(options, f"_{field}")
        if value is None:
            continue
        given[field] = _typed(value, _kinds(facts))
    return given


def _kinds(facts: dict[str, Any]) -> list[str | None]:
    """Every JSON type that a field may have, alternatives included."""
    alternatives = [kind for each in facts.get("anyOf", ()) for kind in _kinds(each)]
    kind = facts.get("type")
    return [
        *(
            kind
            if isinstance(kind, list)
            else [kind]
            if kind is not None or not alternatives
            else []
        ),
        *alternatives,
    ]


def _typed(value: Any, kinds: list[str | None]) -> object:
    if isinstance(value, str) and not {"string", "array"} & set(kinds) and None not in kinds:
        try:
            return json.loads(value)
        except json.JSONDecodeError:
            return value
    return value


async def _ask(settings: Settings, name: str, arguments: dict[str, object]) -> Any:
    async with open_desk(settings).session() as desk:
        terminal = await at_terminal(desk)
        answer = await terminal.call(desk.catalogue.operations[name], arguments)
        return await wait_for_job(terminal, answer)


def _show_answer(operation: Operation[Any], given: Any, as_json: bool) -> int:
    answer, explanation = split_explanation(given)
    text = _text(operation, answer, as_json)
    # JSON lines that end with an empty one are not what other tools read.
    show(text, end="" if text.endswith("\n") else "\n")
    if explanation is not None:
        show(explanation.message, file=sys.stderr)
    if _has_only_failed(operation, answer):
        return _NOTHING_DONE
    if not as_json and operation.next_command:
        saved_id = getattr(answer, "id", None)
        known = {"ID": saved_id} if isinstance(saved_id, str) else {}
        say_next_step(operation.next_command, **known)
    return 0


def _has_only_failed(operation: Operation[Any], answer: Any) -> bool:
    """Whether the answer reports failures and nothing that was done or is still to come."""
    if isinstance(answer, Text | Blocks | Partial):
        return False
    value = orjson.loads(encode_answer(operation.answer, answer))
    if not isinstance(value, dict) or not value.get("failed"):
        return False
    return not any(value[name] for name in value if name not in {"failed", "warnings"})


def _text(operation: Operation[Any], answer: Any, as_json: bool) -> str:
    if isinstance(answer, Text):
        return answer.body
    if isinstance(answer, Blocks) and as_json:
        return encode_answer(Blocks, answer).decode()
    if isinstance(answer, Blocks):
        return "\n".join(part.body for part in answer.parts if isinstance(part, Text))
    rows = list(answer.result) if isinstance(answer, Partial) else answer
    if not as_json:
        page = _pages(operation.room).get(operation.name)
        if page is not None:
            rest = (
                f"\n\n{answer.pending} to come. {answer.next_step}"
                if isinstance(answer, Partial)
                else ""
            )
            return page(rows) + rest
    value = orjson.loads(encode_answer(operation.answer, rows))
    if as_json:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    return "\n\n".join(_shown(row) for row in value) if isinstance(value, list) else _shown(value)


def _pages(room: str) -> Mapping[str, Callable[[Any], str]]:
    declared = declared_rooms().get(room)
    return load(declared.pages) if declared is not None and declared.pages else {}


async def wait_for_job(terminal: Terminal, answer: Any) -> Any:
    """Wait for the answer's job and return its result: the job would end with this process."""
    job_id = getattr(answer, "job_id", None)
    jobs = terminal.desk.catalogue.jobs
    if jobs is None or not job_id or isinstance(answer, (Partial, JobReport)):
        return answer
    while True:
        question = {"job_id": job_id, "wait_seconds": _LOOK_EVERY_SECONDS}
        report: JobReport = await terminal.call(jobs.get, question)
        if report.state != "running":
            return (await terminal.call(jobs.find_task, {"job_id": job_id})).result
        print(f"carrel: {report.message}", file=sys.stderr)


_MEANING_OF_MARK = "? marks what no source states: carrel papers review says more."


def _shown(row: Any) -> str:
    if not isinstance(row, dict):
        return str(row)
    guesses = set(row.get("inferred") or ())
    lines = [
        f"{name}: {_value(value)}{' ?' if name in guesses else ''}"
        for name, value in row.items()
        if value not in (None, [], "")
    ]
    return "\n".join([*lines, *([_MEANING_OF_MARK] if guesses else [])])


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(_value(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(
            f"{name} {_value(item)}" for name, item in value.items() if item not in (None, [], "")
        )
    return str(value)
