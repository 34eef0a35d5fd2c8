"""`carrel watch FOLDER…`: keeps the corpus in step with folders until it is stopped."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from carrel.cli.acting import add_user_option, find_user
from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.options import add_home_options, home_settings
from carrel.cli.output import show
from carrel.cli.parsers import CommandParser
from carrel.cli.progress import TerminalProgress
from carrel.core.errors import InvalidInputError

if TYPE_CHECKING:
    from carrel.rooms.papers.building.intake import Intake

_EVERY_SECONDS = 2.0
_NOT_IN_STEP = 5


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel watch",
        description="Keeps the papers in step with folders: new, changed, renamed and removed "
        "files. Ends with Ctrl-C; --once looks once, for cron.",
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--once", action="store_true", help="bring the corpus in step and end")
    parser.add_argument(
        "--every",
        type=_seconds,
        default=_EVERY_SECONDS,
        metavar="SECONDS",
        help="time between two looks (default: 2)",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument(
        "--into", type=Path, metavar="DIR", help="another corpus than the desk's own"
    )
    add_user_option(parser)
    add_home_options(parser)
    add_json_option(parser)
    options = parser.parse_args(words[1:])
    if options.json and not options.once:
        parser.error("--json needs --once")
    return watch(options)


def watch(options: argparse.Namespace) -> int:
    """0 when it was stopped or is in step; 5 when --once could not bring the corpus in step."""
    from carrel.wiring.audit import record_command
    from carrel.wiring.papers import snapshot_path
    from carrel.wiring.papers_build import refuse_lost_corpus
    from carrel.wiring.papers_watch import CorpusWatch

    missing = [folder for folder in options.folders if not folder.expanduser().is_dir()]
    if options.once and len(missing) == len(options.folders):
        raise InvalidInputError(
            f"There is no folder {', '.join(map(str, missing))}",
            next_step="Nothing was changed. Name a folder of papers, or mount the disk it is on.",
        )
    settings = home_settings(options)
    own = snapshot_path(settings).parent
    into = options.into or own
    refuse_lost_corpus(settings, into)
    progress = None if options.quiet else TerminalProgress()
    # A corpus elsewhere has no notes beside it.
    is_own = into.resolve() == own.resolve()
    say = _say_nothing if options.json else _say
    looking = CorpusWatch(into, options.folders, say, _complain, progress, has_notes=is_own)
    facts = {"folders": [str(folder) for folder in options.folders], "once": options.once}
    user = find_user(settings, options)
    with record_command(settings, "papers:watch", f"papers:{into}", facts, user=user):
        if options.once:
            is_in_step = looking.step() and not missing
            if options.json:
                show_json({"is_in_step": is_in_step, **_facts(looking.last_taken)})
            return 0 if is_in_step else _NOT_IN_STEP
        stop = threading.Event()
        for kind in (signal.SIGINT, signal.SIGTERM):
            _stop_on(kind, stop)
        _complain(f"Watching {', '.join(map(str, options.folders))}; Ctrl-C ends it.")
        looking.run(stop, options.every)
        _complain("Stopped; the corpus is in step with what was seen.")
    return 0


def _stop_on(kind: int, stop: threading.Event) -> None:
    """The first signal lets the change at hand be finished, the second does not."""

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    signal.signal(kind, handle)


def _facts(taken: Intake | None) -> dict[str, object]:
    if taken is None:
        return {"changes": [], "problems": []}
    return {
        "papers": taken.total,
        "changes": [asdict(change) for change in taken.changes],
        "problems": [line.to_facts() for line in taken.lines],
        "notes_left": taken.notes,
    }


def _say(text: str) -> None:
    show(text, flush=True)


def _say_nothing(text: str) -> None:
    """Changes are told at the end, as JSON."""


def _complain(text: str) -> None:
    show(text, file=sys.stderr, flush=True)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0.1 <= value <= 3600:
        raise argparse.ArgumentTypeError("must be between 0.1 and 3600")
    return value
