"""One note: its text, what it links to and what links to it, and the steps that may be taken."""

from __future__ import annotations

import asyncio

from carrel.core.errors import CarrelError
from carrel.core.pages import PageAnswer, PageRedirect, PageRequest, PageView
from carrel.rooms.knowledge.models import FullNote
from carrel.rooms.knowledge.pages.addresses import EDIT, HISTORY, LIST, note_path, thing_path
from carrel.rooms.knowledge.pages.graph_drawing import draw_graph, kinds_of, list_graph
from carrel.rooms.knowledge.pages.list_page import STYLES
from carrel.rooms.knowledge.pages.note_text import (
    heading_level,
    link_note_text,
    split_parts,
    without_title_line,
)

_MODULES = ("knowledge/note.js",)


async def draw_note(request: PageRequest) -> PageView:
    note: FullNote = await request.ask("get_knowledge", id=request.variables["note_id"])
    depth = request.query.integer("depth", 1, least=1, most=2)
    has_links = bool(note.links or note.linked_from)
    facts: dict[str, object] = {"graph": None}
    if has_links:
        graph = await request.ask("get_knowledge_graph", id=note.id, depth=depth)
        drawing = await asyncio.to_thread(draw_graph, graph)
        facts = {
            "graph": drawing,
            "graph_rows": list_graph(graph),
            "graph_kinds": kinds_of(drawing.boxes),
        }
    parts = split_parts(without_title_line(note.title, note.content))
    part = request.query.integer("part", 1, least=1, most=len(parts))
    missing = request.translate("knowledge.link_missing")
    return PageView(
        "knowledge/note.html",
        note.title,
        {
            **facts,
            **note_facts(request, note),
            "text": await asyncio.to_thread(link_note_text, parts[part - 1], note.links, missing),
            "links": [
                (link, thing_path(link.kind, link.id, link.target), link.title or link.target)
                for link in note.links
            ],
            "linked_from": [(link, note_path(link.id)) for link in note.linked_from],
            "heading_level": heading_level(parts[part - 1], 2),
            "depth": depth,
            "part": part,
            "part_count": len(parts),
            "previous": note_path(note.id, part=part - 1 if part > 2 else "") if part > 1 else "",
            "next": note_path(note.id, part=part + 1) if part < len(parts) else "",
            "saved_draft": request.query.text("saved")[:80],
        },
        modules=_MODULES,
        styles=STYLES,
    )


def note_facts(request: PageRequest, note: FullNote) -> dict[str, object]:
    """What every page about one note needs: the note, its addresses, and what may be done."""
    is_mine = note.user_id == request.caller.user_id
    is_team = note.source == "team"
    may_change = (request.offers("promote_knowledge") if is_team else is_mine) and request.offers(
        "save_knowledge"
    )
    return {
        "note": note,
        "is_mine": is_mine,
        "note_path": note_path(note.id),
        "edit_path": f"{EDIT}/{note.id}",
        "history_path": f"{HISTORY}/{note.id}",
        "delete_path": f"/knowledge/delete/{note.id}",
        "list_path": LIST,
        "may_change": may_change,
        "may_propose": may_change and not is_team and note.status == "draft",
        "may_withdraw": may_change and not is_team and note.status == "proposed",
        "may_decide": note.status == "proposed"
        and not is_team
        and request.offers("promote_knowledge"),
    }


async def withdraw_note(request: PageRequest) -> PageAnswer:
    """The author takes a proposal back: saved unchanged, a note is a draft again."""
    note: FullNote = await request.ask("get_knowledge", id=request.variables["note_id"])
    try:
        await request.ask(
            "save_knowledge",
            id=note.id,
            content=note.content,
            updated_at=request.form.text("updated_at") or note.updated_at,
        )
    except CarrelError as error:
        return PageRedirect(note_path(note.id), notice=f"{error.message}. {error.next_step}")
    return PageRedirect(note_path(note.id), notice=request.translate("knowledge.withdrawn"))


async def draw_delete(request: PageRequest) -> PageView:
    """The question before a note is deleted; the form tells which state was seen."""
    note: FullNote = await request.ask("get_knowledge", id=request.variables["note_id"])
    title = request.translate("knowledge.delete.title")
    return PageView("knowledge/delete.html", title, note_facts(request, note), styles=STYLES)
