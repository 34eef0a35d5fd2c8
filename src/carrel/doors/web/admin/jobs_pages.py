"""/admin/jobs and /admin/backups: work that goes on, and what it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.core.pages import LiveView, PageRedirect, PageRequest, PageStream, PageView
from carrel.doors.web.admin.frame import view_admin_page
from carrel.doors.web.admin.models import AdminJob, AdminJobList, BackupList

_STATES = ("", "running", "completed", "failed", "cancelled")


async def draw_jobs(request: PageRequest) -> PageView:
    state = request.query.text("state")
    state = state if state in _STATES else ""
    found: AdminJobList = await request.ask("list_all_jobs", state=state or None)
    states = [
        {
            "label": request.translate(f"admin.jobs.states.{each or 'all'}"),
            "path": f"/admin/jobs?state={each}" if each else "/admin/jobs",
            "is_on": each == state,
            "count": found.running if each == "running" else None,
        }
        for each in _STATES
    ]
    facts = {"found": found, "states": states, "state": state}
    return view_admin_page(request, "jobs", "jobs", facts, modules=("admin/jobs.js",))


async def draw_backups(request: PageRequest) -> PageView:
    found: BackupList = await request.ask("list_backups")
    running = [job for job in found.jobs if job.state == "running"]
    ended = [job for job in found.jobs if job.state != "running"]
    facts = {"found": found, "running": running, "ended": ended}
    return view_admin_page(request, "backups", "backups", facts, modules=("admin/jobs.js",))


async def act_on_backup(request: PageRequest) -> PageStream | PageRedirect:
    """A form of the page; the button names what to do. A download is one, too: it holds secrets."""
    name = request.form.text("name")
    match request.form.text("action"):
        case "make":
            await request.ask("make_backup")
            notice = request.translate("admin.backups.begun")
        case "check":
            await request.ask("check_backup", name=name)
            notice = request.translate("admin.backups.check_begun", name=name)
        case "remove":
            await request.ask("remove_backup", name=name)
            notice = request.translate("admin.backups.removed", name=name)
        case "download":
            found = await request.ask("download_backup", name=name)
            return PageStream(found.pieces, found.media_type, found.name, found.size_bytes)
        case _:
            notice = ""
    return PageRedirect("/admin/backups", notice)


def _summarise_jobs(found: AdminJobList) -> Mapping[str, Any]:
    return {"jobs": [_summarise(job) for job in found.jobs], "running": found.running}


def _summarise(job: AdminJob) -> tuple[str, str, str, int]:
    return job.job_id, job.state, job.message, job.done


ALL_JOBS = LiveView(
    name="admin-jobs",
    operation="list_all_jobs",
    arguments=lambda _: {"limit": 50},
    is_over=lambda found: found.running == 0,
    summarise=_summarise_jobs,
    every_seconds=1.0,
)
