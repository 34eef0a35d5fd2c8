"""The knowledge room: personal and team notes, named nodes, and search bodies."""

from carrel.core.room import RoomDeclaration

ROOM = RoomDeclaration(
    name="knowledge",
    title="Knowledge",
    purpose="Keep notes, find them again, share them with the team, and look up named things.",
    opener="carrel.wiring.knowledge:open_knowledge",
    guidance=(
        "Notes: search_knowledge before you answer, save_knowledge what was learnt, with ids."
    ),
    local_operations="carrel.wiring.knowledge:local_operations",
    command_help="keep, find and share notes; import and export a folder of them",
    commands={
        "import": "carrel.cli.knowledge_notes:run",
        "export": "carrel.cli.knowledge_notes:run",
        "import-nodes": "carrel.cli.knowledge_notes:run_nodes",
    },
    pages="carrel.cli.knowledge_pages:PAGES",
    console="carrel.rooms.knowledge.pages:CONSOLE",
    searches_other_rooms=True,
    is_searched=True,
)
