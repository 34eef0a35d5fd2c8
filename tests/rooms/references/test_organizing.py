"""Tags, collections and read state: many references in one write, and the names over all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from tests.rooms.references.desk import Reader, Stage

pytestmark = pytest.mark.promise("L10")

ITEMS: list[dict[str, Any]] = [
    {"id": "a", "type": "book", "title": "Alpha", "custom": {"tags": ["ml", "new"]}},
    {"id": "b", "type": "book", "title": "Beta", "custom": {"collections": ["Thesis/One"]}},
    {"id": "c", "type": "article", "title": "Gamma", "custom": {"collections": ["Thesisx"]}},
    {"id": "d", "type": "article", "title": "Delta", "keyword": "ml"},
]


def make_stage(folder: Path) -> Stage:
    stage = Stage(folder)
    stage.library.write_text(json.dumps(ITEMS, indent=2), "utf-8")
    return stage


def read_custom(stage: Stage) -> dict[str, dict[str, Any]]:
    items = json.loads(stage.library.read_text("utf-8"))
    return {item["id"]: item.get("custom", {}) for item in items}


async def search(reader: Reader, query: str) -> list[str]:
    found = await reader.ask("search_references", query=query)
    return sorted(item["id"] for item in found["references"])


async def refuse(reader: Reader, name: str, **arguments: Any) -> str:
    with pytest.raises(CarrelError) as refused:
        await reader.ask(name, **arguments)
    return refused.value.code


def test_what_cannot_be_done_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    before = stage.library.read_bytes()

    async def scene(reader: Reader) -> None:
        organize = "organize_references"
        assert await refuse(reader, organize, ids=["a"]) == "invalid_input"
        assert await refuse(reader, organize, add_tags=["x"]) == "invalid_input"
        both = await refuse(reader, organize, ids=["a"], query="x", add_tags=["x"])
        assert both == "invalid_input"
        for bad in ("", "  ", "x\ny"):
            assert await refuse(reader, organize, ids=["a"], add_tags=[bad]) == "invalid_input"
        for bad in ("A//B", "/A", "A/", "x/" * 21 + "y"):
            code = await refuse(reader, organize, ids=["a"], add_collections=[bad])
            assert code == "invalid_input"
        missing = await refuse(reader, organize, ids=["a", "nobody"], add_tags=["x"])
        assert missing == "resource_not_found"
        rename = "rename_reference_group"
        unknown = await refuse(reader, rename, kind="tag", group="m", new_name="x")
        assert unknown == "resource_not_found"
        into = await refuse(
            reader, rename, kind="collection", group="Thesis", new_name="Thesis/One/Two"
        )
        assert into == "invalid_input"
        assert await refuse(reader, rename, kind="tag", group="ml") == "invalid_input"

    stage.play(scene)
    assert stage.library.read_bytes() == before


def test_a_query_is_a_dry_run_until_it_is_asked_for_and_one_write_then(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)

    async def scene(reader: Reader) -> None:
        before = stage.library.read_bytes()
        question = {"query": "type:book", "add_tags": ["old"], "remove_tags": ["new"]}
        tried = await reader.ask("organize_references", **question)
        assert (tried["is_dry_run"], tried["matched"], tried["ids"]) == (True, 2, ["a", "b"])
        assert stage.library.read_bytes() == before
        done = await reader.ask("organize_references", **question, force=True)
        assert (done["is_dry_run"], done["changed"]) == (False, 2)
        again = await reader.ask("organize_references", **question, force=True)
        assert (again["matched"], again["changed"]) == (2, 0)
        changes = await reader.ask("list_library_changes")
        assert changes["changes"][0]["written"] == ["a", "b"]
        assert await search(reader, "tag:old") == ["a", "b"]

    stage.play(scene)
    assert read_custom(stage)["a"]["tags"] == ["ml", "old"]


def test_read_state_has_its_date_and_is_found(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)

    async def scene(reader: Reader) -> None:
        await reader.ask("organize_references", ids=["a", "b"], read_state="read")
        await reader.ask("organize_references", ids=["b"], read_state="reading")
        assert await search(reader, "read:read") == ["a"]
        assert await search(reader, "read:unread") == ["c", "d"]
        assert await search(reader, "type:book -read:reading") == ["a"]
        states = await reader.ask("list_reference_groups", kind="read_states")
        assert {row["name"]: row["count"] for row in states["groups"]} == {
            "unread": 2, "reading": 1, "read": 1,
        }  # fmt: skip
        browsed = await reader.ask("browse_references", read_state="reading")
        assert [(row["id"], row["read_state"]) for row in browsed["rows"]] == [("b", "reading")]

    stage.play(scene)
    assert read_custom(stage)["a"]["read_state"] == "read"
    assert read_custom(stage)["a"]["read_state_at"].endswith("Z")


def test_collections_nest_are_found_by_their_beginning_and_move_with_what_is_in_them(
    tmp_path: Path,
) -> None:
    stage = make_stage(tmp_path)

    async def scene(reader: Reader) -> None:
        add = {"add_collections": [" Thesis / One / Deep ", "Other"]}
        await reader.ask("organize_references", ids=["a"], **add)
        assert await search(reader, "collection:thesis") == ["a", "b"]
        assert await search(reader, 'collection:"Thesis/One"') == ["a", "b"]
        assert await search(reader, 'collection:"thesis/one/deep"') == ["a"]
        assert await search(reader, "collection:one") == []
        listed = await reader.ask("list_reference_groups")
        assert [(row["name"], row["count"], row["direct"]) for row in listed["groups"]] == [
            ("Other", 1, 1), ("Thesis", 2, 0), ("Thesis/One", 2, 1), ("Thesis/One/Deep", 1, 1),
            ("Thesisx", 1, 1),
        ]  # fmt: skip
        renaming = {"kind": "collection", "group": "Thesis/One"}
        tried = await reader.ask(
            "rename_reference_group", **renaming, new_name="Book", dry_run=True
        )
        assert (tried["changed"], tried["is_dry_run"]) == (2, True)
        await reader.ask("rename_reference_group", **renaming, new_name="Book")
        assert await search(reader, "collection:book") == ["a", "b"]
        assert await search(reader, 'collection:"book/deep"') == ["a"]
        browsed = await reader.ask("browse_references", collection="Book", sort="key")
        assert [row["id"] for row in browsed["rows"]] == ["a", "b"]
        await reader.ask("rename_reference_group", kind="collection", group="Book", is_removed=True)
        total = await reader.ask("browse_references")
        assert total["total"] == 4

    stage.play(scene)
    assert read_custom(stage)["a"]["collections"] == ["Other"]
    assert "collections" not in read_custom(stage)["b"]


def test_a_tag_renamed_to_one_there_is_merges_and_is_undone_as_one_change(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)

    async def scene(reader: Reader) -> None:
        await reader.ask("organize_references", ids=["a", "c", "d"], add_tags=["new"])
        await reader.ask("rename_reference_group", kind="tag", group="new", new_name="ml")
        rows = (await reader.ask("list_reference_groups", kind="tags"))["groups"]
        assert [(row["name"], row["count"]) for row in rows] == [("ml", 3)]
        changes = (await reader.ask("list_library_changes"))["changes"]
        assert [row["can_undo"] for row in changes[:2]] == [True, False]
        code = await refuse(reader, "undo_library_change", revision=changes[1]["revision"])
        assert code == "conflict"
        await reader.ask("undo_library_change")
        assert await search(reader, "tagged:new") == ["a", "c", "d"]
        assert await search(reader, "tagged:ne") == []
        assert await search(reader, "tag:ne") == ["a", "c", "d"]

    stage.play(scene)
    assert read_custom(stage)["a"]["tags"] == ["ml", "new"]


def test_an_item_whose_custom_is_odd_is_read_and_organized(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    odd = [
        {"id": "a", "type": "book", "custom": {"collections": "A", "tags": {"x": 1}}},
        {"id": "b", "type": "book", "custom": {"collections": [1, None, "B"], "read_state": 7}},
        {"id": "c", "type": "book", "custom": [1]},
    ]
    stage.library.write_text(json.dumps(odd), "utf-8")

    async def scene(reader: Reader) -> None:
        listed = await reader.ask("list_reference_groups")
        assert [row["name"] for row in listed["groups"]] == ["B"]
        done = await reader.ask("organize_references", query="*", add_collections=["C"], force=True)
        assert done["changed"] == 3
        assert await search(reader, "collection:c") == ["a", "b", "c"]

    stage.play(scene)


def test_groups_of_bibtex_are_collections_and_go_out_as_groups(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    entry = "@book{k1, title = {T}, keywords = {one, two}, groups = {Thesis/One, Other}}"

    async def scene(reader: Reader) -> None:
        await reader.ask("add_references", input=entry)
        assert await search(reader, "collection:thesis") == ["k1"]
        tagging = {"add_tags": ["mine"], "add_collections": ["A, B"]}
        await reader.ask("organize_references", ids=["k1"], **tagging)
        text = await reader.ask("export_references", format="bibtex")
        assert "mine" in text
        ris = await reader.ask("export_references", format="ris")
        assert "KW  - mine" in ris
        await reader.ask("remove_reference", id="k1", force=True)
        await reader.ask("add_references", input=text)
        whole = await reader.ask("export_references", format="bibtex", lossless=True)
        before = (await reader.ask("get_reference", id="k1"))["reference"]
        assert before["custom"]["collections"] == ["Thesis/One", "Other", "A; B"]
        assert before["keyword"].endswith("mine")
        await reader.ask("remove_reference", id="k1", force=True)
        await reader.ask("add_references", input=whole)
        assert (await reader.ask("get_reference", id="k1"))["reference"] == before

    stage.play(scene)


def test_a_former_key_is_organized_as_the_reference_that_had_it(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)

    async def scene(reader: Reader) -> None:
        await reader.ask("rename_reference", id="a", new_id="alpha")
        done = await reader.ask("organize_references", ids=["a"], add_tags=["one"])
        assert done["ids"] == ["alpha"]
        assert done["notices"] == ["a is now called alpha."]
        done = await reader.ask("organize_references", ids=["a", "b", "alpha"], add_tags=["two"])
        assert (done["matched"], sorted(done["ids"])) == (2, ["alpha", "b"])
        unknown = await refuse(reader, "organize_references", ids=["a", "none"], add_tags=["x"])
        assert unknown == "resource_not_found"

    stage.play(scene)
