"""The desk's own pages: the first page, the search over everything, and adding files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from carrel.core.pages import ConsolePage, LiveView, NavigationEntry, RoomPages
from carrel.doors.web.home.add_page import AddPages
from carrel.doors.web.home.find_page import FindPage
from carrel.doors.web.home.first_page import AssistantConnection, FirstPage


def home_pages(rooms: Sequence[RoomPages], connections: Sequence[AssistantConnection]) -> RoomPages:
    """The desk's own pages over these rooms; `connections` say how assistants reach it."""
    adding = AddPages(rooms)
    return RoomPages(
        name="home",
        folder="carrel.doors.web.home",
        pages=(
            ConsolePage("/", draw=FirstPage(rooms, connections).draw),
            ConsolePage("/find", draw=FindPage(rooms).draw),
            ConsolePage("/add", draw=adding.draw, act=adding.add_typed),
            ConsolePage("/add/kind", act=adding.tell_kind),
            ConsolePage("/add/words", draw=adding.send_words),
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
