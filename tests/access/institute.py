"""A desk whose people log in at a local provider, and what a browser does there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.access.local_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    LocalProvider,
    local_provider,
)
from tests.access.support import (
    House,
    ManualClock,
    Pkce,
    allow,
    answer_in,
    authorize_url,
    code_form,
    opened,
    register,
    settings_for,
)

GROUPS = [
    {"name": "staff", "role": "reader"},
    {"name": "carrel-admins", "role": "admin"},
]
Story = Callable[[House, LocalProvider], Awaitable[Any]]


@asynccontextmanager
async def institute_desk(
    home: Path, *, auth: dict[str, Any] | None = None, **sections: Any
) -> AsyncIterator[tuple[House, LocalProvider]]:
    """The desk and its provider, both with the same clock that stands still."""
    clock = ManualClock()
    with local_provider(clock) as provider:
        oidc = {
            "issuer": provider.issuer,
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "name": "the Institute",
            "contact": "the library desk",
            **(auth or {}).pop("oidc", {}),
        }
        chosen = {"oidc": oidc, "groups": GROUPS, **(auth or {})}
        settings = settings_for(home, "builtin", auth=chosen, **sections)
        async with opened(settings, clock=clock) as house:
            yield house, provider


async def begin(house: House, target: str = "/account") -> str:
    """Where the browser is sent to log in."""
    answer = await house.http.get("/login/institute", params={"next": target})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


async def come_back(house: House, query: str) -> httpx2.Response:
    return await house.http.get(f"/login/callback?{query}")


async def sign_in(
    house: House, provider: LocalProvider, subject: str = "ada", target: str = "/account"
) -> httpx2.Response:
    """A whole log-in; the answer of the callback."""
    return await come_back(house, provider.authorize(await begin(house, target), subject))


async def connect(
    house: House, provider: LocalProvider, subject: str = "ada"
) -> tuple[dict[str, Any], str]:
    """A program that this person connects: its tokens and its client id."""
    client_id = str((await register(house)).json()["client_id"])
    pkce = Pkce()
    url = authorize_url(client_id, pkce)
    sent = await house.http.get(url)
    assert sent.status_code == 303, sent.text
    away = await house.http.get(sent.headers["location"])
    back = await come_back(house, provider.authorize(away.headers["location"], subject))
    assert back.status_code == 303, back.text
    consent = await house.http.get(back.headers["location"])
    redirect = await allow(house.http, back.headers["location"], consent.text)
    code = answer_in(redirect.headers["location"])["code"]
    answer = await house.http.post("/token", data=code_form(client_id, code, pkce))
    assert answer.status_code == 200, answer.text
    return answer.json(), client_id
