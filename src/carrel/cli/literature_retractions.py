"""`carrel literature retractions`: load the Retraction Watch table, check what it says."""

from __future__ import annotations

import sys
from pathlib import Path

from carrel.cli import rooms
from carrel.cli.acting import add_user_option
from carrel.cli.options import add_desk_options
from carrel.cli.parsers import CommandParser
from carrel.core.errors import InvalidInputError


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel literature retractions",
        description="Which works were retracted or corrected: load the table, then check.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    load = commands.add_parser("load", help="put the Retraction Watch table (CSV) in place")
    load.add_argument("file", metavar="FILE", help="CSV as Crossref publishes it, may be gzip")
    check = commands.add_parser("check", help="check the corpus, the library or a draft")
    check.add_argument("scope", choices=["corpus", "library", "draft"])
    check.add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help="of the draft; - is stdin"
    )
    check.add_argument("--outside", action="store_true", help="also ask literature services")
    check.add_argument("--limit", type=int, metavar="N", help="so many works (default: 100)")
    for command in commands.choices.values():
        add_desk_options(command)
        add_user_option(command)
        command.add_argument("--json", action="store_true", help="print the answer as JSON")
    options = parser.parse_args(words[1:])
    if options.command == "load":
        return rooms.run_operation("literature", ["load-retractions", *words[2:]])
    arguments: dict[str, object] = {"scope": options.scope, "outside": options.outside}
    if options.scope == "draft":
        arguments["text"] = _read_draft(options.file)
    if options.limit is not None:
        arguments["limit"] = options.limit
    return rooms.run_named_operation("literature", "check_retractions", arguments, options)


def _read_draft(file: Path | None) -> str:
    if file is None or str(file) == "-":
        return sys.stdin.read()
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InvalidInputError(
            f"{file} cannot be read: {error.strerror or error}", next_step="Check the path."
        ) from error
