"""Guessing passwords: strangers slow a name down for strangers, and cannot keep out whoever has
logged in before.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import httpx2
import pytest

from carrel.core.errors import RateLimitExceededError
from carrel.policy.authorization.login import DEVICE_SECONDS, Passwords
from tests.access.support import (
    House,
    Pkce,
    authorize_url,
    hidden_fields,
    log_in,
    opened,
    register,
    settings_for,
)

OWN_ADDRESS = "198.51.100.7"


@asynccontextmanager
async def browser(house: House, address: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A browser somewhere, with cookies of its own."""
    transport = httpx2.ASGITransport(app=house.app, client=(address, 4711))
    async with httpx2.AsyncClient(
        transport=transport, base_url=house.desk.settings.base_url
    ) as http:
        yield http


async def guess(house: House, url: str, address: str, name: str = "ada") -> int:
    async with browser(house, address) as http:
        return (await log_in(http, url, user=name, password="a wrong password")).status_code


async def hammer(house: House, url: str) -> None:
    """Guesses from so many addresses that the name is refused to strangers."""
    answers = [await guess(house, url, f"203.0.113.{number}") for number in range(70)]
    assert answers[-1] == 429
    async with browser(house, "192.0.2.200") as stranger:
        assert (await log_in(stranger, url)).status_code == 429, (
            "a stranger waits, even with the right password"
        )


async def sign_out(http: httpx2.AsyncClient) -> None:
    """Ends the session in this browser, which stays known."""
    http.cookies.delete("carrel-session")


@pytest.mark.promise("A3")
def test_a_known_browser_gets_in_from_anywhere_while_strangers_hammer_the_name(
    tmp_path: Path,
) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            url = authorize_url((await register(house)).json()["client_id"], Pkce())
            async with browser(house, OWN_ADDRESS) as http:
                assert "Allow" in (await log_in(http, url)).text
                cookie = http.cookies["carrel-device"]
            await hammer(house, url)
            # Even from an address that the guesses come from.
            async with browser(house, "203.0.113.5") as http:
                http.cookies.set("carrel-device", cookie, domain="127.0.0.1", path="/")
                assert "Allow" in (await log_in(http, url)).text
                assert http.cookies["carrel-device"] == cookie

    asyncio.run(visit())


@pytest.mark.promise("A3")
@pytest.mark.parametrize("again", [OWN_ADDRESS, "2001:db8:1:2:3:4:5:6"])
def test_a_known_address_gets_in_while_strangers_hammer_the_name(
    tmp_path: Path, again: str
) -> None:
    first = "2001:db8:1:2::1" if ":" in again else again

    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            url = authorize_url((await register(house)).json()["client_id"], Pkce())
            async with browser(house, first) as http:
                await log_in(http, url)
            await hammer(house, url)
            async with browser(house, again) as http:
                assert "Allow" in (await log_in(http, url)).text

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_known_browser_cannot_guess_without_end_and_vouches_for_nobody_else(
    tmp_path: Path,
) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            await house.add_user("bob")
            url = authorize_url((await register(house)).json()["client_id"], Pkce())
            async with browser(house, OWN_ADDRESS) as http:
                await log_in(http, url)
                await sign_out(http)
                answers = [
                    (await log_in(http, url, password="a wrong password")).status_code
                    for _ in range(6)
                ]
                assert answers == [401] * 5 + [429]
                for number in range(70):
                    await guess(house, url, f"203.0.113.{number}", name="bob")
                assert (await log_in(http, url, user="bob")).status_code == 429, (
                    "known for ada, a stranger for bob"
                )

    asyncio.run(visit())


