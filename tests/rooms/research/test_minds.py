"""The three minds of a project: the nine specified tools answer in all of them, labelled; and work
of assistants in two projects at once, and in one whose run goes on beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import NotFoundError
from tests.rooms.research.assistant import Assistant, idea
from tests.rooms.research.house import (
    Asker,
    build_snapshot,
    finished_project,
    other,
    settings_for,
    visit,
)
from tests.rooms.research.model_server import Script, hypothesis, model_server
from tests.rooms.research.test_assistant import asking

pytestmark = pytest.mark.promise("S11")


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_snapshot(tmp_path_factory.mktemp("corpus"))


@pytest.fixture
def script() -> Iterator[Script]:
    with model_server() as script:
        yield script


async def ask_nine(asker: Asker, research_id: str, mind: str) -> None:
    """Every specified tool, in the order in which a caller would use them."""
    assert research_id in {row.id for row in await asker.ask("list_research_projects")}
    status = await asker.ask("get_research_status", research_id=research_id)
    assert (status.research_id, status.mind) == (research_id, mind)
    (made,) = await asker.ask("generate_hypotheses", research_id=research_id, count=1)
    assert made.title
    rows = await asker.ask("list_hypotheses", research_id=research_id)
    assert made.id in {row.id for row in rows}
    review = await asker.ask("review_hypothesis", hypothesis_id=made.id, review_type="initial")
    assert review.hypothesis_id == made.id
    ranked = await asker.ask("rank_hypotheses", research_id=research_id)
    assert made.id in {row.id for row in ranked}
    child = await asker.ask("evolve_hypothesis", hypothesis_id=made.id, strategy="simplify")
    assert child.parents == [made.id]
    results = await asker.ask("get_results", research_id=research_id)
    assert (results.mind, results.research_id) == (mind, research_id)
    assert results.top_hypotheses[0].title in results.markdown


@pytest.mark.parametrize("mind", ["discovery", "assistant", "model"])
def test_the_nine_tools_answer_with_every_mind_and_say_which(
    snapshot: Path, tmp_path: Path, script: Script, mind: str
) -> None:
    model = {"provider": "openai", "name": "scripted", "url": script.url, "api_key": "key"}
    more: dict[str, Any] = {"model": model} if mind == "model" else {}
    script.answers["WrittenHypothesis"] = lambda asked: hypothesis(asked, len(script.asked))

    async def story(asker: Asker) -> None:
        client = Assistant(asking(asker))
        research_id = await finished_project(asker, 3)
        if mind != "assistant":
            await ask_nine(asker, research_id, mind)
            return
        # The tools are asked while a task is out: it is not lost, and what they made is worked on.
        brief = await client.next(research_id)
        await ask_nine(asker, research_id, mind)
        assert (await client.next(research_id))["task_id"] == brief["task_id"]
        assert (await client.submit(brief))["kept"]
        assert (await client.work(research_id))["done"]
        rows = await asker.ask("list_hypotheses", research_id=research_id)
        live = [row for row in rows if row.place != "superseded"]
        assert {row.place for row in live} == {"ranked"}
        assert min(row.review_count for row in live) > 0
        origins = {row.origin.split()[0] for row in live}
        assert "assistant" in origins
        assert len(origins) > 1

    visit(settings_for(snapshot, tmp_path, **more), story)


def test_whoever_never_asks_for_work_has_a_project_of_discovery(
    snapshot: Path, tmp_path: Path
) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished_project(asker, 3)
        status = await asker.ask("get_research_status", research_id=research_id)
        results = await asker.ask("get_results", research_id=research_id)
        assert (status.mind, results.mind) == ("discovery", "discovery")
        assert all(not one.origin.startswith("assistant") for one in results.top_hypotheses)
        exported = json.loads((await asker.ask("export_research", research_id=research_id)).body)
        assert exported["project"]["mind"] == "discovery"

    visit(settings_for(snapshot, tmp_path), story)


def test_one_worker_has_a_task_in_each_of_two_projects_and_cites_in_each_its_own(
    snapshot: Path, tmp_path: Path
) -> None:
    async def story(asker: Asker) -> None:
        client = Assistant(asking(asker))
        one, two = await finished_project(asker, 2), await finished_project(asker, 2)
        first, second = await client.next(one), await client.next(two)
        assert first["task_id"] != second["task_id"]
        # What a search for one task found is not citable in the other.
        hits = await asker.ask(
            "find_passages", query="marine oil ginger", limit=30, task_id=first["task_id"]
        )
        handed = {passage["id"] for passage in second["passages"]}
        found = next(hit.passage_id for hit in hits if hit.passage_id not in handed)
        ideas = {"hypotheses": [{**idea(first, 0), "citations": [found]}]}
        assert not (await client.submit(second, ideas))["kept"]
        assert (await client.submit(first, ideas))["kept"]
        assert (await client.submit(second))["kept"]
        with pytest.raises(NotFoundError):
            stranger = other(asker)
            await stranger.ask("find_passages", query="oil", task_id=second["task_id"])
        for research_id in (one, two):
            assert (await client.work(research_id))["done"]

    visit(settings_for(snapshot, tmp_path), story)


def test_a_search_for_a_task_of_a_deleted_project_is_refused(
    snapshot: Path, tmp_path: Path
) -> None:
    async def story(asker: Asker) -> None:
        client = Assistant(asking(asker))
        research_id = await finished_project(asker, 2)
        brief = await client.next(research_id)
        await asker.ask("delete_research", research_id=research_id, force=True)
        for tool, more in (
            ("find_passages", {"query": "oil"}),
            ("submit_research_task", {"answer": {}}),
        ):
            with pytest.raises(NotFoundError):
                await asker.ask(tool, task_id=brief["task_id"], **more)
        with pytest.raises(NotFoundError):
            await client.next(research_id)

    visit(settings_for(snapshot, tmp_path), story)
