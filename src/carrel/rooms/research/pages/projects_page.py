"""The list of projects, with the form that begins a new one."""

from __future__ import annotations

from carrel.core.pages import PageRequest, PageView, local_address
from carrel.rooms.research.pages.addresses import project_address
from carrel.rooms.research.pages.run_state import GOING_ON, status_badge

_STATUSES = ("active", "completed", "paused", "held", "failed", "cancelled")
_PAGE = 20
_MOST = 100
# How many running projects are asked how far they are.
_MOST_FOLLOWED = 10


async def draw_projects(request: PageRequest) -> PageView:
    status = request.query.text("status")
    status = status if status in _STATUSES else ""
    limit = request.query.integer("limit", _PAGE, least=1, most=_MOST)
    rows = await request.ask("list_research_projects", status=status or None, limit=limit)
    running = [row.id for row in rows if row.status in GOING_ON][:_MOST_FOLLOWED]
    progress = {
        name: (await request.ask("get_research_status", research_id=name)).progress
        for name in running
    }
    overview = await request.ask("get_research_overview")
    waiting = 0
    if request.offers("list_held_goals"):
        waiting = len(await request.ask("list_held_goals"))
    return PageView(
        "research/projects.html",
        request.translate("research.title"),
        {
            "projects": [
                {
                    "row": row,
                    "path": project_address(row.id),
                    "badge": status_badge(row.status),
                    "percent": round(100 * progress[row.id]) if row.id in progress else None,
                }
                for row in rows
            ],
            "overview": overview,
            "held_count": waiting,
            "status": status,
            "statuses": [
                {
                    "label": _name_status(request, name),
                    "path": local_address("/research", status=name),
                    "is_on": name == status,
                }
                for name in ("", *_STATUSES)
            ],
            "more_path": local_address("/research", status=status, limit=_MOST)
            if len(rows) == limit < _MOST
            else "",
        },
        styles=("research/research.css",),
    )


def _name_status(request: PageRequest, status: str) -> str:
    name = request.translate(f"research.status.{status}" if status else "research.all")
    return name[:1].upper() + name[1:]
