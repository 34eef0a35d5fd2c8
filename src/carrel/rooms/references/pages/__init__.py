"""The references room's part of the web console."""

from __future__ import annotations

from carrel.core.pages import RoomPages

CONSOLE = RoomPages(name="references", folder="carrel.rooms.references.pages", pages=())
