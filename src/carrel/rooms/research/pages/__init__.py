"""The research room's part of the web console."""

from __future__ import annotations

from carrel.core.pages import ConsolePage, LiveView, NavigationEntry, RoomPages
from carrel.rooms.research.pages.claim_pages import (
    check_claim_form,
    draw_claim,
    draw_contradictions,
)
from carrel.rooms.research.pages.contribution_pages import (
    draw_import,
    draw_submission,
    import_file,
    submit_hypothesis,
)
from carrel.rooms.research.pages.goal_pages import draw_held_goals, draw_start, start_project
from carrel.rooms.research.pages.home_share import find_path, share_with_home
from carrel.rooms.research.pages.hypothesis_page import (
    draw_hypothesis,
    draw_rejection,
    evolve_hypothesis,
    save_as_note,
)
from carrel.rooms.research.pages.project_page import draw_project
from carrel.rooms.research.pages.projects_page import draw_projects
from carrel.rooms.research.pages.report_page import draw_report, send_export
from carrel.rooms.research.pages.run_state import is_over, summarise_status
from carrel.rooms.research.pages.tasks_page import draw_tasks

CONSOLE = RoomPages(
    name="research",
    folder="carrel.rooms.research.pages",
    pages=(
        ConsolePage("/research", draw_projects),
        ConsolePage("/research/start", draw_start, start_project),
        ConsolePage("/research/goals", draw_held_goals),
        ConsolePage("/research/tasks", draw_tasks),
        ConsolePage("/research/claim", draw_claim, check_claim_form),
        ConsolePage("/research/contradictions", draw_contradictions),
        ConsolePage("/research/import", draw_import, import_file),
        ConsolePage("/research/submit/{research_id}", draw_submission, submit_hypothesis),
        ConsolePage("/research/report/{research_id}", draw_report),
        ConsolePage("/research/export/{research_id}", send_export),
        ConsolePage("/research/project/{research_id}", draw_project),
        ConsolePage("/research/reject/{hypothesis_id}", draw_rejection),
        ConsolePage("/research/note/{hypothesis_id}", None, save_as_note),
        ConsolePage("/research/evolve/{hypothesis_id}", None, evolve_hypothesis),
        ConsolePage("/research/hypothesis/{hypothesis_id}", draw_hypothesis),
    ),
    navigation=(
        NavigationEntry("/research", "research.title", "research", "list_research_projects"),
    ),
    live=(
        LiveView(
            name="research",
            operation="get_research_status",
            arguments=lambda research_id: {"research_id": research_id},
            is_over=is_over,
            summarise=summarise_status,
        ),
    ),
    find_path=find_path,
    share=share_with_home,
)
