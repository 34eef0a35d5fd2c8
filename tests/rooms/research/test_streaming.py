"""Progress over HTTP: at the room's own address as events, for callers that ask for them; never at
the common one.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import fastmcp
import mcp
import pytest

from tests.journeys.doors import serving
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import settings_for
from tests.rooms.research.model_server import Asked, hypothesis, model_server


@pytest.fixture(scope="module")
def port(snapshot: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with serving(settings_for(snapshot, tmp_path_factory.mktemp("home"))) as port:
        yield port


def post(
    port: int, path: str, tool: str, accept: str, token: object = "t-1", **arguments: Any
) -> tuple[int, str, bytes]:
    params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": token}}
    body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
    headers = {
        "content-type": "application/json",
        "accept": accept,
        "mcp-protocol-version": "2025-11-25",
    }
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        return response.status, response.headers["content-type"], response.read()


def started(port: int) -> str:
    answer = post(
        port, "/mcp", "start_research", "application/json", goal=GOAL, hypothesis_count=2
    )[2]
    return str(json.loads(answer)["result"]["structuredContent"]["research_id"])


def listed(port: int, research_id: str) -> list[dict[str, Any]]:
    answer = json.loads(
        post(port, "/mcp", "list_hypotheses", "application/json", research_id=research_id)[2]
    )
    return list(answer["result"]["structuredContent"]["result"])


BOTH = "application/json, text/event-stream"


@pytest.mark.promise("S1")
def test_what_is_refused_or_wrong_is_answered_in_json(port: int) -> None:
    status, kind, body = post(
        port, "/research/mcp", "generate_hypotheses", BOTH, research_id="res_none", count=1
    )
    assert (status, kind) == (200, "application/json")
    assert json.loads(body)["result"]["isError"] is True
    status, kind, body = post(port, "/research/mcp", "no_such_tool", BOTH)
    assert kind == "application/json"
    assert json.loads(body)["error"]["code"] == -32602


@pytest.mark.promise("S1")
@pytest.mark.parametrize(
    ("path", "accept", "token"),
    [
        ("/mcp", BOTH, "t-1"),
        ("/research/mcp", "application/json", "t-1"),
        ("/research/mcp", BOTH, None),
        ("/research/mcp", BOTH, {"not": "a token"}),
    ],
)
def test_who_does_not_ask_for_it_gets_one_json_answer(
    port: int, path: str, accept: str, token: object
) -> None:
    status, kind, body = post(
        port, path, "generate_hypotheses", accept, token, research_id=started(port), count=1
    )
    assert (status, kind) == (200, "application/json")
    assert json.loads(body)["result"]["structuredContent"]["result"]


@pytest.mark.promise("S1")
def test_a_call_with_a_token_is_told_how_far_it_is_and_ends_with_its_answer(port: int) -> None:
    status, kind, body = post(
        port, "/research/mcp", "generate_hypotheses", BOTH, research_id=started(port), count=1
    )
    assert (status, kind) == (200, "text/event-stream")
    events = [
        json.loads(event.partition("data: ")[2]) for event in body.decode().split("\n\n") if event
    ]
    *told, answer = events
    assert answer["id"] == 7
    assert answer["result"]["structuredContent"]["result"]
    assert told
    assert {(one["method"], one["params"]["progressToken"]) for one in told} == {
        ("notifications/progress", "t-1")
    }
    figures = [one["params"]["progress"] for one in told]
    assert all(earlier < later for earlier, later in pairwise(figures))


@pytest.mark.promise("S1")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_others_clients_show_the_progress(port: int, mode: Any) -> None:
    url = f"http://127.0.0.1:{port}/research/mcp"

    async def run() -> None:
        told: list[float] = []

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            told.append(progress)

        research_id = started(port)
        async with mcp.Client(url, mode=mode) as sdk:
            made = await sdk.call_tool(
                "generate_hypotheses",
                {"research_id": research_id, "count": 1},
                progress_callback=tell,
            )
            assert isinstance(made, mcp.types.CallToolResult)
            assert made.structured_content
        assert told
        told.clear()
        async with fastmcp.Client(url, mode=mode) as fast:
            await fast.call_tool(
                "rank_hypotheses", {"research_id": research_id}, progress_handler=tell
            )
        assert told

    asyncio.run(run())


@pytest.mark.promise("S9")
def test_a_client_that_hangs_up_in_the_middle_loses_nothing(snapshot: Path, tmp_path: Path) -> None:
    may_answer = threading.Event()

    def written(asked: Asked) -> dict[str, Any]:
        may_answer.wait(30)
        return {"hypotheses": [hypothesis(asked)]}

    with model_server() as script:
        script.answers["WrittenHypotheses"] = written
        model = {"provider": "openai", "name": "scripted", "url": script.url, "api_key": "key"}
        with serving(settings_for(snapshot, tmp_path / "home", model=model)) as port:
            research_id = started(port)
            # Its own run is to make nothing, so that what comes is what the call began.
            post(port, "/mcp", "pause_research", "application/json", research_id=research_id)
            params = {
                "name": "generate_hypotheses",
                "arguments": {"research_id": research_id, "count": 1},
                "_meta": {"progressToken": 1},
            }
            body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request(
                "POST", "/research/mcp", body, {"content-type": "application/json", "accept": BOTH}
            )
            response = connection.getresponse()
            assert response.readline() == b"event: message\n"
            response.close()
            connection.close()
            may_answer.set()
            rows = next((rows for _ in range(2000) if (rows := listed(port, research_id))), [])
            assert len(rows) == 1
