"""`carrel vocabularies`: thesauri and ontologies that give concepts synonyms and kinds."""

from __future__ import annotations

from pathlib import Path

from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.options import add_home_options, home_settings
from carrel.cli.output import say_next_step, show, show_page
from carrel.cli.page import Column, Note, Page, Table
from carrel.cli.parsers import CommandParser
from carrel.settings import Settings
from carrel.settings.home_rules import refuse_home
from carrel.wiring.audit import record_command
from carrel.wiring.vocabularies import (
    StoredVocabulary,
    add_vocabulary,
    list_vocabularies,
    remove_vocabulary,
    suggest_name,
    vocabulary_folder,
)

_NEXT_STEP = (
    "A running server reads it after a restart; the concepts of the papers are then read again."
)


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel vocabularies",
        description="Thesauri and ontologies for research: their terms, synonyms and trees are "
        "known to goals and hypotheses.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add = commands.add_parser(
        "add",
        help="keep the terms of a file (MeSH, SKOS, OBO, CSV)",
    )
    add.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="MeSH (XML or ASCII), SKOS (RDF/XML, Turtle or JSON-LD), OBO, CSV or TSV",
    )
    add.add_argument("--name", help="what to call it; by default made from the file's name")
    add.add_argument("--replace", action="store_true", help="replace one of the same name")
    commands.add_parser("list", help="show all vocabularies")
    remove = commands.add_parser("remove", help="remove a vocabulary")
    remove.add_argument("name", metavar="NAME", help="as it is listed")
    for command in commands.choices.values():
        add_home_options(command)
        add_json_option(command)
    options = parser.parse_args(words[1:])
    settings = home_settings(options)
    folder = vocabulary_folder(settings)
    if options.command == "list":
        _show_list(settings, options.json)
        return 0
    if not settings.keeps_home:
        raise refuse_home(settings, "vocabularies")
    name = options.name or suggest_name(options.file)
    with record_command(settings, f"vocabularies:{options.command}", f"vocabulary:{name[:100]}"):
        if options.command == "remove":
            remove_vocabulary(folder, name)
            if options.json:
                show_json({"name": name, "is_removed": True})
            else:
                show(f"{name} is removed.")
            return 0
        added = add_vocabulary(folder, options.file, name, replace=options.replace)
    if options.json:
        show_json(_facts(added))
    else:
        show(f"{added.name}: {added.terms:,} terms with {added.synonyms:,} synonyms.")
        say_next_step(_NEXT_STEP)
    return 0


def _show_list(settings: Settings, as_json: bool) -> None:
    found = list_vocabularies(vocabulary_folder(settings))
    if as_json:
        show_json([_facts(one) for one in found])
        return
    if not found:
        show_page(Page((Note("No vocabularies yet: concepts come from the papers alone."),)))
        say_next_step("carrel vocabularies add FILE adds one.")
        return
    rows = [(one.name, f"{one.terms:,}", f"{one.synonyms:,}") for one in found]
    show_page(Page((Table((Column("vocabulary", whole=True), "terms", "synonyms"), rows),)))


def _facts(stored: StoredVocabulary) -> dict[str, object]:
    return {
        "name": stored.name,
        "terms": stored.terms,
        "synonyms": stored.synonyms,
        "size_bytes": stored.size_bytes,
    }
