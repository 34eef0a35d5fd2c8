"""What every call and every refusal leaves in the audit log, and what happens when it cannot be
written.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from carrel.doors.mcp.stdio import serve_stdio
from carrel.policy.audit_verification import verify_log
from carrel.wiring.audit import open_audit_reader
from carrel.wiring.mcp import stdio_dispatcher
from tests.access.support import House, bearer, opened, operation_for, settings_for

READ = operation_for("papers:read")


def _rows(house: House) -> list[dict[str, object]]:
    return [row for row in house.audit_lines() if row["door"] != "audit"]


@pytest.mark.promise("A5")
@pytest.mark.promise("D5")
def test_every_refusal_is_written_down(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            token = await house.token("papers:read")
            agent = {"user-agent": "a test", **bearer(token)}
            await house.call(READ, None)
            await house.call(READ, "carrel_wrong")
            await house.call(operation_for("admin"), token)
            await house.http.post("/mcp", content=b"{", headers=agent)
            await house.http.post(
                "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "no/such"}, headers=agent
            )
            await house.call("no_such_tool", token)
            await house.http.post("/mcp/invoke", content=b"{", headers=agent)
            await house.http.post("/mcp/invoke", json={"tool": 1}, headers=agent)
            await house.invoke("no_such_tool", token)
            await house.http.post("/mcp", content=b"x" * 5_000_000, headers=agent)
            await house.http.get("/mcp/tools", headers={"origin": "https://evil.example", **agent})
            await house.http.get("/mcp/tools", headers={"host": "evil.example", **agent})
            for _ in range(11):
                await house.call(READ, token)
            refused = [row for row in _rows(house) if row["phase"] == "refused"]
            assert [row["error_code"] for row in refused] == [
                "unauthenticated",
                "unauthenticated",
                "insufficient_permissions",
                "invalid_input",
                "invalid_input",
                "invalid_input",
                "invalid_input",
                "invalid_input",
                "unknown_tool",
                "body_too_large",
                "origin_not_allowed",
                "host_not_allowed",
                "rate_limit_exceeded",
            ]
            assert {row["ip_address"] for row in refused} == {"192.0.2.7"}
            assert {row["result"] for row in refused} == {"failure"}
            assert refused[2]["user_id"] == "token:token 1"
            assert refused[2]["action"] == f"tool:{operation_for('admin')}"

    asyncio.run(visit())


@pytest.mark.promise("A5")
def test_a_call_is_written_down_when_it_starts_and_when_it_ends(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            token = await house.token("admin")
            headers = {"user-agent": "a test", **bearer(token)}
            body = {"tool_name": "keep_words", "params": {"text": "words", "api_key": "hush"}}
            await house.http.post("/mcp/invoke", json=body, headers=headers)
            await house.invoke("keep_words", token, {"wrong": 1})
            await house.rpc("resources/read", {"uri": f"sample://{READ}"}, token)
            await house.rpc("prompts/get", {"name": READ}, token, path="/sample/mcp")
            started, ended, *rest = _rows(house)
            assert started["parameters"] == {"text": "words", "api_key": "***"}
            for row, phase, result in (
                (started, "started", "started"),
                (ended, "ended", "success"),
            ):
                assert (row["phase"], row["result"]) == (phase, result)
                assert (row["action"], row["resource"]) == (
                    "tool:keep_words",
                    "mcp://tools/keep_words",
                )
                assert (row["user_agent"], row["ip_address"], row["door"]) == (
                    "a test",
                    "192.0.2.7",
                    "http",
                )
                assert row["request_id"] == started["request_id"]
                assert str(row["timestamp"]).startswith("2026-07-28T12:00:00")
            assert isinstance(ended["duration_ms"], float)
            assert [(row["action"], row["result"]) for row in rest if row["phase"] == "ended"] == [
                ("tool:keep_words", "failure"),
                (f"resource:{READ}", "success"),
                (f"prompt:{READ}", "success"),
            ]
        assert verify_log(open_audit_reader(house.desk.settings)).problems == []

    asyncio.run(visit())


@pytest.mark.promise("A5")
def test_stdio_is_written_down_too(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            call = (
                b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s"}}\n'
                % READ.encode()
            )
            answers: list[bytes] = []
            reading, writing = os.pipe()
            os.write(writing, call + b"not json\n")
            os.close(writing)
            await serve_stdio(
                stdio_dispatcher(house.desk), house.desk.gate, reading, answers.append
            )
            os.close(reading)
            assert b"hello local" in b"".join(answers), "whoever started the process needs no token"
            rows = _rows(house)
            assert {row["phase"] for row in rows} == {"started", "ended", "refused"}
            assert {row["door"] for row in rows} == {"stdio"}

    asyncio.run(visit())


@pytest.mark.promise("A5")
def test_when_it_cannot_be_written_writes_are_503_and_reads_go_on(tmp_path: Path) -> None:
    (tmp_path / "in-the-way").write_text("")
    audit = {"file": tmp_path / "in-the-way" / "audit.jsonl"}

    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens", audit=audit)) as house:
            token = await house.token("admin")
            over_rest = await house.invoke("keep_words", token, {"text": "x"})
            assert (over_rest.status_code, over_rest.json()["error_type"]) == (
                503,
                "audit_unavailable",
            )
            over_mcp = (await house.call("keep_words", token, {"text": "x"})).json()["result"]
            assert (over_mcp["isError"], over_mcp["structuredContent"]["error"]["code"]) == (
                True,
                "audit_unavailable",
            )
            assert (await house.invoke(READ, token)).status_code == 200
            (tmp_path / "in-the-way").unlink()
            assert (await house.invoke("keep_words", token, {"text": "x"})).status_code == 200
            rows = _rows(house)
            assert [row["error_code"] for row in rows if row["phase"] == "refused"] == [
                "audit_unavailable"
            ] * 2
            assert len([row for row in rows if row["phase"] == "ended"]) == 2

    asyncio.run(visit())


@pytest.mark.promise("D11")
def test_a_callers_address_is_believed_only_from_a_named_proxy(tmp_path: Path) -> None:
    async def visit() -> None:
        forwarded = {"x-forwarded-for": "203.0.113.9, 198.51.100.4, 192.0.2.99"}
        for proxies, believed in (
            ((), "192.0.2.7"),
            (("192.0.2.0/24",), "198.51.100.4"),
            (("10.0.0.1",), "192.0.2.7"),
        ):
            home = (
                tmp_path / str(len(proxies) + len(believed)) / "-".join(proxies).replace("/", "_")
            )
            async with opened(
                settings_for(home, "tokens", server={"trusted_proxies": proxies})
            ) as house:
                await house.http.get("/mcp/tools", headers=forwarded)
                assert [row["ip_address"] for row in _rows(house)] == [believed]

    asyncio.run(visit())
