"""A token that acts for a user never has more than the user has at the moment of the call."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest

from carrel.cli import main
from tests.access.support import House, granted, opened, operation_for, settings_for

READ = operation_for("papers:read")
WRITE = operation_for("papers:write")
ADMIN = operation_for("admin")


def set_scopes(home: Path, user: str, scopes: str) -> None:
    """Another process changes an account."""
    file = next(each for each in home.rglob("*.sqlite") if "access_users" in tables_of(each))
    with sqlite3.connect(file) as database:
        changed = database.execute(
            "UPDATE access_users SET scopes = ? WHERE name = ?", (scopes, user)
        )
        assert changed.rowcount == 1
    database.close()


def tables_of(file: Path) -> set[str]:
    database = sqlite3.connect(file)
    names = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    database.close()
    return names


async def statuses(house: House, token: str) -> list[tuple[int, int]]:
    """What REST answers, and whether MCP lists it, for reading, writing and administering."""
    listed = (await house.rpc("tools/list", {}, token)).json()["result"]["tools"]
    names = {tool["name"] for tool in listed}
    return [
        ((await house.invoke(name, token)).status_code, int(name in names))
        for name in (READ, WRITE, ADMIN)
    ]


@pytest.mark.promise("A2")
@pytest.mark.parametrize("mode", ["tokens", "builtin"])
def test_a_stored_token_with_more_than_its_user_is_cut(
    tmp_path: Path, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def story() -> None:
        async with opened(settings_for(tmp_path, mode)) as house:
            await house.add_user("ben", frozenset({"papers:read"}))
            beyond = await house.token("papers:read", "papers:write", "admin", user="ben")
            assert await statuses(house, beyond) == [(200, 1), (403, 0), (403, 0)]
            refused = (await house.call(WRITE, beyond)).json()
            assert "papers:write" in json.dumps(refused)
            its_own = await house.token("admin")
            assert await statuses(house, its_own) == [(200, 1)] * 3

    asyncio.run(story())
    assert main(["tokens", "list", "--json", "--home", str(tmp_path)]) == 0
    shown = {each["acts_for"]: each["scopes"] for each in json.loads(capsys.readouterr().out)}
    assert shown == {"ben": ["papers:read"], "token:token 2": ["admin"]}


@pytest.mark.promise("A2")
def test_a_scope_taken_from_a_user_is_taken_from_the_tokens_within_seconds(tmp_path: Path) -> None:
    async def story() -> None:
        async with opened(settings_for(tmp_path, "builtin")) as house:
            await house.add_user("ada", frozenset({"papers:write"}))
            script = await house.token("papers:write", user="ada")
            log_in = (await granted(house))[0]["access_token"]
            for token in (script, log_in):
                assert await statuses(house, token) == [(200, 1), (200, 1), (403, 0)]
            set_scopes(tmp_path, "ada", "papers:read")
            house.clock.advance(6)
            for token in (script, log_in):
                assert await statuses(house, token) == [(200, 1), (403, 0), (403, 0)]
            set_scopes(tmp_path, "ada", "papers:write")
            house.clock.advance(6)
            for token in (script, log_in):
                assert await statuses(house, token) == [(200, 1), (200, 1), (403, 0)]

    asyncio.run(story())


@pytest.mark.promise("A2")
def test_a_token_whose_user_is_gone_opens_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            token = await house.token("papers:read", user="eve")
            file = next(f for f in tmp_path.rglob("*.sqlite") if "access_users" in tables_of(f))
            with sqlite3.connect(file) as database:
                database.execute("DELETE FROM access_users")
            database.close()
            assert (await house.invoke(READ, token)).status_code == 401

    asyncio.run(story())
