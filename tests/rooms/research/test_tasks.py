"""The tasks extension: work that outlasts its call, followed by clients that can follow it, and by
nobody else's.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.core.caller import Caller, Visit
from carrel.doors.mcp.dispatcher import Dispatcher
from carrel.policy.scopes import expand_scopes
from carrel.settings import Settings
from carrel.wiring.mcp import desk_endpoints
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import Asker, other, settings_for, visit
from tests.rooms.research.model_server import Asked, Script, hypothesis, model_server

EXTENSION = "io.modelcontextprotocol/tasks"


@pytest.fixture
def settings(snapshot: Path, tmp_path: Path) -> Settings:
    return settings_for(snapshot, tmp_path / "home", research={"task_after_seconds": 0})


class Client:
    """A client of 2026-07-28 at the research room's own dispatcher."""

    def __init__(
        self, asker: Asker, *, knows_tasks: bool = True, dispatcher: Dispatcher | None = None
    ) -> None:
        self._dispatcher = dispatcher or Dispatcher(
            desk_endpoints(asker.desk).room(asker.desk.catalogue.room("research")), asker.desk.gate
        )
        self._caller: Caller = asker.caller
        extensions: dict[str, Any] = {"extensions": {EXTENSION: {}}} if knows_tasks else {}
        self._meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": extensions,
        }

    async def send(self, method: str, *, is_modern: bool = True, **params: Any) -> Any:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": method,
            "params": {"_meta": self._meta, **params},
        }
        reply = await self._dispatcher.answer(
            message, self._caller, Visit("test", "request-1"), is_modern=is_modern
        )
        assert reply is not None
        return {**json.loads(reply.body), "status": reply.status}

    async def call(self, tool: str, **arguments: Any) -> Any:
        return (await self.send("tools/call", name=tool, arguments=arguments))["result"]

    async def settled(self, task_id: str) -> Any:
        while (seen := (await self.send("tasks/get", taskId=task_id))["result"])[
            "status"
        ] == "working":
            await asyncio.sleep(0.01)
        return seen

    async def project(self) -> str:
        return str(
            (await self.call("start_research", goal=GOAL, hypothesis_count=2))["structuredContent"][
                "research_id"
            ]
        )


@pytest.mark.promise("S1")
def test_a_client_that_has_not_said_it_knows_tasks_is_refused_and_never_handed_one(
    settings: Settings,
) -> None:
    async def story(asker: Asker) -> None:
        client = Client(asker, knows_tasks=False)
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            refused = await client.send(method, taskId="job_1", inputResponses={})
            assert (refused["status"], refused["error"]["code"]) == (400, -32021)
            assert refused["error"]["data"]["requiredCapabilities"]["extensions"] == {EXTENSION: {}}
            assert (await client.send(method, is_modern=False, taskId="job_1"))["error"][
                "code"
            ] == -32601
        made = await client.call("generate_hypotheses", research_id=await client.project(), count=1)
        assert made["resultType"] == "complete"
        assert len(made["structuredContent"]["result"]) == 1

    visit(settings, story)


