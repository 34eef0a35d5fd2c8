"""A server with one live view that changes at every question: `… live_server PORT`."""

from __future__ import annotations

import sys
import time

from carrel.core.caller import Call
from carrel.core.catalogue import Room
from carrel.core.decorators import operation
from carrel.core.operation import Answer, Question
from carrel.core.pages import LiveView, RoomPages
from carrel.core.room import RoomDeclaration
from carrel.doors.http.server import listen, run_server
from carrel.settings import read_settings
from carrel.settings.network_rules import connection_limits
from carrel.wiring.desk import OpenRoom, open_desk
from carrel.wiring.http import http_app


class TickQuestion(Question):
    """Which clock to look at."""

    id: str


class TickState(Answer):
    """The time, and as much text as the state of a run has."""

    at: float
    text: str


class TickOperations:
    """A state that is never the same twice."""

    @operation(title="Tick", description="The time.", scopes=frozenset({"papers:read"}))
    async def tick(self, question: TickQuestion, call: Call) -> TickState:
        return TickState(at=time.time(), text="x" * 400)


TICK_PAGES = RoomPages(
    name="tick",
    folder="carrel.rooms.papers.pages",
    pages=(),
    live=(
        LiveView("tick", "tick", lambda identifier: {"id": identifier}, lambda _: False, None, 0.5),
    ),
)
TICK_ROOM = RoomDeclaration(
    name="tick", title="Tick", purpose="Tells the time.", console=f"{__name__}:TICK_PAGES"
)


def main() -> None:
    port = int(sys.argv[1])
    settings = read_settings({("rooms",): ("knowledge",), ("server", "port"): port})
    room = OpenRoom(Room.collect(TICK_ROOM, TickOperations()))
    app = http_app(open_desk(settings, [room]))
    run_server(
        app,
        listen("127.0.0.1", port),
        workers=1,
        drain_seconds=1,
        limits=connection_limits(settings),
    )


if __name__ == "__main__":
    main()
