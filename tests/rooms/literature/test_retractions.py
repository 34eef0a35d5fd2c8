"""Retracted and corrected works are shown wherever works are, and checked for in one call."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import InsufficientPermissionsError, NotConfiguredError
from carrel.rooms.literature.errors import NetworkForbiddenError
from carrel.wiring.desk import open_desk
from tests.loopback_server import Asked, Canned
from tests.rooms.literature.following import HEADER, Stage, ask_without, write_table
from tests.rooms.literature.outside import CHEMCROW, Outside
from tests.rooms.references.desk import Reader
from tests.services.literature.recorded import needs_recordings

BAD = (
    "---\ntitle: Bad sleep spindles of the night\nauthors: [Ada Moor]\nyear: 2022\n"
    "doi: 10.5555/BAD.1\n---\n\n# Results\n\nSleep spindles grow with age in all of us.\n"
)
GOOD = (
    "---\ntitle: Good sleep spindles of the day\nauthors: [Bo Lind]\nyear: 2021\n"
    "doi: 10.5555/good.9\n---\n\n# Results\n\nSleep spindles shrink with age in most of us.\n"
)
ITEMS: list[dict[str, Any]] = [
    {"id": "bad", "type": "article-journal", "title": "Bad sleep", "DOI": "10.5555/bad.1"},
    {"id": "old", "type": "article-journal", "title": "Old sleep", "PMID": "222"},
    {"id": "fixed", "type": "article-journal", "title": "Fixed", "DOI": "10.5555/fixed.3"},
    {"id": "fine", "type": "article-journal", "title": "Fine", "DOI": "10.5555/good.9"},
    {"id": "bare", "type": "book", "title": "Bare"},
]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    table = write_table(tmp_path / "rw.csv")
    return Stage(tmp_path / "home", {"retraction_watch": table})


async def fill(reader: Reader) -> None:
    for text in (BAD, GOOD):
        await reader.ask("add_paper", markdown=text)
    await reader.ask("add_references", input=json.dumps(ITEMS))


@pytest.mark.promise("W2")
def test_without_a_table_nothing_is_said_to_be_sound(tmp_path: Path) -> None:
    async def scene(reader: Reader) -> None:
        with pytest.raises(NotConfiguredError):
            await reader.ask("check_retractions", scope="library")

    Stage(tmp_path / "home").play(scene)
    missing = {"retraction_watch": tmp_path / "nowhere.csv"}
    Stage(tmp_path / "home", missing).play(scene)
    assert not (tmp_path / "home" / "literature" / "literature.db").exists()


@pytest.mark.promise("W2")
def test_corpus_library_and_draft_need_the_scopes_of_what_they_read(stage: Stage) -> None:
    async def scene(reader: Reader) -> None:
        desk = reader.desk
        for missing, scope in (("papers:read", "corpus"), ("references:read", "library")):
            with pytest.raises(InsufficientPermissionsError):
                await ask_without(desk, missing, "check_retractions", scope=scope)
        with pytest.raises(InsufficientPermissionsError):
            text = "As shown [@bad]."
            await ask_without(
                desk, "references:read", "check_retractions", scope="draft", text=text
            )
        with pytest.raises(InsufficientPermissionsError):
            await ask_without(desk, "literature:read", "check_retractions", scope="library")

    stage.play(scene)


def test_outside_is_not_asked_where_the_network_is_forbidden(stage: Stage) -> None:
    async def scene(reader: Reader) -> None:
        with pytest.raises(NetworkForbiddenError):
            await reader.ask("check_retractions", scope="library", outside=True)
        assert (await reader.ask("check_retractions", scope="library"))["checked"] == 0

    stage.settings["network"] = False
    stage.play(scene)


@pytest.mark.promise("W2")
def test_corpus_library_and_draft_are_checked_off_line(stage: Stage) -> None:
    async def scene(reader: Reader) -> None:
        await fill(reader)
        corpus = await reader.ask("check_retractions", scope="corpus")
        assert (corpus["checked"], corpus["retracted"]) == (2, 1)
        assert corpus["table_records"] == 3
        (work,) = corpus["works"]
        assert work["title"].startswith("Bad sleep spindles")
        assert work["notices"] == [
            {
                "kind": "retraction",
                "date": "2023-07-12",
                "doi": "10.5555/notice.1",
                "reasons": ["Paper Mill"],
                "service": "retraction_watch",
            }
        ]
        library = await reader.ask("check_retractions", scope="library")
        assert (library["checked"], library["unchecked"], library["retracted"]) == (4, 1, 1)
        assert [each["id"] for each in library["works"]] == ["bad", "old", "fixed"]
        draft = await reader.ask(
            "check_retractions",
            scope="draft",
            text="Spindles grow [@bad, p. 3; @nobody] (https://doi.org/10.5555/BAD.1), see "
            "\\citep{fixed,fine} and PMID: 222.",
        )
        assert [each["id"] for each in draft["works"]] == ["bad", "222", "fixed"]
        assert draft["unknown"] == ["nobody"]

    stage.play(scene)


@pytest.mark.promise("W2")
def test_notices_stand_in_hits_metadata_references_and_citations(stage: Stage) -> None:
    async def scene(reader: Reader) -> None:
        await fill(reader)
        hits = await reader.ask("search_papers", query="sleep spindles")
        marked = {hit["doi"]: hit.get("notices", []) for hit in hits}
        assert [each["kind"] for each in marked["10.5555/bad.1"]] == ["retraction"]
        assert marked["10.5555/good.9"] == []
        assert all("notices" not in hit for hit in hits if hit["doi"] == "10.5555/good.9")
        paper = await reader.ask("get_paper_metadata", paper_id="10.5555/bad.1")
        assert paper["notices"][0]["doi"] == "10.5555/notice.1"
        passages = await reader.ask("find_passages", query="spindles grow with age")
        assert {bool(each.get("notices")) for each in passages} == {True, False}
        found = await reader.ask("search_references", query="sleep")
        assert set(found["work_notices"]) == {"bad", "old"}
        for form in ("json", "pretty", "bibtex"):
            listed = await reader.ask("list_references", format=form)
            assert set(listed["work_notices"]) == {"bad", "old", "fixed"}
        one = await reader.ask("get_reference", id="old")
        assert one["work_notices"]["old"][0]["kind"] == "expression_of_concern"
        assert "work_notices" not in await reader.ask("get_reference", id="fine")
        cited = await reader.ask("cite_references", ids=["bad", "fine", "fixed"])
        assert set(cited["work_notices"]) == {"bad", "fixed"}
        assert cited["notices"] == [
            "bad: this work was retracted on 2023-07-12 (notice 10.5555/notice.1: Paper Mill)."
        ]

    stage.play(scene)


@pytest.mark.promise("W2")
def test_claims_and_reviews_that_rest_on_a_retracted_paper_say_so(stage: Stage) -> None:
    async def scene(reader: Reader) -> None:
        await fill(reader)
        claim = "Sleep spindles grow with age in all of us."
        checked = await reader.ask("check_claim", text=claim)
        papers = {
            quoted["paper_id"] for each in checked["statements"] for quoted in each["supporting"]
        }
        assert papers & set(checked["notices"])
        started = await reader.ask("start_research", goal="Do sleep spindles grow with age?")
        submitted = await reader.ask(
            "submit_hypothesis",
            research_id=started["research_id"],
            title="Sleep spindles grow with age in all of us",
            summary=claim,
        )
        review = await reader.ask("review_hypothesis", hypothesis_id=submitted["id"])
        assert any("retracted on 2023-07-12" in each for each in review["weaknesses"])
        assert review["notices"]
        whole = await reader.ask("get_hypothesis", hypothesis_id=submitted["id"])
        assert whole["notices"]

    stage.play(scene)


def test_a_changed_table_is_noticed_and_a_damaged_one_keeps_the_last(
    stage: Stage, tmp_path: Path
) -> None:
    async def scene(reader: Reader) -> None:
        await fill(reader)
        await reader.ask("check_retractions", scope="library")
        write_table(
            tmp_path / "rw.csv",
            HEADER,
            "9,Fine,1/1/2024 0:00,,,10.5555/good.9,0,Retraction,",
            "10,Fine,,,,Unavailable,0,Retraction,",
        )
        changed = await reader.ask("check_retractions", scope="library")
        assert [each["id"] for each in changed["works"]] == ["fine"]
        (tmp_path / "rw.csv").write_text("no such table\n", encoding="utf-8")
        kept = await reader.ask("check_retractions", scope="library")
        assert [each["id"] for each in kept["works"]] == ["fine"]
        (tmp_path / "rw.csv").unlink()
        kept = await reader.ask("check_retractions", scope="library")
        assert [each["id"] for each in kept["works"]] == ["fine"]

    stage.play(scene)


def updated_by(doi: str) -> dict[str, Any]:
    """A record of Crossref about a work that was corrected, and then retracted."""
    day = {"date-parts": [[2024, 5, 6]]}
    notices = [
        {"DOI": "10.5555/corr", "type": "correction", "source": "publisher", "updated": day},
        {"DOI": "10.5555/retr", "type": "retraction", "source": "retraction-watch", "updated": day},
    ]
    return {"DOI": doi, "type": "journal-article", "title": ["Fine"], "updated-by": notices}


@needs_recordings
@pytest.mark.promise("W2")
def test_services_are_asked_where_that_is_wanted_and_what_they_say_stays(tmp_path: Path) -> None:
    message = {"status": "ok", "message": updated_by("10.5555/good.9")}
    nothing = {"status": "ok", "message": {"total-results": 0, "items": []}}
    canned = {"content-type": "application/json"}

    async def outside_scene(reader: Reader) -> None:
        item = {"id": "fine", "type": "article-journal", "title": "Fine", "DOI": "10.5555/good.9"}
        await reader.ask("add_references", input=json.dumps([item]))
        checked = await reader.ask("check_retractions", scope="library", outside=True)
        states = {each["service"]: each["state"] for each in checked["coverage"]}
        assert states["crossref"] == "answered"
        assert "failed" in states.values()
        assert "Not answered" in checked["message"]
        (work,) = checked["works"]
        assert [each["kind"] for each in work["notices"]] == ["retraction", "correction"]
        assert work["notices"][0]["date"] == "2024-05-06"
        assert all("me@example.org" not in json.dumps(each) for each in checked["coverage"])
        # Off line, and beside the reference, it is known from now on.
        shown = await reader.ask("get_reference", id="fine")
        assert shown["work_notices"]["fine"][0]["service"] == "crossref"

    class Crossref(Outside):
        def answer(self, asked: Asked) -> Canned:
            if asked.path.startswith("/crossref/"):
                self.asked.append(asked)
                is_work = "good.9" in asked.path and "updates" not in asked.path
                return 200, canned, json.dumps(message if is_work else nothing).encode()
            return super().answer(asked)

    with Crossref() as outside:
        outside.faults = dict.fromkeys(("openalex", "pubmed", "europepmc"), (500, {}, b"down"))
        settings = outside.settings(tmp_path / "home", timeout_seconds=5.0)

        async def playing() -> None:
            async with open_desk(settings).session() as desk:
                await outside_scene(Reader(desk))

        asyncio.run(playing())


@needs_recordings
@pytest.mark.promise("W2")
def test_found_works_show_what_the_table_says(tmp_path: Path) -> None:
    table = write_table(
        tmp_path / "rw.csv", HEADER, f"1,T,1/2/2025 0:00,10.5555/n,0,{CHEMCROW},0,Retraction,"
    )
    with Outside() as outside:
        settings = outside.settings(
            tmp_path / "home", services=("crossref",), retraction_watch=table
        )

        async def playing() -> None:
            async with open_desk(settings).session() as desk:
                reader = Reader(desk)
                found = await reader.ask("search_literature", query="chemistry tools")
                works = {each["ids"].get("doi"): each for each in found["works"]}
                assert works[CHEMCROW]["notices"][0]["service"] == "retraction_watch"
                assert works[CHEMCROW]["is_retracted"]
                one = await reader.ask("get_work", identifier=CHEMCROW)
                assert one["notices"][0]["date"] == "2025-01-02"

        asyncio.run(playing())
