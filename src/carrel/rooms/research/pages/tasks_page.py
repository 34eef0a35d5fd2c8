"""Tasks that wait for an assistant, over all projects, and how to connect one."""

from __future__ import annotations

from carrel.core.pages import PageRequest, PageView
from carrel.rooms.research.pages.addresses import project_address

_MOST_PROJECTS = 20


async def draw_tasks(request: PageRequest) -> PageView:
    rows = [
        *await request.ask("list_research_projects", status="active", limit=_MOST_PROJECTS),
        *await request.ask("list_research_projects", status="completed", limit=_MOST_PROJECTS),
    ]
    projects = []
    for row in rows:
        status = await request.ask("get_research_status", research_id=row.id)
        projects.append(
            {
                "status": status,
                "left": sum(status.tasks_left.values()),
                "tasks": await request.ask("list_research_tasks", research_id=row.id, limit=20)
                if status.mind == "assistant"
                else [],
                "path": project_address(row.id, view="tasks"),
            }
        )
    return PageView(
        "research/tasks.html",
        request.translate("research.tasks.title"),
        {
            "waiting": [one for one in projects if one["left"]],
            "others": [one for one in projects if not one["left"]],
            "first_id": rows[0].id if rows else "",
        },
        styles=("research/research.css",),
    )
