"""The papers room: searches, reads and builds a corpus."""

from carrel.core.room import RoomDeclaration

ROOM = RoomDeclaration(
    name="papers",
    title="Papers",
    purpose="Find papers in the corpus and read their metadata, summaries and full texts.",
    opener="carrel.wiring.papers:open_papers",
    guidance=(
        "Papers: search_papers gives paper_ids for get_paper_source; find_passages gives quotable "
        "text with id and page, read_passage its surroundings, locate_quote checks a "
        "quotation. If the corpus lacks something, offer add_paper."
    ),
    local_operations="carrel.wiring.papers_build:local_operations",
    command_help="search and read papers; build a corpus",
    commands={
        "build": "carrel.cli.papers_build:run",
        "complete": "carrel.cli.completing:complete_papers",
        "edit": "carrel.cli.papers_corrections:run",
        "export": "carrel.cli.papers_export:run",
        "figure": "carrel.cli.papers_figure:run",
        "history": "carrel.cli.papers_corrections:run",
        "load": "carrel.cli.papers_load:run",
        "merge": "carrel.cli.papers_corrections:run",
        "page": "carrel.cli.papers_figure:run",
        "split": "carrel.cli.papers_corrections:run",
        "summarise": "carrel.cli.papers_summarise:run",
        "undo": "carrel.cli.papers_corrections:run",
    },
    pages="carrel.cli.papers_pages:PAGES",
    console="carrel.rooms.papers.pages:CONSOLE",
    schemes=("paper",),
    has_completions=True,
    has_jobs=True,
    is_searched=True,
)
