"""Passages of a corpus that we built: what the index finds is what the text says, word for word."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from carrel.core.answer import split_explanation
from carrel.core.caller import LOCAL_USER, Caller, Visit
from carrel.policy.scopes import ALL_SCOPES
from carrel.rooms.papers.building.models import BuildOptions
from carrel.settings import read_settings
from carrel.wiring.desk import Desk, open_desk
from carrel.wiring.papers_build import build_papers
from tests.rooms.papers.test_passages import CELLS, SLEEP

pytestmark = pytest.mark.promise("P13")

ABSTRACT_ONLY = (
    '{"title": "Hibernation", "abstract": "Bats hang in caves all winter.", "year": 2011}'
)


async def ask(desk: Desk, name: str, **arguments: object) -> Any:
    operation = desk.catalogue.operations[name]
    caller = Caller(LOCAL_USER, frozenset(ALL_SCOPES))
    return split_explanation(
        await desk.gate.call(operation, arguments, caller, Visit("test", "1"))
    )[0]


def test_found_read_and_located_passages_are_slices_of_the_stored_text(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for paper in (SLEEP, CELLS):
        front = f'---\ntitle: "{paper.title}"\ndoi: {paper.doi}\nyear: {paper.year}\n---\n'
        (source / f"{paper.paper_id}.md").write_text(front + str(paper.source), encoding="utf-8")
    (source / "more.jsonl").write_text(ABSTRACT_ONLY, encoding="utf-8")
    home = tmp_path / "home"
    build_papers([source], home / "papers", BuildOptions(workers=1))
    settings = read_settings(
        environment={"CARREL_HOME": str(home), "CARREL_AUDIT_ENABLED": "false"}
    )

    async def story() -> None:
        async with open_desk(settings).session() as desk:
            sleep = (await ask(desk, "get_paper_metadata", paper_id="10.1000/sleep.1")).paper_id
            seen = 0
            for query in ("shrews weighed dawn", "ribosome membrane", "cortex", "bats winter"):
                for hit in await ask(desk, "find_passages", query=query, limit=20):
                    read = await ask(desk, "read_passage", passage_id=hit.passage_id)
                    assert [each.text for each in read.passages] == [hit.text]
                    if hit.title != "Hibernation":
                        text = (await ask(desk, "get_paper_source", paper_id=hit.paper_id)).body
                        assert text[hit.start : hit.end] == hit.text
                    seen += 1
            assert seen > 20
            first = (await ask(desk, "find_passages", query="shrews weighed dawn"))[0]
            assert (first.paper_id, first.section, first.page) == (sleep, "Methods > Animals", 2)
            within = await ask(desk, "find_passages", query="shrews", within="10.1000/cells.2")
            assert {hit.title for hit in within} == {CELLS.title}
            bats = (await ask(desk, "find_passages", query="bats caves"))[0]
            assert bats.text == "Bats hang in caves all winter."
            quote = "weighed every dawn with the efficient balance of the nor- thern station"
            place = (await ask(desk, "locate_quote", text=quote)).places[0]
            assert (place.paper_id, place.page, place.exactness) == (sleep, 2, "same words")
            (hit, *_) = await ask(desk, "search_papers", query="sleep of small mammals")
            assert (hit.paper_id, hit.doi) == (sleep, "10.1000/sleep.1")
            assert hit.total is None or hit.total >= 1

    asyncio.run(story())