@pytest.mark.promise("A3")
@pytest.mark.parametrize("cookie", ["x" * 43, "", "a" * 10_000, "é", '"', "../../etc"])
def test_a_made_up_cookie_is_worth_nothing(tmp_path: Path, cookie: str) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            url = authorize_url((await register(house)).json()["client_id"], Pkce())
            async with browser(house, OWN_ADDRESS) as http:
                page = await http.get(url)
                sent = {
                    "cookie": f"carrel-login={http.cookies['carrel-login']}; "
                    f"carrel-device={cookie}".encode()
                }
                http.cookies.clear()
                form = {
                    **hidden_fields(page.text),
                    "username": "ada",
                    "password": "a wrong password",
                }
                headers = {b"cookie": sent["cookie"]}
                answers = [
                    (await http.post(url, data=form, headers=headers)).status_code for _ in range(6)
                ]
                assert answers in ([401] * 5 + [429], [400] * 6)

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_browser_is_a_stranger_again_after_a_while_and_when_the_user_is_disabled(
    tmp_path: Path,
) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            store = house.desk.access.store
            assert store is not None
            url = authorize_url((await register(house)).json()["client_id"], Pkce())
            async with browser(house, OWN_ADDRESS) as http:
                await log_in(http, url)
                cookie = http.cookies["carrel-device"]
            for action in ("wait", "disable"):
                if action == "wait":
                    house.clock.advance(DEVICE_SECONDS)
                    await register(house)
                    url = authorize_url((await register(house)).json()["client_id"], Pkce())
                else:
                    house.clock.advance(3600)
                    async with browser(house, OWN_ADDRESS) as http:
                        await log_in(http, url)
                        cookie = http.cookies["carrel-device"]
                    now = house.clock.now().timestamp()
                    await store.set_disabled("ada", True, now)
                    await store.set_disabled("ada", False, now)
                await hammer(house, url)
                async with browser(house, OWN_ADDRESS) as http:
                    http.cookies.set("carrel-device", cookie, domain="127.0.0.1", path="/")
                    assert (await log_in(http, url)).status_code == 429

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_what_one_worker_has_learned_another_knows(tmp_path: Path) -> None:
    async def visit() -> None:
        settings = settings_for(tmp_path, "builtin", server={"workers": 2})
        async with opened(settings) as one, opened(settings, clock=one.clock) as two:
            await one.add_user()
            url = authorize_url((await register(one)).json()["client_id"], Pkce())
            async with browser(one, OWN_ADDRESS) as http:
                await log_in(http, url)
            await hammer(one, url)
            assert await guess(two, url, "203.0.113.250") == 429
            async with browser(two, OWN_ADDRESS) as http:
                assert "Allow" in (await log_in(http, url)).text

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_people_log_in_and_guesses_are_counted_while_the_shared_buckets_are_locked(
    tmp_path: Path,
) -> None:
    async def visit() -> None:
        settings = settings_for(tmp_path, "builtin", server={"workers": 2})
        async with opened(settings) as house:
            await house.add_user()
            url = authorize_url((await register(house)).json()["client_id"], Pkce())
            with closing(
                sqlite3.connect(tmp_path / "limits.sqlite", isolation_level=None)
            ) as other:
                other.execute("BEGIN EXCLUSIVE")
                answers = [await guess(house, url, OWN_ADDRESS) for _ in range(6)]
                assert answers == [401] * 5 + [429]
                async with browser(house, "192.0.2.99") as http:
                    assert "Allow" in (await log_in(http, url)).text

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_whoever_is_known_does_not_wait_behind_those_who_guess() -> None:
    class Slow:
        """A hasher that answers when it is told to."""

        def __init__(self) -> None:
            self.verified: list[str] = []

        def hash(self, password: str) -> str:
            return "hash"

        def verify(self, kept: str, password: str) -> bool:
            self.verified.append(password)
            return password == "right"

    async def run() -> None:
        hasher = Slow()
        passwords = Passwords(hasher)  # type: ignore[arg-type]
        async with passwords._turns, passwords._turns:
            waiting = [asyncio.create_task(passwords.fits("guess", "hash")) for _ in range(64)]
            await asyncio.sleep(0)
            with pytest.raises(RateLimitExceededError):
                await passwords.fits("guess", "hash")
            assert await passwords.fits("right", "hash", is_known=True)
            assert hasher.verified == ["right"]
        assert not any(await asyncio.gather(*waiting))
        assert not await passwords.fits("right", None)

    asyncio.run(run())


@pytest.mark.promise("A3")
def test_the_cookie_that_knows_a_browser_is_out_of_reach_of_scripts_and_other_sites(
    tmp_path: Path,
) -> None:
    async def visit() -> None:
        async with opened(
            settings_for(tmp_path, "builtin", server={"public_url": "https://desk.example.org"})
        ) as house:
            await house.add_user()
            url = authorize_url(
                (await register(house)).json()["client_id"],
                Pkce(),
                resource="https://desk.example.org/mcp",
            )
            page = await house.http.get(url)
            form = {
                **hidden_fields(page.text),
                "username": "ada",
                "password": "correct horse battery",
            }
            answer = await house.http.post(url, data=form)
            cookie = next(
                value for value in answer.headers.get_list("set-cookie") if "carrel-device" in value
            )
            assert cookie.startswith("__Host-carrel-device=")
            for part in ("Path=/", "HttpOnly", "SameSite=Lax", "Secure"):
                assert part in cookie

    asyncio.run(visit())
