"""The admin pages of the console, and each person's own access."""

from __future__ import annotations

from carrel.core.pages import RoomPages


def admin_pages() -> RoomPages:
    """The pages for administrators."""
    return RoomPages(name="admin", folder="carrel.doors.web.admin", pages=())
