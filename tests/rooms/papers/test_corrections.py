"""What a correction changes reaches every answer, and old names keep working."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from carrel.cli.calls import Terminal, at_terminal
from carrel.core.answer import Text, split_explanation
from carrel.core.caller import Caller, Visit
from carrel.core.errors import CarrelError
from carrel.rooms.papers.building.merging import merge_records
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.correction_models import EditPaper
from carrel.settings import Settings
from carrel.stores.corpus.snapshot_export import export_snapshot
from carrel.wiring.desk import open_desk
from carrel.wiring.papers_build import build_papers

pytestmark = pytest.mark.promise("P15")

BIB = """@article{byron2001, title={On wales}, author={Byron, Ada}, year={2001}, journal={Sea},
  volume={3}, doi={10.1000/whales}}
"""
Ask = Callable[..., Awaitable[Any]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "refs.bib").write_text(BIB)
    (sources / "long.md").write_text(
        "---\ntitle: Songs of whales\nauthors: [Bo Carl]\nyear: 2010\n---\n"
        "# Results\n\nHumpback whales sing for many hours in the southern winter.\n"
    )
    (sources / "short.md").write_text(
        "---\ntitle: Songs of whales, a preprint\nauthors: [Bo Carl]\nyear: 2009\n---\n"
        "# Outcome\n\nBlue whales hum below what people can hear at all.\n"
    )
    found = Settings(home=tmp_path / "home", rooms=("papers", "knowledge"))
    build_papers([sources], found.home / "papers", BuildOptions(workers=1))
    return found


def run(settings: Settings, work: Callable[[Ask], Awaitable[None]]) -> None:
    """Work at a desk; answers come as JSON would have them."""

    async def session() -> None:
        async with open_desk(settings).session() as desk:
            terminal: Terminal = await at_terminal(desk)

            async def ask(name: str, **arguments: object) -> Any:
                answer, _ = split_explanation(await terminal.ask(name, **arguments))
                if isinstance(answer, Text):
                    return answer.body
                if isinstance(answer, list):
                    return [each.model_dump(mode="json") for each in answer]
                return answer.model_dump(mode="json")

            await work(ask)

    asyncio.run(session())


def test_an_edit_is_found_counted_cited_and_exported(settings: Settings, tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        await ask(
            "edit_paper",
            action="edit",
            paper_id="10.1000/whales",
            title="On cetaceans",
            year=1999,
            keywords=["baleen"],
            clear=["volume"],
        )
        hits = await ask("search_papers", query="cetaceans")
        assert [hit["title"] for hit in hits] == ["On cetaceans"]
        assert await ask("search_papers_by_keyword", keyword="baleen")
        keywords = await ask("list_top_facets", category="keyword")
        assert {"value": "baleen", "paper_count": 1} in keywords
        counted = {each["year"] for each in (await ask("get_corpus_statistics"))["years"]}
        assert ("1999" in counted, "2001" in counted) == (True, False)
        shown = await ask("get_paper_metadata", paper_id="10.1000/whales")
        assert (shown["year"], shown.get("volume"), shown.get("inferred")) == ("1999", None, None)
        assert shown["origins"]["volume"]["origin"] == "person"
        bibtex = await ask("get_paper_bibtex", paper_id="10.1000/whales")
        assert "1999" in bibtex
        assert "cetaceans" in bibtex.lower()
        assert "volume" not in bibtex
        (item,) = orjson.loads(await ask("export_papers", format="csl-json", query="cetaceans"))
        assert item["issued"] == {"date-parts": [[1999]]}
        assert "volume" not in item

    run(settings, work)
    export_snapshot(settings.home / "papers", tmp_path / "exported")
    with closing(sqlite3.connect(tmp_path / "exported" / "paper_snapshot.db")) as snapshot:
        row = snapshot.execute("SELECT title, year FROM paper WHERE doi = '10.1000/whales'")
        assert row.fetchone() == ("On cetaceans", "1999")


def test_an_edit_tells_the_name_that_the_caller_used(settings: Settings) -> None:
    async def work(ask: Ask) -> None:
        asked = {"action": "edit", "paper_id": "10.1000/whales"}
        told = await ask("edit_paper", **asked, year=1999)
        assert "set year." in told["message"]
        assert told["changes"] == [
            {"field": "date", "before": "2001", "after": "1999", "set_as": "year"}
        ]
        (change,) = (await ask("edit_paper", **asked, date="1999-04"))["changes"]
        assert (change["field"], "set_as" in change) == ("date", False)
        await ask("edit_paper", **asked, tags=["one", "two"])
        await ask("edit_paper", **asked, tags=["three"])
        shown = await ask("get_paper_metadata", paper_id="10.1000/whales")
        assert shown["tags"] == ["three"], "lists are replaced"

    run(settings, work)


def merged_keywords(*records: PaperRecord) -> tuple[str, ...]:
    return merge_records(records).keywords


def test_a_preprint_does_not_make_the_published_paper_a_preprint() -> None:
    early = PaperRecord(
        title="Drift", venue="Preprints of Cold", doi="10.5555/a", keywords=("cold", "Preprint")
    )
    published = PaperRecord(
        title="Drift", venue="Cold Physics", doi="10.5555/b", keywords=("quartz",)
    )
    assert merged_keywords(published, early) == ("quartz", "cold")
    assert merged_keywords(early, replace(early, keywords=("x",))) == ("cold", "Preprint", "x")
    about_preprints = replace(published, keywords=("preprint", "peer review"))
    assert merged_keywords(about_preprints, replace(published, keywords=())) == (
        "preprint",
        "peer review",
    )


def test_old_ids_addresses_passages_and_notes_lead_to_the_merged_paper(settings: Settings) -> None:
    async def work(ask: Ask) -> None:
        found = await ask("find_passages", query="humpback winter")
        other = await ask("find_passages", query="blue hum below")
        kept, gone = found[0]["paper_id"], other[0]["paper_id"]
        note = await ask(
            "save_knowledge", title="About it", content=f"See [[paper:{gone}]].", tags=[]
        )
        told = await ask("edit_paper", action="merge", paper_id=kept, papers=[gone])
        assert told["message"].endswith(
            "It has the keywords and tags of all; the text of short.md is kept and not shown."
        )
        shown = await ask("get_paper_metadata", paper_id=f"paper://{gone}/metadata")
        assert (shown["paper_id"], shown["former_ids"]) == (kept, [gone])
        assert [each["id"] for each in shown["notes"]] == [note["id"]]
        for passage in (found[0], other[0]):
            read = await ask("read_passage", passage_id=passage["passage_id"])
            assert read["paper_id"] == kept
            asked = [each["text"] for each in read["passages"] if each["is_asked"]]
            assert asked == [passage["text"]]
        history = await ask("paper_history", paper_id=gone)
        assert (history["paper_id"], history["former_ids"]) == (kept, [gone])
        assert sorted(each["source"] for each in history["records"]) == ["long.md", "short.md"]
        await ask("edit_paper", action="undo", paper_id=kept)
        again = await ask("get_paper_metadata", paper_id=gone)
        assert (again["paper_id"], again["notes"][0]["id"]) == (gone, note["id"])

    run(settings, work)


@pytest.mark.parametrize("first", ["humpback winter", "blue hum below"])
def test_the_paper_that_is_named_first_in_a_merge_keeps_its_title_and_text(
    settings: Settings, first: str
) -> None:
    async def work(ask: Ask) -> None:
        queries = ("humpback winter", "blue hum below")
        found = {query: (await ask("find_passages", query=query))[0] for query in queries}
        kept = found.pop(first)
        [gone] = found.values()
        before = await ask("get_paper_metadata", paper_id=kept["paper_id"])
        text = await ask("get_paper_source", paper_id=kept["paper_id"])
        merge = {"action": "merge", "paper_id": kept["paper_id"], "papers": [gone["paper_id"]]}
        asked = await ask("edit_paper", **merge, dry_run=True)
        assert {each["field"] for each in asked.get("changes", [])}.isdisjoint({"title", "date"})
        assert len(asked["hidden_texts"]) == 1
        done = await ask("edit_paper", **merge)
        assert done["hidden_texts"] == asked["hidden_texts"]
        assert [each["title"] for each in done["papers"]] == [before["title"]]
        after = await ask("get_paper_metadata", paper_id=gone["paper_id"])
        for name in ("paper_id", "title", "authors", "year"):
            assert after[name] == before[name]
        assert await ask("get_paper_source", paper_id=kept["paper_id"]) == text

    run(settings, work)


def test_former_ids_name_no_paper_that_is_there_after_an_undo(settings: Settings) -> None:
    async def work(ask: Ask) -> None:
        one = (await ask("find_passages", query="humpback winter"))[0]["paper_id"]
        other = (await ask("find_passages", query="blue hum below"))[0]["paper_id"]
        await ask("edit_paper", action="merge", paper_id=one, papers=[other])
        assert (await ask("paper_history", paper_id=one))["former_ids"] == [other]
        await ask("edit_paper", action="undo", paper_id=one)
        for paper_id in (one, other):
            assert (await ask("paper_history", paper_id=paper_id))["former_ids"] == []
            assert "former_ids" not in await ask("get_paper_metadata", paper_id=paper_id)

    run(settings, work)


def test_an_undo_that_names_nothing_is_refused_and_told_the_last_decision(
    settings: Settings,
) -> None:
    async def work(ask: Ask) -> None:
        done = await ask("edit_paper", action="edit", paper_id="10.1000/whales", title="Whales")
        with pytest.raises(CarrelError, match="Say what to undo") as refused:
            await ask("edit_paper", action="undo")
        assert refused.value.details["number"] == done["decision"]
        shown = await ask("get_paper_metadata", paper_id="10.1000/whales")
        assert shown["title"] == "Whales"

    run(settings, work)


def test_whoever_may_only_read_changes_nothing(settings: Settings) -> None:
    async def session() -> None:
        async with open_desk(settings).session() as desk:
            reader, visit = Caller("eve", frozenset({"papers:read"})), Visit("test", "1")
            operations = desk.catalogue.operations
            arguments = {"action": "remove", "paper_id": "10.1000/whales"}
            with pytest.raises(CarrelError) as refused:
                await desk.gate.call(operations["edit_paper"], arguments, reader, visit)
            assert refused.value.code == "insufficient_permissions"
            await desk.gate.call(operations["paper_history"], {}, reader, visit)

    asyncio.run(session())


def test_a_corpus_that_was_built_elsewhere_is_not_corrected(
    settings: Settings, tmp_path: Path
) -> None:
    export_snapshot(settings.home / "papers", tmp_path / "theirs")
    theirs = tmp_path / "theirs" / "paper_snapshot.db"
    before = {path.name: path.stat().st_mtime_ns for path in theirs.parent.iterdir()}
    papers = settings.papers.model_copy(update={"snapshot": theirs})

    async def work(ask: Ask) -> None:
        assert await ask("search_papers", query="wales")
        for name, arguments in (
            ("edit_paper", {"action": "remove", "paper_id": "10.1000/whales"}),
            ("paper_history", {"paper_id": "10.1000/whales"}),
        ):
            with pytest.raises(CarrelError, match="built elsewhere") as refused:
                await ask(name, **arguments)
            assert refused.value.code == "read_only_corpus"

    run(settings.model_copy(update={"papers": papers}), work)
    assert {path.name: path.stat().st_mtime_ns for path in theirs.parent.iterdir()} == before


def test_the_history_says_why_records_are_one_paper(settings: Settings, tmp_path: Path) -> None:
    title = "Thermal tolerance of emperor penguins under changing sea ice"
    for name, venue in (("one.bib", "Polar Biology"), ("two.bib", "Polar Biol.")):
        (tmp_path / "sources" / name).write_text(
            f"@article{{{name[:3]}, title={{{title}}}, author={{Frost, Ada and Berg, Carl}}, "
            f"year={{2018}}, journal={{{venue}}}}}\n"
        )
    build_papers([tmp_path / "sources"], settings.home / "papers", BuildOptions(workers=1))

    async def work(ask: Ask) -> None:
        [hit] = await ask("search_papers", query="emperor penguins thermal tolerance")
        history = await ask("paper_history", paper_id=hit["paper_id"])
        assert [each["source"] for each in history["records"]] == ["one.bib", "two.bib"]
        [join] = history["joins"]
        assert {join["source"], join["other_source"]} == {"one.bib", "two.bib"}
        assert join["reason"]
        await ask("edit_paper", action="split", paper_id=hit["paper_id"], records=["two.bib"])
        hits = await ask("search_papers", query="emperor penguins thermal tolerance")
        assert len(hits) == 2
        listed = await ask("paper_history", action="split")
        assert [each["action"] for each in listed["decisions"]] == ["split"]

    run(settings, work)


@pytest.mark.parametrize(
    "field", [{"date": "2021-02-30"}, {"isbn": "123"}, {"issn": "x"}, {"date": "2021-13"}]
)
def test_a_day_isbn_or_issn_that_cannot_be_is_refused(field: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(field))):
        EditPaper.model_validate({"action": "edit", "paper_id": "10.1000/whales", **field})
