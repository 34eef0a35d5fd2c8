"""`carrel backup`: saves all embedded data into one file."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.options import add_place_options, continue_unrecorded, place_settings
from carrel.cli.output import say_next_step
from carrel.cli.parsers import CommandParser
from carrel.cli.progress import TerminalProgress
from carrel.cli.value_formats import format_exact_time
from carrel.core.clock import SystemClock
from carrel.core.errors import InvalidInputError
from carrel.core.progress import NoProgress
from carrel.wiring.audit import record_command
from carrel.wiring.backup import (
    Manifest,
    backup_name,
    backup_places,
    check_backup,
    kept_elsewhere,
    make_backup,
    open_database_copies,
)
from carrel.wiring.home import embedded_databases

_NEXT_STEP = "carrel restore FILE puts it in place, here or on another machine."


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel backup",
        description="Write everything, the shared database included, into one file, while the "
        "server goes on. The file holds secrets: keep it safe.",
    )
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="a new file, or a folder for one named by the time",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace the file if it exists")
    parser.add_argument(
        "--verify",
        action="store_true",
        help="write nothing: check all of a backup that was made before",
    )
    parser.add_argument(
        "--no-database",
        action="store_true",
        help="files alone, where DATABASE_URL names a database that is backed up otherwise",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_place_options(parser)
    add_json_option(parser)
    options = parser.parse_args(words[1:])
    progress = NoProgress() if options.quiet else TerminalProgress()
    if options.verify:
        if options.file is None:
            raise InvalidInputError("--verify needs a file", next_step="Name the backup to check.")
        manifest = check_backup(options.file, progress)
        if options.json:
            show_json(_facts(options.file, manifest))
            return 0
        made_at = format_exact_time(manifest.made_at)
        print(
            f"{options.file} is whole: {manifest.summary}, made {made_at} by Carrel "
            f"{manifest.carrel}."
        )
        return 0
    clock = SystemClock()
    settings = place_settings(options)
    database = None if options.no_database else open_database_copies(settings)
    name = backup_name(clock)
    target = (
        Path(name)
        if options.file is None
        else options.file / name
        if options.file.is_dir()
        else options.file
    )
    # A home that is not there is not made by recording that it was to be copied.
    recording = record_command(
        settings, "backup:make", f"backup:{target.name}", on_unavailable=continue_unrecorded
    )
    with recording if settings.home.is_dir() else nullcontext():
        # Without this the file would lack what is gone, and be named as the newest to restore.
        embedded_databases(settings).refuse_replaced()
        manifest = make_backup(
            backup_places(settings),
            target,
            elsewhere=kept_elsewhere(settings, has_database=database is not None),
            may_replace=options.overwrite,
            progress=progress,
            clock=clock,
            database=database,
        )
    if options.json:
        show_json(_facts(target, manifest))
        return 0
    for line in manifest.elsewhere:
        print(f"Not in the file: {line}", file=sys.stderr)
    print(f"{target}: {manifest.summary} in {target.stat().st_size:,} bytes, read back and whole.")
    say_next_step(_NEXT_STEP, FILE=str(target))
    return 0


def _facts(file: Path, manifest: Manifest) -> dict[str, object]:
    return {
        "file": file,
        "size_bytes": file.stat().st_size,
        "is_whole": True,
        "made_at": manifest.made_at,
        "carrel": manifest.carrel,
        "files": len(manifest.files),
        "content_bytes": manifest.size_bytes,
        "kept_elsewhere": manifest.elsewhere,
    }
