"""An assistant at the real doors, by the official client: what a whole run costs, counted on
everything that goes to and fro; and what is there after clients and the server were killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.libraries.discovery.small_corpus import GOAL
from tests.processes import warm
from tests.rooms.research.assistant import MOST_CHARACTERS, Assistant
from tests.rooms.research.house import build_snapshot
from tests.rooms.research.served import PROGRAM, ROOT, serving

_CHARACTERS_OF_A_TOKEN = 4


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_snapshot(tmp_path_factory.mktemp("corpus"))


class Counting:
    """A client that counts the characters of everything that a model is sent and sends."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.characters = 0
        self.longest = 0

    async def greet(self) -> list[str]:
        """What is sent once: the instructions and the list of tools; answers their names."""
        tools = (await self.client.list_tools()).tools
        listed = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in tools]
        told = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
        self.characters += len(self.client.instructions or "") + len(told)
        return [one.name for one in tools]

    async def ask(self, tool: str, **arguments: Any) -> Any:
        result = await self.client.call_tool(tool, arguments)
        # Clients show a model the text; the structured answer is the same once more.
        text = "".join(getattr(part, "text", "") for part in result.content)
        assert not result.is_error, text
        sent = len(tool) + len(json.dumps(arguments, ensure_ascii=False))
        self.characters += sent + len(text)
        if tool.endswith("_research_task"):
            self.longest = max(self.longest, len(text))
        return result.structured_content or json.loads(text)


