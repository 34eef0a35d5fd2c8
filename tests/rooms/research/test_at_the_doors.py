"""The research room as MCP clients find it: prompts at its own address and over stdio, none at the
common one.
"""

from __future__ import annotations

import http.client
import json
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.doors import ENVIRONMENT, PROGRAM, serving
from tests.libraries.discovery.small_corpus import GOAL
from tests.processes import warm
from tests.rooms.research.house import settings_for

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def posted(port: int, path: str, method: str, params: dict[str, Any]) -> Any:
    headers = {
        "content-type": "application/json",
        "accept": "application/json",
        "mcp-protocol-version": "2025-11-25",
    }
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        connection.request("POST", path, body, headers)
        return json.loads(connection.getresponse().read())


@pytest.mark.promise("S1")
def test_prompts_are_at_the_rooms_own_address_and_not_at_the_common_one(
    snapshot: Path, tmp_path: Path
) -> None:
    with serving(settings_for(snapshot, tmp_path)) as port:
        common = posted(port, "/mcp", "initialize", HELLO)["result"]["capabilities"]
        assert set(common) == {"tools", "resources"}
        assert "error" in posted(port, "/mcp", "prompts/list", {})
        assert (
            "prompts"
            in posted(port, "/research/mcp", "initialize", HELLO)["result"]["capabilities"]
        )
        listed = posted(port, "/research/mcp", "prompts/list", {})["result"]["prompts"]
        assert {prompt["name"] for prompt in listed} == {
            "research-workflow",
            "hypothesis-analysis",
            "work-on-research",
        }
        started = posted(
            port,
            "/research/mcp",
            "tools/call",
            {"name": "start_research", "arguments": {"goal": GOAL, "hypothesis_count": 2}},
        )
        research_id = started["result"]["structuredContent"]["research_id"]
        asked = {
            "name": "generate_hypotheses",
            "arguments": {"research_id": research_id, "count": 1},
        }
        made = posted(port, "/research/mcp", "tools/call", asked)["result"]
        (row,) = made["structuredContent"]["result"]
        assert json.loads(made["content"][0]["text"]) == [row]
        page = posted(port, "/mcp", "resources/read", {"uri": f"hypothesis://{row['id']}"})[
            "result"
        ]["contents"][0]
        assert page["mimeType"] == "text/markdown"
        assert row["title"] in page["text"]
        unsafe = {
            "name": "start_research",
            "arguments": {"goal": "Poison the water supply of a city"},
        }
        refused = posted(port, "/mcp", "tools/call", unsafe)["result"]
        assert (refused["isError"], refused["structuredContent"]["error"]["code"]) == (
            True,
            "unsafe_goal",
        )
        missing = posted(
            port,
            "/research/mcp",
            "prompts/get",
            {"name": "hypothesis-analysis", "arguments": {"hypothesis_id": "hyp_none"}},
        )
        assert "not found" in missing["error"]["message"]


@pytest.mark.promise("S1")
@pytest.mark.promise("Q2")
def test_over_stdio_a_long_call_tells_how_far_it_is(snapshot: Path, tmp_path: Path) -> None:
    options = ["--home", str(tmp_path), "--snapshot", str(snapshot), "--rooms", "papers,research"]

    def message(number: int, method: str, params: dict[str, Any]) -> str:
        return (
            json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
        )

    with warm.start(
        [*PROGRAM, "mcp", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(number: int, method: str, params: dict[str, Any]) -> tuple[Any, list[Any]]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(message(number, method, params))
            process.stdin.flush()
            told: list[dict[str, Any]] = []
            for line in process.stdout:
                said = json.loads(line)
                if said.get("id") == number:
                    return said["result"], told
                told.append(said)
            raise AssertionError("standard output ended")

        ask(1, "initialize", HELLO)
        prompts, _ = ask(2, "prompts/list", {})
        names = [each["name"] for each in prompts["prompts"]]
        assert names[:2] == ["research-workflow", "hypothesis-analysis"]
        started, _ = ask(
            3,
            "tools/call",
            {"name": "start_research", "arguments": {"goal": GOAL, "hypothesis_count": 2}},
        )
        research_id = started["structuredContent"]["research_id"]
        arguments = {
            "name": "rank_hypotheses",
            "arguments": {"research_id": research_id},
            "_meta": {"progressToken": "p"},
        }
        made, _ = ask(
            4,
            "tools/call",
            {"name": "generate_hypotheses", "arguments": {"research_id": research_id, "count": 2}},
        )
        assert made["structuredContent"]["result"]
        ranked, told = ask(5, "tools/call", arguments)
        assert ranked["structuredContent"]["result"]
        assert all(one["params"]["progressToken"] == "p" for one in told)
        process.stdin.close()
        process.wait(30)
