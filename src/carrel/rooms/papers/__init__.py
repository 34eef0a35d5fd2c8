"""The papers room."""

from carrel.core.room import RoomDeclaration

ROOM = RoomDeclaration(
    name="papers",
    title="Papers",
    purpose="Find papers in the corpus and read their metadata, summaries and full texts.",
)
