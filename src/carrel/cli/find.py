"""`carrel find WORDS`: one search over papers, references, notes and research."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

import orjson

from carrel.cli.acting import add_user_option, find_user
from carrel.cli.calls import at_terminal
from carrel.cli.command_names import command_line, in_commands
from carrel.cli.logs import configure_command_logs
from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.output import show, show_page
from carrel.cli.page import (
    Fields,
    Item,
    Line,
    Note,
    Page,
    Paragraph,
    Part,
    Verbatim,
    dim,
    mark_matches,
    strong,
)
from carrel.cli.parsers import CommandParser
from carrel.core.answer import split_explanation
from carrel.core.answer_encoding import encode_answer
from carrel.core.caller import Caller
from carrel.core.desk_search import DeskAnswer, DeskHit
from carrel.core.errors import NotConfiguredError
from carrel.settings import Settings
from carrel.wiring.desk import open_desk

_NOTHING_FOUND = "Nothing on the desk has these words. Try fewer or other words."


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel find", description="Search papers, references, notes and research at once."
    )
    parser.add_argument("query", nargs="+", help="plain words, or an identifier")
    parser.add_argument("--limit", type=int, help="how many hits (default 10)")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    add_user_option(parser)
    add_desk_options(parser)
    options = parser.parse_args(words[1:])
    settings = settings_from(options)
    configure_command_logs(options.log_level, settings)
    asked: dict[str, object] = {"query": " ".join(options.query)}
    if options.limit is not None:
        asked["limit"] = options.limit
    answer, explanation = split_explanation(
        asyncio.run(_ask(settings, asked, find_user(settings, options)))
    )
    if options.json:
        value = orjson.loads(encode_answer(DeskAnswer, answer))
        show(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())
        _tell_rooms(answer)
    elif answer.hits:
        show_page(draw_desk_answer(answer))
    elif explanation is not None:
        show_page(_explain_nothing(answer), file=sys.stderr)
    return 0


def _tell_rooms(answer: DeskAnswer) -> None:
    for room in answer.rooms:
        if room.message:
            show(f"{room.room}: {in_commands(room.message)}", file=sys.stderr)


async def _ask(settings: Settings, arguments: dict[str, object], user: Caller | None) -> Any:
    async with open_desk(settings).session() as desk:
        search = desk.catalogue.desk_search
        if search is None:
            raise NotConfiguredError(
                "A search over the desk needs two or more open rooms.",
                next_step="Name them with --rooms, or search the one room with its own command.",
            )
        return await (await at_terminal(desk, user)).call(search, arguments)


def draw_desk_answer(answer: DeskAnswer) -> Page:
    """The hits as a numbered list, each with the command that reads it."""
    items = [Item(f"{number}.", _hit(hit)) for number, hit in enumerate(answer.hits, start=1)]
    counts = [f"{room.hits} of {room.room}" for room in answer.rooms if room.hits]
    count = "1 hit" if len(answer.hits) == 1 else f"{len(answer.hits)} hits"
    # A room that has nothing to find is no news; one that could not be searched is.
    silent = [room for room in answer.rooms if not room.is_searched]
    notes = [Note(f"{count}: {', '.join(counts)}")]
    notes += [Note(f"{room.room}: {in_commands(room.message)}") for room in silent]
    return Page((*items, *notes))


def _hit(hit: DeskHit) -> Sequence[Part]:
    lines: list[Part] = [Line((dim(f"{hit.kind} "), strong(hit.title or hit.id)))]
    if hit.snippet.strip():
        lines.append(Paragraph(mark_matches(hit.snippet)))
    # As it is, to be pasted.
    return [*lines, Verbatim(command_line(hit.next.operation, hit.next.arguments))]


def _explain_nothing(answer: DeskAnswer) -> Page:
    """One sentence, what to try, and what each room says for itself."""
    reasons = [(room.room, in_commands(room.message)) for room in answer.rooms if room.message]
    return Page((Line(_NOTHING_FOUND), Fields(reasons)))
