"""The room at the doors: REST and MCP over HTTP in memory, and `carrel serve --rooms knowledge` as
a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from carrel.wiring.desk import open_desk
from carrel.wiring.http import http_app
from tests.processes import warm
from tests.rooms.knowledge.desk import settings_at

ROOT = Path(__file__).parents[3]


class Doors:
    """REST and MCP of one server."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self.http = http

    async def invoke(self, name: str, **params: object) -> tuple[int, dict[str, Any]]:
        answer = await self.http.post("/mcp/invoke", json={"tool_name": name, "params": params})
        return answer.status_code, answer.json()

    async def call(self, name: str, path: str = "/mcp", **arguments: object) -> dict[str, Any]:
        request = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        answer = await self.http.post(
            path, json=request, headers={"mcp-protocol-version": "2025-06-18"}
        )
        body = answer.json()
        return dict(body.get("result") or body)


def through_the_doors(home: Path, work: Callable[[Doors], Awaitable[None]]) -> None:
    async def whole() -> None:
        desk = open_desk(settings_at(home))
        transport = httpx2.ASGITransport(app=http_app(desk))
        async with (
            desk.session(),
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as http,
        ):
            await work(Doors(http))

    asyncio.run(whole())


@pytest.mark.promise("K1", "K5", "D7")
def test_the_refusals_of_the_specifications_are_the_same_at_both_doors(tmp_path: Path) -> None:
    async def work(doors: Doors) -> None:
        for name, bad, message in (
            ("save_knowledge", {"content": ""}, "content is required"),
            ("save_knowledge", {}, "content is required"),
            ("search_knowledge", {"query": ""}, "query is required"),
            ("search_knowledge", {}, "query is required"),
            ("node_knowledge_retriever", {"node_names": []}, "node_names is required"),
            ("node_knowledge_retriever", {}, "node_names is required"),
            ("elasticsearch", {"index": "knowledge"}, "query is required"),
        ):
            status, body = await doors.invoke(name, **bad)
            assert (status, body["success"], body["error"], body["error_type"]) == (
                400,
                False,
                message,
                "invalid_input",
            )
            answer = await doors.call(name, **bad)
            assert answer["isError"] is True
            assert answer["structuredContent"]["error"]["message"] == message
            assert message in answer["content"][0]["text"]
        status, body = await doors.invoke("no_such_tool")
        assert (status, body["error"]) == (400, "unknown tool")
        status, body = await doors.invoke("get_knowledge", id="absent")
        assert (status, body["error_type"]) == (404, "resource_not_found")
        status, body = await doors.invoke(
            "elasticsearch", index="knowledge", query={"query": {"script": {}}}
        )
        assert (status, body["error_type"]) == (400, "unsupported_clause")
        status, body = await doors.invoke("elasticsearch", index="secrets", query={})
        assert status == 404

    through_the_doors(tmp_path, work)


@pytest.mark.promise("K1", "D7", "D8")
def test_a_note_saved_at_one_door_is_found_at_the_other(tmp_path: Path) -> None:
    async def work(doors: Doors) -> None:
        status, body = await doors.invoke(
            "save_knowledge", title="Magnesium", content="Blocks NMDA.", tags=["ion"]
        )
        assert status == 200 and body["success"] and body["result"]["status"] == "saved"
        hit = {
            "id": body["result"]["id"],
            "title": "Magnesium",
            "content": "Blocks NMDA.",
            "score": 0.85,
            "total": 1,
        }
        for path in ("/mcp", "/knowledge/mcp"):
            answer = await doors.call("search_knowledge", path, query="#ion")
            assert answer["structuredContent"] == {"result": [hit]}
            assert json.loads(answer["content"][0]["text"]) == [hit]
        status, body = await doors.invoke("search_knowledge", query="nothing so named")
        assert (status, body["result"]) == (200, [])
        status, body = await doors.invoke(
            "node_knowledge_retriever", node_names=["Magnesium", "absent"]
        )
        assert status == 200 and body["result"]["success"] and body["result"]["total_nodes"] == 2
        assert [set(result) for result in body["result"]["results"]] == [
            {"node_name", "knowledge", "similarity_score"},
            {"node_name", "knowledge", "similarity_score", "suggestions"},
        ]
        status, body = await doors.invoke(
            "elasticsearch", index="knowledge", query={"query": {"match": {"title": "magnesium"}}}
        )
        assert (
            status == 200 and body["result"]["hits"]["hits"][0]["_source"]["title"] == "Magnesium"
        )
        assert body["result"]["_shards"]["failed"] == 0
        stale = {"id": hit["id"], "content": "x", "updated_at": "2020-01-01T00:00:00+00:00"}
        status, body = await doors.invoke("save_knowledge", **stale)
        assert (status, body["error_type"]) == (409, "conflict")
        tools = (await doors.http.get("/mcp/tools")).json()["tools"]
        names = {tool["name"] for tool in tools}
        assert {
            "save_knowledge",
            "search_knowledge",
            "node_knowledge_retriever",
            "elasticsearch",
        } <= names
        assert all(tool["description"] and tool["parameters"]["type"] == "object" for tool in tools)
        assert (await doors.http.get("/health")).json() == {"status": "healthy"}
        ready = (await doors.http.get("/ready")).json()
        assert ready["status"] == "ready" and ready["checks"]["knowledge"]["ok"] is True

    through_the_doors(tmp_path, work)


def test_a_store_that_is_broken_is_said_at_ready_and_answers_503(tmp_path: Path) -> None:
    (tmp_path / "knowledge.sqlite").write_bytes(b"somebody's text, not a database" * 50)

    async def work(doors: Doors) -> None:
        answer = await doors.http.get("/ready")
        assert answer.status_code == 503 and answer.json()["checks"]["knowledge"]["ok"] is False
        status, body = await doors.invoke("search_knowledge", query="x")
        assert (status, body["error_type"], body["retryable"]) == (503, "database_replaced", False)
        assert (await doors.http.get("/health")).status_code == 200

    through_the_doors(tmp_path, work)


@pytest.mark.promise("K4")
def test_serve_with_this_room_alone_listens_on_port_logs_json_and_ends_on_sigterm(
    tmp_path: Path,
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-c",
        "from carrel.cli import main; raise SystemExit(main())",
        "serve",
        "--rooms",
        "knowledge",
    ]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT / "src"),
        "PORT": str(port),
        "CARREL_HOME": str(tmp_path),
        "CARREL_LOG_FORMAT": "json",
    }
    log = tmp_path / "log"
    with log.open("w") as errors:
        server = warm.start(command, env=environment, stderr=errors)
    try:
        assert _first_answer(server, f"http://127.0.0.1:{port}/health") == {"status": "healthy"}
        body = json.dumps({"tool_name": "save_knowledge", "params": {"content": "kept"}}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/mcp/invoke",
            body,
            {"content-type": "application/json"},
            method="POST",
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert json.load(answer)["result"]["status"] == "saved"
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=20) in {0, -signal.SIGTERM}
    finally:
        if server.poll() is None:
            server.kill()
    events = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    assert any(
        event["message"] == "invoke" and event["severity"] == "INFO" and event["status"] == 200
        for event in events
    )


def _first_answer(server: subprocess.Popen[bytes], url: str) -> object:
    """The answer of a server that is about to listen."""
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.URLError:
            assert server.poll() is None, "the server ended before it answered"
