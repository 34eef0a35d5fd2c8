"""What a room says of itself before it is opened; light, so that start-up can read every room."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RoomDeclaration:
    """A room's name, its title, and its purpose in one sentence."""

    name: str
    title: str
    purpose: str
