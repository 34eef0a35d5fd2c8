"""The references room: libraries of references, their citations and full texts."""

from carrel.core.room import RoomDeclaration

ROOM = RoomDeclaration(
    name="references",
    title="References",
    purpose="Keep a library of references: add, find, cite and export them, with their full texts.",
    opener="carrel.wiring.references:open_references",
    guidance=(
        "References: add_references keeps works by paper_id, DOI or BibTeX, cite_references "
        "formats them, with pages."
    ),
    local_operations="carrel.wiring.references:local_operations",
    command_help="add, find, cite and export references",
    commands={"complete": "carrel.cli.completing:complete_references"},
    pages="carrel.cli.references_pages:PAGES",
    console="carrel.rooms.references.pages:CONSOLE",
    schemes=("library",),
    # Its specification wants application errors as JSON-RPC errors instead of tool results.
    error_dialect="json_rpc",
    has_completions=True,
    has_jobs=True,
    is_searched=True,
)
