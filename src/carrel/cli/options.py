"""The options that several verbs share, and how they become settings."""

from __future__ import annotations

import argparse
from pathlib import Path

from carrel.settings import Settings, read_settings


def add_desk_options(parser: argparse.ArgumentParser) -> None:
    """What every verb that opens the desk takes."""
    parser.add_argument("--home", metavar="DIR", help="where everything embedded lives (CARREL_HOME)")
    parser.add_argument("--config", metavar="FILE", type=Path, help="settings file instead of carrel.toml")
    parser.add_argument("--rooms", metavar="NAMES", help="rooms to open, separated by commas; all by default")
    parser.add_argument("--snapshot", metavar="FILE", help="paper snapshot to open")
    parser.add_argument("--static", metavar="DIR|URL", help="folder or address of the snapshot's texts")
    parser.add_argument("--library", metavar="FILE", help="reference library (CSL-JSON)")
    parser.add_argument("--log-level", choices=["debug", "info", "warning", "error"])


def add_home_options(parser: argparse.ArgumentParser) -> None:
    """What verbs take that need only the home folder."""
    parser.add_argument("--home", metavar="DIR", help="where everything embedded lives (CARREL_HOME)")
    parser.add_argument("--config", metavar="FILE", type=Path, help="settings file instead of carrel.toml")


def home_settings(options: argparse.Namespace) -> Settings:
    """The settings for those verbs."""
    return read_settings({("home",): options.home}, config=options.config)


def settings_from(options: argparse.Namespace, extra: dict[tuple[str, ...], object] | None = None) -> Settings:
    """The settings after flags, environment and file are merged."""
    rooms = [name.strip() for name in options.rooms.split(",") if name.strip()] if options.rooms else None
    flags: dict[tuple[str, ...], object] = {
        ("home",): options.home,
        ("rooms",): rooms,
        ("papers", "snapshot"): options.snapshot,
        ("papers", "static"): options.static,
        ("references", "library"): options.library,
        ("log", "level"): options.log_level,
        **(extra or {}),
    }
    return read_settings(flags, config=options.config)
