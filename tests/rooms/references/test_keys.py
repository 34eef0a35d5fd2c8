"""Keys by a pattern, and keys that were changed: they still lead to their references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from carrel.rooms.references.key_patterns import parse_key_pattern
from carrel.rooms.references.key_renaming import plan_keys
from tests.rooms.references.desk import Reader, Stage

pytestmark = pytest.mark.promise("L10")

Item = dict[str, Any]
_ITEM: Item = {
    "id": "x",
    "type": "article-journal",
    "title": "The <i>Fish</i>-oil of Raynaud's syndrome",
    "author": [{"family": "Ørsted Berg"}, {"family": "Li"}, {"family": "Müller"}],
    "issued": {"date-parts": [[1986]]},
    "container-title": "Perspectives in Biology and Medicine",
    "volume": "30",
}


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("", "no field"),
        ("key", "no field"),
        ("{nothing}", "no field nothing"),
        ("{author|bold}", "no change"),
        ("{author|letters 0}", "no change"),
        ("{author} {year}", "may not have"),
        ("{author}{", "may not have"),
        ("{author:2:3}", "names no field"),
        ("{year}" * 40, "too long"),
    ],
)
def test_a_pattern_that_cannot_be_read_is_refused(pattern: str, said: str) -> None:
    with pytest.raises(CarrelError, match=said):
        parse_key_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "key"),
    [
        ("{author}-{year}", "orsted_berg-1986"),
        ("{authors:2}{year}{title:1}", "orsted_bergli1986fish"),
        ("{authors:2|capital}{year|short}", "OrstedBergLi86"),
        ("{authors|initials|upper}{year}", "OLM1986"),
        ("{authors:2|join +}:{year}", "orsted_berg+li:1986"),
        ("{author|letters 3}{year}", "ors1986"),
        ("{title:2|capital}", "FishOil"),
        ("{journal|initials}_{volume}", "pbm_30"),
        ("{editor|else anon}-{year}", "anon-1986"),
        ("{editor}-{year}", "1986"),
        ("{DOI}", "orsted_berg-1986"),
        ("{container-title:1}.{type}", "perspectives.articlejournal"),
    ],
)
def test_a_pattern_is_filled(pattern: str, key: str) -> None:
    assert parse_key_pattern(pattern).make(_ITEM) == key


def test_keys_are_given_once_and_former_ones_to_their_owners_alone() -> None:
    make = parse_key_pattern("{author}-{year}").make
    smith = {"author": [{"family": "Smith"}], "issued": {"date-parts": [[2020]]}}
    items: list[Item] = [
        {"id": "one", **smith},
        {"id": "two", **smith},
        {"id": "smith-2020", "author": [{"family": "Other"}], "issued": {"date-parts": [[1999]]}},
        {"id": "smith-2020b", **smith},
        {"id": "Smith-2020", **smith},
    ]
    changed = plan_keys(items, make, None)
    # smith-2020 stays a former key of the third, so nobody else may have it.
    assert changed["smith-2020"] == "other-1999"
    assert changed["one"] == "smith-2020a" and changed["two"] == "smith-2020c"
    assert "smith-2020b" not in changed
    present = {str(changed.get(item["id"], item["id"])).lower() for item in items}
    assert len(present) == len(items)
    assert plan_keys(items, make, frozenset({"two"})) == {"two": "smith-2020a"}


def _stage(folder: Path, *items: Item, **settings: Any) -> Stage:
    stage = Stage(folder, references=settings)
    stage.library.write_text(json.dumps(list(items), indent=2), "utf-8")
    return stage


def _items(stage: Stage) -> list[Item]:
    found: list[Item] = json.loads(stage.library.read_text("utf-8"))
    return found


def test_a_key_that_is_taken_or_was_is_refused(tmp_path: Path) -> None:
    stage = _stage(
        tmp_path,
        {**_ITEM, "id": "a"},
        {"id": "b", "type": "book", "title": "B", "custom": {"former_ids": ["old"]}},
    )
    before = stage.library.read_bytes()

    async def scene(reader: Reader) -> None:
        for new_id, said in [("b", "taken"), ("B", "leads to b"), ("old", "leads to b")]:
            with pytest.raises(CarrelError, match=said) as caught:
                await reader.ask("rename_reference", id="a", new_id=new_id)
            assert caught.value.code == "conflict"
        with pytest.raises(CarrelError, match="not found"):
            await reader.ask("rename_reference", id="nobody", new_id="c")
        with pytest.raises(CarrelError, match="control characters"):
            await reader.ask("rename_reference", id="a", new_id="a\tb")

    stage.play(scene)
    assert stage.library.read_bytes() == before


def test_a_former_key_leads_to_the_reference_and_says_so(tmp_path: Path) -> None:
    stage = _stage(tmp_path, {**_ITEM, "id": "old"}, {**_ITEM, "id": "z", "title": "Z"})
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")
    told = ["old is now called new."]

    async def scene(reader: Reader) -> None:
        renamed = await reader.ask("rename_reference", id="old", new_id="new")
        assert renamed == {"id": "new", "former_ids": ["old"]}
        found = await reader.ask("get_reference", id="old")
        assert found["reference"]["id"] == "new" and found["notices"] == told
        cited = await reader.ask("cite_references", ids=["old", "new"], kind="in_text")
        assert "1986" in cited["text"] and cited["notices"] == told
        cited = await reader.ask("cite_references", ids=["old"])
        assert [each["id"] for each in cited["entries"]] == ["new"]
        attached = await reader.ask("attach_fulltext", id="old", path=str(tmp_path / "a.pdf"))
        assert attached["id"] == "new" and attached["notices"] == told
        assert json.loads(await reader.read("library://reference/old"))["id"] == "new"
        edited = await reader.ask("edit_reference", id="old", changes={"volume": "31"})
        assert edited["reference"]["volume"] == "31" and edited["notices"] == told
        found = await reader.ask("search_references", query="id:old")
        assert [each["id"] for each in found["references"]] == ["new"]
        with pytest.raises(CarrelError, match="not found") as caught:
            await reader.ask("remove_reference", id="old", force=True)
        assert caught.value.details["nearest"] == ["new"]
        added = await reader.ask(
            "add_references", input="@book{old, title={Quite another}, year=2001}"
        )
        assert added["added"][0]["id"] == "olda"
        again = await reader.ask("rename_reference", id="new", new_id="old")
        assert again == {"id": "old", "former_ids": ["new"]}

    stage.play(scene)
    assert _items(stage)[0]["custom"]["former_ids"] == ["new"]


def test_an_old_save_of_another_program_does_not_undo_a_rename(tmp_path: Path) -> None:
    stage = _stage(tmp_path, {**_ITEM, "id": "old"}, {**_ITEM, "id": "z", "title": "Z"})
    stale = _items(stage)

    async def scene(reader: Reader) -> None:
        await reader.ask("rename_reference", id="old", new_id="new")
        stale[1]["note"] = "edited outside"
        stage.library.write_text(json.dumps(stale, indent=2), "utf-8")
        listed = await reader.ask("list_references")
        ids = [each["id"] for each in listed["references"]]
        assert "new" in ids and "old" not in ids
        assert listed["references"][ids.index("z")]["note"] == "edited outside"

    stage.play(scene)


def test_all_keys_are_renamed_by_the_pattern_of_the_settings(tmp_path: Path) -> None:
    stage = _stage(
        tmp_path,
        {**_ITEM, "id": "x1"},
        {**_ITEM, "id": "x2", "title": "Second"},
        key_pattern="{author|letters 6}{year}",
    )

    async def scene(reader: Reader) -> None:
        before = stage.library.read_bytes()
        shown = await reader.ask("rename_keys")
        assert shown["dry_run"] and shown["total"] == 2 and stage.library.read_bytes() == before
        with pytest.raises(CarrelError, match="no field"):
            await reader.ask("rename_keys", pattern="{nonsense}", dry_run=False)
        done = await reader.ask("rename_keys", dry_run=False)
        assert done["changes"] == [
            {"id": "x1", "new_id": "orsted1986"},
            {"id": "x2", "new_id": "orsted1986a"},
        ]
        assert (await reader.ask("rename_keys"))["total"] == 0
        assert (await reader.ask("get_reference", id="x2"))["reference"]["id"] == "orsted1986a"
        added = await reader.ask(
            "add_references", input="TY  - BOOK\nTI  - Third\nAU  - Orsted, A\nPY  - 1986\nER  - \n"
        )
        assert added["added"][0]["id"] == "orsted1986b"

    stage.play(scene)


def test_the_usual_pattern_gives_what_no_pattern_gives(tmp_path: Path) -> None:
    """The console shows keys without a pattern and renames by the name of what it showed."""
    items: list[Item] = [
        {
            "id": "a",
            "type": "book",
            "title": "Follow the blood",
            "issued": {"date-parts": [[2001]]},
        },
        {"id": "b", "type": "book", "title": "Nobody knows when"},
        {**_ITEM, "id": "c"},
    ]

    async def scene(reader: Reader) -> None:
        shown = await reader.ask("rename_keys")
        named = await reader.ask("rename_keys", pattern=shown["pattern"])
        assert shown["changes"] == named["changes"] and len(named["changes"]) == 3
        done = await reader.ask("rename_keys", pattern=shown["pattern"], dry_run=False)
        assert done["changes"] == shown["changes"]

    _stage(tmp_path, *items).play(scene)
