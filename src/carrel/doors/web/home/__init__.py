"""The desk's own pages: the first page, the search over everything, and adding files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from carrel.core.pages import LiveView, NavigationEntry, Page, RoomPages
from carrel.doors.web.home.add_page import AddPages
from carrel.doors.web.home.find_page import FindPage
from carrel.doors.web.home.first_page import Connection, FirstPage


def home_pages(rooms: Sequence[RoomPages], connections: Sequence[Connection]) -> RoomPages:
    """The desk's own pages over these rooms; `connections` say how assistants reach it."""
    adding = AddPages(rooms)
    return RoomPages(
        name="home",
        folder="carrel.doors.web.home",
        pages=(
            Page("/", draw=FirstPage(rooms, connections).draw),
            Page("/find", draw=FindPage(rooms).draw),
            Page("/add", draw=adding.draw, act=adding.add_typed),
            Page("/add/kind", act=adding.tell_kind),
            Page("/add/words", draw=adding.send_words),
        ),
        navigation=(NavigationEntry("/", "home.nav", "home", "search_desk"),),
        live=(
            LiveView(
                "job",
                "get_job",
                lambda job_id: {"job_id": job_id},
                is_over=_has_ended,
            ),
        ),
    )


def _has_ended(job: Any) -> bool:
    return bool(job.state != "running")
