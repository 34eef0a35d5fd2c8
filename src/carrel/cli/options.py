"""The options that several verbs share, how they become settings, and the home they then hold."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from carrel.core.errors import AuditUnavailableError
from carrel.settings import Settings, read_settings
from carrel.wiring.home import finish_restore, hold_home

Flags = dict[tuple[str, ...], object]

_OWN_FILES_ONLY = 0o077
_usual_mask = os.umask(_OWN_FILES_ONLY)
os.umask(_usual_mask)
_held = ExitStack()


def add_home_options(parser: argparse.ArgumentParser) -> None:
    """Options of commands that need only the home folder."""
    parser.add_argument(
        "--home", metavar="DIR", help="where everything embedded lives (CARREL_HOME)"
    )
    parser.add_argument(
        "--config", metavar="FILE", type=Path, help="settings file instead of carrel.toml"
    )


def add_place_options(parser: argparse.ArgumentParser) -> None:
    """Options of commands that copy the home folder and the stores outside of it."""
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


def add_desk_options(parser: argparse.ArgumentParser) -> None:
    """Options of every command that opens the desk."""
    add_home_options(parser)
    parser.add_argument(
        "--rooms", metavar="NAMES", help="rooms to open, separated by commas; all by default"
    )
    parser.add_argument("--snapshot", metavar="FILE", help="paper snapshot to open")
    parser.add_argument(
        "--static", metavar="DIR|URL", help="folder or address of the snapshot's texts"
    )
    parser.add_argument("--library", metavar="FILE", help="reference library (CSL-JSON)")
    parser.add_argument("--log-level", choices=["debug", "info", "warning", "error"])


def home_settings(options: argparse.Namespace) -> Settings:
    """The settings of a verb that needs only the home folder, which is held from here on."""
    return _hold(read_settings({("home",): options.home}, config=options.config))


def place_flags(options: argparse.Namespace) -> Flags:
    """The settings that `add_place_options` names."""
    return {
        ("home",): options.home,
        ("papers", "snapshot"): options.snapshot,
        ("papers", "static"): options.static,
        ("references", "library"): options.library,
    }


def place_settings(options: argparse.Namespace) -> Settings:
    """The settings of a verb that carries the home folder, which is held from here on."""
    return _hold(read_settings(place_flags(options), config=options.config))


def settings_from(options: argparse.Namespace, extra: Flags | None = None) -> Settings:
    """The settings of a verb that opens the desk; the home folder is held from here on."""
    rooms = (
        [name.strip() for name in options.rooms.split(",") if name.strip()]
        if options.rooms
        else None
    )
    flags: Flags = {
        **place_flags(options),
        ("rooms",): rooms,
        ("log", "level"): options.log_level,
        **(extra or {}),
    }
    return _hold(read_settings(flags, config=options.config))


@contextmanager
def usual_file_modes() -> Iterator[None]:
    """While inside, new files get the modes of the person's own mask, as exports should."""
    before = os.umask(_usual_mask)
    try:
        yield
    finally:
        os.umask(before)


def release_home() -> None:
    """Release the lock that `home_settings` and similar functions hold."""
    _held.close()
    os.umask(_usual_mask)


def continue_unrecorded(error: AuditUnavailableError) -> None:
    """For backup and restore: continue with a broken log, so that data can be saved."""
    print(
        "carrel: the audit log cannot be written; going on without a record there.", file=sys.stderr
    )


def _hold(settings: Settings) -> Settings:
    """Holds the home until `release_home`; finishes a killed restore first, and records that."""
    for name, nearest in settings.unknown_variables.items():
        meant = f"; did you mean {nearest}?" if nearest else ""
        print(
            f"carrel: the variable {name} is not a setting and is ignored{meant}", file=sys.stderr
        )
    # What a desk keeps is its owner's; commands that write for others use usual_file_modes.
    os.umask(_OWN_FILES_ONLY)
    outcome = finish_restore(settings.home)
    if outcome is not None:
        from carrel.wiring.audit import record_command

        facts, action = {"outcome": outcome}, "restore:recovered"
        with record_command(settings, action, "backup:", facts, on_unavailable=continue_unrecorded):
            print(f"carrel: {outcome}", file=sys.stderr)
    _held.enter_context(hold_home(settings.home))
    return settings
