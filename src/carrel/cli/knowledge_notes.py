"""`carrel knowledge import`, `export` and `import-nodes`: files of notes and nodes, in and out."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

from carrel.cli.acting import add_user_option, find_user
from carrel.cli.calls import call_local
from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.knowledge_pages import report_page
from carrel.cli.options import add_desk_options, settings_from, usual_file_modes
from carrel.cli.output import say_next_step, show, show_page
from carrel.cli.parsers import CommandParser
from carrel.cli.progress import TerminalProgress
from carrel.cli.value_formats import count_things
from carrel.rooms.knowledge.folder_import import ImportReport
from carrel.rooms.knowledge.local_operations import NodesImported

_NEXT_STEP = (
    'carrel knowledge search "WORDS" finds them; run it again to bring in what changed; '
    "--source team imports for everybody."
)

_MOST_PROBLEMS_SHOWN = 20


def run(words: list[str]) -> int:
    command = words[0]
    parser = CommandParser(
        prog=f"carrel knowledge {command}",
        description="Bring a folder of Markdown notes in; again and again, only what changed is "
        "saved."
        if command == "import"
        else "Write notes as Markdown files; a file that was changed elsewhere is never "
        "overwritten.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--source", choices=["personal", "team"], default="personal", help="whose notes these are"
    )
    if command == "import":
        parser.add_argument(
            "--as",
            dest="name",
            metavar="NAME",
            help="a name for the folder, the same wherever it lies",
        )
        parser.add_argument(
            "--moved-from",
            type=Path,
            metavar="FOLDER",
            help="where the folder was when it was last imported",
        )
        parser.add_argument(
            "--only",
            nargs="+",
            action="extend",
            metavar="FILE",
            help="these files of the folder alone, by their paths in it",
        )
    add_user_option(parser)
    add_desk_options(parser)
    add_json_option(parser)
    options = parser.parse_args(words[1:])
    settings = settings_from(options)
    arguments: dict[str, object] = {"folder": str(options.folder), "source": options.source}
    if command == "import":
        moved_from = options.moved_from
        arguments["name"], arguments["only"] = options.name, options.only
        arguments["moved_from"] = None if moved_from is None else str(moved_from)
    report: ImportReport = call_local(
        settings,
        "knowledge",
        f"{command}_notes",
        arguments,
        progress=TerminalProgress(),
        context=usual_file_modes() if command == "export" else None,
        user=find_user(settings, options),
    )
    if options.json:
        show_json(_facts(report))
        return _exit_code(report)
    if report.of_team:
        stay = "is the team's and stays so" if report.of_team == 1 else "are the team's and stay so"
        show(
            f"{report.of_team} of these notes {stay}; an import never makes the team's notes "
            f"personal again.",
            file=sys.stderr,
        )
    return _show_report(report, command)


def run_nodes(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel knowledge import-nodes",
        description="Add named nodes; a node of the same name is replaced.",
    )
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="JSON lines, or a table ending in .csv or .tsv",
    )
    parser.add_argument(
        "--from-notes", action="store_true", help="make a node of every team note instead"
    )
    add_user_option(parser)
    add_desk_options(parser)
    add_json_option(parser)
    options = parser.parse_args(words[1:])
    arguments = {"file": options.file, "from_notes": options.from_notes}
    settings = settings_from(options)
    imported: NodesImported = call_local(
        settings,
        "knowledge",
        "import_nodes",
        arguments,
        progress=TerminalProgress(),
        user=find_user(settings, options),
    )
    if options.json:
        show_json({"saved": imported.saved, "refused": [asdict(row) for row in imported.bad]})
        return 0 if imported.saved or not imported.bad else 2
    refused = "" if options.from_notes else f", {count_things(len(imported.bad), 'line')} refused"
    show(f"{count_things(imported.saved, 'node')}{refused}")
    for row in imported.bad[:_MOST_PROBLEMS_SHOWN]:
        show(f"  line {row.line}: {row.problem}", file=sys.stderr)
    return 0 if imported.saved or not imported.bad else 2


def _show_report(report: ImportReport, command: str) -> int:
    show_page(report_page(report))
    code = _exit_code(report)
    if command == "import" and code == 0:
        say_next_step(_NEXT_STEP)
    return code


def _exit_code(report: ImportReport) -> int:
    if report.counts["conflict"]:
        return 6
    are_all_refused = report.counts.total() == report.counts["refused"]
    return 1 if report.counts["refused"] and are_all_refused else 0


def _facts(report: ImportReport) -> dict[str, object]:
    return {
        "counts": {str(outcome): count for outcome, count in report.counts.items() if count},
        "of_team": report.of_team,
        "problems": [{"path": path, "problem": problem} for path, problem in report.problems],
    }
