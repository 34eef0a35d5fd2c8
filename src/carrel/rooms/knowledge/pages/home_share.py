"""What the first page says of notes."""

from __future__ import annotations

from carrel.core.pages import HomeShare, NewItem, PageRequest, WaitingItem
from carrel.rooms.knowledge.list_models import KnowledgeList
from carrel.rooms.knowledge.pages.addresses import LIST, PROPOSALS, note_path

_NEWEST = 5


async def share_with_home(request: PageRequest) -> HomeShare:
    """How many notes there are, the newest of them, and proposals for those who decide."""
    if not request.offers("list_knowledge"):
        return HomeShare()
    notes: KnowledgeList = await request.ask("list_knowledge", limit=_NEWEST, tag_counts=0)
    waiting = []
    if request.offers("promote_knowledge"):
        proposed: KnowledgeList = await request.ask(
            "list_knowledge", whose="proposed", limit=1, tag_counts=0
        )
        if proposed.total:
            waiting.append(WaitingItem("knowledge.waiting", proposed.total, PROPOSALS))
    return HomeShare(
        facts=[("knowledge.count", notes.total, LIST)],
        waiting=waiting,
        new=[
            NewItem(note.created_at, note.title, "knowledge.noted", note_path(note.id))
            for note in notes.notes
        ],
    )
