"""The literature room's part of the web console."""

from __future__ import annotations

from carrel.core.pages import RoomPages

CONSOLE = RoomPages(name="literature", folder="carrel.rooms.literature.pages", pages=())
