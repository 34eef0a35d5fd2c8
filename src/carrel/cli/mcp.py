"""`carrel mcp`: MCP over standard input and output."""

from __future__ import annotations

import argparse
import asyncio
import sys

from carrel.cli.options import add_desk_options, settings_from
from carrel.doors.logs import configure_logs
from carrel.doors.mcp.stdio import ProtocolOutput, serve_stdio
from carrel.settings import Settings
from carrel.wiring.desk import open_desk
from carrel.wiring.mcp import stdio_lane


def run(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="carrel mcp", description="Speak MCP over standard input and output.")
    add_desk_options(parser)
    parser.add_argument("--compact", action="store_true", default=None, help="offer one tool that finds and calls the others")
    options = parser.parse_args(words[1:])
    return speak(settings_from(options, {("server", "compact"): options.compact}))


def speak(settings: Settings) -> int:
    """Serves until standard input ends."""
    output = ProtocolOutput()
    configure_logs(settings.log.level, settings.log.format)

    async def session() -> None:
        desk = open_desk(settings)
        async with desk.opened(takes_up_work=True):
            await serve_stdio(stdio_lane(desk), desk.gate, sys.stdin.fileno(), output.write_line)

    asyncio.run(session())
    return 0
