"""The rooms: each has models, operations, service, ports and errors, and none imports another.

A room is added by its package, which declares it as `ROOM`, and by one line below.
"""

from __future__ import annotations

from importlib import import_module

from carrel.core.room import RoomDeclaration

ROOM_PACKAGES = (
    "carrel.rooms.papers",
    "carrel.rooms.references",
    "carrel.rooms.literature",
    "carrel.rooms.knowledge",
    "carrel.rooms.research",
)


def declared_rooms() -> dict[str, RoomDeclaration]:
    """The declarations of all rooms by name, in display order."""
    rooms: list[RoomDeclaration] = [import_module(package).ROOM for package in ROOM_PACKAGES]
    return {room.name: room for room in rooms}


def room_names() -> tuple[str, ...]:
    return tuple(declared_rooms())
