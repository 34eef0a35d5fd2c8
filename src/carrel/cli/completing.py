"""`carrel papers complete` and `carrel references complete`: fill gaps of records, reviewed."""

from __future__ import annotations

import argparse

from carrel.cli import rooms
from carrel.cli.acting import add_user_option
from carrel.cli.options import add_desk_options
from carrel.cli.parsers import CommandParser


def complete_papers(words: list[str]) -> int:
    return _complete("papers", words)


def complete_references(words: list[str]) -> int:
    return _complete("references", words)


def _complete(room: str, words: list[str]) -> int:
    parser = CommandParser(
        prog=f"carrel {room} complete",
        description=f"Proposes what fills gaps of {room}, asked of literature services by "
        "identifier. Nothing is changed before --apply, and --undo takes it back.",
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these (default: all with gaps)")
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--dry-run", action="store_true", help="only propose, which is what happens anyway"
    )
    action.add_argument("--apply", action="store_true", help="fill in what was proposed")
    action.add_argument("--undo", action="store_true", help="take back what was filled in")
    parser.add_argument(
        "--guess",
        action="store_true",
        help="also records without an identifier, by title, author and year",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="records at once (default: 200)")
    add_desk_options(parser)
    add_user_option(parser)
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    options = parser.parse_args(words[1:])
    return rooms.run_named_operation("literature", f"complete_{room}", _arguments(options), options)


def _arguments(options: argparse.Namespace) -> dict[str, object]:
    names = ("ids", "apply", "undo", "guess", "limit")
    return {
        name: value for name in names if (value := getattr(options, name)) not in (None, False, [])
    }
