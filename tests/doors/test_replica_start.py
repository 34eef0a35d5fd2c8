"""A replica that starts takes no connection before it can answer, so that a proxy asks another."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from carrel.doors.http.server import AnnouncingServer, listen, server_config
from carrel.policy.http_limits import ConnectionLimits

LONGEST_WAIT_SECONDS = 30


class SlowStart:
    """An application that starts when it is told to."""

    def __init__(self) -> None:
        self.is_starting = asyncio.Event()
        self.may_start = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "lifespan"
        await receive()
        self.is_starting.set()
        await self.may_start.wait()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})


@pytest.mark.promise("Q7")
def test_a_replica_refuses_connections_until_it_has_started_and_a_server_alone_lets_them_wait() -> (
    None
):
    async def connect(port: int) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()

    async def start(*, waits_for_start: bool) -> None:
        app = SlowStart()
        listener = listen("127.0.0.1", 0, waits_for_start=waits_for_start)
        port = listener.getsockname()[1]
        announced: list[bool] = []
        server = AnnouncingServer(
            server_config(app, ConnectionLimits()), lambda: announced.append(True)
        )
        running = asyncio.create_task(server.serve(sockets=[listener]))
        await app.is_starting.wait()
        if waits_for_start:
            with pytest.raises(ConnectionRefusedError):
                await connect(port)
        else:
            await connect(port)
        assert not announced
        app.may_start.set()
        while not server.started:
            await asyncio.sleep(0)
        await connect(port)
        assert announced
        server.should_exit = True
        await running

    for waits_for_start in (True, False):
        running = start(waits_for_start=waits_for_start)
        asyncio.run(asyncio.wait_for(running, LONGEST_WAIT_SECONDS))
