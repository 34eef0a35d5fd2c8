"""What every admin page has: its title, and the tabs over all of them."""

from __future__ import annotations

from collections.abc import Mapping

from carrel.core.pages import PageRequest, PageView

STYLES = ("admin/admin.css",)
_TABS = (
    ("overview", "/admin", "get_desk_status"),
    ("users", "/admin/users", "list_users"),
    ("tokens", "/admin/tokens", "list_tokens"),
    ("clients", "/admin/clients", "list_clients"),
    ("limits", "/admin/limits", "get_limits"),
    ("quotas", "/admin/quotas", "list_quotas"),
    ("audit", "/admin/audit", "find_audit_calls"),
    ("jobs", "/admin/jobs", "list_all_jobs"),
    ("storage", "/admin/storage", "measure_storage"),
    ("backups", "/admin/backups", "list_backups"),
)


def view_admin_page(
    request: PageRequest,
    tab: str,
    template: str,
    facts: Mapping[str, object],
    *,
    title: str = "",
    modules: tuple[str, ...] = (),
    status: int = 200,
    is_secret: bool = False,
) -> PageView:
    """A page below one of the tabs."""
    tabs = [
        {"label": request.translate(f"admin.tabs.{name}"), "path": path, "is_on": name == tab}
        for name, path, operation in _TABS
        if request.offers(operation)
    ]
    return PageView(
        f"admin/{template}.html",
        title or request.translate(f"admin.{tab}.title"),
        {"tabs": tabs, **facts},
        modules=("admin/tabs.js", *modules),
        styles=STYLES,
        status=status,
        is_secret=is_secret,
    )
