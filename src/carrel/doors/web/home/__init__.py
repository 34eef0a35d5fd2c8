"""The desk's own pages: the first page and the search over everything."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.core.pages import NavigationEntry, Page, PageRequest, PageView, RoomPages


def home_pages(rooms: Sequence[RoomPages], connections: Sequence[object]) -> RoomPages:
    """The first page over these rooms."""

    async def draw_home(request: PageRequest) -> PageView:
        return PageView("home/home.html", "Home")

    return RoomPages(
        name="home",
        folder="carrel.doors.web.home",
        pages=(Page("/", draw_home),),
        navigation=(NavigationEntry("/", "home.nav", "home", "search_desk"),),
    )
