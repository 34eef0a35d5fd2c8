"""A desk on a real socket, and a script that does what a person does in a browser: log in, look,
allow.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from carrel.core.clock import SystemClock
from carrel.doors.http.server import listen, server_config
from carrel.policy.authorization.models import User
from carrel.settings import Settings
from carrel.settings.network_rules import connection_limits
from carrel.wiring.access import open_access_store
from carrel.wiring.desk import OpenRoom, open_desk
from carrel.wiring.http import http_app
from tests.access.support import (
    CHEAP_HASH,
    PASSWORD,
    hidden_fields,
    sample_room,
    settings_for,
    ticked_scopes,
)


@dataclass(frozen=True, slots=True)
class Served:
    """Where the desk is, and its settings."""

    url: str
    settings: Settings


@contextmanager
def serving(
    home: Path,
    mode: str | None = "builtin",
    *,
    port: int = 0,
    first_user: str = "ada",
    **sections: Any,
) -> Iterator[Served]:
    """Serves the sample room with one user in it until the block ends; port 0 is a free one."""
    listener = listen("127.0.0.1", port)
    port = listener.getsockname()[1]
    limits = {"per_minute": 6000, "burst": 1000}
    settings = settings_for(
        home,
        mode,
        **{"limits": limits, **sections, "server": {"port": port, **sections.get("server", {})}},
    )

    async def add_first_user() -> None:
        store = open_access_store(settings)
        await store.add_user(
            User(first_user, CHEAP_HASH, frozenset({"admin"}), SystemClock().now().timestamp())
        )
        await store.close()

    asyncio.run(add_first_user())
    started = threading.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            started.set()

    app = http_app(open_desk(settings, [OpenRoom(sample_room())]))
    server = Server(server_config(app, connection_limits(settings), drain_seconds=2))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        assert started.wait(20), "the server did not start"
        yield Served(f"http://127.0.0.1:{port}", settings)
    finally:
        server.should_exit = True
        thread.join(timeout=10)


def sign_in_and_allow(
    url: str, user: str = "ada", password: str = PASSWORD, scopes: list[str] | None = None
) -> str:
    """Fills in the real forms behind an authorization address; answers where the browser is sent
    then.
    """
    with httpx2.Client(follow_redirects=True, timeout=20) as browser:
        page = browser.get(url)
        if 'name="password"' in page.text:
            page = browser.post(
                url, data={**hidden_fields(page.text), "username": user, "password": password}
            )
        chosen = ticked_scopes(page.text) if scopes is None else scopes
        form = {**hidden_fields(page.text), "scope": chosen, "action": "allow"}
        answer = browser.post(url, data=form, follow_redirects=False)
        assert answer.status_code == 303, answer.text
        return str(answer.headers["location"])


def visit_callback(location: str) -> None:
    """Delivers the answer to a client that listens on this machine, or soon will."""
    with httpx2.Client(transport=httpx2.HTTPTransport(retries=8), timeout=30) as browser:
        browser.get(location)
