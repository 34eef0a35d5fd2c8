"""The command that starts this desk from anywhere, with options that are complete."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from pathlib import Path

import platformdirs

from carrel.cli.options import add_home_options, home_settings
from carrel.services.mcp_clients.ways import Stdio
from carrel.settings import Settings, read_settings

# Where uvx keeps programs that it may throw away at any time.
_PASSING_FOLDER = re.compile(
    r"[/\\]uv[/\\](?:[^/\\]+[/\\])?(?:archive|builds|environments)-v\d+[/\\]"
)


def own_way(rest: list[str], environment: dict[str, str]) -> Stdio:
    """How a client starts this desk; `rest` are options of `carrel mcp`, which are checked."""
    return Stdio(own_command(), ("mcp", *_mcp_options(rest)), environment)


def own_command() -> str:
    """The full path of this program, because desktop clients start with a poor PATH."""
    started = Path(sys.argv[0])
    if started.stem == "carrel" and started.exists():
        return str(started.absolute())
    beside = Path(sys.executable).with_name("carrel.exe" if os.name == "nt" else "carrel")
    found = shutil.which("carrel")
    return found or (str(beside) if beside.exists() else "carrel")


def is_passing(command: str) -> bool:
    """Whether a program stands where it may vanish, as one run by uvx does."""
    return _PASSING_FOLDER.search(command) is not None


def settings_of(rest: list[str]) -> Settings:
    """The settings of the desk that the client will start, from the options of `carrel mcp`."""
    parser = argparse.ArgumentParser(add_help=False)
    add_home_options(parser)
    options, _ = parser.parse_known_args(rest)
    return home_settings(options)


def _mcp_options(rest: list[str]) -> tuple[str, ...]:
    """Checked options for `carrel mcp`, complete for a client in another folder."""
    from carrel.cli.mcp import mcp_parser

    options = mcp_parser().parse_args(rest)
    home = options.home or os.environ.get("CARREL_HOME")
    settings = read_settings(
        {("home",): home}, config=Path(options.config) if options.config else None
    )
    has_own_file = settings.source and not _is_found_anywhere(settings)
    named = {
        "--home": settings.home if home else None,
        "--config": settings.source if has_own_file else None,
        "--rooms": options.rooms,
        "--snapshot": _absolute(options.snapshot),
        "--static": _absolute(options.static),
        "--library": _absolute(options.library),
        "--log-level": options.log_level,
    }
    words = [
        word for name, value in named.items() if value is not None for word in (name, str(value))
    ]
    return (*words, "--compact") if options.compact else tuple(words)


def _is_found_anywhere(settings: Settings) -> bool:
    """Whether `carrel mcp` finds the settings file from any working directory."""
    places = (settings.home, platformdirs.user_config_path("carrel"))
    return settings.source is not None and settings.source.parent in [
        place.resolve() for place in places
    ]


def _absolute(place: str | None) -> str | None:
    if place is None or "://" in place:
        return place
    return str(Path(place).expanduser().absolute())
