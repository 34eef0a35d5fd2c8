"""What strangers can make the desk write or fetch is bounded, and a disk without room is said at
/ready.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from carrel.core.errors import UnavailableError
from carrel.policy.audit_verification import verify_log
from carrel.policy.authorization.clients import IN_TOTAL, PER_ADDRESS
from carrel.wiring.audit import open_audit_reader
from tests.access.support import REDIRECT, Pkce, authorize_url, opened, operation_for, settings_for

READ = operation_for("papers:read")


@pytest.mark.promise("A5")
def test_a_stranger_who_is_refused_again_and_again_fills_no_disk(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, "tokens")

    async def visit() -> None:
        async with opened(settings) as house:
            token = await house.token("admin")
            headers = {"authorization": "Bearer nonsense", "user-agent": "x" * 6000}
            for number in range(400):
                assert (await house.http.get("/mcp/tools", headers=headers)).status_code == 401
                if number % 100 == 0:
                    assert (
                        await house.invoke("keep_words", token, {"text": "x"})
                    ).status_code == 200
            rows = list(house.audit_lines())
            strangers = [row for row in rows if row["user_id"] == "anonymous"]
            assert len(strangers) == 5
            assert all(len(row["user_agent"]) <= 300 for row in rows)
            assert (
                len(
                    [
                        row
                        for row in rows
                        if row["action"] == "tool:keep_words" and row["phase"] == "ended"
                    ]
                )
                == 4
            )
            house.clock.advance(301)
            assert (await house.http.get("/mcp/tools", headers=headers)).status_code == 401
            (summary,) = [row for row in house.audit_lines() if row["action"] == "refusals"]
            assert summary["parameters"]["count"] == 396
            assert (summary["ip_address"], summary["error_code"]) == (
                "192.0.2.7",
                "unauthenticated",
            )
            for _ in range(10):
                await house.http.get("/mcp/tools", headers=headers)

    asyncio.run(visit())
    found = verify_log(open_audit_reader(settings))
    assert found.problems == []
    text = settings.audit_file.read_text(encoding="utf-8")
    assert text.count('"action":"refusals"') == 2, (
        "what was gathered is written when the server stops"
    )
    assert len(text) < 20_000


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@pytest.mark.promise("A5")
def test_below_the_reserve_writes_are_refused_reads_go_on_and_ready_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_for(tmp_path, "tokens", audit={"min_free_bytes": 1000})
    free = [10**12]
    monkeypatch.setattr(shutil, "disk_usage", lambda place: Usage(10**12, 0, free[0]))

    async def visit() -> None:
        async with opened(settings) as house:
            token = await house.token("admin")
            assert (await house.invoke("keep_words", token, {"text": "x"})).status_code == 200
            assert (await house.http.get("/ready")).status_code == 200
            free[0] = 999
            house.clock.advance(2)
            refused = await house.invoke("keep_words", token, {"text": "x"})
            assert (refused.status_code, refused.json()["error_type"]) == (503, "audit_unavailable")
            assert refused.json()["details"]["reason"] == "disk_full"
            assert (await house.invoke(READ, token)).status_code == 200
            ready = await house.http.get("/ready")
            assert (ready.status_code, ready.json()["checks"]["audit"]["ok"]) == (503, False)
            for _ in range(20):
                await house.http.get("/mcp/tools", headers={"authorization": "Bearer nonsense"})
            rows = list(house.audit_lines())
            assert [row for row in rows if row["user_id"] == "anonymous"] == [], (
                "strangers are only counted"
            )
            assert [row["error_code"] for row in rows if row["phase"] == "refused"] == [
                "audit_unavailable"
            ]
            free[0] = 10**12
            house.clock.advance(400)
            assert (await house.invoke("keep_words", token, {"text": "x"})).status_code == 200
            assert (await house.http.get("/ready")).status_code == 200
            (summary,) = [row for row in house.audit_lines() if row["action"] == "refusals"]
            assert summary["parameters"]["count"] == 20

    asyncio.run(visit())
    assert verify_log(open_audit_reader(settings)).problems == []


class Documents:
    """A network of client documents; some of its addresses do not answer."""

    def __init__(self) -> None:
        self.fetched: list[str] = []

    async def fetch(self, url: str) -> tuple[Mapping[str, Any], float]:
        self.fetched.append(url)
        await asyncio.sleep(0)
        if "missing" in url:
            raise UnavailableError("no answer")
        return {"client_id": url, "client_name": "A client", "redirect_uris": [REDIRECT]}, 300.0


PROXY = {"trusted_proxies": ("192.0.2.7",)}


@pytest.mark.promise("A3")
def test_one_address_can_have_only_so_many_documents_looked_up(tmp_path: Path) -> None:
    documents = Documents()

    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin"), documents=documents) as house:
            answers = [
                await house.http.get(authorize_url(f"https://client.example/{number}", Pkce()))
                for number in range(40)
            ]
            assert [answer.status_code for answer in answers] == [200] * int(PER_ADDRESS.burst) + [
                429
            ] * 30
            assert len(documents.fetched) == PER_ADDRESS.burst
            assert int(answers[-1].headers["retry-after"]) > 0
            assert (
                await house.http.get(authorize_url("https://client.example/0", Pkce()))
            ).status_code == 200, "remembered"
            house.clock.advance(301)
            for number in range(100, 110):
                await house.http.get(authorize_url(f"https://client.example/{number}", Pkce()))
            again = await house.http.get(authorize_url("https://client.example/0", Pkce()))
            assert again.status_code == 200, (
                "known before, and past its time: used until it can be looked up again"
            )

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_all_addresses_together_can_have_only_so_many_documents_looked_up(tmp_path: Path) -> None:
    documents = Documents()

    async def visit() -> None:
        async with opened(
            settings_for(tmp_path, "builtin", server=PROXY), documents=documents
        ) as house:
            for number in range(100):
                await house.http.get(
                    authorize_url(f"https://client.example/{number}", Pkce()),
                    headers={"x-forwarded-for": f"198.51.100.{number}"},
                )
            assert len(documents.fetched) == IN_TOTAL.burst

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_a_document_that_cannot_be_had_is_not_asked_for_again_at_once(tmp_path: Path) -> None:
    documents = Documents()
    url = authorize_url("https://client.example/missing", Pkce())

    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin"), documents=documents) as house:
            for _ in range(20):
                assert (await house.http.get(url)).status_code == 400
            assert len(documents.fetched) == 1
            house.clock.advance(61)
            assert (await house.http.get(url)).status_code == 400
            assert len(documents.fetched) == 2

    asyncio.run(visit())


@pytest.mark.promise("A3")
def test_those_who_ask_for_one_document_at_once_share_the_look_up(tmp_path: Path) -> None:
    documents = Documents()
    url = authorize_url("https://client.example/one", Pkce())

    async def visit() -> None:
        async with opened(settings_for(tmp_path, "builtin"), documents=documents) as house:
            answers = await asyncio.gather(*(house.http.get(url) for _ in range(10)))
            assert {answer.status_code for answer in answers} == {200}
            assert len(documents.fetched) == 1

    asyncio.run(visit())
