"""The options that several verbs share, and how they become settings."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from carrel.cli.occupying import occupy
from carrel.settings import Settings, read_settings


def add_desk_options(parser: argparse.ArgumentParser) -> None:
    """What every verb that opens the desk takes."""
    parser.add_argument(
        "--home", metavar="DIR", help="where everything embedded lives (CARREL_HOME)"
    )
    parser.add_argument(
        "--config", metavar="FILE", type=Path, help="settings file instead of carrel.toml"
    )
    parser.add_argument(
        "--rooms", metavar="NAMES", help="rooms to open, separated by commas; all by default"
    )
    parser.add_argument("--snapshot", metavar="FILE", help="paper snapshot to open")
    parser.add_argument(
        "--static", metavar="DIR|URL", help="folder or address of the snapshot's texts"
    )
    parser.add_argument("--library", metavar="FILE", help="reference library (CSL-JSON)")
    parser.add_argument("--log-level", choices=["debug", "info", "warning", "error"])


def add_home_options(parser: argparse.ArgumentParser) -> None:
    """What verbs take that need only the home folder."""
    parser.add_argument(
        "--home", metavar="DIR", help="where everything embedded lives (CARREL_HOME)"
    )
    parser.add_argument(
        "--config", metavar="FILE", type=Path, help="settings file instead of carrel.toml"
    )


def home_settings(options: argparse.Namespace) -> Settings:
    """The settings for those verbs."""
    return _at_home(read_settings({("home",): options.home}, config=options.config))


def add_place_options(parser: argparse.ArgumentParser) -> None:
    """What verbs take that carry the home folder, and what is named outside of it."""
    add_home_options(parser)
    parser.add_argument(
        "--snapshot", metavar="FILE", help="paper snapshot, where it is not in the home folder"
    )
    parser.add_argument(
        "--static", metavar="DIR", help="folder of the snapshot's texts, where it is not beside it"
    )
    parser.add_argument(
        "--library", metavar="FILE", help="reference library, where it is not in the home folder"
    )


def place_flags(options: argparse.Namespace) -> dict[tuple[str, ...], object]:
    return {
        ("home",): options.home,
        ("papers", "snapshot"): options.snapshot,
        ("papers", "static"): options.static,
        ("references", "library"): options.library,
    }


def place_settings(options: argparse.Namespace) -> Settings:
    """The settings for those verbs."""
    return _at_home(read_settings(place_flags(options), config=options.config))


def settings_from(
    options: argparse.Namespace, extra: dict[tuple[str, ...], object] | None = None
) -> Settings:
    """The settings after flags, environment and file are merged."""
    rooms = (
        [name.strip() for name in options.rooms.split(",") if name.strip()]
        if options.rooms
        else None
    )
    flags: dict[tuple[str, ...], object] = {
        ("home",): options.home,
        ("rooms",): rooms,
        ("papers", "snapshot"): options.snapshot,
        ("papers", "static"): options.static,
        ("references", "library"): options.library,
        ("log", "level"): options.log_level,
        **(extra or {}),
    }
    return _at_home(read_settings(flags, config=options.config))


def _at_home(settings: Settings) -> Settings:
    """The same settings, with the home folder held while the command runs; variables that set
    nothing are named.
    """
    for name, nearest in settings.unknown_variables.items():
        meant = f"; did you mean {nearest}?" if nearest else ""
        print(
            f"carrel: the variable {name} is not a setting and is ignored{meant}", file=sys.stderr
        )
    occupy(settings)
    return settings
