"""Several workers at once who repeat, fail, fall silent and answer late: nothing is lost, nothing
counted twice, and the work comes to its end.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.rooms.research.assistant import Assistant, answer
from tests.rooms.research.house import Asker, build_snapshot, finished_project, settings_for, visit
from tests.rooms.research.test_assistant import asking, expire_leases

pytestmark = [pytest.mark.promise("S11"), pytest.mark.promise("S2")]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_snapshot(tmp_path_factory.mktemp("corpus"))


async def do_something(client: Assistant, research_id: str, random: Random) -> dict[str, Any]:
    """One of the things that clients do; the last answer about the project."""
    brief = await client.next(research_id)
    if "task_id" not in brief:
        return brief
    match random.choice(["good", "good", "twice", "faulty", "silent", "late"]):
        case "good":
            return await client.submit(brief)
        case "twice":
            # Both at once, as a client does that lost its connection.
            one, two = await asyncio.gather(client.submit(brief), client.submit(brief))
            assert one["kept"] == two["kept"]
            assert one.get("ids") == two.get("ids")
            return one
        case "faulty":
            return await client.submit(brief, {"hypotheses": 3})
        case "late":
            client.briefs.append(brief)
            return brief
    return brief


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_crowd_of_unreliable_workers_does_every_piece_of_work_once(
    snapshot: Path, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)

    async def story(asker: Asker) -> None:
        clients = [Assistant(asking(asker, name)) for name in ("one", "two", "three")]
        research_id = await finished_project(asker, 4)
        for turn in range(80):
            told = await asyncio.gather(
                *(do_something(client, research_id, random) for client in clients)
            )
            if any(one.get("done") for one in told):
                break
            if turn % 4 == 3:
                # Hours later: whoever was silent has lost the lease, and may still answer.
                expire_leases(tmp_path)
                for client in clients:
                    for brief in client.briefs[-1:]:
                        await client.submit(brief, answer(brief))
        end = await clients[0].work(research_id)
        assert end["done"], end
        exported = json.loads((await asker.ask("export_research", research_id=research_id)).body)
        check(exported)

    visit(settings_for(snapshot, tmp_path), story)


def check(exported: dict[str, Any]) -> None:
    live = {one["id"] for one in exported["hypotheses"] if not one.get("superseded_by")}
    titles = Counter(one["draft"]["title"] for one in exported["hypotheses"])
    assert max(titles.values()) == 1
    reviews = Counter(
        one["hypothesis_id"]
        for one in exported["reviews"]
        if one["hypothesis_id"] in live and not one.get("superseded_by")
    )
    assert set(reviews) == live
    assert set(reviews.values()) == {1}
    pairs = Counter(
        frozenset((one["first"], one["second"]))
        for one in exported["matches"]
        if {one["first"], one["second"]} <= live
    )
    assert max(pairs.values()) == 1
    assert {name for pair in pairs for name in pair} == live
    assert sum(one["draft"]["origin"].startswith("assistant") for one in exported["hypotheses"]) > 3
