"""The knowledge room's part of the web console."""

from __future__ import annotations

from carrel.core.pages import RoomPages

CONSOLE = RoomPages(name="knowledge", folder="carrel.rooms.knowledge.pages", pages=())
