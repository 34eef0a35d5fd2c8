"""The web console of a desk: its parts, who is at the browser, and what pages may ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carrel.core.operation import Operation
from carrel.core.pages import RoomPages
from carrel.core.room import load
from carrel.doors.rest import RestDoor
from carrel.doors.uploads import UploadDoor
from carrel.doors.web.admin import admin_pages
from carrel.doors.web.assets import StaticFiles
from carrel.doors.web.console import Console
from carrel.doors.web.home import home_pages
from carrel.doors.web.messages import read_messages
from carrel.doors.web.page_writer import PageWriter
from carrel.doors.web.rendering import PageRenderer
from carrel.doors.web.sessions import BrowserSessions
from carrel.wiring.console_admin import admin_operations
from carrel.wiring.console_connections import console_connections

if TYPE_CHECKING:
    from carrel.wiring.desk import Desk

_SHELL = "carrel.doors.web"


def open_console(desk: Desk, rest: RestDoor, uploads: UploadDoor | None) -> Console:
    """The console over the rooms of this desk."""
    settings, catalogue = desk.settings, desk.catalogue
    rooms: list[RoomPages] = [
        load(room.declaration.console) for room in catalogue.rooms if room.declaration.console
    ]
    parts = [home_pages(rooms, console_connections(settings)), *rooms, admin_pages()]
    operations: dict[str, Operation[Any]] = {
        **{each.name: each for each in admin_operations(desk)},
        **catalogue.operations,
    }
    packages = [_SHELL, *(part.folder for part in parts)]
    assets, messages = StaticFiles(packages), read_messages(packages)
    built_in = desk.access.built_in
    sessions = BrowserSessions(
        desk.gate,
        is_local=desk.access.mode == "local" and not settings.auth.local_secret,
        is_secure=settings.base_url.startswith("https://"),
        logins=None if built_in is None else built_in.logins,
        has_passwords=built_in is not None and built_in.has_passwords,
        institute=None
        if built_in is None or built_in.institute is None
        else built_in.institute.name,
    )
    renderer = PageRenderer(packages, assets, messages)
    writer = PageWriter(
        renderer,
        sessions,
        desk.clock,
        name=settings.server.name,
        version=settings.server.version,
        parts=parts,
        operations=operations,
    )
    return Console(
        parts,
        operations,
        gate=desk.gate,
        clock=desk.clock,
        sessions=sessions,
        rest=rest,
        assets=assets,
        messages=messages,
        writer=writer,
        uploads=uploads,
    )
