"""`carrel backup`: everything embedded into one file."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path

from carrel.cli.next_steps import say_next_step
from carrel.cli.options import add_place_options, place_settings
from carrel.cli.progress import Progress
from carrel.cli.unrecorded import go_on_unrecorded
from carrel.core.clock import SystemClock
from carrel.core.errors import InvalidInputError
from carrel.rooms.papers.building.ports import Silence
from carrel.wiring.backup import check_backup, describe_backup, make_backup
from carrel.wiring.command_audit import record_command


def run(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="carrel backup",
        description="Write everything embedded into one file, while the server goes on. The file "
        "holds secrets: keep it safe.",
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
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_place_options(parser)
    options = parser.parse_args(words[1:])
    progress = Silence() if options.quiet else Progress()
    if options.verify:
        if options.file is None:
            raise InvalidInputError("--verify needs a file", next_step="Name the backup to check.")
        manifest = check_backup(options.file, progress)
        print(
            f"{options.file} is whole: {describe_backup(manifest)}, made {manifest.made_at} by "
            f"Carrel {manifest.carrel}."
        )
        return 0
    clock = SystemClock()
    settings = place_settings(options)
    name = f"carrel-{clock.now():%Y%m%dT%H%M%SZ}.tar.gz"
    target = (
        Path(name)
        if options.file is None
        else options.file / name
        if options.file.is_dir()
        else options.file
    )
    # A home that is not there is not made by recording that it was to be copied.
    recording = record_command(
        settings, "backup:make", f"backup:{target.name}", on_unavailable=go_on_unrecorded
    )
    with recording if settings.home.is_dir() else nullcontext():
        manifest = make_backup(
            settings, target, may_replace=options.overwrite, progress=progress, clock=clock
        )
    for line in manifest.elsewhere:
        print(f"Not in the file: {line}", file=sys.stderr)
    print(
        f"{target}: {describe_backup(manifest)} in {target.stat().st_size:,} bytes, read back and "
        f"whole."
    )
    say_next_step("backup", FILE=str(target))
    return 0
