"""/admin: how the desk is."""

from __future__ import annotations

from carrel.core.pages import PageRequest, PageView
from carrel.doors.web.admin.frame import view_admin_page
from carrel.doors.web.admin.models import DeskStatus


async def draw_overview(request: PageRequest) -> PageView:
    return await _draw(request, await request.ask("get_desk_status"))


async def examine_desk(request: PageRequest) -> PageView:
    """Look as thoroughly as the doctor, which may take a while."""
    return await _draw(request, await request.ask("examine_desk"))


async def _draw(request: PageRequest, status: DeskStatus) -> PageView:
    storage = await request.ask("measure_storage")
    facts = {
        "status": status,
        "storage": storage,
        "unwell": [part for part in status.parts if not part.is_well],
        "uptime": describe_duration(request, status.uptime_seconds),
    }
    return view_admin_page(request, "overview", "overview", facts)


def describe_duration(request: PageRequest, seconds: int) -> str:
    """The two largest units of a time."""
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if days:
        return request.translate("admin.time.days", days=days, hours=hours % 24)
    if hours:
        return request.translate("admin.time.hours", hours=hours, minutes=minutes % 60)
    return request.translate("admin.time.minutes", minutes=minutes, seconds=seconds % 60)
