"""`carrel alerts`: saved searches of literature services, run by hand or by cron."""

from __future__ import annotations

import argparse
from pathlib import Path

from carrel.cli import rooms
from carrel.cli.acting import add_user_option
from carrel.cli.options import add_desk_options
from carrel.cli.output import show
from carrel.cli.parsers import CommandParser
from carrel.core.answer import Text
from carrel.core.errors import InvalidInputError
from carrel.rooms.literature.alert_models import AlertsRun

_OPERATIONS = {
    "add": "save_alert",
    "list": "list_alerts",
    "run": "run_alerts",
    "remove": "remove_alert",
    "digest": "get_alert_digest",
    "feed": "get_alert_digest",
}
_FEED_DAYS = 90
# The exit code of what may work later.
_NOTHING_ANSWERED = 5


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel alerts",
        description="Saved searches of literature services: each run tells of new works once.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add = commands.add_parser("add", help="save a search")
    add.add_argument("query", nargs="+", metavar="QUERY", help="as carrel literature search takes")
    add.add_argument("--name", help="what to call it (the query itself)")
    add.add_argument("--services", metavar="A,B", help="only these services")
    add.add_argument("--since", metavar="DAY", help="new from this day on: 2026-01-31 (today)")
    commands.add_parser("list", help="show all alerts, and how far each service answered")
    _name(commands.add_parser("run", help="ask what is new; for cron"), "only this one")
    _name(commands.add_parser("remove", help="remove an alert and what it found"), None)
    digest = commands.add_parser("digest", help="tell what is new as Markdown, each work once")
    _name(digest, "only this one")
    digest.add_argument("--days", type=int, metavar="N", help="again all of the last N days")
    digest.add_argument("--limit", type=int, metavar="N", help="so many works (default: 200)")
    feed = commands.add_parser("feed", help="write what was found as an Atom feed")
    _name(feed, "only this one")
    feed.add_argument("--days", type=int, default=_FEED_DAYS, metavar="N", help="(default: 90)")
    feed.add_argument("--limit", type=int, metavar="N", help="so many works (default: 200)")
    feed.add_argument("--into", type=Path, metavar="FILE", help="a file, replaced in one step")
    for command in commands.choices.values():
        add_desk_options(command)
        add_user_option(command)
        command.add_argument("--json", action="store_true", help="print the answer as JSON")
    options = parser.parse_args(words[1:])
    name, arguments = _OPERATIONS[options.command], _arguments(options)
    if options.command == "feed" and options.into is not None:
        asked = rooms.ask_named_operation("literature", name, arguments, options)
        assert isinstance(asked.answer, Text)
        _replace_file(options.into, asked.answer.body)
        show(f"{options.into} is written.")
        return 0
    asked = rooms.ask_named_operation("literature", name, arguments, options)
    code = rooms.show_answer(asked)
    if isinstance(asked.answer, AlertsRun) and asked.answer.runs:
        has_failed = all(each.state == "failed" for each in asked.answer.runs)
        return _NOTHING_ANSWERED if has_failed else code
    return code


def _name(parser: argparse.ArgumentParser, help_text: str | None) -> None:
    if help_text is None:
        parser.add_argument("name", metavar="NAME", help="name or id")
    else:
        parser.add_argument("name", nargs="?", metavar="NAME", help=help_text)


def _arguments(options: argparse.Namespace) -> dict[str, object]:
    names = ("name", "since", "days", "limit")
    found: dict[str, object] = {
        name: value for name in names if (value := getattr(options, name, None)) is not None
    }
    if options.command == "add":
        found["query"] = " ".join(options.query)
        if options.services:
            found["services"] = [each.strip() for each in options.services.split(",")]
    if options.command == "feed":
        found["format"] = "atom"
    return found


def _replace_file(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise InvalidInputError(
            f"{path} cannot be written: {error.strerror or error}", next_step="Name another file."
        ) from error
