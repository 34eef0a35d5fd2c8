"""The part of the knowledge room in the search over the desk."""

from __future__ import annotations

import re

from carrel.core.answer import split_explanation
from carrel.core.caller import Call
from carrel.core.desk_search import DeskCandidate, RoomFindings
from carrel.core.errors import NotFoundError
from carrel.rooms.knowledge.models import MAX_QUERY_CHARACTERS, FoundNote, FullNote
from carrel.rooms.knowledge.service import Knowledge

_NOTE_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


class NoteDeskSearch:
    """Notes by their id, and as search_knowledge ranks them."""

    scopes = frozenset({"knowledge:read"})

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    async def search(self, query: str, call: Call, count: int) -> RoomFindings:
        named = await self._named(query.strip(), call)
        notes, explanation = split_explanation(
            await self._knowledge.search(
                query[:MAX_QUERY_CHARACTERS], call.caller, whose="all", order="best", limit=count
            )
        )
        found = [] if named is None else [_candidate(named, named.content, is_named=True)]
        found += [
            _candidate(note, note.content) for note in notes if named is None or note.id != named.id
        ]
        return RoomFindings(found, "" if explanation is None else explanation.message)

    async def _named(self, text: str, call: Call) -> FullNote | None:
        if _NOTE_ID.fullmatch(text) is None:
            return None
        try:
            return await self._knowledge.get(text, call)
        except NotFoundError:
            return None


def _candidate(note: FoundNote | FullNote, text: str, *, is_named: bool = False) -> DeskCandidate:
    return DeskCandidate(
        "note",
        note.id,
        note.title,
        text,
        "get_knowledge",
        {"id": note.id},
        is_named=is_named,
    )
