"""`carrel databases`: the embedded databases, and how to accept a replaced or emptied one."""

from __future__ import annotations

from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.options import add_home_options
from carrel.cli.output import show_table
from carrel.cli.parsers import CommandParser
from carrel.core.clock import SystemClock
from carrel.settings import read_settings
from carrel.wiring.audit import record_command
from carrel.wiring.home import embedded_databases


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel databases",
        description="The embedded databases. Stop the server before accept and reset.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_home_options(
        commands.add_parser("list", help="say of each whether it is the one that was kept")
    )
    for name, meaning in (
        ("accept", "take the file that is there now for the database, as after a restore by hand"),
        ("reset", "move the file aside and begin with an empty database"),
    ):
        command = commands.add_parser(name, help=meaning)
        command.add_argument("name", metavar="NAME", help="knowledge, access or research")
        add_home_options(command)
    for each in commands.choices.values():
        add_json_option(each)
    options = parser.parse_args(words[1:])
    # Not held like other commands do: accept and reset must be alone with the folder.
    settings = read_settings({("home",): options.home}, config=options.config)
    databases = embedded_databases(settings)
    if options.command == "list":
        found = databases.describe()
        if options.json:
            show_json([{"name": name, "state": state} for name, state in found])
        else:
            show_table(("database", "state"), found, lambda row: f"{row[0]:10} {row[1]}")
        return 0
    with record_command(settings, f"databases:{options.command}", f"database:{options.name}"):
        if options.command == "accept":
            accepted = databases.accept(options.name)
            if options.json:
                show_json({"name": options.name, "accepted": accepted})
            else:
                print(f"{accepted} is taken as it is from the next start on.")
            return 0
        moved = databases.reset(options.name, SystemClock())
    if options.json:
        show_json({"name": options.name, "moved_to": moved})
        return 0
    print(
        f"The next start begins with an empty {options.name} database."
        + (f" The file is in {moved}." if moved else "")
    )
    return 0
