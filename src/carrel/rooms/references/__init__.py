"""The references room."""

from carrel.core.room import RoomDeclaration

ROOM = RoomDeclaration(
    name="references",
    title="References",
    purpose="Keep a library of references: add, find, cite and export them, with their full texts.",
)
