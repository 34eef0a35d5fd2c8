"""`carrel operations`, `call`, `read` and `prompt`: the catalogue as assistants see it, by name."""

from __future__ import annotations

import argparse
import asyncio
import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from carrel.cli.acting import add_user_option, find_user
from carrel.cli.calls import Terminal, at_terminal
from carrel.cli.command_names import find_command, in_commands
from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.logs import configure_command_logs
from carrel.cli.operation_arguments import read_pairs
from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.output import say_next_step, show, show_table
from carrel.cli.parsers import CommandParser
from carrel.cli.rooms import AskedOperation, show_answer, wait_for_job
from carrel.core.answer import Binary, PromptText, Text
from carrel.core.caller import Caller
from carrel.core.catalogue import Catalogue
from carrel.core.errors import InvalidInputError, NotFoundError
from carrel.core.name_suggestions import near_names
from carrel.core.operation import Operation, Prompt, Resource
from carrel.core.operation_search import OperationSearch
from carrel.core.unoffered_tasks import advise_unoffered
from carrel.doors.mcp.desk_prompts import desk_prompts
from carrel.settings import Settings
from carrel.wiring.desk import open_desk

_MOST_FOUND = 10


def run(words: list[str]) -> int:
    return {
        "operations": _list_operations,
        "call": _call,
        "read": _read,
        "prompt": _prompt,
    }[words[0]](words[1:])


def _list_operations(words: list[str]) -> int:
    parser = CommandParser(prog="carrel operations", description="Find operations by plain words.")
    parser.add_argument(
        "words", nargs="*", metavar="WORDS", help="what you want to do; all if empty"
    )
    add_desk_options(parser)
    add_json_option(parser)
    options = parser.parse_args(words)
    catalogue = open_desk(settings_from(options)).catalogue
    operations = list(catalogue.operations.values())
    if options.words:
        scopes = frozenset(scope for each in operations for scope in each.scopes)
        search = OperationSearch(operations, {})
        operations = search.find(" ".join(options.words), scopes, _MOST_FOUND)
    rows = [(each.name, find_command(each.name) or "", each.title) for each in operations]
    _show_list(
        ("operation", "command", "what it does"), ("name", "command", "title"), rows, options
    )
    if advice := advise_unoffered(" ".join(options.words)):
        show(in_commands(advice), file=sys.stderr)
    if not operations:
        show("No operation is like that; carrel operations lists all.", file=sys.stderr)
        return 1
    return 0


def _call(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel call", description="Call any operation by its name, as assistants do."
    )
    parser.add_argument("operation", metavar="OPERATION", help="carrel operations lists them")
    parser.add_argument(
        "arguments",
        nargs="*",
        metavar="ARGUMENTS",
        help="a JSON object, or KEY=TEXT and KEY:=JSON for each; @FILE and - read it",
    )
    options, settings, user = _parse(parser, words)
    arguments = read_pairs("arguments", options.arguments)

    async def session() -> tuple[Operation[Any], Any]:
        async with open_desk(settings).session() as desk:
            operation = desk.catalogue.operations.get(options.operation)
            if operation is None:
                raise _unknown_operation(options.operation[:100], desk.catalogue)
            terminal = await at_terminal(desk, user)
            answer = await terminal.call(operation, arguments)
            return operation, await wait_for_job(terminal, answer)

    operation, answer = asyncio.run(session())
    return show_answer(AskedOperation(operation, arguments, answer, options))


