"""The papers room's part of the web console."""

from __future__ import annotations

from carrel.core.pages import RoomPages

CONSOLE = RoomPages(name="papers", folder="carrel.rooms.papers.pages", pages=())
