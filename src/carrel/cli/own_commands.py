"""Commands of a room that are work on files rather than operations, such as building a corpus."""

from __future__ import annotations

import importlib
from collections.abc import Callable

OwnCommand = Callable[[list[str]], int]

_MODULES: dict[str, dict[str, str]] = {
    "papers": {
        "build": "carrel.cli.papers_build",
        "index": "carrel.cli.papers_index",
        "summarise": "carrel.cli.papers_summarise",
    },
    "references": {
        "history": "carrel.cli.references_history",
        "restore": "carrel.cli.references_history",
    },
    "knowledge": {
        "import": "carrel.cli.knowledge_notes",
        "export": "carrel.cli.knowledge_notes",
        "import-nodes": "carrel.cli.knowledge_nodes",
    },
    "research": {
        "start": "carrel.cli.research_start",
        "watch": "carrel.cli.research_watch",
        "import": "carrel.cli.research_import",
    },
}


def own_commands(room: str) -> dict[str, OwnCommand]:
    """The commands of a room by name; a module is imported when its command runs."""

    def opened(module: str) -> OwnCommand:
        return lambda words: int(importlib.import_module(module).run(words))

    return {name: opened(module) for name, module in _MODULES.get(room, {}).items()}
