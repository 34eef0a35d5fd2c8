"""The commands of each room, generated from the operations in the catalogue."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from carrel.cli.acting import add_user_option, find_user
from carrel.cli.calls import Terminal, at_terminal, call_local, local_operations
from carrel.cli.command_names import in_commands
from carrel.cli.empty_desk import describe_empty_desk
from carrel.cli.generic_page import make_generic_page
from carrel.cli.logs import configure_command_logs
from carrel.cli.operation_arguments import add_operation_arguments, read_operation_arguments
from carrel.cli.options import Flags, add_desk_options, add_home_options, settings_from
from carrel.cli.output import say_next_step, show, show_page
from carrel.cli.page import MakePage, Markdown, Note, Page, Paragraph, Verbatim, make_page
from carrel.cli.parsers import CommandParser
from carrel.cli.progress import TerminalProgress
from carrel.core.answer import Blocks, Partial, Text, split_explanation
from carrel.core.answer_encoding import encode_answer
from carrel.core.caller import Caller
from carrel.core.jobs import JobReport
from carrel.core.operation import Operation
from carrel.core.room import load
from carrel.doors.errors import exit_of_failures
from carrel.rooms import declared_rooms
from carrel.settings import Settings, read_settings
from carrel.wiring.desk import open_desk

_NOTHING_DONE = 1
_JOBS = "jobs"
_JOB_PAGES = "carrel.cli.jobs_pages:PAGES"
_LOOK_EVERY_SECONDS = 2


def run(words: list[str]) -> int:
    room = words[0]
    own = _own_commands(room)
    if len(words) > 1 and words[1] in own:
        return int(load(own[words[1]])(words[1:]))
    return run_operation(room, words[1:])


@dataclass(frozen=True, slots=True)
class AskedOperation:
    """An operation that a command ran, and its answer."""

    operation: Operation[Any]
    arguments: Mapping[str, object]
    answer: Any
    options: argparse.Namespace

    @property
    def as_json(self) -> bool:
        return bool(self.options.json)


AddOptions = Callable[[argparse.ArgumentParser], None]


def run_operation(room: str, words: list[str]) -> int:
    """Runs a command that is an operation of a room, named by the first of the words."""
    return show_answer(ask_operation(room, words))


def ask_operation(
    room: str, words: list[str], add_options: AddOptions | None = None
) -> AskedOperation:
    """The same without showing the answer; `add_options` gives the command more options."""
    operations = _operations(room, _find_place(words))
    name = words[0] if words else ""
    parser = room_parser(room, operations, only=name, add_options=add_options)
    options = parser.parse_args(words)
    operation = operations[options.command]
    arguments = read_operation_arguments(operation, options)
    used = [name for argument, name in operation.rooms_used.items() if arguments.get(argument)]
    settings = _with_rooms_needed(settings_from(options), room, used)
    configure_command_logs(options.log_level, settings)
    user = find_user(settings, options)
    if operation.is_local:
        progress = TerminalProgress()
        answer = call_local(settings, room, operation.name, arguments, progress=progress, user=user)
    else:
        answer = asyncio.run(_ask(settings, operation.name, arguments, user))
    return AskedOperation(operation, arguments, answer, options)


def room_parser(
    room: str,
    operations: Mapping[str, Operation[Any]] | None = None,
    *,
    only: str = "",
    add_options: AddOptions | None = None,
) -> CommandParser:
    """The parser of a room's operations; of `only` one where it is named, the others are listed."""
    known = _operations(room) if operations is None else operations
    parser = CommandParser(prog=f"carrel {room}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, operation in known.items():
        command = commands.add_parser(name, help=operation.title, description=operation.description)
        if only in known and name != only:
            continue
        add_desk_options(command)
        command.add_argument("--json", action="store_true", help="print the answer as JSON")
        add_operation_arguments(command, operation)
        if "user" not in operation.question.model_fields:
            add_user_option(command)
        if add_options is not None:
            add_options(command)
    for name in _own_commands(room):
        if name not in known:
            commands.add_parser(name)
    return parser


def _own_commands(room: str) -> Mapping[str, str]:
    declared = declared_rooms().get(room)
    return declared.commands if declared is not None else {}


def run_named_operation(
    room: str, name: str, arguments: dict[str, object], options: argparse.Namespace
) -> int:
    """Runs an operation for a command that reads its own words; options as of any command."""
    return show_answer(ask_named_operation(room, name, arguments, options))


def ask_named_operation(
    room: str, name: str, arguments: dict[str, object], options: argparse.Namespace
) -> AskedOperation:
    """The same without showing the answer."""
    settings = _with_rooms_needed(settings_from(options), room)
    configure_command_logs(options.log_level, settings)
    operations = _operations(room, options)
    operation = next(each for each in operations.values() if each.name == name)
    user = find_user(settings, options)
    answer = asyncio.run(_ask(settings, name, arguments, user))
    return AskedOperation(operation, arguments, answer, options)


def _with_rooms_needed(settings: Settings, room: str, used: Sequence[str] = ()) -> Settings:
    """The settings with only the command's own room open, and those that it uses."""
    declared = declared_rooms().get(room)
    if declared is None or declared.searches_other_rooms or room not in settings.rooms:
        return settings
    return settings.model_copy(
        update={"rooms": tuple(name for name in settings.rooms if name in {room, *used})}
    )


def _find_place(words: Sequence[str]) -> argparse.Namespace:
    """The home and settings file that a command names, before its other words can be read."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_home_options(parser)
    try:
        return parser.parse_known_args(list(words))[0]
    except argparse.ArgumentError:
        # An option without its value, which the command's own parser refuses.
        return argparse.Namespace(home=None, config=None)


def _operations(room: str, place: argparse.Namespace | None = None) -> dict[str, Operation[Any]]:
    """The operations of a room (or of all rooms' jobs) by command, without opening a store."""
    flags: Flags = {
        ("home",): place.home if place is not None else None,
        ("rooms",): None if room == _JOBS else [room],
        ("audit", "enabled"): False,
    }
    settings = read_settings(flags, config=place.config if place is not None else None)
    catalogue, local = open_desk(settings).catalogue, local_operations(settings, room)
    return {
        operation.command: operation
        for operation in (*catalogue.operations.values(), *local.values())
        if operation.command and operation.room == room
    }


async def _ask(
    settings: Settings, name: str, arguments: dict[str, object], user: Caller | None
) -> Any:
    async with open_desk(settings).session() as desk:
        terminal = await at_terminal(desk, user)
        answer = await terminal.call(desk.catalogue.operations[name], arguments)
        return await wait_for_job(terminal, answer)


def show_answer(asked: AskedOperation) -> int:
    """Prints the answer, on standard error what explains it; 1 or 5 where all of it failed."""
    operation, as_json = asked.operation, asked.as_json
    answer, explanation = split_explanation(asked.answer)
    page = _json_text(operation, answer) if as_json else _page(operation, answer, asked.arguments)
    show_page(page)
    if explanation is not None:
        show_page(Page((Paragraph(in_commands(explanation.message)),)), file=sys.stderr)
    elif not as_json and (empty := describe_empty_desk(operation, asked.options)):
        show_page(Page((Paragraph(empty),)), file=sys.stderr)
        return 0
    if failures := _only_failures(operation, answer):
        return exit_of_failures(failures, _NOTHING_DONE)
    if not as_json:
        _say_next(operation, answer, page)
    return 0


def _say_next(operation: Operation[Any], answer: Any, page: Page | str) -> None:
    """The next step of the page or of the operation; none where nothing was found."""
    own = page.next_step if isinstance(page, Page) else None
    step = operation.next_command if own is None else own
    if not step or answer in ([], ()):
        return
    saved_id = getattr(answer, "id", None) if own is None else None
    say_next_step(step, **({"ID": saved_id} if isinstance(saved_id, str) else {}))


def _only_failures(operation: Operation[Any], answer: Any) -> list[str]:
    """The codes of failures where nothing was done or is still to come; else none."""
    if isinstance(answer, Text | Blocks | Partial):
        return []
    value = orjson.loads(encode_answer(operation.answer, answer))
    if not isinstance(value, dict):
        return []
    works = value.get("works")
    if isinstance(works, list) and works and all(_has_failed(each) for each in works):
        return [str(each.get("code", "")) for each in works]
    if not isinstance(failed := value.get("failed"), list):
        return []
    if any(value[name] for name in value if name not in {"failed", "warnings"}):
        return []
    return [str(each.get("code", "")) if isinstance(each, dict) else "" for each in failed]


def _has_failed(work: object) -> bool:
    return isinstance(work, dict) and work.get("outcome") == "failed"


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
    if make is not None:
        return make_page(make, answer, arguments)
    if isinstance(answer, Text):
        return Page((_text_part(answer),))
    if isinstance(answer, Blocks):
        return Page(tuple(_text_part(part) for part in answer.parts if isinstance(part, Text)))
    return make_generic_page(orjson.loads(encode_answer(operation.answer, answer)))


def _text_part(text: Text) -> Markdown | Verbatim:
    return Markdown(text.body) if text.media_type == "text/markdown" else Verbatim(text.body)


def _pages(room: str) -> Mapping[str, MakePage]:
    if room == _JOBS:
        pages: Mapping[str, MakePage] = load(_JOB_PAGES)
        return pages
    declared = declared_rooms().get(room)
    return load(declared.pages) if declared is not None and declared.pages else {}


async def wait_for_job(terminal: Terminal, answer: Any) -> Any:
    """Wait for the answer's job and return its result: the job would end with this process."""
    job_id = getattr(answer, "job_id", None)
    jobs = terminal.desk.catalogue.jobs
    if jobs is None or not job_id or isinstance(answer, (Partial, JobReport)):
        return answer
    progress, counted, total, said = TerminalProgress(), 0, 0, ""
    try:
        while True:
            question = {"job_id": job_id, "wait_seconds": _LOOK_EVERY_SECONDS}
            report: JobReport = await terminal.call(jobs.get, question)
            if report.state != "running":
                return (await terminal.call(jobs.find_task, {"job_id": job_id})).result
            if not sys.stderr.isatty():
                if report.message != said:
                    said = report.message
                    show(f"carrel: {said}", file=sys.stderr)
                continue
            if report.total and report.total != total:
                counted, total = 0, report.total
                progress.begin("working", total, "steps")
            if total:
                progress.advance(report.done - counted)
                counted = report.done
    finally:
        progress.close()
