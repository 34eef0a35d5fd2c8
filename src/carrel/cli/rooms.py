"""The commands of each room, generated from the operations in the catalogue."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from carrel.cli.calls import Terminal, at_terminal, call_local, local_operations
from carrel.cli.generic_page import make_generic_page
from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.output import say_next_step, show, show_page
from carrel.cli.page import MakePage, Markdown, Note, Page, PageOfQuestion, Verbatim
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
    arguments: Mapping[str, object]
    answer: Any
    as_json: bool


def run_operation(room: str, words: list[str]) -> int:
    """Runs a command that is an operation of a room, named by the first of the words."""
    return _show_answer(ask_operation(room, words))


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
    return AskedOperation(operation, arguments, answer, bool(options.json))


def run_named_operation(
    room: str, name: str, arguments: dict[str, object], options: argparse.Namespace
) -> int:
    """Runs an operation for a command that reads its own words; options as of any command."""
    settings = _with_rooms_needed(settings_from(options), room)
    configure_logs(options.log_level or "warning", settings.log.format)
    operation = next(each for each in _operations(room).values() if each.name == name)
    answer = asyncio.run(_ask(settings, name, arguments))
    return _show_answer(AskedOperation(operation, arguments, answer, bool(options.json)))


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


def _show_answer(asked: AskedOperation) -> int:
    operation, as_json = asked.operation, asked.as_json
    answer, explanation = split_explanation(asked.answer)
    page = _json_text(operation, answer) if as_json else _page(operation, answer, asked.arguments)
    show_page(page)
    if explanation is not None:
        show(explanation.message, file=sys.stderr)
    if _has_only_failed(operation, answer):
        return _NOTHING_DONE
    if not as_json:
        _say_next(operation, answer, page)
    return 0


def _say_next(operation: Operation[Any], answer: Any, page: Page | str) -> None:
    """The next step of the page or of the operation; none where nothing was found."""
    own = page.next_step if isinstance(page, Page) else None
    step = operation.next_command if own is None else own
    if not step or answer in ([], ()):
        return
    saved_id = getattr(answer, "id", None)
    say_next_step(step, **({"ID": saved_id} if isinstance(saved_id, str) else {}))


def _has_only_failed(operation: Operation[Any], answer: Any) -> bool:
    """Whether the answer reports failures and nothing that was done or is still to come."""
    if isinstance(answer, Text | Blocks | Partial):
        return False
    value = orjson.loads(encode_answer(operation.answer, answer))
    if not isinstance(value, dict) or not value.get("failed"):
        return False
    return not any(value[name] for name in value if name not in {"failed", "warnings"})


def _json_text(operation: Operation[Any], answer: Any) -> str:
    if isinstance(answer, Text):
        return answer.body
    if isinstance(answer, Blocks):
        return encode_answer(Blocks, answer).decode()
    rows = list(answer.result) if isinstance(answer, Partial) else answer
    value = orjson.loads(encode_answer(operation.answer, rows))
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def _page(operation: Operation[Any], answer: Any, arguments: Mapping[str, object]) -> Page | str:
    if isinstance(answer, Partial):
        first = _page(operation, list(answer.result), arguments)
        rest = f"{answer.pending} to come. {answer.next_step}"
        if isinstance(first, str):
            return f"{first}\n\n{rest}"
        return replace(first, parts=(*first.parts, Note(rest)))
    make = _pages(operation.room).get(operation.name)
    if isinstance(make, PageOfQuestion):
        return make.draw(answer, arguments)
    if make is not None:
        return make(answer)
    if isinstance(answer, Text):
        return Page((_text_part(answer),))
    if isinstance(answer, Blocks):
        return Page(tuple(_text_part(part) for part in answer.parts if isinstance(part, Text)))
    return make_generic_page(orjson.loads(encode_answer(operation.answer, answer)))


def _text_part(text: Text) -> Markdown | Verbatim:
    return Markdown(text.body) if text.media_type == "text/markdown" else Verbatim(text.body)


def _pages(room: str) -> Mapping[str, MakePage]:
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
