"""`carrel restore`: replaces the present data by a backup."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.options import add_place_options, continue_unrecorded, place_flags
from carrel.cli.output import say_next_step
from carrel.cli.parsers import CommandParser
from carrel.cli.progress import TerminalProgress
from carrel.cli.value_formats import format_exact_time
from carrel.core.clock import SystemClock
from carrel.core.progress import NoProgress
from carrel.settings import Settings, SettingsError, read_settings
from carrel.wiring.audit import anchor_restored_log, record_command
from carrel.wiring.backup import (
    backup_places,
    index_rebuilder,
    open_database_copies,
    restore_backup,
)

_NEXT_STEP = "carrel doctor says what is on the desk now."
_NEXT_STEP_ELSEWHERE = "carrel doctor --home DIR says what is on the desk now."


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel restore",
        description="Put a backup in place, whole or not at all. Stop the server first. Killed "
        "half-way, the next command of "
        "carrel finishes it, or says that nothing was changed.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="what carrel backup wrote")
    parser.add_argument(
        "--force",
        action="store_true",
        help="move data that are there into a folder before-restore-TIME",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_place_options(parser)
    add_json_option(parser)
    options = parser.parse_args(words[1:])
    # Not held like other commands do: a restore must be alone with the folder.
    settings = read_settings(place_flags(options), config=options.config)
    progress = NoProgress() if options.quiet else TerminalProgress()
    done = restore_backup(
        backup_places(settings),
        options.file,
        rebuild_index=index_rebuilder(progress),
        may_move_aside=options.force,
        progress=progress,
        clock=SystemClock(),
        database=open_database_copies(settings),
    )
    # Recorded when it is done: the log itself is among what a restore puts in place.
    facts = {"made_at": done.manifest.made_at, "aside": [str(folder) for folder in done.aside]}
    _anchor(settings)
    with record_command(
        settings,
        "restore:done",
        f"backup:{options.file.name}",
        facts,
        on_unavailable=continue_unrecorded,
    ):
        pass
    used = {carried.path.partition("/")[0] for carried in done.manifest.files} - {"home"}
    to_do = (*done.manifest.elsewhere, *done.left_to_do, *_moved(settings, options, used))
    if done.recovered is not None:
        print(done.recovered, file=sys.stderr)
    if options.json:
        show_json(
            {
                "home": settings.home,
                "made_at": done.manifest.made_at,
                "files": len(done.manifest.files),
                "content_bytes": done.manifest.size_bytes,
                "moved_aside": done.aside,
                "to_do": to_do,
            }
        )
        return 0
    for folder in done.aside:
        print(
            f"What was there before is in {folder}; remove it when you are sure.", file=sys.stderr
        )
    for line in to_do:
        print(f"To do: {line}", file=sys.stderr)
    made_at = format_exact_time(done.manifest.made_at)
    print(f"{settings.home} holds the state of {made_at}: {done.manifest.summary}.")
    say_next_step(_NEXT_STEP_ELSEWHERE if options.home else _NEXT_STEP, DIR=str(options.home))
    return 0


def _anchor(settings: Settings) -> None:
    try:
        anchor_restored_log(settings)
    except OSError as error:
        print(
            f"carrel: the restored audit log cannot be anchored ({error}); carrel audit verify "
            f"will say so.",
            file=sys.stderr,
        )


def _moved(settings: Settings, options: argparse.Namespace, used: set[str]) -> list[str]:
    """Data whose configured path differs from where it was restored."""
    try:
        before, now = (
            backup_places(settings),
            backup_places(read_settings(place_flags(options), config=options.config)),
        )
    except SettingsError as error:
        return [
            f"The settings that came back cannot be used here: {error.message}. {error.next_step}"
        ]
    return [
        f"The settings look for {prefix} in {now.by_prefix[prefix].folder}, and it was restored "
        f"to {place.folder}."
        for prefix, place in before.by_prefix.items()
        if prefix in used and now.by_prefix[prefix] != place
    ]