@contextlib.asynccontextmanager
async def at_door(door: str, snapshot: Path, home: Path) -> AsyncIterator[Client]:
    if door == "stdio":
        words = [*PROGRAM[1:], "mcp", "--home", str(home), "--snapshot", str(snapshot)]
        words += ["--rooms", "papers,research"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        program = StdioServerParameters(command=PROGRAM[0], args=words, env=environment)
        async with Client(program) as client:
            yield client
        return
    with serving(snapshot, home) as server:
        async with Client(f"http://127.0.0.1:{server.port}{door}") as client:
            yield client


@pytest.mark.promise("S11")
@pytest.mark.promise("D10")
@pytest.mark.parametrize("door", ["/mcp", "stdio"])
def test_five_hypotheses_take_sixteen_calls_and_forty_thousand_tokens_with_the_tool_list(
    snapshot: Path, tmp_path: Path, door: str
) -> None:
    async def work() -> None:
        async with at_door(door, snapshot, tmp_path) as client:
            counting = Counting(client)
            assert {"next_research_task", "submit_research_task"} <= set(await counting.greet())
            assert "next_research_task" in (client.instructions or "")
            assistant = Assistant(counting.ask)
            started = await assistant.call("start_research", goal=GOAL, hypothesis_count=5)
            end = await assistant.work(started["research_id"])
            assert end["done"], end
            results = await assistant.call("get_results", research_id=started["research_id"])
        tokens = counting.characters // _CHARACTERS_OF_A_TOKEN
        print(f"\nfive at {door}: {assistant.calls} calls, {tokens} tokens (characters/4)")
        assert (results["mind"], results["status"]) == ("assistant", "completed")
        assert results["total_hypotheses"] == 7
        assert assistant.calls <= 16
        assert tokens <= 40_000
        assert counting.longest <= MOST_CHARACTERS
        counts = {role: assistant.roles.count(role) for role in sorted(set(assistant.roles))}
        assert counts == {"compare": 3, "evolve": 1, "generate": 2, "review": 4, "summarise": 1}
        # What was announced with the first task is what it took.
        first = assistant.briefs[0]
        assert first["budget"]["calls"] == sum(counts.values())
        assert first["budget"]["tries"] == 3

    asyncio.run(asyncio.wait_for(work(), 240))


_CLIENT = """
import asyncio, json, sys
from mcp.client.client import Client

async def main():
    url, research_id, worker = sys.argv[1:]
    async with Client(url) as client:
        asked = {"research_id": research_id, "worker": worker}
        told = await client.call_tool("next_research_task", asked)
        print(json.dumps(told.structured_content), flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def take_and_die(url: str, research_id: str, worker: str) -> dict[str, Any]:
    """A client in a process of its own that takes a task and is killed with it in its hands."""
    words = [sys.executable, "-c", _CLIENT, url, research_id, worker]
    with warm.start(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    return dict(told)


@pytest.mark.promise("S11")
@pytest.mark.promise("S2")
def test_a_killed_client_and_a_killed_server_lose_nothing_and_count_nothing_twice(
    snapshot: Path, tmp_path: Path
) -> None:
    kept: dict[str, Any] = {}

    async def before(url: str, kill: Any) -> None:
        async with Client(url) as client:
            ask = Counting(client).ask
            one = Assistant(ask, worker="one")
            started = await one.call("start_research", goal=GOAL, hypothesis_count=3)
            research_id = started["research_id"]
            first = await one.next(research_id)
            submitted = await one.submit(first)
            held = await asyncio.to_thread(take_and_die, url, research_id, "two")
            kept.update(research_id=research_id, first=first, submitted=submitted, held=held)
            # Killed while an answer is on its way: it is kept whole or not at all.
            sending = asyncio.create_task(one.submit(submitted["next"]))
            await asyncio.sleep(0)
            kill()
            with contextlib.suppress(BaseException):
                await asyncio.wait_for(sending, 5)

    async def after(url: str) -> None:
        async with Client(url) as client:
            ask = Counting(client).ask
            one, two = Assistant(ask, worker="one"), Assistant(ask, worker="two")
            research_id, held = kept["research_id"], kept["held"]
            # What was accepted is there once; the same answer again is answered the same.
            again = await one.submit(kept["first"])
            assert again["ids"] == kept["submitted"]["ids"]
            other = await one.submit(kept["submitted"]["next"])
            assert other["kept"]
            # The one that was killed asks again, and gets the same task with the same passages.
            same = await two.next(research_id)
            assert same["task_id"] == held["task_id"]
            assert same.get("passages") == held.get("passages")
            brief, waiting = same, 0
            while not brief.get("done"):
                if "task_id" in brief:
                    brief = (await two.submit(brief))["next"]
                    continue
                brief, waiting = await one.next(research_id), waiting + 1
                if "task_id" in brief:
                    brief = (await one.submit(brief))["next"]
                if "task_id" not in brief and not brief.get("done"):
                    brief = await two.next(research_id)
                assert waiting < 30, brief

    with contextlib.suppress(ExceptionGroup), serving(snapshot, tmp_path) as server:
        url = f"http://127.0.0.1:{server.port}/mcp"
        asyncio.run(asyncio.wait_for(before(url, server.process.kill), 120))
    assert kept["held"]["role"] in {"generate", "review"}
    with serving(snapshot, tmp_path) as server:
        asyncio.run(asyncio.wait_for(after(f"http://127.0.0.1:{server.port}/mcp"), 240))
        told = server.ask("export_research", research_id=kept["research_id"])
    assert_counted_once(json.loads(told) if isinstance(told, str) else told)


def assert_counted_once(exported: dict[str, Any]) -> None:
    live = [one["id"] for one in exported["hypotheses"] if not one.get("superseded_by")]
    assert len(live) == len(set(live)) == 4
    reviewed = [
        one["hypothesis_id"]
        for one in exported["reviews"]
        if one["hypothesis_id"] in live and not one.get("superseded_by")
    ]
    assert sorted(reviewed) == sorted(live)
    matches = [one for one in exported["matches"] if {one["first"], one["second"]} <= set(live)]
    pairs = [frozenset((one["first"], one["second"])) for one in matches]
    assert pairs
    assert len(pairs) == len(set(pairs))


@pytest.mark.promise("S11")
def test_instructions_and_the_prompt_lead_to_the_tasks_at_every_door(
    snapshot: Path, tmp_path: Path
) -> None:
    async def look(client: Client, *, has_prompts: bool) -> None:
        told = client.instructions or ""
        assert told.index("next_research_task") < told.index("submit_research_task")
        if not has_prompts:
            return
        assert "work-on-research" in {one.name for one in (await client.list_prompts()).prompts}
        started = await Counting(client).ask("start_research", goal=GOAL, hypothesis_count=2)
        research_id = started["research_id"]
        shown = await client.get_prompt("work-on-research", {"research_id": research_id})
        text = json.dumps(shown.model_dump(mode="json"))
        for word in (research_id, "next_research_task", "submit_research_task", "find_passages"):
            assert word in text

    async def over_http(port: int) -> None:
        # /mcp offers no prompts by its specification.
        for door, has_prompts in (("/mcp", False), ("/desk/mcp", True), ("/research/mcp", True)):
            async with Client(f"http://127.0.0.1:{port}{door}") as client:
                await look(client, has_prompts=has_prompts)

    async def over_stdio() -> None:
        async with at_door("stdio", snapshot, tmp_path / "other") as client:
            await look(client, has_prompts=True)

    with serving(snapshot, tmp_path / "home") as server:
        asyncio.run(asyncio.wait_for(over_http(server.port), 120))
    asyncio.run(asyncio.wait_for(over_stdio(), 120))
