"""How often a caller may call, and what every door says about it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from carrel.core.caller import ANONYMOUS_USER, Caller, Visit
from carrel.policy.limits import bucket_key
from tests.access.support import bearer, opened, operation_for, settings_for
from tests.stores.test_libraries_in_a_database import carrel

READ = operation_for("papers:read")


@pytest.mark.promise("A4")
def test_ten_at_once_then_429_with_the_same_words_at_every_door(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            token = await house.token("papers:read")
            first = await house.call(READ, token)
            assert [
                first.headers[f"x-ratelimit-{name}"] for name in ("limit", "remaining", "reset")
            ] == ["10", "9", "1"]
            for _ in range(4):
                assert (await house.invoke(READ, token)).status_code == 200
                assert (
                    await house.rpc("resources/read", {"uri": f"sample://{READ}"}, token)
                ).status_code == 200
            last = await house.rpc("prompts/get", {"name": READ}, token, path="/sample/mcp")
            assert (last.status_code, last.headers["x-ratelimit-remaining"]) == (200, "0")
            over_mcp = await house.call(READ, token)
            assert (over_mcp.status_code, over_mcp.headers["retry-after"]) == (429, "1")
            error = over_mcp.json()["error"]
            assert error["data"]["retry_after"] == 1
            assert error["data"]["error"]["code"] == "rate_limit_exceeded"
            assert over_mcp.headers["x-ratelimit-remaining"] == "0"
            over_rest = await house.invoke(READ, token)
            assert (over_rest.status_code, over_rest.headers["retry-after"]) == (429, "1")
            assert over_rest.json()["error_type"] == "rate_limit_exceeded"
            assert over_rest.json()["details"] == {"retry_after": 1}
            for method, params, path in (
                ("resources/read", {"uri": f"sample://{READ}"}, "/mcp"),
                ("prompts/get", {"name": READ}, "/sample/mcp"),
            ):
                assert (await house.rpc(method, params, token, path)).status_code == 429
            house.clock.advance(1)
            assert (await house.call(READ, token)).status_code == 200

    asyncio.run(visit())


@pytest.mark.promise("A4")
def test_lists_cost_nothing_and_refused_calls_cost_nothing(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            token = await house.token("papers:read")
            for _ in range(20):
                listed = await house.rpc("tools/list", {}, token)
                assert "x-ratelimit-limit" not in listed.headers
                assert (await house.call(operation_for("admin"), token)).status_code == 403
                assert (
                    await house.http.get("/mcp/tools", headers=bearer(token))
                ).status_code == 200
            assert (await house.call(READ, token)).headers["x-ratelimit-remaining"] == "9"

    asyncio.run(visit())


@pytest.mark.promise("A4")
def test_scopes_and_operations_may_have_rates_and_costs_of_their_own(tmp_path: Path) -> None:
    limits = {
        "rates": {
            "hypotheses:generate": {"per_minute": 6, "burst": 2},
            "keep_words": {"per_minute": 60, "burst": 5},
        },
        "costs": {"keep_words": 4, "research:write": 3},
    }

    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens", limits=limits)) as house:
            token = await house.token("admin")
            dear = operation_for("hypotheses:generate")
            assert [(await house.call(dear, token)).status_code for _ in range(3)] == [
                200,
                200,
                429,
            ]
            assert (await house.call(dear, token)).headers["retry-after"] == "10"
            assert (await house.call("keep_words", token, {"text": "x"})).headers[
                "x-ratelimit-remaining"
            ] == "1"
            assert (await house.call("keep_words", token, {"text": "x"})).status_code == 429
            assert (await house.call(operation_for("research:write"), token)).headers[
                "x-ratelimit-remaining"
            ] == "7"
            assert (await house.call(READ, token)).headers["x-ratelimit-remaining"] == "6"

    asyncio.run(visit())


@pytest.mark.promise("A4")
def test_tokens_of_one_user_share_a_bucket_and_users_do_not(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            await house.add_user("ada")
            one, two = (
                await house.token("papers:read", user="ada"),
                await house.token("papers:read", user="ada"),
            )
            other = await house.token("papers:read")
            for token in (one, two) * 5:
                assert (await house.call(READ, token)).status_code == 200
            assert (await house.call(READ, one)).status_code == 429
            assert (await house.call(READ, other)).status_code == 200

    asyncio.run(visit())


@pytest.mark.promise("A4")
def test_whose_bucket_it_is() -> None:
    visit = Visit("http", "1", "192.0.2.7")
    assert bucket_key(Caller("ada", frozenset(), "c"), visit) == "user:ada"
    assert bucket_key(Caller(ANONYMOUS_USER, frozenset(), "c"), visit) == "client:c"
    assert bucket_key(Caller(ANONYMOUS_USER, frozenset()), visit) == "address:192.0.2.7"


@pytest.mark.promise("A4")
def test_the_local_user_is_never_slowed_down(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, None)) as house:
            answers = [await house.call(READ, None) for _ in range(30)]
            assert {answer.status_code for answer in answers} == {200}
            assert "x-ratelimit-limit" not in answers[0].headers

    asyncio.run(visit())


@pytest.mark.promise("A4")
def test_workers_on_one_machine_share_the_limit(tmp_path: Path) -> None:
    async def visit() -> None:
        settings = settings_for(tmp_path, "tokens", server={"workers": 2})
        async with opened(settings) as one, opened(settings, clock=one.clock) as two:
            token = await one.token("papers:read")
            answers = [await (one, two)[number % 2].call(READ, token) for number in range(14)]
            assert [answer.status_code for answer in answers] == [200] * 10 + [429] * 4

    asyncio.run(visit())


@pytest.mark.promise("A4")
def test_when_the_shared_buckets_are_gone_each_worker_still_limits(tmp_path: Path) -> None:
    async def visit() -> None:
        (tmp_path / "limits.sqlite").mkdir()
        async with opened(settings_for(tmp_path, "tokens", server={"workers": 2})) as house:
            token = await house.token("papers:read")
            answers = [await house.call(READ, token) for _ in range(12)]
            assert [answer.status_code for answer in answers] == [200] * 10 + [429] * 2

    asyncio.run(visit())


@pytest.mark.promise("A4")
def test_a_used_up_quota_is_429_at_every_door_with_the_end_of_the_day(tmp_path: Path) -> None:
    async def visit() -> None:
        settings = settings_for(tmp_path, "tokens", quotas={"calls_per_day": 3})
        async with opened(settings) as house:
            token = await house.token("papers:read")
            for _ in range(3):
                assert (await house.call(READ, token)).status_code == 200
            over_mcp = await house.call(READ, token)
            left = int(over_mcp.headers["retry-after"])
            assert over_mcp.status_code == 429 and 0 < left <= 86_400
            assert over_mcp.json()["error"]["data"]["error"]["code"] == "quota_exceeded"
            over_rest = await house.invoke(READ, token)
            assert over_rest.status_code == 429
            assert over_rest.json()["error_type"] == "quota_exceeded"
            assert over_rest.json()["details"]["quota"] == 3
            house.clock.advance(left)
            assert (await house.call(READ, token)).status_code == 200

    asyncio.run(visit())


def test_commands_of_one_room_do_not_warn_of_limits_that_another_has(tmp_path: Path) -> None:
    told = tmp_path / "carrel.toml"
    config = ["--config", str(told)]
    mode = '[auth]\nmode = "builtin"\n'
    told.write_text(f"{mode}[limits.costs]\nsearch_knowledge = 3\n", encoding="utf-8")
    for words in (["papers", "build", str(told)], ["literature", "list-alerts"]):
        assert "limits" not in carrel(tmp_path / "home", "", *words, *config).stderr, words
    told.write_text(f"{mode}[limits.costs]\nserch_knowledge = 3\n", encoding="utf-8")
    listed = carrel(tmp_path / "home", "", "knowledge", "list", *config)
    assert "serch_knowledge" in listed.stderr
