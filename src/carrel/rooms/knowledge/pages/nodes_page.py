"""What is known of named things."""

from __future__ import annotations

import re

from carrel.core.errors import CarrelError
from carrel.core.pages import PageRequest, PageView
from carrel.rooms.knowledge.models import MAX_NODE_NAMES, RetrievedNodes
from carrel.rooms.knowledge.pages.list_page import STYLES
from carrel.rooms.knowledge.pages.note_text import heading_level

# What is shown of one thing.
_SHOWN_CHARACTERS = 3_000


async def draw_nodes(request: PageRequest) -> PageView:
    given = request.query.text("names")
    names = list(dict.fromkeys(part.strip() for part in re.split(r"[,;\n]+", given)))
    names = [name for name in names if name][: MAX_NODE_NAMES + 1]
    found: RetrievedNodes | None = None
    problem: CarrelError | None = None
    if names:
        try:
            found = await request.ask(
                "node_knowledge_retriever", node_names=names, include_metadata=True
            )
        except CarrelError as error:
            problem = error
    texts = [_cut(node.knowledge) for node in found.results] if found is not None else []
    levels = [heading_level(text, 3) for text in texts]
    return PageView(
        "knowledge/nodes.html",
        request.translate("knowledge.nodes.title"),
        {"given": given, "found": found, "texts": texts, "levels": levels, "problem": problem},
        styles=STYLES,
        status=200 if problem is None else 422,
    )


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS].rstrip()} …"
