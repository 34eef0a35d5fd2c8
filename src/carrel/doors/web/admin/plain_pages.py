"""/admin/clients, /admin/limits and /admin/storage: what there is, as it is told."""

from __future__ import annotations

from carrel.core.pages import PageRequest, PageView
from carrel.doors.web.admin.frame import view_admin_page
from carrel.doors.web.admin.models import LimitReport, StorageReport
from carrel.doors.web.admin.scope_choice import name_kind


async def draw_clients(request: PageRequest) -> PageView:
    found = await request.ask("list_clients")
    kinds = {grant.grant_id: name_kind(grant.scopes) for grant in found.grants}
    return view_admin_page(request, "clients", "clients", {"found": found, "kinds": kinds})


async def draw_limits(request: PageRequest) -> PageView:
    report: LimitReport = await request.ask("get_limits")
    most = max((each.count for each in report.refused), default=0)
    return view_admin_page(request, "limits", "limits", {"report": report, "most": most})


async def draw_storage(request: PageRequest) -> PageView:
    report: StorageReport = await request.ask("measure_storage")
    largest = max((part.size_bytes for part in report.parts), default=0)
    facts = {"report": report, "largest": largest}
    return view_admin_page(request, "storage", "storage", facts)
