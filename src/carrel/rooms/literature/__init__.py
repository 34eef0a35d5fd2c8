"""The literature room: finds, fetches and follows works outside the desk."""

from carrel.core.room import RoomDeclaration

ROOM = RoomDeclaration(
    name="literature",
    title="Literature",
    purpose="Find works that the desk does not have yet, through literature services, fetch them "
    "and follow what is new.",
    opener="carrel.wiring.literature:open_literature_room",
    guidance="Literature: search_literature asks outside; find_fulltext fetches open texts.",
    command_help="find works outside, fetch their texts, follow what is new",
    pages="carrel.cli.literature_pages:PAGES",
    console="carrel.rooms.literature.pages:CONSOLE",
    local_operations="carrel.wiring.literature_local:local_operations",
    commands={"retractions": "carrel.cli.literature_retractions:run"},
    has_jobs=True,
    # What is found is marked where other rooms have it, and goes there.
    searches_other_rooms=True,
)
