"""The knowledge room's part of the web console."""

from __future__ import annotations

from carrel.core.pages import ConsolePage, NavigationEntry, RoomPages
from carrel.rooms.knowledge.pages.addresses import (
    EDIT,
    HISTORY,
    LIST,
    NEW,
    NODES,
    NOTE,
    PROPOSALS,
    find_path,
)
from carrel.rooms.knowledge.pages.editor_page import (
    draw_edit,
    draw_new,
    draw_preview,
    save_edit,
    save_new,
)
from carrel.rooms.knowledge.pages.history_page import draw_history
from carrel.rooms.knowledge.pages.home_share import share_with_home
from carrel.rooms.knowledge.pages.list_page import draw_list
from carrel.rooms.knowledge.pages.nodes_page import draw_nodes
from carrel.rooms.knowledge.pages.note_page import draw_delete, draw_note, withdraw_note
from carrel.rooms.knowledge.pages.proposals_page import draw_proposals

CONSOLE = RoomPages(
    name="knowledge",
    folder="carrel.rooms.knowledge.pages",
    pages=(
        ConsolePage(LIST, draw_list),
        ConsolePage(NEW, draw_new, save_new),
        ConsolePage(PROPOSALS, draw_proposals),
        ConsolePage(NODES, draw_nodes),
        ConsolePage("/knowledge/preview", act=draw_preview),
        ConsolePage(f"{NOTE}/{{note_id}}", draw_note, withdraw_note),
        ConsolePage(f"{EDIT}/{{note_id}}", draw_edit, save_edit),
        ConsolePage(f"{HISTORY}/{{note_id}}", draw_history),
        ConsolePage("/knowledge/delete/{note_id}", draw_delete),
    ),
    navigation=(NavigationEntry(LIST, "knowledge.title", "notes", "list_knowledge"),),
    find_path=find_path,
    share=share_with_home,
)
