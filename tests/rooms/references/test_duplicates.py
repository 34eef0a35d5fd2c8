"""Duplicates of a library: found with their evidence, merged field by field, and undone."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.core.caller import Call, Caller, Visit
from carrel.core.errors import CarrelError
from carrel.policy.scopes import ALL_SCOPES
from carrel.rooms.references.attachment_models import MissingFile
from carrel.rooms.references.attachments import Attachments
from carrel.rooms.references.duplicate_merging import DuplicateMerging
from carrel.rooms.references.duplicate_models import MergeReferences
from carrel.rooms.references.duplicates import find_duplicate_groups
from carrel.rooms.references.errors import ReferenceChangedError
from carrel.rooms.references.former_ids import ForwardingLibraries
from carrel.services.attached_files import LocalFiles
from carrel.stores.csl_json.library_file import Edit, FileState, LibraryFile
from carrel.stores.csl_json.user_libraries import UserLibraries
from tests.rooms.references.desk import Reader, Stage

pytestmark = pytest.mark.promise("L10")

Item = dict[str, Any]
_PEOPLE = [{"family": "Swanson", "given": "Don R."}, {"family": "Smalheiser", "given": "Neil"}]


def _item(name: str, **fields: Any) -> Item:
    return {
        "id": name,
        "type": "article-journal",
        "title": "An interactive system for finding complementary literatures",
        "author": _PEOPLE,
        "issued": {"date-parts": [[1997]]},
        **fields,
    }


def _stage(folder: Path, *items: Item) -> Stage:
    stage = Stage(folder)
    stage.library.write_text(json.dumps(list(items), indent=2), "utf-8")
    return stage


def _items(stage: Stage) -> dict[str, Item]:
    """What is acknowledged; the file follows a moment later."""
    return {item["id"]: item for item in LibraryFile(stage.library).read().document.items()}


def _certain(*items: Item) -> list[set[str]]:
    return [
        {items[at]["id"] for at in group.members}
        for group in find_duplicate_groups(items)
        if group.certainty == "certain"
    ]


_BOOK = {"type": "book", "publisher": "Springer", "title": "Elements of statistical learning"}
_OTHER = {"title": "Fish oil, Raynaud's syndrome, and undiscovered public knowledge"}
_CHAPTER = {"type": "chapter", "container-title": "Handbook of search", "ISBN": "9780262033848"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"title": "Complementary works: Part 1"}, {"title": "Complementary works: Part 2"}),
        ({"title": "On water. I. Theory"}, {"title": "On water. II. Theory"}),
        (
            {"container-title": "bioRxiv", "DOI": "10.1101/123456"},
            {"container-title": "Nature", "DOI": "10.1038/123"},
        ),
        ({"DOI": "10.1038/1"}, {"DOI": "10.1038/1", "title": "Erratum: An interactive system"}),
        ({}, {"title": "Erratum: An interactive system for finding complementary literatures"}),
        ({**_BOOK, "edition": "1"}, {**_BOOK, "edition": "2"}),
        ({**_BOOK, "ISBN": "9780262033848"},
         {**_BOOK, "ISBN": "9780262033848", "issued": {"date-parts": [[2009]]}}),
        ({**_BOOK, "ISBN": "9780262033848", "volume": "1"},
         {**_BOOK, "ISBN": "9780262033848", "volume": "2"}),
        ({**_CHAPTER, "title": "Introduction", "page": "1-9"},
         {**_CHAPTER, "title": "Conclusion", "page": "90-99"}),
        ({**_CHAPTER, "title": "Introduction", "page": "1-9"},
         {**_CHAPTER, "title": "Introduction", "page": "90-99"}),
        ({**_CHAPTER, "title": "Introduction"}, {**_BOOK, "ISBN": "9780262033848"}),
        ({"DOI": "10.1038/1"}, {"DOI": "10.1038/2"}),
        (
            {"type": "webpage", "title": "COVID-19 and your health today and tomorrow"},
            {"type": "webpage", "title": "COVID-19 and your health today and tomorrow",
             "issued": {"date-parts": [[1998]]}},
        ),
    ],
    ids=[
        "parts", "Roman parts", "preprint", "erratum with the DOI", "erratum", "editions",
        "editions by year", "volumes", "two chapters", "two introductions", "chapter and book",
        "two DOIs", "a page that was updated",
    ],
)  # fmt: skip
def test_what_is_near_but_different_is_not_certain(one: Item, other: Item) -> None:
    assert _certain(_item("a", **one), _item("b", **other)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"DOI": "10.1038/ABC"}, {"DOI": "https://doi.org/10.1038/abc", "title": "An Interactive"}),
        ({"PMID": "9139118"}, {"PMID": "9139118", "author": []}),
        ({"custom": {"arxiv_id": "2101.00001v1"}}, {"custom": {"arxiv_id": "2101.00001v3"}}),
        ({**_BOOK, "ISBN": "0262033844"}, {**_BOOK, "ISBN": "978-0-262-03384-8"}),
        ({}, {"author": [{"family": "Swanson", "given": "D."},
                         {"family": "Smalheiser", "given": "N."}]}),
        ({}, {"title": "AN INTERACTIVE SYSTEM FOR FINDING COMPLEMENTARY LITERATURES."}),
        ({}, {"title": "An interactive system for finding complementary literatures",
              "issued": {"date-parts": [[1998]]}}),
    ],
    ids=["DOI", "PMID", "arXiv", "ISBN", "initials", "capitals", "a year apart"],
)  # fmt: skip
def test_what_is_one_work_is_certain(one: Item, other: Item) -> None:
    stranger = _item("c", title="Fish oil, Raynaud's syndrome, and undiscovered public knowledge")
    assert _certain(_item("a", **one), stranger, _item("b", **other)) == [{"a", "b"}]


def test_two_that_differ_are_not_joined_by_a_third_that_says_less() -> None:
    editions = [{"edition": "1"}, {}, {"edition": "2"}]
    groups = find_duplicate_groups(
        [
            _item(f"b{at}", **{**_BOOK, "ISBN": "9780262033848", **more})
            for at, more in enumerate(editions)
        ]
    )
    assert groups and all(group.certainty == "possible" for group in groups)
    assert all(len(group.members) == 2 for group in groups)


def test_groups_come_in_pages_with_evidence_and_the_one_to_keep(tmp_path: Path) -> None:
    stage = _stage(
        tmp_path,
        _item("plain"),
        _item("full", DOI="10.1000/x", volume="91"),
        _item("pre", **_OTHER, **{"container-title": "bioRxiv", "DOI": "10.1101/12345"}),
        _item("late", **_OTHER, **{"container-title": "Nature", "DOI": "10.1038/12345"}),
    )

    async def scene(reader: Reader) -> None:
        found = await reader.ask("find_duplicates", certainty="certain")
        (group,) = found["groups"]
        assert found["certain_total"] == 1
        assert {each["id"]: each["is_suggested"] for each in group["references"]} == {
            "plain": False,
            "full": True,
        }
        assert "same title, 2 of 2 authors" in group["reasons"][0]["reason"]
        possible = await reader.ask("find_duplicates", certainty="possible")
        assert any(
            each["relation"] in {"preprint_of", "published_as"}
            for group in possible["groups"]
            for each in group["reasons"]
            if "relation" in each
        )
        assert (await reader.ask("find_duplicates", page=9))["groups"] == []
        assert (await reader.ask("find_duplicates", ids=["nobody"]))["groups"] == []

    stage.play(scene)


def test_a_merge_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    stage = _stage(tmp_path, _item("a"), _item("b"))

    async def scene(reader: Reader) -> None:
        refused: list[tuple[Item, str]] = [
            ({"keep": "a", "others": ["a"]}, "itself"),
            ({"keep": "a", "others": ["x"]}, "not found"),
            ({"keep": "a", "others": ["b"], "fields": {"title": "x"}}, "not merged"),
            ({"keep": "a", "others": ["b"], "fields": {"volume": "b"}}, "no field volume"),
            ({"keep": "a", "others": ["b"], "fields": {"id": "b"}}, "no field id"),
        ]
        for arguments, said in refused:
            with pytest.raises(CarrelError, match=said):
                await reader.ask("merge_references", dry_run=False, **arguments)

    before = stage.library.read_bytes()
    stage.play(scene)
    assert stage.library.read_bytes() == before


def test_a_dry_run_shows_each_field_and_changes_nothing(tmp_path: Path) -> None:
    stage = _stage(tmp_path, _item("a", volume="1"), _item("b", volume="2", DOI="10.1000/x"))
    before = stage.library.read_bytes()

    async def scene(reader: Reader) -> Any:
        return await reader.ask("merge_references", keep="a", others=["b"])

    shown = stage.play(scene)
    assert shown["dry_run"] is True and shown["reference"]["DOI"] == "10.1000/x"
    assert shown["fields"] == [
        {"field": "volume", "taken_from": "a", "values": {"a": "1", "b": "2"}},
        {"field": "DOI", "taken_from": "b", "values": {"b": "10.1000/x"}},
    ]
    assert stage.library.read_bytes() == before


def test_a_merge_keeps_what_all_have_and_is_undone(tmp_path: Path) -> None:
    stage = _stage(
        tmp_path,
        _item("a", volume="1", note="mine", keyword="fish; oil", URL="https://a.example",
              custom={"uuid": "u1", "tags": ["x"], "former_ids": ["a0"]}),
        _item("b", volume="2", note="theirs", keyword="oil; blood", URL="https://b.example",
              custom={"uuid": "u2", "tags": ["y"], "collections": ["c"], "former_ids": ["b0"]}),
        _item("c", title="Other work entirely, about magnesium and migraine", keyword="z"),
    )  # fmt: skip
    before = _items(stage)
    for name in ("one.pdf", "two.pdf", "same.pdf"):
        (tmp_path / name).write_bytes(b"%PDF-1.4 " + name[:3].encode())
    (tmp_path / "same.pdf").write_bytes((tmp_path / "one.pdf").read_bytes())

    async def scene(reader: Reader) -> None:
        await reader.ask("attach_fulltext", id="a", path=str(tmp_path / "one.pdf"))
        await reader.ask("attach_fulltext", id="b", path=str(tmp_path / "two.pdf"))
        await reader.ask("attach_file", id="b", path=str(tmp_path / "same.pdf"))
        attached = {name: item for name, item in _items(stage).items() if name != "c"}
        done = await reader.ask(
            "merge_references", keep="a", others=["b"], fields={"volume": "b"}, dry_run=False
        )
        assert done["merged"] == ["b"] and done["undo_ids"] == ["a", "b"]
        merged = _items(stage)["a"]
        assert "b" not in _items(stage) and merged["volume"] == "2"
        assert merged["keyword"] == "fish; oil; blood" and merged["note"] == "mine\n\ntheirs"
        own = merged["custom"]
        assert own["uuid"] == "u1" and own["tags"] == ["x", "y"] and own["collections"] == ["c"]
        assert own["additional_urls"] == ["https://b.example"]
        assert own["former_ids"] == ["a0", "b", "b0"]
        files = (await reader.ask("list_attachments", id="a"))["files"]
        assert [(each["role"], each["is_missing"]) for each in files] == [
            ("fulltext", False),
            ("supplement", False),
        ]
        for old in ("b", "b0", "a0"):
            found = await reader.ask("get_reference", id=old)
            assert found["reference"]["id"] == "a"
            assert found["notices"] == [f"{old} is now called a."]
        await reader.ask("restore_references", ids=done["undo_ids"])
        assert {name: item for name, item in _items(stage).items() if name != "c"} == attached
        files = (await reader.ask("list_attachments", id="b"))["files"]
        assert not any(each["is_missing"] for each in files)

    stage.play(scene)
    assert _items(stage)["c"] == before["c"]


def test_a_merge_sees_what_another_program_saved_since_the_search(tmp_path: Path) -> None:
    stage = _stage(tmp_path, _item("a"), _item("b"))

    async def scene(reader: Reader) -> None:
        assert (await reader.ask("find_duplicates"))["certain_total"] == 1
        items = json.loads(stage.library.read_text("utf-8"))
        items[1]["note"] = "edited outside"
        stage.library.write_text(json.dumps(items, indent=2), "utf-8")
        done = await reader.ask("merge_references", keep="a", others=["b"], dry_run=False)
        assert done["reference"]["note"] == "edited outside"

    stage.play(scene)


class _ChangedMeanwhile:
    """Files whose copying gives another program the time to save."""

    def __init__(self, library: Path) -> None:
        self._files, self._library = LocalFiles(), library

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    async def copy_in(self, source: Path, target: Path) -> None:
        await self._files.copy_in(source, target)
        items = json.loads(self._library.read_text("utf-8"))
        items[1]["note"] = "edited outside"
        self._library.write_text(json.dumps(items, indent=2), "utf-8")


def test_a_merge_of_what_changed_meanwhile_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "lib.json"
    older = {"fulltext": {"pdf": "b.pdf"}}
    path.write_text(json.dumps([_item("a"), _item("b", custom=older)], indent=2), "utf-8")
    folder = tmp_path / "lib-attachments"
    folder.mkdir()
    (folder / "b.pdf").write_bytes(b"%PDF-1.4")

    async def scene() -> None:
        libraries = UserLibraries(path, tmp_path / "users", None)
        merging = DuplicateMerging(ForwardingLibraries(libraries), _ChangedMeanwhile(path))
        call = Call(Caller("local", ALL_SCOPES), Visit("stdio", "test"))
        question = MergeReferences(keep="a", others=["b"], dry_run=False)
        try:
            with pytest.raises(ReferenceChangedError):
                await merging.merge(question, call)
        finally:
            await libraries.close()

    asyncio.run(scene())
    assert [item["id"] for item in json.loads(path.read_text("utf-8"))] == ["a", "b"]
    assert [each.name for each in folder.rglob("*")] == ["b.pdf"]


def test_a_merge_whose_call_was_cancelled_keeps_the_files_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, folder = tmp_path / "lib.json", tmp_path / "lib-attachments"
    older = {"fulltext": {"pdf": "b.pdf"}}
    path.write_text(json.dumps([_item("a"), _item("b", custom=older)], indent=2), "utf-8")
    folder.mkdir()
    (folder / "b.pdf").write_bytes(b"%PDF-1.4")
    began, go_on = threading.Event(), threading.Event()
    record: Callable[[LibraryFile, Edit], FileState] = LibraryFile.record

    def record_later(file: LibraryFile, edit: Edit) -> FileState:
        began.set()
        go_on.wait(20)
        return record(file, edit)

    async def scene() -> tuple[Item | None, list[MissingFile]]:
        libraries = UserLibraries(path, tmp_path / "users", None)
        merging = DuplicateMerging(ForwardingLibraries(libraries), LocalFiles())
        caller = Caller("local", ALL_SCOPES)
        question = MergeReferences(keep="a", others=["b"], dry_run=False)
        library = libraries.of(caller)
        try:
            monkeypatch.setattr(LibraryFile, "record", record_later)
            merge = merging.merge(question, Call(caller, Visit("stdio", "test")))
            merging_task = asyncio.create_task(merge)
            await asyncio.to_thread(began.wait, 20)
            merging_task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await merging_task
            go_on.set()
            # What was begun is finished before anything else is asked of the library.
            await library.list_past("a")
            orphans, missing = await Attachments(LocalFiles()).find_orphans(library)
            assert len(orphans) == 1, "the file of what was merged into the other"
            return await library.find("b"), missing
        finally:
            go_on.set()
            await libraries.close()

    assert asyncio.run(scene()) == (None, [])
