"""A room of one folder: what its package declares is all that the rest of Carrel knows of it."""

from carrel.core.room import RoomDeclaration

ROOM = RoomDeclaration(
    name="greenhouse",
    title="Greenhouse",
    purpose="Keep plants and say how they are.",
    opener="tests.guest_room.operations:open_greenhouse",
    local_operations="tests.guest_room.operations:local_greenhouse",
    guidance="Plants: list_plants first, then water_plant.",
    command_help="list and water plants",
    schemes=("plant",),
    has_prompts=True,
    has_completions=True,
)
