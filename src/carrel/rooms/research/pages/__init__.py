"""The research room's part of the web console."""

from __future__ import annotations

from carrel.core.pages import RoomPages

CONSOLE = RoomPages(name="research", folder="carrel.rooms.research.pages", pages=())
