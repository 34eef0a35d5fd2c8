"""`carrel move`: copies a home into a shared database, and proves that all of it arrived."""

from __future__ import annotations

import sys

from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.options import add_place_options, continue_unrecorded, place_flags
from carrel.cli.output import say_next_step, show, show_table
from carrel.cli.parsers import CommandParser
from carrel.core.errors import InvalidInputError
from carrel.settings import read_settings
from carrel.wiring.audit import record_command
from carrel.wiring.moving import Move, check_move, move_home

_DIGEST_CHARACTERS = 12


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel move",
        description="Copy what this home keeps into PostgreSQL: people and access, notes, nodes, "
        "libraries with history and files, research, alerts, jobs and the audit log. Stop the "
        "server first. Each kind is read back and compared; killed, run it again. The home stays "
        "as it is.",
    )
    parser.add_argument(
        "--to",
        required=True,
        metavar="URL",
        help="an empty database, such as postgresql://carrel@db.example.org/carrel",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="change nothing: count what would be copied, and look whether the database is empty",
    )
    add_place_options(parser)
    add_json_option(parser)
    options = parser.parse_args(words[1:])
    # Not held like other commands do: a move must be alone with the home.
    flags = {**place_flags(options), ("database", "url"): options.to}
    settings = read_settings(flags, config=options.config)

    if not options.to.startswith(("postgresql://", "postgres://")):
        raise InvalidInputError(
            "--to needs the address of a PostgreSQL database",
            next_step="It begins with postgresql://, such as postgresql://carrel@db/carrel.",
        )

    def report(kind: str) -> None:
        if sys.stderr.isatty():
            print(f"{kind} …", file=sys.stderr)

    if options.check:
        _show(check_move(settings, options.to, report), options.json)
        return 0
    moved = move_home(settings, options.to, report)
    # In the log that goes on: that of the database.
    facts = {each.name: [each.count, each.digest] for each in moved.kinds}
    with record_command(
        settings,
        "home:move",
        "database:",
        facts,
        on_unavailable=continue_unrecorded,
    ):
        pass
    _show(moved, options.json)
    if not options.json:
        show("All of it is there, read back and compared.")
        say_next_step(
            "Start the servers with DATABASE_URL and these settings: "
            f"{', '.join(moved.settings)}. Keep the home until you are sure."
        )
    return 0


def _show(move: Move, as_json: bool) -> None:
    if as_json:
        show_json(
            {
                "kinds": [
                    {
                        "kind": each.name,
                        "rows": each.count,
                        "digest": each.digest,
                        "state": each.state,
                    }
                    for each in move.kinds
                ],
                "stays": move.stays,
                "settings": move.settings,
            }
        )
        return
    widest = max(len(each.name) for each in move.kinds)
    show_table(
        ("kind", "rows", "state", "hash of all rows"),
        [
            (each.name, f"{each.count:,}", each.state, each.digest[:_DIGEST_CHARACTERS])
            for each in move.kinds
        ],
        lambda row: f"{row[0]:{widest}} {row[1]:>10}  {row[2]:12} {row[3]}",
    )
    for line in move.stays:
        show(f"Stays in the home: {line}.")
