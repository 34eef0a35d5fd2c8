"""The literature room: the services outside, and the corpus and libraries that works come into."""

from __future__ import annotations

from carrel.core.catalogue import Room
from carrel.rooms.literature import ROOM
from carrel.settings import Settings
from carrel.wiring.desk import OpenRoom
from carrel.wiring.papers import OpenCorpus


def open_literature_room(settings: Settings, corpus: OpenCorpus) -> OpenRoom:
    """Nothing is asked yet; services are opened by the first question."""
    return OpenRoom(Room.collect(ROOM))
