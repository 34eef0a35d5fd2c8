"""The research room: hypotheses that are generated, reviewed, ranked and evolved."""

from carrel.core.room import RoomDeclaration

ROOM = RoomDeclaration(
    name="research",
    title="Research",
    purpose=(
        "Generate, review, rank and evolve hypotheses from the papers at hand; work goes on "
        "between calls. start_research drafts; do better yourself: next_research_task, "
        "submit_research_task until done; get_results."
    ),
    opener="carrel.wiring.research:open_research",
    guidance=(
        "Hypotheses from the papers: start_research drafts; do better yourself: "
        "next_research_task, submit_research_task until done; get_results."
    ),
    command_help="start, follow and read research; import earlier hypotheses",
    commands={
        "start": "carrel.cli.research:start",
        "watch": "carrel.cli.research:watch",
        "import": "carrel.cli.research:import_hypotheses",
        "note": "carrel.cli.research:note",
    },
    pages="carrel.cli.research_pages:PAGES",
    console="carrel.rooms.research.pages:CONSOLE",
    schemes=("research", "hypothesis"),
    has_prompts=True,
    has_completions=True,
    has_jobs=True,
    is_searched=True,
)
