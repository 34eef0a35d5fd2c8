"""`carrel find WORDS`: one search over papers, references, notes and research."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import orjson

from carrel.cli.calls import at_terminal
from carrel.cli.logs import configure_command_logs
from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.output import show
from carrel.cli.parsers import CommandParser
from carrel.core.answer import split_explanation
from carrel.core.answer_encoding import encode_answer
from carrel.core.desk_search import DeskAnswer, DeskHit, NothingOnDesk
from carrel.core.errors import NotConfiguredError
from carrel.settings import Settings
from carrel.wiring.desk import open_desk


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel find", description="Search papers, references, notes and research at once."
    )
    parser.add_argument("query", nargs="+", help="plain words, or an identifier")
    parser.add_argument("--limit", type=int, help="how many hits (default 10)")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    add_desk_options(parser)
    options = parser.parse_args(words[1:])
    settings = settings_from(options)
    configure_command_logs(options.log_level, settings)
    asked: dict[str, object] = {"query": " ".join(options.query)}
    if options.limit is not None:
        asked["limit"] = options.limit
    answer, explanation = split_explanation(asyncio.run(_ask(settings, asked)))
    if options.json:
        value = orjson.loads(encode_answer(DeskAnswer, answer))
        show(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())
    elif answer.hits:
        show("\n\n".join(_shown(hit) for hit in answer.hits))
    for room in answer.rooms if explanation is None else ():
        if room.message:
            show(f"{room.room}: {room.message}", file=sys.stderr)
    if isinstance(explanation, NothingOnDesk):
        show(
            "\n".join(f"{name}: {why}" for name, why in explanation.rooms.items()), file=sys.stderr
        )
    return 0


async def _ask(settings: Settings, arguments: dict[str, object]) -> Any:
    async with open_desk(settings).session() as desk:
        search = desk.catalogue.desk_search
        if search is None:
            raise NotConfiguredError(
                "A search over the desk needs two or more open rooms.",
                next_step="Name them with --rooms, or search the one room with its own command.",
            )
        return await (await at_terminal(desk)).call(search, arguments)


def _shown(hit: DeskHit) -> str:
    arguments = orjson.dumps(hit.next.arguments).decode()
    return (
        f"{hit.title}\n  {hit.kind} {hit.id} ({hit.room})\n  {hit.snippet}\n"
        f"  then: {hit.next.operation} {arguments}"
    )
