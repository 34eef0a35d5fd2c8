"""The research room's store in a real PostgreSQL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.core.caller import Caller
from carrel.policy.scopes import ALL_SCOPES
from carrel.wiring.desk import open_desk
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.assistant import Assistant
from tests.rooms.research.house import Asker, build_snapshot, finished_project, settings_for
from tests.rooms.research.test_assistant import asking
from tests.stores.contracts.research import ResearchMemoryContract, Story

pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")

from carrel.stores.postgres.database import PostgresDatabase
from carrel.stores.sql.research import SqlResearch


class TestPostgresResearch(ResearchMemoryContract):
    @pytest.fixture
    def told(self, postgres_url: str) -> Callable[[Story], None]:
        def tell(story: Story) -> None:
            async def run() -> None:
                store = SqlResearch(
                    PostgresDatabase(postgres_url, "research", SqlResearch.schema_steps)
                )
                try:
                    await story(store)
                finally:
                    await store.close()

            asyncio.run(run())

        return tell


@pytest.mark.promise("S2")
def test_two_servers_share_the_work_of_one_database_and_nothing_is_done_twice(
    postgres_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("shared")
    snapshot = build_snapshot(folder)

    async def run() -> None:
        chosen = {"database": {"url": postgres_url}, "research": {"lease_seconds": 1.0}}
        first, second = (
            open_desk(settings_for(snapshot, folder / name, **chosen)) for name in ("one", "two")
        )
        async with (
            asyncio.timeout(60),
            first.session(resumes_jobs=True),
            second.session(resumes_jobs=True),
        ):
            one, two = (Asker(desk, Caller("ada", ALL_SCOPES)) for desk in (first, second))
            started = await asyncio.gather(
                *(one.ask("start_research", goal=GOAL, hypothesis_count=3) for _ in range(2))
            )
            await asyncio.gather(
                *(
                    two.ask("generate_hypotheses", research_id=each.research_id, count=1)
                    for each in started
                )
            )
            for each in started:
                assert (await two.finished(each.research_id)).status == "completed"
                await asyncio.gather(
                    *(
                        asker.ask("rank_hypotheses", research_id=each.research_id)
                        for asker in (one, two)
                    )
                )
                whole = json.loads(
                    (await two.ask("export_research", research_id=each.research_id)).body
                )
                assert [match["number"] for match in whole["matches"]] == list(
                    range(len(whole["matches"]))
                )
                ratings = [made["standing"]["elo_score"] for made in whole["hypotheses"]]
                assert sum(ratings) == pytest.approx(1000.0 * len(ratings))

    asyncio.run(run())


@pytest.mark.promise("S11")
def test_two_servers_on_one_database_hand_out_a_task_once(
    postgres_url: str, tmp_path: Path
) -> None:
    snapshot = build_snapshot(tmp_path / "corpus")

    async def run() -> None:
        chosen = {"database": {"url": postgres_url}}
        desks = [open_desk(settings_for(snapshot, tmp_path / name, **chosen)) for name in "ab"]
        async with asyncio.timeout(60), desks[0].session(), desks[1].session():
            askers = [Asker(desk, Caller("ada", ALL_SCOPES)) for desk in desks]
            clients = [
                Assistant(asking(asker, name))
                for asker, name in zip(askers, ("one", "two"), strict=True)
            ]
            research_id = await finished_project(askers[0], 5)
            ends = await asyncio.gather(*(one.next(research_id) for one in clients))
            while not all("done" in end for end in ends):
                ends = await asyncio.gather(
                    *(
                        one.submit(end) if "task_id" in end else one.next(research_id)
                        for one, end in zip(clients, ends, strict=True)
                    )
                )
                ends = [end.get("next", end) for end in ends]
                if all("waiting" in end for end in ends):
                    break
            handed = [brief["task_id"] for one in clients for brief in one.briefs]
            assert len(set(handed)) == len(handed)

    asyncio.run(run())
