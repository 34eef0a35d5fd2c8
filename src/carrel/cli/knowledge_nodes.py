"""`carrel knowledge import-nodes`: named nodes from JSON lines or CSV, or from the notes there
are.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.output import show
from carrel.cli.progress import TerminalProgress
from carrel.core.errors import InvalidInputError
from carrel.libraries.text.tokenizer import case_key
from carrel.rooms.knowledge.notes import Node, Team
from carrel.services.node_files import BadRow, read_nodes
from carrel.settings import Settings
from carrel.wiring.audit import record_command
from carrel.wiring.knowledge import open_stores

_GROUP = 200
_MOST_PROBLEMS_SHOWN = 20


def run(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="carrel knowledge import-nodes",
        description="Add named nodes; a node of the same name is replaced.",
    )
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="JSON lines, or a table ending in .csv or .tsv",
    )
    parser.add_argument(
        "--from-notes", action="store_true", help="make a node of every team note instead"
    )
    add_desk_options(parser)
    options = parser.parse_args(words[1:])
    settings = settings_from(options)
    if options.from_notes:
        with record_command(
            settings, "knowledge:import-nodes", "knowledge://nodes", {"from_notes": True}
        ):
            return asyncio.run(_from_notes(settings))
    if options.file is None or not options.file.is_file():
        raise InvalidInputError(
            "A file of nodes is required", next_step="Name a file, or use --from-notes."
        )
    with record_command(
        settings, "knowledge:import-nodes", "knowledge://nodes", {"file": str(options.file)}
    ):
        return asyncio.run(_from_file(settings, options.file))


async def _from_file(settings: Settings, file: Path) -> int:
    stores, progress = open_stores(settings), TerminalProgress()
    bad: list[BadRow] = []
    saved = 0
    progress.begin("importing", None, "nodes")
    try:
        rows = _good(file, bad)
        while group := await asyncio.to_thread(lambda: list(islice(rows, _GROUP))):
            # The last of several lines with one name counts, as it would one after the other.
            await stores.nodes.put(list({case_key(node.name): node for node in group}.values()))
            saved += len(group)
            progress.advance(len(group))
        progress.end()
    finally:
        await stores.notes.close()
    show(f"{saved} nodes, {len(bad)} lines refused")
    for row in bad[:_MOST_PROBLEMS_SHOWN]:
        show(f"  line {row.line}: {row.problem}", file=sys.stderr)
    return 0 if saved or not bad else 2


def _good(file: Path, bad: list[BadRow]) -> Iterator[Node]:
    for row in read_nodes(file):
        if isinstance(row, BadRow):
            bad.append(row)
        else:
            yield row


async def _from_notes(settings: Settings) -> int:
    """Only the team's notes, because nodes are everybody's."""
    stores, progress = open_stores(settings), TerminalProgress()
    saved = 0
    progress.begin("importing", None, "nodes")
    try:
        group: dict[str, Node] = {}
        async for note in stores.notes.everything(Team()):
            metadata: dict[str, object] = {"note_id": note.id, "tags": list(note.tags)}
            group[case_key(note.title)] = Node(note.title, "note", "", note.content, metadata)
            if len(group) >= _GROUP:
                await stores.nodes.put(list(group.values()))
                saved += len(group)
                progress.advance(len(group))
                group = {}
        await stores.nodes.put(list(group.values()))
        saved += len(group)
        progress.end()
    finally:
        await stores.notes.close()
    show(f"{saved} nodes")
    return 0
