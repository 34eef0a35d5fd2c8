"""The research room."""

from carrel.core.room import RoomDeclaration

ROOM = RoomDeclaration(
    name="research",
    title="Research",
    purpose=(
        "Generate, review, rank and evolve hypotheses from the papers at hand; work goes on "
        "between calls."
    ),
)