@pytest.mark.promise("S1")
def test_a_task_is_its_owners_and_whoever_may_do_the_work_may_follow_it(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        client = Client(asker)
        task = await client.call("generate_hypotheses", research_id=await client.project(), count=1)
        stranger = Client(other(asker))
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            unknown = await client.send(method, taskId="job_unknown", inputResponses={})
            refused = await stranger.send(method, taskId=task["taskId"], inputResponses={})
            assert unknown["error"]["code"] == refused["error"]["code"] == -32602
            assert (
                refused["error"]["message"].replace(task["taskId"], "job_unknown")
                == unknown["error"]["message"]
            )
            assert (await client.send(method, inputResponses={}))["error"]["code"] == -32602
        reader = Client(
            Asker(asker.desk, Caller("ada", expand_scopes(frozenset({"research:read"}))))
        )
        barred = await reader.send("tasks/get", taskId=task["taskId"])
        assert barred["status"] == 403
        assert (await client.settled(task["taskId"]))["status"] == "completed"

    visit(settings, story)


@pytest.mark.promise("S1")
def test_each_tool_that_lasts_is_followed_to_the_answer_it_would_have_given(
    settings: Settings,
) -> None:
    async def story(asker: Asker) -> None:
        client = Client(asker)
        research_id = await client.project()
        await asker.finished(research_id)
        task = await client.call("generate_hypotheses", research_id=research_id, count=1)
        assert (task["resultType"], task["status"], task["ttlMs"]) == ("task", "working", None)
        assert {
            "taskId",
            "createdAt",
            "lastUpdatedAt",
            "pollIntervalMs",
            "statusMessage",
            "_meta",
        } <= set(task)
        done = await client.settled(task["taskId"])
        assert (done["resultType"], done["status"]) == ("complete", "completed")
        rows = done["result"]["structuredContent"]["result"]
        assert len(rows) == 1
        assert json.loads(done["result"]["content"][0]["text"]) == rows
        subject = rows[0]["id"]
        asked = {
            "review_hypothesis": {"hypothesis_id": subject, "review_type": "initial"},
            "evolve_hypothesis": {"hypothesis_id": subject, "strategy": "simplify"},
            "rank_hypotheses": {"research_id": research_id},
        }
        answers = {}
        for tool, arguments in asked.items():
            task = await client.call(tool, **arguments)
            assert task["resultType"] == "task", tool
            answers[tool] = (await client.settled(task["taskId"]))["result"]["structuredContent"]
        assert answers["review_hypothesis"]["hypothesis_id"] == subject
        assert answers["evolve_hypothesis"]["parents"] == [subject]
        assert len(answers["rank_hypotheses"]["result"]) >= 3
        told = await client.send(
            "tasks/update",
            taskId=task["taskId"],
            inputResponses={"never-asked": {"action": "accept"}},
        )
        assert told["result"]["resultType"] == "complete"
        # A task that has ended stays ended.
        assert (await client.send("tasks/cancel", taskId=task["taskId"]))["result"][
            "resultType"
        ] == "complete"
        assert (await client.settled(task["taskId"]))["status"] == "completed"

    visit(settings, story)


@pytest.mark.promise("S1")
def test_what_stops_the_work_is_told_as_the_tool_would_have_told_it(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        client = Client(asker)
        earlier = json.dumps(
            [{"id": "h1", "summary": "Zeppelin upholstery lasts longer than it looks."}]
        )
        imported = await client.call(
            "import_hypotheses", hypotheses=earlier, goal="Find novel uses for zeppelin upholstery"
        )
        research_id = imported["structuredContent"]["research_id"]
        task = await client.call("generate_hypotheses", research_id=research_id, count=1)
        ended = await client.settled(task["taskId"])
        assert ended["status"] == "completed"
        assert ended["result"]["isError"] is True
        assert ended["result"]["structuredContent"]["error"]["code"] == "goal_not_in_corpus"
        assert ended["statusMessage"] == ended["result"]["structuredContent"]["error"]["message"]

    visit(settings, story)


@pytest.mark.promise("S9")
def test_a_task_outlives_the_server_that_handed_it_out(settings: Settings) -> None:
    kept: list[str] = []

    async def before(asker: Asker) -> None:
        client = Client(asker)
        task = await client.call("generate_hypotheses", research_id=await client.project(), count=1)
        kept.append(task["taskId"])

    async def after(asker: Asker) -> None:
        client = Client(
            asker,
            dispatcher=Dispatcher(
                desk_endpoints(asker.desk).common(has_everything=True), asker.desk.gate
            ),
        )
        done = await client.settled(kept[0])
        assert len(done["result"]["structuredContent"]["result"]) == 1

    visit(settings, before)
    visit(settings, after, resumes_jobs=True)


@pytest.fixture
def slow_model() -> Iterator[tuple[Script, threading.Event]]:
    may_answer = threading.Event()

    def written(asked: Asked) -> dict[str, Any]:
        may_answer.wait(30)
        return {"hypotheses": [hypothesis(asked)]}

    with model_server() as script:
        script.answers["WrittenHypotheses"] = written
        try:
            yield script, may_answer
        finally:
            may_answer.set()


@pytest.mark.promise("S1")
def test_a_cancelled_task_says_so_and_makes_nothing(
    snapshot: Path, tmp_path: Path, slow_model: tuple[Script, threading.Event]
) -> None:
    script, may_answer = slow_model
    model = {"provider": "openai", "name": "scripted", "url": script.url, "api_key": "key"}
    settings = settings_for(
        snapshot, tmp_path / "home", research={"task_after_seconds": 0}, model=model
    )

    async def story(asker: Asker) -> None:
        client = Client(asker)
        research_id = await client.project()
        task = await client.call("generate_hypotheses", research_id=research_id, count=1)
        assert (await client.send("tasks/get", taskId=task["taskId"]))["result"][
            "status"
        ] == "working"
        paused = await client.call("pause_research", research_id=research_id)
        assert paused["structuredContent"]["status"] == "paused"
        seen = (await client.send("tasks/get", taskId=task["taskId"]))["result"]
        assert seen["status"] == "working"
        assert "resume_research" in seen["statusMessage"]
        assert (await client.send("tasks/cancel", taskId=task["taskId"]))["result"][
            "resultType"
        ] == "complete"
        assert (await client.send("tasks/get", taskId=task["taskId"]))["result"][
            "status"
        ] == "cancelled"
        may_answer.set()
        assert (await client.call("list_hypotheses", research_id=research_id))["structuredContent"][
            "result"
        ] == []

    visit(settings, story)


@pytest.mark.promise("S1")
def test_tasks_are_offered_where_there_is_lasting_work(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        desk = asker.desk
        for endpoint, is_offered in (
            (desk_endpoints(desk).room(desk.catalogue.room("research")), True),
            (desk_endpoints(desk).common(has_everything=True), True),
            (desk_endpoints(desk).common(has_everything=False), False),
            (desk_endpoints(desk).room(desk.catalogue.room("papers")), True),
        ):
            client = Client(asker, dispatcher=Dispatcher(endpoint, desk.gate))
            capabilities = (await client.send("server/discover"))["result"]["capabilities"]
            assert (EXTENSION in capabilities.get("extensions", {})) is is_offered
            if not is_offered:
                assert (await client.send("tasks/get", taskId="job_1"))["error"]["code"] == -32601

    visit(settings, story)


@pytest.mark.promise("S1")
def test_a_research_job_is_followed_by_get_job_in_the_same_form(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        client = Client(asker)
        task = await client.call("generate_hypotheses", research_id=await client.project(), count=1)
        job = (await client.call("get_job", job_id=task["taskId"], wait_seconds=60))[
            "structuredContent"
        ]
        assert (job["state"], job["operation"]) == ("completed", "generate_hypotheses")
        assert len(job["result"]) == 1
        assert {"message", "started_at", "updated_at", "done", "total"} <= set(job)
        ended = (await client.call("cancel_job", job_id=task["taskId"]))["structuredContent"]
        assert ended["state"] == "completed"

    visit(settings, story)
