"""The search over the whole desk: one ranked list, and what became of each room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from carrel.core.desk_search import (
    HITS_PER_ROOM,
    MAX_HITS,
    MAX_QUERY_CHARACTERS,
    DeskAnswer,
    DeskHit,
)
from carrel.core.errors import CarrelError
from carrel.core.pages import PageRequest, PageView, RoomPages, local_address

_REFUSED = 400


class FindPage:
    """Draws `/find?q=…`, best first; `room` shows the hits of one room only."""

    def __init__(self, rooms: Sequence[RoomPages]) -> None:
        self._rooms = {room.name: room for room in rooms}

    async def draw(self, request: PageRequest) -> PageView:
        query = request.query.text("q")[:MAX_QUERY_CHARACTERS]
        wanted = request.query.text("room")
        facts: dict[str, Any] = {
            "query": query,
            "hits": None,
            "tabs": [],
            "left_out": [],
            "silent": [],
            "problem": None,
            "is_offered": request.offers("search_desk"),
            "outside_path": local_address("/literature", q=query)
            if request.offers("search_literature")
            else "",
            "rooms": [
                (room.navigation[0].label, room.navigation[0].path)
                for room in self._rooms.values()
                if room.navigation and request.offers(room.navigation[0].operation)
            ],
        }
        status = 200
        if query and request.offers("search_desk"):
            try:
                found: DeskAnswer = await request.ask("search_desk", query=query, limit=MAX_HITS)
            except CarrelError as error:
                facts["problem"] = error
                status = _REFUSED
            else:
                facts |= self._describe_hits(found, query, wanted)
        title = request.translate("home.find.of", query=query) if query else ""
        return PageView(
            "home/find.html",
            title or request.translate("home.find.title"),
            facts,
            styles=("home/home.css",),
            status=status,
        )

    def _describe_hits(self, found: DeskAnswer, query: str, wanted: str) -> dict[str, Any]:
        hits = [hit for hit in found.hits if wanted in ("", hit.room)]
        searched = [room for room in found.rooms if room.is_searched]
        tabs = [
            {
                "room": room.room,
                "path": local_address("/find", q=query, room=room.room),
                "is_on": wanted == room.room,
                "count": room.hits,
            }
            for room in searched
            if room.hits
        ]
        return {
            "hits": [(hit, self._path(hit, query)) for hit in hits],
            "total": len(found.hits),
            # A room that gave as many as it may has more.
            "is_cut": len(found.hits) == MAX_HITS
            or any(room.hits >= HITS_PER_ROOM for room in searched),
            "tabs": tabs,
            "all_path": local_address("/find", q=query),
            "is_all": not wanted,
            "left_out": [room for room in found.rooms if not room.is_searched],
            "silent": [room for room in searched if not room.hits],
            "label_of": self._label,
            "icon_of": self._icon,
            "more": self._more(query, wanted),
        }

    def _path(self, hit: DeskHit, query: str) -> str:
        room = self._rooms.get(hit.room)
        if room is None:
            return ""
        if room.find_path is not None:
            path = room.find_path(hit.kind, hit.id)
            return local_address(path, q=query) if room.marks_words else path
        return room.navigation[0].path if room.navigation else ""

    def _more(self, query: str, wanted: str) -> str:
        """Where one room's own search has all of its hits."""
        room = self._rooms.get(wanted)
        if room is None or not room.navigation:
            return ""
        return local_address(room.navigation[0].path, q=query)

    def _label(self, name: str) -> str:
        """The key of a room's name in the navigation; its own name where it has no pages."""
        room = self._rooms.get(name)
        return room.navigation[0].label if room is not None and room.navigation else ""

    def _icon(self, name: str) -> str:
        room = self._rooms.get(name)
        return room.navigation[0].icon if room is not None and room.navigation else "info"
