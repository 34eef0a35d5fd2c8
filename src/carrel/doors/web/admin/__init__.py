"""The admin pages of the console, and each person's own access."""

from __future__ import annotations

from carrel.core.pages import ConsolePage, NavigationEntry, RoomPages
from carrel.doors.web.admin.account_page import act_on_account, draw_account
from carrel.doors.web.admin.audit_page import draw_audit, export_audit, verify_audit
from carrel.doors.web.admin.jobs_pages import ALL_JOBS, act_on_backup, draw_backups, draw_jobs
from carrel.doors.web.admin.leaving_page import draw_leaving, end_account
from carrel.doors.web.admin.overview_page import draw_overview, examine_desk
from carrel.doors.web.admin.plain_pages import draw_clients, draw_limits, draw_storage
from carrel.doors.web.admin.quotas_page import change_quota, draw_quotas
from carrel.doors.web.admin.tokens_page import create_token, draw_tokens
from carrel.doors.web.admin.users_page import add_user, change_user, draw_user, draw_users


def admin_pages() -> RoomPages:
    """The pages for administrators, and /account for everybody."""
    return RoomPages(
        name="admin",
        folder="carrel.doors.web.admin",
        pages=(
            ConsolePage("/admin", draw_overview, examine_desk),
            ConsolePage("/admin/users", draw_users, add_user),
            ConsolePage("/admin/users/{name}/leave", draw_leaving, end_account),
            ConsolePage("/admin/users/{name}", draw_user, change_user),
            ConsolePage("/admin/quotas", draw_quotas, change_quota),
            ConsolePage("/admin/tokens", draw_tokens, create_token),
            ConsolePage("/admin/clients", draw_clients),
            ConsolePage("/admin/limits", draw_limits),
            ConsolePage("/admin/audit", draw_audit),
            ConsolePage("/admin/audit/verify", act=verify_audit),
            ConsolePage("/admin/audit/export", export_audit),
            ConsolePage("/admin/jobs", draw_jobs),
            ConsolePage("/admin/storage", draw_storage),
            ConsolePage("/admin/backups", draw_backups, act_on_backup),
            ConsolePage("/account", draw_account, act_on_account),
        ),
        navigation=(NavigationEntry("/admin", "admin.navigation", "admin", "get_desk_status"),),
        live=(ALL_JOBS,),
    )
