"""`carrel papers load`: streams a dump of a literature service into the corpus."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.cli.acting import add_user_option, find_user
from carrel.cli.calls import call_local
from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.options import add_home_options, home_settings
from carrel.cli.output import say_next_step, show, show_page
from carrel.cli.page import Line, Page
from carrel.cli.papers_build import positive
from carrel.cli.parsers import CommandParser
from carrel.cli.progress import TerminalProgress, close_progress
from carrel.core.errors import CarrelError
from carrel.settings import Settings

if TYPE_CHECKING:
    from carrel.rooms.papers.loading.models import DumpReach, LoadReport

_SERVICES = ("openalex", "pubmed", "arxiv", "crossref")
_STOPPED_BY_KEYBOARD = 130
_NEXT_STEP = 'carrel papers search "WORDS" searches it, carrel papers load --status says how far.'


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel papers load",
        description="Streams a dump of OpenAlex, PubMed, arXiv or Crossref into the corpus. Run "
        "again, it goes on where it was stopped; the newest record wins.",
    )
    add_arguments(parser)
    options = parser.parse_args(words[1:])
    if not options.status and (options.service is None or options.folder is None):
        parser.error("name the service and the folder of its dump, or ask with --status")
    return _show_status(options) if options.status else _load(options)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "service", nargs="?", choices=_SERVICES, metavar="SERVICE", help=", ".join(_SERVICES)
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, metavar="FOLDER", help="where the files of the dump lie"
    )
    parser.add_argument(
        "--years", metavar="FIRST..LAST", help="only works of these years: 2015..2024, 2020, ..1999"
    )
    for name, meaning in (
        ("types", "only works of these types, such as article-journal,review"),
        ("languages", "only works in these languages, such as en,de; unknown for none stated"),
        ("subjects", "only works of these subjects, such as cs.LG or neuroscience"),
    ):
        parser.add_argument(f"--{name}", action="append", default=[], metavar="LIST", help=meaning)
    parser.add_argument(
        "--limit",
        type=positive,
        metavar="N",
        help="let the corpus have no more than so many records of this dump",
    )
    parser.add_argument(
        "--status", action="store_true", help="say which dumps were loaded and how far they reach"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_user_option(parser)
    add_home_options(parser)
    add_json_option(parser)


def _load(options: argparse.Namespace) -> int:
    settings = home_settings(options)
    arguments: dict[str, object] = {
        "service": options.service,
        "folder": str(options.folder),
        "years": options.years,
        "types": options.types,
        "languages": options.languages,
        "subjects": options.subjects,
        "limit": options.limit,
    }
    try:
        report: LoadReport = call_local(
            settings,
            "papers",
            "load_papers",
            arguments,
            progress=None if options.quiet else TerminalProgress(),
            user=find_user(settings, options),
        )
    except CarrelError as error:
        close_progress()
        if options.json:
            show_json({"error": error.to_facts()})
        raise
    except KeyboardInterrupt:
        close_progress()
        show("Stopped. Whole batches are kept; run the same command to go on.", file=sys.stderr)
        return _STOPPED_BY_KEYBOARD
    counts = report.counts
    is_foreign = counts.records > 0 and counts.bad == counts.records
    if options.json:
        show_json(report.to_facts())
        return int(is_foreign)
    show_page(Page([Line(line) for line in report.to_text().split("\n")]))
    if is_foreign:
        show(f"Not one record could be read: is this a dump of {options.service}?", file=sys.stderr)
        return 1
    if not options.quiet:
        say_next_step(_NEXT_STEP)
    return 0


def _show_status(options: argparse.Namespace) -> int:
    from carrel.wiring.papers_load import dump_reaches

    reaches = dump_reaches(home_settings(options))
    if options.json:
        show_json([_facts(each) for each in reaches])
        return 0
    if not reaches:
        show("No dump was loaded into this corpus.")
        return 0
    show_page(Page([Line(line) for line in describe_reaches(reaches)]))
    return 0


def loaded_dumps(settings: Settings) -> list[str]:
    """A line for each dump of the desk's own corpus."""
    from carrel.wiring.papers_load import dump_reaches

    return describe_reaches(dump_reaches(settings))


def describe_reaches(reaches: tuple[DumpReach, ...]) -> list[str]:
    lines = []
    for each in reaches:
        state = "" if each.is_complete else "; not loaded to its end"
        only = "; filtered" if each.filters else ""
        newest = each.newest or "an unknown day"
        lines.append(f"{each.service}: {each.papers:,} records, up to {newest}{only}{state}")
    return lines


def _facts(reach: DumpReach) -> dict[str, object]:
    return {
        "service": reach.service,
        "records": reach.papers,
        "newest": reach.newest,
        "loaded_at": reach.loaded_at,
        "folder": reach.folder,
        "is_complete": reach.is_complete,
        "filters": dict(reach.filters),
    }
