"""The research room on the first page, and the pages of what the search over the desk finds."""

from __future__ import annotations

from carrel.core.pages import HomeShare, NewItem, PageRequest, WaitingItem
from carrel.rooms.research.pages.addresses import hypothesis_address, project_address


def find_path(kind: str, identifier: str) -> str:
    return hypothesis_address(identifier) if kind == "hypothesis" else project_address(identifier)


async def share_with_home(request: PageRequest) -> HomeShare:
    """Counts, what waits for a person or an assistant, and the projects that changed last."""
    if not request.offers("get_research_overview"):
        return HomeShare()
    found = await request.ask("get_research_overview")
    held = found.held
    if request.offers("list_held_goals"):
        held = len(await request.ask("list_held_goals"))
    undecided_in = project_address(found.undecided_in) if found.undecided_in else "/research"
    waiting = (
        WaitingItem("research.waiting.goals", held, "/research/goals"),
        WaitingItem("research.waiting.decisions", found.undecided, undecided_in),
        WaitingItem("research.waiting.tasks", found.waiting_for_assistant, "/research/tasks"),
    )
    return HomeShare(
        facts=(
            ("research.share.projects", found.projects, "/research"),
            ("research.share.hypotheses", found.hypotheses, "/research"),
        ),
        waiting=tuple(one for one in waiting if one.count),
        new=tuple(
            NewItem(
                one.updated_at,
                one.goal,
                f"research.news.{one.status}",
                project_address(one.research_id),
            )
            for one in found.newest
        ),
    )
