"""`carrel migrate`: brings the tables of the shared database forward, apart from serving."""

from __future__ import annotations

from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.options import add_home_options, continue_unrecorded
from carrel.cli.output import say_next_step, show, show_table
from carrel.cli.parsers import CommandParser
from carrel.settings import read_settings
from carrel.wiring.audit import record_command
from carrel.wiring.database import list_versions, migrate_database

_NEXT_STEP = "Start the servers of this version."


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel migrate",
        description="Bring the tables of the shared database (DATABASE_URL) forward: all of them "
        "or none, once however many ask. There is no way back but a backup.",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="change nothing; end with 1 where tables are not of this version",
    )
    add_home_options(parser)
    add_json_option(parser)
    options = parser.parse_args(words[1:])
    settings = read_settings({("home",): options.home}, config=options.config)
    if options.check:
        found = list_versions(settings)
    else:
        found = migrate_database(settings)
        # Afterwards: the log itself is among what is brought forward.
        changed = {each.part: each.known for each in found if each.is_behind}
        with record_command(
            settings,
            "database:migrate",
            "database:",
            {"changed": changed},
            on_unavailable=continue_unrecorded,
        ):
            pass
    behind = [each for each in found if each.is_behind]
    newer = [each for each in found if each.is_newer]
    if options.json:
        show_json(
            [{"part": each.part, "version": each.version, "known": each.known} for each in found]
        )
    else:
        longest = max((len(each.part) for each in found), default=0)
        show_table(
            ("part", "version" if options.check else "before", "this Carrel"),
            [(each.part, str(each.version), str(each.known)) for each in found],
            lambda row: f"{row[0]:{longest}} {row[1]:>7} {row[2]:>12}",
        )
        if options.check:
            show(_judge(len(behind), len(newer)))
        else:
            show(f"{len(behind)} of {len(found)} parts brought forward.")
            say_next_step(_NEXT_STEP)
    return 1 if options.check and (behind or newer) else 0


def _judge(behind: int, newer: int) -> str:
    if newer:
        return f"{newer} parts are of a newer Carrel: use that one."
    return f"{behind} parts are behind: carrel migrate." if behind else "All are of this version."
