"""References and citations lead to papers of the corpus: their text, their pages, their names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from carrel.core.caller import LOCAL_USER, Call, Caller, Visit
from carrel.core.errors import CarrelError
from carrel.policy.scopes import ALL_SCOPES
from carrel.rooms.references.cited_items import CitedWork, parse_cited
from carrel.rooms.references.errors import FullTextNotAvailableError
from carrel.settings import read_settings
from carrel.wiring.desk import Desk, open_desk
from tests.rooms.papers.snapshots import SamplePaper, write_snapshot

pytestmark = pytest.mark.promise("P13")

SLEEP = SamplePaper(
    title="Sleep of small mammals",
    authors=("Ada Doe",),
    year="2020",
    venue="J Sleep",
    doi="10.1000/sleep.1",
    source="<!-- page 1 -->\n\nShrews wake.\n\n<!-- page 7 -->\n\nShrews sleep for hours.\n",
)
BARE = SamplePaper(title="Without text", authors=("Ben Roe",), year="2018", doi="10.1000/bare.2")
BIBTEX = """
@article{doe2020, title={Sleep of small mammals}, author={Doe, Ada}, year={2020},
 journal={J Sleep}, doi={10.1000/SLEEP.1}}
@book{roe1999, title={Snow}, author={Roe, Ben}, year={1999}}
@article{bare, title={Without text}, author={Roe, Ben}, year={2018}, doi={10.1000/bare.2}}
"""


def at_desk(tmp_path: Path, ask: Callable[[Ask], Coroutine[Any, Any, None]]) -> None:
    snapshot = write_snapshot(tmp_path, (SLEEP, BARE))
    settings = read_settings(
        environment={
            "CARREL_HOME": str(tmp_path / "home"),
            "CARREL_PAPERS_SNAPSHOT": str(snapshot),
            "CARREL_AUDIT_ENABLED": "false",
        }
    )

    async def story() -> None:
        async with open_desk(settings).session() as desk:
            asked = Ask(desk)
            await asked("add_references", input=BIBTEX)
            await ask(asked)

    asyncio.run(story())


class Ask:
    def __init__(self, desk: Desk, scopes: frozenset[str] = frozenset(ALL_SCOPES)) -> None:
        self.desk = desk
        self._call = Call(Caller(LOCAL_USER, scopes), Visit("cli", "1"))

    async def __call__(self, name: str, **arguments: object) -> Any:
        operation = self.desk.catalogue.operations[name]
        return await self.desk.gate.call(operation, arguments, self._call.caller, self._call.visit)

    def with_scopes(self, *scopes: str) -> Ask:
        return Ask(self.desk, frozenset(scopes))


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("doe2020", CitedWork("doe2020")),
        ("doe2020, p. 5", CitedWork("doe2020", "5", "page")),
        ("@doe2020, pp. 12-14", CitedWork("doe2020", "12-14", "page")),
        ("[@doe2020, ch. 2]", CitedWork("doe2020", "2", "chapter")),
        ("doe2020, Fig. 3a", CitedWork("doe2020", "3a", "figure")),
        ("doe2020, § 4.1", CitedWork("doe2020", "4.1", "section")),
        ("10.1000/sleep.1, p. xii", CitedWork("10.1000/sleep.1", "xii", "page")),
        ("doe2020, 12", CitedWork("doe2020", "12", "page")),
        ("[@doe2020, 33-35, 40]", CitedWork("doe2020", "33-35, 40", "page")),
        ("10.1000/sleep,12", CitedWork("10.1000/sleep,12")),
        ("doe2020, pp. 5; 7", CitedWork("doe2020", "5; 7", "page")),
        ("doe2020, p. 5; roe1999", CitedWork("doe2020, p. 5; roe1999")),
        ("Doe, A. (2020), title", CitedWork("Doe, A. (2020), title")),
        ("a, zz. 5", CitedWork("a, zz. 5")),
    ],
)
def test_a_place_is_read_behind_an_id(text: str, work: CitedWork) -> None:
    assert parse_cited(text) == work


def test_pages_and_papers_are_cited(tmp_path: Path) -> None:
    async def story(ask: Ask) -> None:
        (passage,) = [
            hit for hit in await ask("find_passages", query="shrews sleep hours") if hit.page == 7
        ]
        for ids, text in (
            (["doe2020, p. 5"], "(Doe, 2020, p. 5)"),
            ([{"id": "roe1999", "locator": "2", "label": "chapter"}], "(Roe, 1999, Chapter 2)"),
            ([SLEEP.paper_id], "(Doe, 2020)"),
            (["10.1000/sleep.1, pp. 3-4"], "(Doe, 2020, pp. 3–4)"),
            ([passage.passage_id], "(Doe, 2020, p. 7)"),
            (["doe2020, p. 1", "doe2020, p. 2"], "(Doe, 2020, p. 1, 2020, p. 2)"),
        ):
            cited = await ask("cite_references", ids=ids, kind="in_text")
            assert cited.text == text, ids
        entries = await ask("cite_references", ids=[BARE.paper_id, "roe1999, p. 9"])
        assert {entry.id for entry in entries.entries} == {"bare", "roe1999"}
        same = await ask("cite_references", ids=["doe2020", SLEEP.paper_id, "10.1000/sleep.1"])
        assert [entry.id for entry in same.entries] == ["doe2020"], "one work, by its own key"
        await ask("remove_reference", id="bare", force=True)
        alone = await ask("cite_references", ids=[BARE.paper_id])
        assert [entry.id for entry in alone.entries] == [BARE.paper_id]
        assert "Without text" in entries.text
        assert any("in_text" in notice for notice in entries.notices)

    at_desk(tmp_path, story)


def test_what_cannot_be_cited_is_named_whole(tmp_path: Path) -> None:
    async def story(ask: Ask) -> None:
        with pytest.raises(CarrelError) as missing:
            await ask("cite_references", ids=["doe2020", "nobody, p. 3", "10.1000/none"])
        assert missing.value.code == "resource_not_found"
        assert missing.value.details["missing"] == ["nobody, p. 3", "10.1000/none"]
        for label in ("shelf", ""):
            wrong = [{"id": "doe2020", "locator": "1", "label": label}]
            with pytest.raises((CarrelError, ValidationError)):
                await ask("cite_references", ids=wrong)

    at_desk(tmp_path, story)


def test_a_reference_finds_the_text_of_its_paper_and_says_so(tmp_path: Path) -> None:
    async def story(ask: Ask) -> None:
        found = await ask("get_fulltext", id="doe2020")
        assert found.markdown == SLEEP.source
        assert found.paper_id == SLEEP.paper_id
        assert SLEEP.paper_id in found.notice
        part = await ask("get_fulltext", id="doe2020", offset=5, max_chars=10)
        assert SLEEP.source is not None
        assert part.markdown.startswith(SLEEP.source[5:15])
        assert part.markdown.endswith("more chars]")
        for name in ("roe1999", "bare"):
            with pytest.raises(FullTextNotAvailableError):
                await ask("get_fulltext", id=name)
        own = tmp_path / "own.md"
        own.write_text("My own copy.", encoding="utf-8")
        await ask("attach_fulltext", id="doe2020", path=str(own))
        attached = await ask("get_fulltext", id="doe2020")
        assert (attached.markdown, attached.paper_id) == ("My own copy.", None)

    at_desk(tmp_path, story)


def test_papers_stay_closed_to_who_may_not_read_them(tmp_path: Path) -> None:
    async def story(ask: Ask) -> None:
        reader = ask.with_scopes("references:read")
        with pytest.raises(FullTextNotAvailableError):
            await reader("get_fulltext", id="doe2020")
        with pytest.raises(CarrelError) as missing:
            await reader("cite_references", ids=[SLEEP.paper_id])
        assert missing.value.code == "resource_not_found"

    at_desk(tmp_path, story)
