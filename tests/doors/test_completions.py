"""Completions: suggested values for arguments of prompts and addresses, in both eras, through the
gate.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import fastmcp
import mcp
import pytest
from mcp.client.stdio import StdioServerParameters
from mcp_types import PromptReference, ResourceTemplateReference

from carrel.core.caller import Call, Caller, Visit
from carrel.core.completion import CompletionRequest, complete_titled
from carrel.policy.limits import Rate
from carrel.settings import Settings
from carrel.wiring.desk import Desk, open_desk
from carrel.wiring.mcp import fastmcp_app
from carrel.wiring.papers_build import with_demo
from tests.doors.house import HANDSHAKES, MODERN, Answer, House, TokenTable, build_house
from tests.journeys.doors import ENVIRONMENT, PROGRAM, serving
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import build_snapshot, settings_for

pytestmark = pytest.mark.promise("D15")

ERAS = (*HANDSHAKES, MODERN)
THING = {"type": "ref/resource", "uri": "sample://things/{name}"}
PLAN = {"type": "ref/prompt", "name": "plan"}


def complete(
    house: House, era: str, params: dict[str, Any], path: str = "/desk/mcp", **headers: str
) -> Answer:
    return house.ask(era, "completion/complete", params, path, **headers)


def ask(reference: dict[str, str], name: str, value: str, **given: str) -> dict[str, Any]:
    context = {"context": {"arguments": given}} if given else {}
    return {"ref": reference, "argument": {"name": name, "value": value}, **context}


# Refusals.


def test_who_may_not_read_is_told_nothing_and_it_is_written_down() -> None:
    house = build_house(identity=TokenTable({"writer": ["knowledge:write"]}))
    answer = complete(house, MODERN, ask(THING, "name", "t"), authorization="Bearer writer")
    assert (answer.status, answer.json["error"]["message"]) == (403, "papers:read scope required")
    assert [record.action for record in house.audit.records if record.result == "failure"] == [
        "complete:thing"
    ]
    assert complete(house, MODERN, ask(THING, "name", "t")).status == 401


def test_typing_has_a_limit() -> None:
    house = build_house(
        identity=TokenTable({"reader": ["papers:read"]}), rate=Rate(per_minute=0.01, burst=1.0)
    )
    statuses = [
        complete(house, MODERN, ask(THING, "name", "t"), authorization="Bearer reader").status
        for _ in range(12)
    ]
    assert statuses[:5] == [200] * 5
    assert statuses[-1] == 429


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"ref": THING},
        {"ref": "thing", "argument": {"name": "name", "value": ""}},
        {"ref": {"type": "ref/tool", "name": "say"}, "argument": {"name": "text", "value": ""}},
        {
            "ref": {"type": ["ref/prompt"], "name": "plan"},
            "argument": {"name": "topic", "value": ""},
        },
        {"ref": {"type": "ref/prompt"}, "argument": {"name": "topic", "value": ""}},
        ask({"type": "ref/prompt", "name": "nothing"}, "topic", ""),
        ask({"type": "ref/resource", "uri": "sample://nothing/{name}"}, "name", ""),
        ask(PLAN, "nothing", ""),
        {"ref": PLAN, "argument": {"name": "topic", "value": 7}},
        {"ref": PLAN, "argument": {"name": "topic", "value": "x" * 1001}},
        {**ask(PLAN, "topic", ""), "context": 7},
        {**ask(PLAN, "topic", ""), "context": {"arguments": {"mood": 7}}},
    ],
)
def test_a_request_that_does_not_fit_is_refused(
    house: House, era: str, params: dict[str, Any]
) -> None:
    answer = complete(house, era, params)
    assert (answer.status, answer.json["error"]["code"]) == (400 if era == MODERN else 200, -32602)


@pytest.mark.parametrize("era", ERAS)
def test_the_specified_door_does_not_have_them(house: House, era: str) -> None:
    assert complete(house, era, ask(THING, "name", "t"), "/mcp").json["error"]["code"] == -32601


def test_what_fails_inside_is_said_without_its_secrets(house: House) -> None:
    broken = complete(house, MODERN, ask(THING, "name", "broken"))
    assert broken.json["error"]["code"] == -32603
    assert b"cupboard" not in broken.body
    far = complete(house, MODERN, ask(THING, "name", "far")).json["error"]
    assert far["data"]["error"]["code"] == "unavailable"


# What is answered.


@pytest.mark.parametrize("era", ERAS)
def test_values_come_with_how_many_there_are(house: House, era: str) -> None:
    result = complete(house, era, ask(THING, "name", "THING-1")).json["result"]
    assert result["completion"]["values"][:2] == ["thing-100", "thing-101"]
    assert (result["completion"]["total"], result["completion"]["hasMore"]) == (100, False)
    assert (result.get("resultType") == "complete") is (era == MODERN)
    every = complete(house, era, ask(THING, "name", "")).json["result"]["completion"]
    assert (len(every["values"]), every["total"], every["hasMore"]) == (100, 250, True)
    assert complete(house, era, ask(THING, "name", "x")).json["result"]["completion"] == {
        "values": [],
        "total": 0,
        "hasMore": False,
    }


@pytest.mark.parametrize("era", ERAS)
def test_prompts_complete_too_and_see_what_was_given(house: House, era: str) -> None:
    assert complete(house, era, ask(PLAN, "topic", "ba")).json["result"]["completion"][
        "values"
    ] == ["batteries", "Bacteria"]
    found = complete(house, era, ask(PLAN, "topic", "g", mood="good", other="x"))
    assert found.json["result"]["completion"]["values"] == ["good mood"]
    greeting = {"type": "ref/resource", "uri": "sample://greeting"}
    assert complete(house, era, ask(greeting, "name", "")).json["error"]["code"] == -32602


def test_they_are_advertised_where_they_are_and_since_they_have_a_name(house: House) -> None:
    def capabilities(path: str, era: str) -> dict[str, Any]:
        if era == MODERN:
            answer = house.ask(MODERN, "server/discover", {}, path)
        else:
            answer = house.ask(
                era,
                "initialize",
                {"protocolVersion": era, "capabilities": {}, "clientInfo": {}},
                path,
            )
        found: dict[str, Any] = answer.json["result"]["capabilities"]
        return found

    for era in ERAS:
        assert ("completions" in capabilities("/desk/mcp", era)) is (era != "2024-11-05")
        assert set(capabilities("/mcp", era)) == {"tools", "resources"}


def test_ids_come_before_titles() -> None:
    named = [
        ("smith2020", "On batteries"),
        ("bat1", "Cells"),
        ("lee", "Good Batteries"),
        ("x", "Combat"),
    ]
    assert complete_titled(named, "Bat").values == ("bat1", "smith2020", "lee")


# The rooms, by official clients.


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return with_demo(Settings(home=tmp_path_factory.mktemp("home")))


@pytest.fixture(scope="module")
def port(settings: Settings) -> Iterator[int]:
    with serving(settings) as listening:
        yield listening


Talk = Callable[[Any], Coroutine[Any, Any, None]]


@asynccontextmanager
async def client_at(name: str, port: int, settings: Settings) -> AsyncIterator[Any]:
    url = f"http://127.0.0.1:{port}/desk/mcp"
    environment = {**ENVIRONMENT, **os.environ}
    options = [
        "mcp",
        "--home",
        str(settings.home),
        "--rooms",
        "papers",
        "--snapshot",
        str(settings.papers.snapshot),
    ]
    client: Any
    match name:
        case "sdk-handshake":
            client = mcp.Client(url, mode="legacy")
        case "sdk-stateless":
            client = mcp.Client(url)
        case "fastmcp-handshake":
            client = fastmcp.Client(url, mode="legacy")
        case "fastmcp-stateless":
            client = fastmcp.Client(url)
        case "fastmcp-memory":
            client = fastmcp.Client(fastmcp_app(settings))
        case _:
            command = StdioServerParameters(
                command=sys.executable, args=[*PROGRAM[1:], *options], env=environment
            )
            client = mcp.Client(command)
    async with client:
        yield client


@pytest.mark.parametrize(
    "name",
    [
        "sdk-handshake",
        "sdk-stateless",
        "fastmcp-handshake",
        "fastmcp-stateless",
        "fastmcp-memory",
        "sdk-stdio",
    ],
)
def test_official_clients_complete_a_paper_and_its_template(
    name: str, port: int, settings: Settings
) -> None:
    async def values(
        client: Any, reference: Any, argument: str, value: str, given: dict[str, str] | None = None
    ) -> list[str]:
        if isinstance(client, mcp.Client):
            answer = await client.complete(reference, {"name": argument, "value": value}, given)
            return list(answer.completion.values)
        found = await client.complete(reference, {"name": argument, "value": value}, given)
        return list(found.values)

    async def talk() -> None:
        async with client_at(name, port, settings) as client:
            address = ResourceTemplateReference(
                type="ref/resource", uri="paper://{paper_id}/summary/{template}"
            )
            papers = await values(client, address, "paper_id", "")
            assert papers
            assert papers[0] in await values(client, address, "paper_id", papers[0][:4])
            templates = await values(client, address, "template", "", {"paper_id": papers[0]})
            assert templates
            assert await values(client, address, "template", "", {"paper_id": "nobody"}) == []
            assert await values(client, address, "template", "") == []
            if name != "sdk-stdio":
                prompt = PromptReference(type="ref/prompt", name="hypothesis-analysis")
                assert await values(client, prompt, "hypothesis_id", "") == []

    asyncio.run(talk())


def test_only_ones_own_projects_and_references_are_suggested(tmp_path: Path) -> None:
    snapshot = build_snapshot(tmp_path / "corpus")
    desk = open_desk(
        settings_for(snapshot, tmp_path / "home", rooms=("papers", "references", "research"))
    )
    asyncio.run(_own_things(desk))


async def _own_things(desk: Desk) -> None:
    scopes = desk.catalogue.scopes
    visit = Visit("memory", "test")
    me, other = Caller("me", scopes), Caller("other", scopes)

    async def suggested(uri: str, argument: str, value: str, caller: Caller) -> tuple[str, ...]:
        resource = desk.catalogue.resources[uri]
        assert resource.complete is not None
        return (
            await resource.complete(CompletionRequest(argument, value, {}), Call(caller, visit))
        ).values

    async with desk.session():
        operations = desk.catalogue.operations
        item = "@article{smith2020, title={Aged Batteries}, author={Smith, Ann}, year={2020}}"
        added = await desk.gate.call(operations["add_references"], {"input": item}, me, visit)
        (kept,) = added.added
        goal = {"goal": GOAL, "hypothesis_count": 1}
        started = await desk.gate.call(operations["start_research"], goal, me, visit)
        hypothesis = {
            "research_id": started.research_id,
            "title": "Fish oil warms cold fingers",
            "summary": "Fish oil thins the blood, and thin blood reaches the fingers.",
            "rationale": "What lowers viscosity improves the flow through small vessels.",
        }
        await desk.gate.call(operations["submit_hypothesis"], hypothesis, me, visit)
        assert await suggested("library://reference/{id}", "id", "batt", me) == (kept.id,)
        assert await suggested("library://reference/{id}", "id", "", other) == ()
        assert "apa" in await suggested("library://styles/{words}", "words", "apa", me)
        assert await suggested("research://projects/{project_id}", "project_id", "therap", me) == (
            started.research_id,
        )
        assert await suggested("research://projects/{project_id}", "project_id", "", other) == ()
        assert len(await suggested("hypothesis://{hypothesis_id}", "hypothesis_id", "", me)) >= 1
        assert await suggested("hypothesis://{hypothesis_id}", "hypothesis_id", "", other) == ()
