"""`carrel mcp`: MCP over standard input and output."""

from __future__ import annotations

import argparse
import asyncio
import sys
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.parsers import CommandParser
from carrel.core.errors import CarrelError
from carrel.doors.logs import configure_logs
from carrel.doors.mcp.dispatcher import Dispatcher
from carrel.doors.mcp.handshake import handshake_dispatcher
from carrel.doors.mcp.stdio import ProtocolOutput, serve_stdio_at_once
from carrel.policy.gate import Gate
from carrel.rooms import declared_rooms
from carrel.settings import Settings

if TYPE_CHECKING:
    from carrel.wiring.desk import Desk


def run(words: list[str]) -> int:
    options = mcp_parser().parse_args(words[1:])
    return speak(settings_from(options, {("server", "compact"): options.compact}))


def mcp_parser() -> argparse.ArgumentParser:
    """The options of `carrel mcp`, which `carrel connect` checks as well."""
    parser = CommandParser(
        prog="carrel mcp", description="Speak MCP over standard input and output."
    )
    add_desk_options(parser)
    parser.add_argument(
        "--compact",
        action="store_true",
        default=None,
        help="offer one tool that finds and calls the others",
    )
    return parser


def speak(settings: Settings) -> int:
    """Serves until standard input ends; clients are greeted while the rooms are being opened."""
    output = ProtocolOutput()
    configure_logs(settings.log.level, settings.log.format)
    asyncio.run(_session(settings, output))
    return 0


async def _session(settings: Settings, output: ProtocolOutput) -> None:
    async with AsyncExitStack() as stack:

        async def opened() -> tuple[Dispatcher, Gate]:
            desk, dispatcher = await asyncio.to_thread(_open, settings)
            await stack.enter_async_context(desk.session(resumes_jobs=True))
            return dispatcher, desk.gate

        declared = declared_rooms()
        greeter = handshake_dispatcher([declared[name] for name in settings.rooms], settings.server)
        rooms = asyncio.ensure_future(opened())
        try:
            await serve_stdio_at_once(greeter, rooms, sys.stdin.fileno(), output.write_line)
        except* CarrelError as failed:
            raise failed.exceptions[0] from None
        finally:
            await asyncio.wait([rooms])
        rooms.result()


def _open(settings: Settings) -> tuple[Desk, Dispatcher]:
    """Import and open the rooms after the greeting: it takes longer than a client waits."""
    from carrel.wiring.desk import open_desk
    from carrel.wiring.mcp import stdio_dispatcher

    desk = open_desk(settings)
    return desk, stdio_dispatcher(desk)
