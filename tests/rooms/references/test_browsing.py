"""The library as a sorted table, and what people do with rows of it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from carrel.rooms.references.citation_runs import read_citation_runs
from carrel.rooms.references.item_versions import item_version
from tests.rooms.references.desk import Reader, Stage

pytestmark = pytest.mark.promise("V1")

_SORTS = ("author", "title", "year", "added", "key")


def _items(count: int) -> list[dict[str, Any]]:
    chance = random.Random(5)
    families = ["Ørsted", "zhang", "Álvarez", "Berg", "", "van den Berg"]
    words = ["cold", "Fingers", "„Quoted“", "élan", "<i>Homo</i>", "magnesium"]
    items: list[dict[str, Any]] = []
    for at in range(count):
        item: dict[str, Any] = {
            "id": f"k{at:03}",
            "type": chance.choice(["book", "article-journal", "thesis"]),
            "title": " ".join(chance.choices(words, k=3)),
            "author": [{"family": chance.choice(families), "given": "A"}],
            "custom": {"created_at": f"2020-01-{chance.randint(1, 28):02}T00:00:00Z"},
        }
        if at % 7:
            item["issued"] = {"date-parts": [[chance.randint(1990, 1999)]]}
        if at % 5 == 0:
            item["custom"]["fulltext"] = {"pdf": "x.pdf"}
        items.append(item)
    return items


def _stage(folder: Path, items: list[dict[str, Any]]) -> Stage:
    stage = Stage(folder)
    stage.library.write_text(json.dumps(items, indent=1), "utf-8")
    return stage


async def _walk(reader: Reader, **question: Any) -> list[str]:
    """Every id, page by page, and back again to the first page by its cursors."""
    found: list[str] = []
    answer = await reader.ask("browse_references", **question)
    pages = [[row["id"] for row in answer["rows"]]]
    while answer["next"] is not None:
        assert answer["position"] == len(found) + 0
        found += pages[-1]
        answer = await reader.ask("browse_references", after=answer["next"], **question)
        pages.append([row["id"] for row in answer["rows"]])
    found += pages[-1]
    for page in reversed(pages[:-1]):
        answer = await reader.ask("browse_references", before=answer["previous"], **question)
        assert [row["id"] for row in answer["rows"]] == page
    assert answer["position"] == 0
    return found


def test_every_order_shows_every_reference_once_and_both_ways(tmp_path: Path) -> None:
    items = _items(120)
    stage = _stage(tmp_path, items)

    async def scene(reader: Reader) -> None:
        for sort in _SORTS:
            up = await _walk(reader, sort=sort, limit=25)
            down = await _walk(reader, sort=sort, is_descending=True, limit=25)
            assert sorted(up) == [item["id"] for item in items]
            assert up == down[::-1]

    stage.play(scene)


def test_authors_and_titles_are_sorted_as_people_read_them(tmp_path: Path) -> None:
    items = [
        {"id": "a", "type": "book", "title": "„Zebra“", "author": [{"family": "Ørsted"}]},
        {"id": "b", "type": "book", "title": "apple", "author": [{"family": "Parker"}]},
        {"id": "c", "type": "book", "title": "Élan", "author": [{"family": "álvarez"}]},
        {"id": "d", "type": "book", "title": "Book", "editor": [{"family": "Meier"}]},
    ]

    async def scene(reader: Reader) -> None:
        assert await _walk(reader, sort="author") == ["c", "d", "a", "b"]
        assert await _walk(reader, sort="title") == ["b", "d", "c", "a"]

    _stage(tmp_path, items).play(scene)


def test_filters_are_what_a_search_with_the_same_terms_finds(tmp_path: Path) -> None:
    items = _items(150)

    async def scene(reader: Reader) -> None:
        for question, query in (
            ({"type": "book"}, "type:book"),
            ({"first_year": 1993, "last_year": 1995}, "year:1993..1995"),
            ({"has_fulltext": True}, "has:fulltext"),
            ({"has_fulltext": False}, "-has:fulltext"),
            ({"query": "magnesium OR elan", "type": "thesis"}, "(magnesium OR elan) type:thesis"),
        ):
            by_name = set(await _walk(reader, sort="key", limit=40, **question))
            found = await reader.ask("search_references", query=query, limit=500)
            assert by_name == {row["id"] for row in found["references"]}, query
            assert by_name
        ranked = await reader.ask(
            "browse_references", sort="relevance", query="magnesium", type="book"
        )
        assert {row["type"] for row in ranked["rows"]} == {"book"}
        assert sum(each["count"] for each in ranked["types"]) > ranked["total"]

    _stage(tmp_path, items).play(scene)


def test_a_change_shows_in_orders_and_searches_that_were_asked_for_before(tmp_path: Path) -> None:
    async def scene(reader: Reader) -> None:
        for sort in _SORTS:
            await reader.ask("browse_references", sort=sort, query="magnesium")
        await reader.ask("add_references", input="@book{new, title={Magnesium aaa}, year=2024}")
        await reader.ask("edit_reference", id="k007", changes={"title": "AAA magnesium first"})
        await reader.ask("remove_references", ids=["k003", "k004", "nobody"], force=True)
        fresh = Reader(reader.desk, user="local")
        listed = {
            row["id"] for row in (await fresh.ask("list_references", limit=500))["references"]
        }
        assert "new" in listed and not {"k003", "k004"} & listed
        for sort in _SORTS:
            assert set(await _walk(reader, sort=sort, limit=30)) == listed
        assert (await _walk(reader, sort="title", limit=30))[0] == "k007"
        found = await reader.ask("search_references", query="magnesium", limit=500)
        assert set(await _walk(reader, sort="key", query="magnesium")) == {
            row["id"] for row in found["references"]
        }

    _stage(tmp_path, _items(80)).play(scene)


def test_a_place_that_is_gone_still_says_where_to_go_on(tmp_path: Path) -> None:
    async def scene(reader: Reader) -> None:
        first = await reader.ask("browse_references", sort="key", limit=10)
        await reader.ask("remove_references", ids=[first["rows"][-1]["id"]], force=True)
        second = await reader.ask("browse_references", sort="key", limit=10, after=first["next"])
        assert second["rows"][0]["id"] == "k010"
        assert second["position"] == 9

    _stage(tmp_path, _items(40)).play(scene)


def test_each_person_browses_their_own_library(tmp_path: Path) -> None:
    async def scene(reader: Reader) -> None:
        grace = Reader(reader.desk, user="grace")
        await grace.ask("add_references", input="@book{hers, title={Only hers}, year=2001}")
        assert await _walk(grace, sort="added") == ["hers"]
        assert "hers" not in await _walk(reader, sort="added")

    _stage(tmp_path, _items(12)).play(scene)


@pytest.mark.parametrize(
    "question",
    [
        {"sort": "relevance"},
        {"sort": "year", "after": {"value": "spring", "id": "k001"}},
        {"sort": "size"},
        {"limit": 100_000},
    ],
)
def test_questions_that_make_no_sense_are_refused(tmp_path: Path, question: dict[str, Any]) -> None:
    async def scene(reader: Reader) -> None:
        with pytest.raises(CarrelError) as refused:
            await reader.ask("browse_references", **question)
        assert refused.value.code == "invalid_input"

    _stage(tmp_path, _items(12)).play(scene)


def test_a_stale_editor_is_refused_and_the_other_edit_stays(tmp_path: Path) -> None:
    async def scene(reader: Reader) -> None:
        opened = (await reader.ask("get_reference", id="k001"))["reference"]
        await reader.ask("edit_reference", id="k001", changes={"title": "By somebody else"})
        with pytest.raises(CarrelError) as refused:
            await reader.ask(
                "save_reference", id="k001", version=item_version(opened), changes={"title": "Mine"}
            )
        assert refused.value.code == "conflict"
        present = (await reader.ask("get_reference", id="k001"))["reference"]
        assert present["title"] == "By somebody else"
        assert refused.value.details["version"] == item_version(present)
        saved = await reader.ask(
            "save_reference", id="k001", version=item_version(present), changes={"title": "Mine"}
        )
        assert saved["reference"]["title"] == "Mine"

    _stage(tmp_path, _items(12)).play(scene)


def test_what_was_removed_or_changed_comes_back(tmp_path: Path) -> None:
    async def scene(reader: Reader) -> None:
        with pytest.raises(CarrelError, match="force"):
            await reader.ask("remove_references", ids=["k001"])
        before = (await reader.ask("get_reference", id="k001"))["reference"]
        await reader.ask("edit_reference", id="k001", changes={"title": "Second"})
        removed = await reader.ask("remove_references", ids=["k001", "k002", "no"], force=True)
        assert removed == {"removed": ["k001", "k002"], "missing": ["no"]}
        past = (await reader.ask("list_reference_versions", id="k001"))["versions"]
        assert [version["state"] for version in past] == ["absent", "kept", "kept"]
        assert [version["item"] and version["item"]["title"] for version in past] == [
            None,
            "Second",
            before["title"],
        ]
        await reader.ask("restore_references", ids=["k001", "k002"])
        assert (await reader.ask("get_reference", id="k001"))["reference"]["title"] == "Second"
        await reader.ask("restore_references", ids=["k001"], revision=past[-1]["revision"])
        assert (await reader.ask("get_reference", id="k001"))["reference"] == before
        with pytest.raises(CarrelError) as refused:
            await reader.ask("list_reference_versions", id="never")
        assert refused.value.code == "resource_not_found"

    _stage(tmp_path, _items(12)).play(scene)


def test_a_preview_cites_what_is_valid_and_names_the_rest(tmp_path: Path) -> None:
    async def scene(reader: Reader) -> None:
        item = {
            "type": "book",
            "title": "A <script>bad</script> <i>Homo</i> title",
            "author": "nobody",
            "issued": {"date-parts": [[2020]]},
        }
        found = await reader.ask("preview_citation", item=item, style="apa")
        assert "<script>bad</script>" in found["text"]
        assert [problem["field"] for problem in found["problems"]] == ["author"]
        assert not any("<i>" in run["text"] for run in found["runs"])
        with pytest.raises(CarrelError) as refused:
            await reader.ask("preview_citation", item=item, style="no such style")
        assert refused.value.code == "style_not_found"
        # Nothing of it is kept.
        assert (await reader.ask("browse_references"))["total"] == 3

    _stage(tmp_path, _items(3)).play(scene)


def test_an_attached_pdf_is_given_as_it_is(tmp_path: Path) -> None:
    paper = tmp_path / "paper.pdf"
    paper.write_bytes(b"%PDF-1.4 whole")

    async def scene(reader: Reader) -> None:
        with pytest.raises(CarrelError) as refused:
            await reader.ask("open_attachment", id="k001")
        assert refused.value.code == "fulltext_not_available"
        await reader.ask("attach_fulltext", id="k001", path=str(paper))
        operation = reader.desk.catalogue.operations["open_attachment"]
        assert operation.is_for_people
        row = next(
            row
            for row in (await reader.ask("browse_references", has_fulltext=True))["rows"]
            if row["id"] == "k001"
        )
        assert row["has_fulltext"]

    _stage(tmp_path, _items(3)).play(scene)


def test_runs_of_a_citation_keep_its_text_and_its_looks() -> None:
    html = (
        '\n    <div class="csl-left-margin">[1]</div><div class="csl-right-inline">J. Doe, '
        "“<i>Homo &#60;b&#62; <b>x</b></i>,” H<sub>2</sub>O <span "
        'style="font-variant:small-caps;">Dna</span>.</div>\n  '
    )
    runs = read_citation_runs(html)
    assert "".join(run.text for run in runs) == "[1] J. Doe, “Homo <b> x,” H2O Dna."
    looks = {run.text: run for run in runs}
    assert looks["Homo <b> "].is_italic and not looks["Homo <b> "].is_bold
    assert looks["x"].is_italic and looks["x"].is_bold
    assert looks["2"].is_lowered and looks["Dna"].is_small_caps
