"""The knowledge room: notes that are kept and shared, named nodes, and search bodies."""

from carrel.core.room import RoomDeclaration

ROOM = RoomDeclaration(
    name="knowledge",
    title="Knowledge",
    purpose="Keep notes, find them again, share them with the team, and look up named things.",
)
