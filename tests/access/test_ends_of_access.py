"""When access ends: a new password, a disabled user, the end of a log-in, a replayed refresh token;
and what a retry may do.
"""

from __future__ import annotations

import asyncio
import io
import sys
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest

from carrel.cli import main
from tests.access.support import (
    PASSWORD,
    House,
    ManualClock,
    Pkce,
    allow,
    answer_in,
    authorize_url,
    code_form,
    granted,
    log_in,
    opened,
    operation_for,
    refresh_form,
    register,
    settings_for,
)

READ = operation_for("papers:read")
DAY = 86_400.0
NEW_PASSWORD = "another long password"


async def command(home: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """The command line beside a running server."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{NEW_PASSWORD}\n"))
    return await asyncio.to_thread(main, [*words, "--home", str(home)])


async def refreshed(house: House, client_id: str, token: str, **changes: str) -> httpx2.Response:
    return await house.http.post("/token", data=refresh_form(client_id, token, **changes))


async def tokens_of(house: House, client_id: str, token: str) -> dict[str, Any]:
    answer = await refreshed(house, client_id, token)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.promise("A3")
@pytest.mark.parametrize(
    "words",
    [("users", "reset-password", "ada"), ("users", "disable", "ada")],
    ids=lambda words: words[1],
)
def test_a_new_password_or_a_disabled_user_ends_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            await house.add_user("bob")
            tokens, client_id, _ = await granted(house)
            later = await tokens_of(house, client_id, tokens["refresh_token"])
            # A code that has not been exchanged yet, and a browser that is logged in and stands at
            # the consent page.
            pkce = Pkce()
            url = authorize_url(client_id, pkce)
            page = await log_in(house.http, url)
            code = answer_in((await allow(house.http, url, page.text)).headers["location"])["code"]
            assert await command(tmp_path, monkeypatch, *words) == 0
            house.clock.advance(6)
            assert (await house.call(READ, tokens["access_token"])).status_code == 401
            assert (await house.call(READ, later["access_token"])).status_code == 401
            for token in (later["refresh_token"], tokens["refresh_token"]):
                assert (await refreshed(house, client_id, token)).json()["error"] == "invalid_grant"
            assert (await house.http.post("/token", data=code_form(client_id, code, pkce))).json()[
                "error"
            ] == "invalid_grant"
            stale = await allow(house.http, url, page.text)
            assert (stale.status_code, "location" in stale.headers) == (400, False)
            assert "Log in" in (await house.http.get(url)).text
            assert (await log_in(house.http, url, password=PASSWORD)).status_code == 401
            house.http.cookies.clear()
            assert "Allow" in (await log_in(house.http, url, user="bob")).text, (
                "others are as they were"
            )

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_reset_names_the_static_tokens_that_stay_and_ends_them_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            mine, other = (
                await house.token("papers:read", user="ada", days=None),
                await house.token("papers:read"),
            )
            await command(tmp_path, monkeypatch, "users", "reset-password", "ada")
            assert "still act for them" in capsys.readouterr().err
            assert (await house.call(READ, mine)).status_code == 200
            await command(
                tmp_path, monkeypatch, "users", "reset-password", "ada", "--revoke-tokens"
            )
            assert "are revoked: token 1" in capsys.readouterr().err
            house.clock.advance(6)
            assert (await house.call(READ, mine)).status_code == 401
            assert (await house.call(READ, other)).status_code == 200

    asyncio.run(visit())


@pytest.mark.promise("A3")
@pytest.mark.parametrize("name", ["local", "LOCAL", "Anonymous"])
def test_reserved_names_and_case_twins_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    async def visit() -> None:
        assert await command(tmp_path, monkeypatch, "users", "add", name) != 0
        assert await command(tmp_path, monkeypatch, "users", "add", "ada") == 0
        assert await command(tmp_path, monkeypatch, "users", "add", "Ada") != 0

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_log_in_ends_for_good_however_often_it_was_refreshed(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(
            settings_for(tmp_path, "builtin", auth={"refresh_family_days": 90})
        ) as house:
            await house.add_user()
            tokens, client_id, _ = await granted(house)
            for _ in range(4):
                house.clock.advance(20 * DAY)
                tokens = await tokens_of(house, client_id, tokens["refresh_token"])
            house.clock.advance(10 * DAY - 600)
            last = await tokens_of(house, client_id, tokens["refresh_token"])
            claims = jwt.decode(last["access_token"], options={"verify_signature": False})
            assert last["expires_in"] == claims["exp"] - claims["iat"] == 600
            assert (await house.call(READ, last["access_token"])).status_code == 200
            house.clock.advance(600)
            assert (await house.call(READ, last["access_token"])).status_code == 401
            ended = await refreshed(house, client_id, last["refresh_token"])
            assert (ended.json()["error"], "log in again" in ended.json()["error_description"]) == (
                "invalid_grant",
                True,
            )

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_refresh_token_that_rests_expires_before_that(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(
            settings_for(tmp_path, "builtin", auth={"refresh_token_days": 2})
        ) as house:
            await house.add_user()
            tokens, client_id, _ = await granted(house)
            house.clock.advance(2 * DAY)
            assert (await refreshed(house, client_id, tokens["refresh_token"])).json()[
                "error"
            ] == "invalid_grant"

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_retry_after_a_lost_answer_gets_the_same_refresh_token(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            tokens, client_id, _ = await granted(house, scope="papers:read")
            lost = await tokens_of(house, client_id, tokens["refresh_token"])
            house.clock.advance(29)
            more = await refreshed(
                house, client_id, tokens["refresh_token"], scope="papers:read admin"
            )
            assert more.json()["error"] == "invalid_scope"
            again = await tokens_of(house, client_id, tokens["refresh_token"])
            assert again["refresh_token"] == lost["refresh_token"]
            assert again["scope"] == "papers:read"
            assert (await house.call(READ, again["access_token"])).status_code == 200
            following = await tokens_of(house, client_id, again["refresh_token"])
            assert following["refresh_token"] != again["refresh_token"]
            assert (await house.call(READ, following["access_token"])).status_code == 200

    asyncio.run(visit())


@pytest.mark.promise("A3")
@pytest.mark.parametrize(
    "how", ["too late", "another client", "after its successor was used", "no grace"]
)
def test_a_replay_ends_the_grant(tmp_path: Path, how: str) -> None:
    async def visit() -> None:
        grace = 0 if how == "no grace" else 30
        async with opened(
            settings_for(tmp_path, "builtin", auth={"refresh_grace_seconds": grace})
        ) as house:
            await house.add_user()
            tokens, client_id, _ = await granted(house)
            current = await tokens_of(house, client_id, tokens["refresh_token"])
            shown_by = client_id
            match how:
                case "too late":
                    house.clock.advance(30)
                case "another client":
                    shown_by = (await register(house)).json()["client_id"]
                case "after its successor was used":
                    current = await tokens_of(house, client_id, current["refresh_token"])
            assert (await refreshed(house, shown_by, tokens["refresh_token"])).json()[
                "error"
            ] == "invalid_grant"
            assert (await refreshed(house, client_id, current["refresh_token"])).json()[
                "error"
            ] == "invalid_grant"
            house.clock.advance(6)
            assert (await house.call(READ, current["access_token"])).status_code == 401

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_thief_within_the_grace_is_noticed_at_the_next_refresh(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user()
            tokens, client_id, _ = await granted(house)
            owner = await tokens_of(house, client_id, tokens["refresh_token"])
            thief = await tokens_of(house, client_id, tokens["refresh_token"])
            house.clock.advance(3000)
            next_of_thief = await tokens_of(house, client_id, thief["refresh_token"])
            house.clock.advance(300)
            assert (await refreshed(house, client_id, owner["refresh_token"])).json()[
                "error"
            ] == "invalid_grant"
            assert (await refreshed(house, client_id, next_of_thief["refresh_token"])).json()[
                "error"
            ] == "invalid_grant"

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_retry_may_reach_another_worker(tmp_path: Path) -> None:
    async def visit() -> None:
        settings = settings_for(tmp_path, "builtin")
        async with opened(settings) as one, opened(settings, clock=one.clock) as two:
            await one.add_user()
            tokens, client_id, _ = await granted(one)
            form = refresh_form(client_id, tokens["refresh_token"])
            answers = await asyncio.gather(
                *(house.http.post("/token", data=form) for house in (one, two) * 5)
            )
            assert {answer.status_code for answer in answers} == {200}
            assert len({answer.json()["refresh_token"] for answer in answers}) == 1

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_replicas_with_different_clocks_agree_while_a_key_is_rotated(tmp_path: Path) -> None:
    async def visit() -> None:
        ahead, behind = ManualClock(), ManualClock()
        ahead.advance(25)
        settings = settings_for(
            tmp_path, "builtin", auth={"key_rotation_days": 1}, limits={"burst": 1000}
        )
        async with opened(settings, clock=ahead) as one, opened(settings, clock=behind) as two:
            await one.add_user()
            tokens, client_id, _ = await granted(one)
            unknown = "eyJhbGciOiJSUzI1NiIsImtpZCI6InVua25vd24ifQ.e30.AAAA"
            used: set[str] = set()
            for clock in (ahead, behind):
                clock.advance(DAY - 60)
            for step in range(24):
                for clock in (ahead, behind):
                    clock.advance(10)
                # A stranger keeps asking for a key that does not exist, so that the next look for
                # keys is as late as can be.
                for house in (one, two):
                    assert (await house.call(READ, unknown)).status_code == 401
                signer, reader = (one, two) if step % 2 else (two, one)
                tokens = await tokens_of(signer, client_id, tokens["refresh_token"])
                used.add(jwt.get_unverified_header(tokens["access_token"])["kid"])
                for house in (signer, reader):
                    assert (await house.call(READ, tokens["access_token"])).status_code == 200, step
            assert len(used) == 2, "the key was rotated meanwhile"

    asyncio.run(visit())
