"""Gaps of papers and references are filled after review, never overwritten, and taken back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import InsufficientPermissionsError, InvalidInputError, NotFoundError
from carrel.wiring.desk import open_desk
from tests.rooms.literature.following import ask_without
from tests.rooms.literature.outside import CHEMCROW, XGEN, Outside
from tests.rooms.references.desk import Reader
from tests.services.literature.recorded import needs_recordings

pytestmark = needs_recordings

DOWN = (500, {"content-type": "text/plain"}, b"down")
EVERY = ("openalex", "crossref", "pubmed", "europepmc", "arxiv", "datacite", "biorxiv")
BARE = {"id": "crow", "type": "article-journal", "title": "My own title", "DOI": CHEMCROW}
PAPER = f"---\ntitle: An own title of this paper\ndoi: {CHEMCROW}\n---\n\n# Text\n\nWords here.\n"
Play = Callable[..., None]


@pytest.fixture
def outside() -> Iterator[Outside]:
    with Outside() as opened:
        opened.faults = dict.fromkeys(("pubmed", "europepmc", "arxiv", "datacite", "biorxiv"), DOWN)
        yield opened


@pytest.fixture
def play(outside: Outside, tmp_path: Path) -> Play:
    def playing(
        scene: Callable[[Reader], Awaitable[None]], user: str = "local", **more: Any
    ) -> None:
        settings = outside.settings(tmp_path / "home", timeout_seconds=5.0)
        if more:
            settings = settings.model_copy(update=more)

        async def whole() -> None:
            async with open_desk(settings).session() as desk:
                await scene(Reader(desk, user=user))

        asyncio.run(whole())

    return playing


async def add(reader: Reader, *items: dict[str, Any]) -> None:
    await reader.ask("add_references", input=json.dumps(items or [BARE]))


async def shown(reader: Reader, key: str = "crow") -> dict[str, Any]:
    found = await reader.ask("get_reference", id=key)
    return dict(found["reference"])


@pytest.mark.promise("W2")
def test_completing_needs_the_scopes_of_what_it_changes(play: Play) -> None:
    async def scene(reader: Reader) -> None:
        for missing, name in (
            ("papers:write", "complete_papers"),
            ("references:write", "complete_references"),
            ("literature:write", "complete_references"),
        ):
            with pytest.raises(InsufficientPermissionsError):
                await ask_without(reader.desk, missing, name)
        with pytest.raises(InvalidInputError):
            await reader.ask("complete_references", apply=True, undo=True)
        with pytest.raises(NotFoundError):
            await reader.ask("complete_references", ids=["nobody"])

    play(scene)


@pytest.mark.promise("W2")
def test_what_is_proposed_is_filled_in_when_applied_and_gone_when_undone(play: Play) -> None:
    async def scene(reader: Reader) -> None:
        await add(reader)
        before = await shown(reader)
        proposed = await reader.ask("complete_references")
        (entry,) = proposed["entries"]
        values = {each["field"]: each for each in entry["values"]}
        assert {"author", "issued", "container-title"} <= set(values)
        assert all(each["origin"] in {"crossref", "openalex"} for each in values.values())
        assert "title" not in values
        (difference,) = (each for each in entry["differences"] if each["field"] == "title")
        assert difference["here"] == "My own title"
        assert await shown(reader) == before
        applied = await reader.ask("complete_references", apply=True)
        assert applied["changed"] == 1
        after = await shown(reader)
        assert after["title"] == "My own title"
        assert after["author"] == values["author"]["value"]
        assert (await reader.ask("complete_references", apply=True))["changed"] == 0
        undone = await reader.ask("complete_references", undo=True)
        assert undone["changed"] == 1
        again = await shown(reader)
        assert {name: again.get(name) for name in before if name != "custom"} == {
            name: before[name] for name in before if name != "custom"
        }
        assert "author" not in again

    play(scene)


@pytest.mark.promise("W2")
def test_what_somebody_wrote_in_between_is_not_overwritten(play: Play) -> None:
    async def scene(reader: Reader) -> None:
        await add(reader)
        await reader.ask("complete_references")
        mine = [{"family": "Mine", "given": "Own"}]
        await reader.ask("edit_reference", id="crow", changes={"author": mine})
        await reader.ask("complete_references", apply=True)
        assert (await shown(reader))["author"] == mine
        await reader.ask("edit_reference", id="crow", changes={"container-title": "Else"})
        undone = await reader.ask("complete_references", undo=True)
        assert undone["changed"] == 0
        assert undone["not_done"][0]["code"] == "conflict"
        assert (await shown(reader))["container-title"] == "Else"

    play(scene)


@pytest.mark.promise("W2")
def test_without_a_network_records_wait_and_are_done_later(play: Play, outside: Outside) -> None:
    faults = dict(outside.faults)

    async def forbidden(reader: Reader) -> None:
        await add(reader)
        waiting = await reader.ask("complete_references")
        assert (waiting["waiting"], waiting["entries"]) == (1, [])

    async def down(reader: Reader) -> None:
        for _ in range(2):
            waiting = await reader.ask("complete_references")
            assert (waiting["waiting"], waiting["entries"]) == (1, [])
        assert {each["service"] for each in waiting["unanswered"]} >= {"crossref", "openalex"}

    async def up(reader: Reader) -> None:
        done = await reader.ask("complete_references")
        assert (done["waiting"], len(done["entries"])) == (0, 1)

    play(forbidden, network=False)
    outside.faults = dict.fromkeys(EVERY, DOWN)
    play(down)
    outside.faults = faults
    play(up)


@pytest.mark.promise("W2")
def test_nobody_sees_applies_or_undoes_the_proposals_of_another(play: Play) -> None:
    async def of_ada(reader: Reader) -> None:
        await add(reader)
        assert len((await reader.ask("complete_references"))["entries"]) == 1

    async def of_bob(reader: Reader) -> None:
        await add(reader, BARE | {"DOI": XGEN})
        assert (await reader.ask("complete_references", apply=True))["changed"] == 0
        assert (await reader.ask("complete_references"))["entries"][0]["found"] == f"doi:{XGEN}"

    async def of_ada_later(reader: Reader) -> None:
        assert (await reader.ask("complete_references", apply=True))["changed"] == 1

    play(of_ada, user="ada")
    play(of_bob, user="bob")
    play(of_ada_later, user="ada")


@pytest.mark.promise("W2")
def test_papers_are_completed_by_corrections_that_history_tells(play: Play) -> None:
    async def scene(reader: Reader) -> None:
        added = await reader.ask("add_paper", markdown=PAPER)
        paper_id = added["paper_id"]
        proposed = await reader.ask("complete_papers")
        (entry,) = proposed["entries"]
        assert entry["id"] == paper_id
        assert "author" in {each["field"] for each in entry["values"]}
        assert (await reader.ask("complete_papers", apply=True))["changed"] == 1
        paper = await reader.ask("get_paper_metadata", paper_id=paper_id)
        assert paper["title"] == "An own title of this paper"
        assert paper["authors"]
        assert paper["venue"] != "unknown"
        history = await reader.ask("paper_history", paper_id=paper_id)
        assert history["decisions"][0]["action"] == "edit"
        assert (await reader.ask("complete_papers", undo=True))["changed"] == 1
        back = await reader.ask("get_paper_metadata", paper_id=paper_id)
        assert not back["authors"]

    play(scene)


def test_proposals_are_listed_without_asking_anybody(play: Play, outside: Outside) -> None:
    async def scene(reader: Reader) -> None:
        await add(reader)
        assert (await reader.ask("list_completions", target="reference"))["entries"] == []
        await reader.ask("complete_references")
        asked = len(outside.asked)
        listed = await reader.ask("list_completions", target="reference")
        assert [each["id"] for each in listed["entries"]] == ["crow"]
        assert (listed["proposed"], len(outside.asked)) == (1, asked)
        assert (await reader.ask("list_completions", target="paper"))["entries"] == []
        other = Reader(reader.desk, user="bob")
        assert (await other.ask("list_completions", target="reference"))["entries"] == []
        await reader.ask("complete_references", apply=True)
        applied = await reader.ask("list_completions", target="reference", state="applied")
        assert [each["state"] for each in applied["entries"]] == ["applied"]

    play(scene)
