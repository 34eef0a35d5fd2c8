"""`carrel papers edit`, `merge`, `split`, `undo` and `history`, as a person types them."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from carrel.cli import rooms
from carrel.cli.acting import add_user_option
from carrel.cli.options import add_desk_options
from carrel.cli.parsers import CommandParser

_TEXT_FIELDS = (
    "title", "date", "venue", "volume", "issue", "pages", "publisher", "doi", "arxiv-id", "pmid",
    "pmcid", "isbn", "issn", "url", "abstract", "type", "language", "license",
)  # fmt: skip
_LISTS = {
    "author": "authors",
    "editor": "editors",
    "keyword": "keywords",
    "tag": "tags",
    "institution": "institutions",
}


def run(words: list[str]) -> int:
    command = words[0]
    add_arguments, description = _COMMANDS[command]
    parser = CommandParser(prog=f"carrel papers {command}", description=description)
    add_arguments(parser)
    add_desk_options(parser)
    add_user_option(parser)
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    options = parser.parse_args(words[1:])
    name = "paper_history" if command == "history" else "edit_paper"
    arguments = _arguments(command, options)
    return rooms.run_named_operation("papers", name, arguments, options)


def _add_edit(parser: argparse.ArgumentParser) -> None:
    _add_paper(parser)
    for name in _TEXT_FIELDS:
        parser.add_argument(f"--{name}", metavar=name.upper(), help=f"set the {name}")
    parser.add_argument("--year", type=int, metavar="YEAR", help="set the year")
    for name, field in _LISTS.items():
        parser.add_argument(
            f"--{name}",
            dest=field,
            action="append",
            metavar="NAME",
            help=f"set the {field}; once for each, in their order",
        )
    parser.add_argument(
        "--clear",
        action="append",
        default=[],
        metavar="FIELD",
        help="make a field unknown, whatever a source says; may be repeated",
    )
    _add_care(parser)


def _add_merge(parser: argparse.ArgumentParser) -> None:
    _add_paper(parser)
    parser.add_argument("papers", nargs="+", metavar="OTHER", help="becomes part of PAPER")
    _add_care(parser)


def _add_split(parser: argparse.ArgumentParser) -> None:
    _add_paper(parser)
    parser.add_argument(
        "--record",
        dest="records",
        action="append",
        metavar="N",
        help="number or source of a record that is another paper (carrel papers history PAPER "
        "lists them); may be repeated. Without any, each becomes a paper of its own",
    )
    _add_care(parser)


def _add_undo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "number",
        nargs="?",
        type=int,
        metavar="NUMBER",
        help="of a decision (carrel papers history)",
    )
    parser.add_argument("--paper", dest="paper_id", metavar="PAPER", help="the last one about it")
    parser.add_argument("--dry-run", action="store_true", help="only say what would change")


def _add_history(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paper_id", nargs="?", metavar="PAPER", help="id, DOI or arXiv id")
    # As commands that are made from the catalogue take what is optional.
    parser.add_argument("--paper-id", dest="named_id", help=argparse.SUPPRESS)
    parser.add_argument(
        "--action",
        choices=["edit", "merge", "split", "remove", "undo", "join"],
        help="only these; split lists what never becomes one paper again",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="so many decisions (default: 20)")
    parser.add_argument("--page", type=int, metavar="N")


def _add_paper(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paper_id", metavar="PAPER", help="id, DOI or arXiv id")


def _add_care(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--expected-version",
        metavar="VERSION",
        help="do nothing if the paper has another version by now",
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would change")


def _arguments(command: str, options: argparse.Namespace) -> dict[str, object]:
    names = ["paper_id", "expected_version", "papers", "records", "number", "year", "clear"]
    names += [name.replace("-", "_") for name in _TEXT_FIELDS]
    names += [*_LISTS.values(), "dry_run", "limit", "page"]
    given = {
        name: value
        for name in names
        if (value := getattr(options, name, None)) not in (None, [], False)
    }
    if command == "history":
        more = {"paper_id": options.named_id, "action": options.action}
        return {**given, **{name: value for name, value in more.items() if value}}
    return {"action": command, **given}


_COMMANDS: dict[str, tuple[Callable[[argparse.ArgumentParser], None], str]] = {
    "edit": (_add_edit, "Sets fields of a paper, or makes them unknown; builds keep it so."),
    "merge": (_add_merge, "Makes papers one. PAPER keeps its id, and the others' ids lead to it."),
    "split": (_add_split, "Makes records of a paper a paper of their own, for good."),
    "undo": (_add_undo, "Undoes a correction or a removal; undone twice, it counts again."),
    "history": (_add_history, "What papers are made of, and what was decided about them."),
}
