"""Tasks that wait for an assistant, over all projects, and how to connect one."""

from __future__ import annotations

from carrel.core.pages import PageRequest, PageView
from carrel.rooms.research.pages.addresses import project_address

_MOST_PROJECTS = 50
_MOST_ASKED = 10
_COULD_BE_TAKEN = frozenset({"active", "completed"})


async def draw_tasks(request: PageRequest) -> PageView:
    overview = await request.ask("get_research_overview", newest=_MOST_PROJECTS)
    open_projects = [one for one in overview.newest if one.status in _COULD_BE_TAKEN]
    taken = [one for one in open_projects if one.mind == "assistant"]
    waiting = []
    for one in taken[:_MOST_ASKED]:
        status = await request.ask("get_research_status", research_id=one.research_id)
        if status.tasks_left:
            tasks = await request.ask("list_research_tasks", research_id=one.research_id, limit=20)
            waiting.append(
                {
                    "status": status,
                    "left": sum(status.tasks_left.values()),
                    "tasks": tasks,
                    "path": project_address(one.research_id, view="tasks"),
                }
            )
    others = [one for one in open_projects if one.mind != "assistant"]
    return PageView(
        "research/tasks.html",
        request.translate("research.tasks.title"),
        {
            "waiting": waiting,
            "others": others,
            "first_id": next((one.research_id for one in (*taken, *others)), ""),
        },
        styles=("research/research.css",),
    )
