"""`carrel search sync`: fills Elasticsearch from the local stores, or updates it."""

from __future__ import annotations

import asyncio
import shlex
from contextlib import aclosing

from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.output import show
from carrel.cli.parsers import CommandParser
from carrel.cli.progress import TerminalProgress
from carrel.core.errors import InvalidInputError, NotConfiguredError
from carrel.settings import Settings
from carrel.wiring.audit import record_command
from carrel.wiring.knowledge import has_papers, sync_indices


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel search", description="The real Elasticsearch that elasticsearch.url names."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    sync = commands.add_parser(
        "sync", help="fill it from the local stores, from where the last run stopped"
    )
    sync.add_argument(
        "--index",
        action="append",
        metavar="NAME",
        help="only this index; may be given more than once",
    )
    sync.add_argument(
        "--rebuild",
        action="store_true",
        help="make the indices anew beside those in use, which go when the new ones are whole",
    )
    add_desk_options(sync)
    add_json_option(sync)
    if len(words) > 1 and words[1] != "sync" and not words[1].startswith("-"):
        raise InvalidInputError(
            "carrel search fills an Elasticsearch and searches nothing",
            next_step=f"carrel find {shlex.join(words[1:])} searches the desk.",
        )
    options = parser.parse_args(words[1:])
    settings = settings_from(options)
    if settings.elasticsearch.address is None:
        raise NotConfiguredError(
            "No Elasticsearch is named", next_step="Set elasticsearch.url or ELASTICSEARCH_URL."
        )
    wanted = options.index or []
    with record_command(settings, "search:sync", "elasticsearch://", {"indices": wanted}):
        return asyncio.run(_sync(settings, wanted, rebuild=options.rebuild, is_json=options.json))


async def _sync(settings: Settings, names: list[str], *, rebuild: bool, is_json: bool) -> int:
    synced = []
    running = sync_indices(settings, names, TerminalProgress(), rebuild=rebuild)
    async with aclosing(running) as indices:
        async for index in indices:
            synced.append({"index": index.index, "written": index.put, "dropped": index.dropped})
            if not is_json:
                show(f"{index.index}: {index.put} written, {index.dropped} dropped")
    if is_json:
        show_json(synced)
        return 0
    if not names and not has_papers(settings):
        show("papers: left out, there is no snapshot yet")
    return 0
