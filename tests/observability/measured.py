"""A desk that measures, with the sample room and every door of HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from carrel.settings import AuditSettings, AuthSettings, Settings
from carrel.settings.observability import ObservabilitySettings
from carrel.wiring.desk import OpenRoom, open_desk
from carrel.wiring.http import http_app
from tests.doors.house import House, Notebook
from tests.sample_room import Held, sample_room

TOKEN = "scrape-0123456789abcdef"


def measured_house(
    home: Path,
    *,
    mode: Literal["local", "tokens"] = "local",
    is_audited: bool = False,
    **observability: Any,
) -> House:
    """The house with these settings of observability."""
    settings = Settings(
        home=home,
        rooms=(),
        audit=AuditSettings(enabled=is_audited),
        auth=AuthSettings(mode=mode),
        observability=ObservabilitySettings(**observability),
    )
    held = Held()
    desk = open_desk(settings, [OpenRoom(sample_room(held))])
    return House(http_app(desk), desk, Notebook(), held)
