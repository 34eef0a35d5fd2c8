"""Notes that wait for the team: each with its difference from what the team has."""

from __future__ import annotations

from functools import partial

from carrel.core.errors import NotFoundError
from carrel.core.pages import PageRequest, PageView, local_address
from carrel.rooms.knowledge.list_models import MAX_OFFSET, KnowledgeList
from carrel.rooms.knowledge.models import FullNote
from carrel.rooms.knowledge.pages.addresses import PROPOSALS, note_path
from carrel.rooms.knowledge.pages.history_page import show_difference
from carrel.rooms.knowledge.pages.list_page import STYLES, page_facts
from carrel.rooms.knowledge.pages.note_text import (
    heading_level,
    link_note_text,
    split_parts,
    without_title_line,
)

_SHOWN = 10
# Of a new note the beginning is shown; its own page has the whole.
_SHOWN_CHARACTERS = 4_000


async def draw_proposals(request: PageRequest) -> PageView:
    start = request.query.integer("start", 0, most=MAX_OFFSET)
    waiting: KnowledgeList = await request.ask(
        "list_knowledge", whose="proposed", limit=_SHOWN, offset=start, tag_counts=0
    )
    proposals = []
    for listed in waiting.notes:
        shown = await _show(request, listed.id)
        if shown is not None:
            proposals.append(shown)
    return PageView(
        "knowledge/proposals.html",
        request.translate("knowledge.proposals.title"),
        {
            "proposals": proposals,
            "total": waiting.total,
            **page_facts(
                partial(local_address, PROPOSALS),
                start,
                len(waiting.notes),
                _SHOWN,
                waiting.total,
            ),
        },
        styles=STYLES,
    )


async def _show(request: PageRequest, note_id: str) -> dict[str, object] | None:
    """A proposal; None where it was decided since it was listed."""
    try:
        note: FullNote = await request.ask("get_knowledge", id=note_id)
    except NotFoundError:
        return None
    if note.status != "proposed":
        return None
    current = await _team_note(request, note)
    text, *more = split_parts(without_title_line(note.title, note.content), _SHOWN_CHARACTERS)
    return {
        "note": note,
        "path": note_path(note.id),
        "team": current,
        "team_path": "" if current is None else note_path(current.id),
        "difference": None
        if current is None
        else await show_difference(current.content, note.content),
        "is_cut": bool(more),
        "heading_level": heading_level(text, 3),
        "text": link_note_text(text, note.links, request.translate("knowledge.link_missing")),
    }


async def _team_note(request: PageRequest, note: FullNote) -> FullNote | None:
    if note.promoted_to_id is None:
        return None
    try:
        found: FullNote = await request.ask("get_knowledge", id=note.promoted_to_id)
    except NotFoundError:
        return None
    return found