def _unknown_operation(name: str, catalogue: Catalogue) -> NotFoundError:
    near = near_names(name, catalogue.operations, most=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    return NotFoundError(
        "Operation", name, next_step=f"{meant}carrel operations WORDS finds one by plain words."
    )


def _read(words: list[str]) -> int:
    parser = CommandParser(prog="carrel read", description="Print a resource by its address.")
    parser.add_argument(
        "address",
        nargs="?",
        metavar="ADDRESS",
        help="such as paper://PAPER_ID/source; without it the addresses there are",
    )
    options, settings, user = _parse(parser, words)

    async def session() -> Text | Binary | None:
        async with open_desk(settings).session() as desk:
            if options.address is None:
                _list_resources(desk.catalogue, options)
                return None
            resource, variables = _find_resource(desk.catalogue, options.address)
            terminal = await at_terminal(desk, user)
            content: Text | Binary = await desk.gate.read(
                resource, variables, terminal.caller, terminal.visit
            )
            return content

    content = asyncio.run(session())
    if options.json and content is not None:
        show_json(_resource_facts(options.address, content))
        return 0
    match content:
        case Binary(body):
            sys.stdout.flush()
            sys.stdout.buffer.write(body)
        case Text(body):
            show(body, end="" if body.endswith("\n") else "\n")
    return 0


def _prompt(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel prompt", description="Print a prompt for a whole job, to paste into a chat."
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="the prompt; without it the prompts there are"
    )
    parser.add_argument(
        "arguments", nargs="*", metavar="KEY=TEXT", help="its arguments, which the list names"
    )
    options, settings, user = _parse(parser, words)
    given = {name: str(value) for name, value in read_pairs("KEY", options.arguments).items()}

    async def session() -> PromptText | None:
        async with open_desk(settings).session() as desk:
            prompts = _prompts(desk.catalogue)
            if options.name is None:
                _list_prompts(prompts, options)
                return None
            prompt = prompts.get(options.name)
            if prompt is None:
                raise NotFoundError(
                    "Prompt", options.name[:100], next_step="carrel prompt lists those there are."
                )
            _check_arguments(prompt, given)
            return await _expand(await at_terminal(desk, user), prompt, given)

    expanded = asyncio.run(session())
    if options.json:
        if expanded is not None:
            show_json({"name": options.name, "text": _prompt_text(expanded)})
        return 0
    if expanded is None:
        say_next_step("carrel prompt NAME KEY=TEXT prints one, to paste into a chat.")
    else:
        show(_prompt_text(expanded))
    return 0


async def _expand(terminal: Terminal, prompt: Prompt, given: Mapping[str, str]) -> PromptText:
    expanded: PromptText = await terminal.desk.gate.expand(
        prompt, given, terminal.caller, terminal.visit
    )
    return expanded


def _parse(
    parser: CommandParser, words: list[str]
) -> tuple[argparse.Namespace, Settings, Caller | None]:
    add_user_option(parser)
    add_desk_options(parser)
    add_json_option(parser)
    options = parser.parse_args(words)
    settings = settings_from(options)
    configure_command_logs(options.log_level, settings)
    return options, settings, find_user(settings, options)


def _list_resources(catalogue: Catalogue, options: argparse.Namespace) -> None:
    rows = [(each.uri, each.description) for each in catalogue.resources.values()]
    _show_list(("address", "what it is"), ("address", "description"), rows, options)


def _list_prompts(prompts: Mapping[str, Prompt], options: argparse.Namespace) -> None:
    if options.json:
        show_json(
            [
                {"name": each.name, "arguments": each.argument_names, "title": each.title}
                for each in prompts.values()
            ]
        )
        return
    rows = [(each.name, " ".join(each.argument_names), each.title) for each in prompts.values()]
    show_table(("prompt", "arguments", "what it is"), rows)


def _show_list(
    columns: Sequence[str],
    fields: Sequence[str],
    rows: Sequence[Sequence[str]],
    options: argparse.Namespace,
) -> None:
    if options.json:
        show_json([dict(zip(fields, row, strict=True)) for row in rows])
    else:
        show_table(columns, rows)


def _resource_facts(address: str, content: Text | Binary) -> dict[str, str]:
    facts = {"address": address, "media_type": content.media_type}
    if isinstance(content, Text):
        return {**facts, "text": content.body}
    return {**facts, "base64": b64encode(content.body).decode()}


def _prompt_text(expanded: PromptText) -> str:
    contents = [message.content for message in expanded.messages]
    return "\n\n".join(each.body for each in contents if isinstance(each, Text))


def _find_resource(catalogue: Catalogue, address: str) -> tuple[Resource, dict[str, str]]:
    for resource in catalogue.resources.values():
        variables = resource.matcher()(address)
        if variables is not None:
            return resource, variables
    raise NotFoundError(
        "Resource", address[:200], next_step="carrel read lists the addresses there are."
    )


def _prompts(catalogue: Catalogue) -> dict[str, Prompt]:
    """The prompts of the rooms, and those of whole jobs, as a client of all rooms is offered."""
    listed = [each.name for each in catalogue.operations.values() if each.is_listed]
    jobs = desk_prompts(catalogue, listed, is_compact=False)
    return {**{each.name: each for each in jobs}, **catalogue.prompts}


def _check_arguments(prompt: Prompt, given: Mapping[str, str]) -> None:
    known = prompt.argument_names
    missing = [
        each.name for each in prompt.arguments if each.is_required and each.name not in given
    ]
    odd = sorted(set(given) - set(known))
    if missing or odd:
        said = [f"{', '.join(missing)} is missing"] if missing else []
        said += [f"it has no {', '.join(odd)}"] if odd else []
        raise InvalidInputError(
            f"{prompt.name}: {'; '.join(said)}",
            next_step=f"Its arguments: {', '.join(known) or 'none'}.",
        )
