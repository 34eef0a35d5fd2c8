"""The list of projects, with the form that begins a new one."""

from __future__ import annotations

from carrel.core.pages import PageRequest, PageView, local_address
from carrel.rooms.research.pages.addresses import project_address
from carrel.rooms.research.pages.run_state import status_badge

_STATUSES = ("active", "completed", "paused", "held", "failed", "cancelled")
_PAGE = 20
_MOST = 100


async def draw_projects(request: PageRequest) -> PageView:
    status = request.query.text("status")
    status = status if status in _STATUSES else ""
    limit = request.query.integer("limit", _PAGE, least=1, most=_MOST)
    rows = await request.ask("list_research_projects", status=status or None, limit=limit)
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
                }
                for row in rows
            ],
            "overview": overview,
            "held_count": waiting,
            "status": status,
            "statuses": [
                {
                    "label": request.translate(
                        f"research.status.{name}" if name else "research.all"
                    ),
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
