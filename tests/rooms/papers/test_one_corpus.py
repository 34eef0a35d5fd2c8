"""The corpus is opened once, whichever rooms read it, and replaced for all of them at once."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest

from carrel.core.answer import split_explanation
from carrel.core.caller import LOCAL_USER, Call, Caller, Visit
from carrel.policy.scopes import ALL_SCOPES
from carrel.settings import read_settings
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot, SnapshotVersion
from carrel.wiring.desk import Desk, open_desk
from tests.rooms.papers.conftest import CORPUS, RESIDUAL
from tests.rooms.papers.snapshots import write_snapshot

CALL = Call(Caller(LOCAL_USER, frozenset(ALL_SCOPES)), Visit("test", "1"))


def count_open(kind: type[object]) -> int:
    gc.collect()
    return sum(type(found) is kind for found in gc.get_objects())


async def ask(desk: Desk, name: str, **arguments: object) -> object:
    operation = desk.catalogue.operations[name]
    return await operation.run(operation.question.model_validate(arguments), CALL)


async def titles(desk: Desk, query: str) -> list[str]:
    hits, _ = split_explanation(await ask(desk, "search_papers", query=query))
    assert isinstance(hits, list)
    return [hit.title for hit in hits]


@pytest.mark.promise("P8")
def test_all_rooms_read_one_snapshot_and_see_a_new_one_together(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    settings = read_settings(
        environment={
            "CARREL_HOME": str(tmp_path / "home"),
            "CARREL_PAPERS_SNAPSHOT": str(snapshot),
            "CARREL_AUDIT_ENABLED": "false",
        }
    )
    before = count_open(PaperSnapshot), count_open(SnapshotVersion)

    async def use_every_room() -> None:
        desk = open_desk(settings)
        try:
            assert RESIDUAL.title in await titles(desk, "residual")
            await ask(desk, "elasticsearch", index="papers", query={"query": {"match_all": {}}})
            await ask(desk, "add_references", input=[RESIDUAL.paper_id])
            assert count_open(PaperSnapshot) == before[0] + 1
            assert count_open(SnapshotVersion) == before[1] + 1
            write_snapshot(tmp_path, [paper for paper in CORPUS if paper is not RESIDUAL])
            assert RESIDUAL.title not in await titles(desk, "residual")
            assert count_open(SnapshotVersion) == before[1] + 1
        finally:
            await desk.close()

    asyncio.run(use_every_room())
    assert count_open(SnapshotVersion) == before[1]
