"""`carrel papers build`: builds a corpus from files and folders, or updates it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.cli.acting import add_user_option, find_user
from carrel.cli.calls import call_local
from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.options import add_home_options, home_settings, usual_file_modes
from carrel.cli.output import say_next_step, show, show_page
from carrel.cli.page import Line, Page
from carrel.cli.parsers import CommandParser
from carrel.cli.progress import TerminalProgress, close_progress
from carrel.core.errors import CarrelError

if TYPE_CHECKING:
    from carrel.rooms.papers.building.build_reports import BuildReport

_STOPPED_BY_KEYBOARD = 130
_NEXT_STEP = (
    'carrel papers search "WORDS" asks it, carrel connect CLIENT --write gives it to an '
    "assistant, carrel serve serves it."
)
_NOTHING_BUILT = 2


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel papers build",
        description="Builds a corpus from files and folders: Markdown, "
        "JATS, PDF, BibTeX, RIS, CSL-JSON, "
        "JSON lines, paper_infos.json. Run again, it does only what changed.",
    )
    add_arguments(parser)
    return build(parser.parse_args(words[1:]))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sources", nargs="+", type=Path, metavar="SOURCE", help="a file or a folder of files"
    )
    parser.add_argument(
        "--into",
        type=Path,
        metavar="DIR",
        help="where the corpus lies or will lie (the desk's own, in the home folder)",
    )
    parser.add_argument(
        "--report",
        choices=["text", "json"],
        default="text",
        help="how to say what was done and skipped",
    )
    parser.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="processes that read (default: one for each core)",
    )
    parser.add_argument(
        "--max-megabytes",
        type=positive,
        default=200,
        metavar="N",
        help="larger files are not read (default: 200)",
    )
    parser.add_argument(
        "--without-edges",
        action="store_true",
        help="changes nothing: pairs of facets are written by exports only",
    )
    parser.add_argument(
        "--only",
        action="store_true",
        help="let what earlier builds took from other folders leave the corpus (it stays "
        "otherwise)",
    )
    parser.add_argument(
        "--engine",
        choices=["here", "processes", "ray"],
        default="here",
        help="who reads: this build (the usual), processes by partitions that are kept when it is "
        "stopped, or a cluster of Ray",
    )
    parser.add_argument(
        "--address",
        metavar="ADDRESS",
        help="the cluster of Ray (default: one on this machine, for this build)",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_user_option(parser)
    add_home_options(parser)
    add_json_option(parser)


def build(options: argparse.Namespace) -> int:
    """0 when the corpus is built, even with sources skipped; 2 when nothing could be built."""
    from carrel.wiring.papers import snapshot_path

    if options.json:
        options.report = "json"
    settings = home_settings(options)
    user = find_user(settings, options)
    own = snapshot_path(settings)
    into = options.into or own.parent
    arguments: dict[str, object] = {
        "sources": [str(source) for source in options.sources],
        "into": str(into),
        "workers": options.workers,
        "max_megabytes": options.max_megabytes,
        "without_edges": options.without_edges,
        "only": options.only,
        "engine": options.engine,
        "address": options.address,
    }
    # A corpus elsewhere may be for others; the desk's own is not.
    is_elsewhere = into.resolve() != own.parent.resolve()
    try:
        report: BuildReport = call_local(
            settings,
            "papers",
            "build_papers",
            arguments,
            progress=None if options.quiet else TerminalProgress(),
            context=usual_file_modes() if is_elsewhere else None,
            user=user,
        )
    except CarrelError as error:
        close_progress()
        if options.report == "json":
            show_json({"error": error.to_facts()})
        raise
    except KeyboardInterrupt:
        close_progress()
        show("Stopped. What was read is kept; run the same command to go on.", file=sys.stderr)
        return _STOPPED_BY_KEYBOARD
    if options.report == "json":
        show_json(report.to_facts())
    else:
        show_page(Page([Line(line) for line in report.to_text().split("\n")]))
    if not report.papers:
        show(
            "There is no paper in this corpus: nothing that was named could be read.",
            file=sys.stderr,
        )
        return _NOTHING_BUILT
    if options.report == "text" and not options.quiet:
        _say_what_to_do_next(into / own.name, own)
    return 0


def _say_what_to_do_next(built: Path, own: Path) -> None:
    if built.resolve() != own.resolve():
        show(
            f"This corpus is not the desk's own: add --snapshot {built}, or set papers.snapshot "
            f"to it.",
            file=sys.stderr,
        )
    say_next_step(_NEXT_STEP)


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value
