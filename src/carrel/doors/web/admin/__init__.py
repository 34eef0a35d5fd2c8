"""The admin pages of the console, and each person's own access."""

from __future__ import annotations

from carrel.core.pages import NavigationEntry, Page, RoomPages
from carrel.doors.web.admin.account_page import draw_account
from carrel.doors.web.admin.audit_page import draw_audit, export_audit, verify_audit
from carrel.doors.web.admin.jobs_pages import ALL_JOBS, act_on_backup, draw_backups, draw_jobs
from carrel.doors.web.admin.overview_page import draw_overview, examine_desk
from carrel.doors.web.admin.plain_pages import draw_clients, draw_limits, draw_storage
from carrel.doors.web.admin.tokens_page import create_token, draw_tokens
from carrel.doors.web.admin.users_page import add_user, change_user, draw_user, draw_users


def admin_pages() -> RoomPages:
    """The pages for administrators, and /account for everybody."""
    return RoomPages(
        name="admin",
        folder="carrel.doors.web.admin",
        pages=(
            Page("/admin", draw_overview, examine_desk),
            Page("/admin/users", draw_users, add_user),
            Page("/admin/users/{name}", draw_user, change_user),
            Page("/admin/tokens", draw_tokens, create_token),
            Page("/admin/clients", draw_clients),
            Page("/admin/limits", draw_limits),
            Page("/admin/audit", draw_audit),
            Page("/admin/audit/verify", act=verify_audit),
            Page("/admin/audit/export", export_audit),
            Page("/admin/jobs", draw_jobs),
            Page("/admin/storage", draw_storage),
            Page("/admin/backups", draw_backups, act_on_backup),
            Page("/account", draw_account),
        ),
        navigation=(NavigationEntry("/admin", "admin.navigation", "admin", "get_desk_status"),),
        live=(ALL_JOBS,),
    )
