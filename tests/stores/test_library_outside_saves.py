"""Outside saves of any age: what was acknowledged stays, what the editor did is merged, and what
was decided is said.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from carrel.stores.csl_json.file_replacement import exchange
from carrel.stores.csl_json.library_file import LibraryFile

Item = dict[str, Any]


def add(library: LibraryFile, *items: Item) -> None:
    library.change(lambda present: present.with_added(items))


def edit(library: LibraryFile, item_id: str, **values: object) -> None:
    def changed(present: Any) -> Any:
        return present.with_entry(item_id, present.get(item_id).with_changes(values))

    library.change(changed)


def remove(library: LibraryFile, item_id: str) -> None:
    library.change(lambda present: present.without(item_id))


def book(item_id: str, **more: object) -> Item:
    return {"id": item_id, "type": "book", "title": f"Title of {item_id}", **more}


def load(path: Path) -> list[Item]:
    return list(json.loads(path.read_text(encoding="utf-8")))


def save(path: Path, items: Iterable[Item]) -> None:
    path.write_text(json.dumps(list(items)), encoding="utf-8")


def ids(path: Path) -> list[str]:
    return [str(item["id"]) for item in LibraryFile(path).read().document.items()]


def by_id(path: Path) -> dict[str, Item]:
    return {str(item["id"]): item for item in LibraryFile(path).read().document.items()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lib.json"


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel.stores.csl_json.library_file._PAUSE_SECONDS", 0.0)


@pytest.mark.promise("L9")
@pytest.mark.parametrize("count", [1, 40, 150])
def test_forty_references_added_after_an_editor_opened_the_library_survive_its_save(
    path: Path, count: int
) -> None:
    library = LibraryFile(path)
    add(library, book("first"), book("second"))
    stale = load(path)
    for number in range(count):
        add(library, book(f"new-{number}"))
    stale[0]["note"] = "edited"
    save(path, stale)
    found = by_id(path)
    assert set(found) == {"first", "second", *(f"new-{number}" for number in range(count))}
    assert found["first"]["note"] == "edited"


def test_the_next_look_says_what_was_kept_and_says_it_once(path: Path) -> None:
    library = LibraryFile(path)
    add(library, book("first"))
    stale = load(path)
    add(library, book("new"))
    save(path, stale)
    other = LibraryFile(path)
    other.read()
    (notice,) = other.take_notices()
    assert "1 reference was kept (new)" in notice
    assert other.take_notices() == []
    assert LibraryFile(path).take_notices() == []


def test_an_editor_that_saves_again_without_reloading_deletes_nothing_either(path: Path) -> None:
    library = LibraryFile(path)
    add(library, book("first"))
    stale = load(path)
    add(library, book("one"))
    add(library, book("two"))
    for turn in range(3):
        stale[0]["note"] = f"turn {turn}"
        save(path, stale)
        library.read()
        stale.append(book(f"by-editor-{turn}"))
        save(path, stale)
        assert {"first", "one", "two"} <= set(ids(path))
    assert set(ids(path)) == {"first", "one", "two", "by-editor-0", "by-editor-1", "by-editor-2"}


def test_a_deletion_by_one_who_had_seen_the_item_is_respected(path: Path) -> None:
    library = LibraryFile(path)
    add(library, book("a"))
    add(library, book("b"))
    add(library, book("c"))
    save(path, [item for item in load(path) if item["id"] != "b"])
    assert ids(path) == ["a", "c"]
    assert LibraryFile(path).take_notices() == []


def test_an_edit_made_here_after_an_item_shows_that_its_writer_had_seen_the_item(
    path: Path,
) -> None:
    library = LibraryFile(path)
    add(library, book("a"))
    add(library, book("b"))
    edit(library, "a", note="by the assistant")
    save(path, [item for item in load(path) if item["id"] != "b"])
    assert ids(path) == ["a"]


def test_an_item_edited_here_since_the_editor_loaded_it_outlives_its_deletion_there(
    path: Path,
) -> None:
    library = LibraryFile(path)
    add(library, book("a"), book("b"))
    stale = load(path)
    edit(library, "b", note="by the assistant")
    save(path, [item for item in stale if item["id"] != "b"])
    assert by_id(path)["b"]["note"] == "by the assistant"


def test_the_newest_item_deleted_by_an_editor_is_in_doubt_and_kept(path: Path) -> None:
    library = LibraryFile(path)
    add(library, book("a"))
    add(library, book("b"))
    save(path, [book("a")])
    assert ids(path) == ["a", "b"]


def test_what_another_outsider_added_shows_no_more_than_that_outsider_had_seen(path: Path) -> None:
    library = LibraryFile(path)
    add(library, book("a"))
    add(library, book("b"))
    save(path, [*load(path), book("by-editor")])
    library.read()
    save(path, [item for item in load(path) if item["id"] != "b"])
    assert ids(path) == ["a", "by-editor"]


def test_fields_changed_on_both_sides_are_merged_from_the_version_that_the_editor_had(
    path: Path,
) -> None:
    library = LibraryFile(path)
    add(library, book("a", note="n0", volume="1"), book("z"))
    edit(library, "a", volume="2")
    stale = load(path)
    edit(library, "a", title="By the assistant")
    for number in range(30):
        edit(library, "z", note=f"{number}")
    stale[0]["note"] = "by the editor"
    save(path, stale)
    assert by_id(path)["a"] == {
        "id": "a",
        "type": "book",
        "title": "By the assistant",
        "note": "by the editor",
        "volume": "2",
    }
    assert by_id(path)["z"]["note"] == "29"


def test_a_field_that_both_changed_keeps_what_was_promised_and_says_so(path: Path) -> None:
    library = LibraryFile(path)
    add(library, book("a"))
    stale = load(path)
    edit(library, "a", title="Ours")
    add(library, book("b"))
    stale[0]["title"] = "Theirs"
    save(path, stale)
    reader = LibraryFile(path)
    assert {item["id"]: item["title"] for item in reader.read().document.items()} == {
        "a": "Ours",
        "b": "Title of b",
    }
    assert "a (title)" in reader.take_notices()[0]


def test_an_editor_that_loaded_our_edit_may_change_it(path: Path) -> None:
    library = LibraryFile(path)
    add(library, book("a"))
    edit(library, "a", title="Ours")
    save(path, [book("a") | {"title": "Corrected"}])
    assert by_id(path)["a"]["title"] == "Corrected"


def test_a_removal_survives_a_stale_save_and_an_edit_of_the_removed_item_does_too(
    path: Path,
) -> None:
    library = LibraryFile(path)
    add(library, book("a"), book("b"), book("c"))
    stale = load(path)
    remove(library, "b")
    remove(library, "c")
    stale[2]["note"] = "edited"
    save(path, stale)
    reader = LibraryFile(path)
    assert [item["id"] for item in reader.read().document.items()] == ["a", "c"]
    assert "not brought back (b)" in reader.take_notices()[0]


def test_an_item_that_is_put_back_by_one_who_saw_it_go_is_back(path: Path) -> None:
    library = LibraryFile(path)
    add(library, book("a"), book("b"))
    remove(library, "b")
    add(library, book("c"))
    save(path, [*load(path), book("b")])
    assert ids(path) == ["a", "c", "b"]


def test_a_changed_id_is_followed_and_our_edit_of_the_item_stays(path: Path) -> None:
    library = LibraryFile(path)
    add(library, book("a", custom={"uuid": "u-1"}), book("b"))
    stale = load(path)
    edit(library, "a", note="by the assistant")
    add(library, book("c"))
    stale[0]["id"] = "renamed"
    save(path, stale)
    found = by_id(path)
    assert set(found) == {"renamed", "b", "c"}
    assert found["renamed"]["note"] == "by the assistant"


def test_two_works_given_one_id_at_the_same_time_both_stay_however_often_the_editor_saves(
    path: Path,
) -> None:
    library = LibraryFile(path)
    add(library, book("a"))
    stale = load(path)
    add(library, {"id": "smith-2024", "type": "book", "title": "Ours", "custom": {"uuid": "u-1"}})
    stale.append({"id": "smith-2024", "type": "book", "title": "Quite another work"})
    for turn in range(3):
        stale[0]["note"] = f"turn {turn}"
        save(path, stale)
        titles = {item["id"]: item["title"] for item in LibraryFile(path).read().document.items()}
        assert titles == {
            "a": "Title of a",
            "smith-2024": "Ours",
            "smith-2024-2": "Quite another work",
        }


def test_an_editor_that_sorts_and_formats_anew_changes_nothing_else(path: Path) -> None:
    library = LibraryFile(path)
    add(library, book("b"), book("a"))
    stale = load(path)
    add(library, book("c"))
    edit(library, "a", note="n")
    text = json.dumps(sorted(stale, key=lambda item: item["id"]), indent=4, sort_keys=True)
    path.write_text(text, encoding="utf-8")
    assert by_id(path) == {"a": book("a", note="n"), "b": book("b"), "c": book("c")}
    assert ids(path)[0] == "a"


def test_two_stale_editors_lose_neither_each_other_nor_ours(path: Path) -> None:
    library = LibraryFile(path)
    add(library, book("a"), book("b"))
    first = load(path)
    add(library, book("c"))
    second = load(path)
    add(library, book("d"))
    first[0]["note"] = "first"
    second[1]["note"] = "second"
    save(path, [*first, book("e")])
    library.read()
    save(path, [*second, book("f")])
    found = by_id(path)
    assert set(found) == set("abcdef")
    assert (found["a"]["note"], found["b"]["note"]) == ("first", "second")


def test_an_empty_array_deletes_nothing(path: Path) -> None:
    library = LibraryFile(path)
    add(library, book("a"), book("b"))
    path.write_text("[]", encoding="utf-8")
    reader = LibraryFile(path)
    assert [item["id"] for item in reader.read().document.items()] == ["a", "b"]
    assert "2 references were kept" in reader.take_notices()[0]


def test_a_missing_file_is_put_back(path: Path) -> None:
    library = LibraryFile(path)
    add(library, book("a"))
    path.unlink()
    reader = LibraryFile(path)
    assert [item["id"] for item in reader.read().document.items()] == ["a"]
    assert "missing" in reader.take_notices()[0]
    assert load(path) == [book("a")]


def test_an_empty_file_that_was_never_a_library_is_an_empty_library(path: Path) -> None:
    path.write_text("", encoding="utf-8")
    add(LibraryFile(path), book("a"))
    assert ids(path) == ["a"]


def test_a_library_that_only_others_write_is_taken_as_they_save_it(path: Path) -> None:
    save(path, [book("a"), book("b"), book("c")])
    assert ids(path) == ["a", "b", "c"]
    save(path, [book("a") | {"note": "edited"}, book("c")])
    assert ids(path) == ["a", "c"]


def test_a_library_kept_by_an_older_carrel_loses_nothing_to_an_editor_from_before(
    path: Path,
) -> None:
    library = LibraryFile(path)
    add(library, book("a"))
    stale = load(path)
    for number in range(40):
        add(library, book(f"old-{number}"))
    (path.parent / ".lib.json.carrel" / "ledger.jsonl").unlink()
    save(path, [stale[0] | {"note": "edited"}])
    found = by_id(path)
    assert set(found) == {"a", *(f"old-{number}" for number in range(40))}
    assert found["a"]["note"] == "edited"


@pytest.mark.parametrize("damage", ["end", "middle", "all", "older"])
def test_a_damaged_ledger_is_taken_for_less_than_it_says(path: Path, damage: str) -> None:
    ledger = path.parent / ".lib.json.carrel" / "ledger.jsonl"
    library = LibraryFile(path)
    add(library, book("a"))
    stale = load(path)
    for number in range(5):
        add(library, book(f"new-{number}"))
        if damage == "older" and number == 2:
            shutil.copy(ledger, path.parent / "older")
    lines = ledger.read_bytes().split(b"\n")
    match damage:
        case "end":
            ledger.write_bytes(ledger.read_bytes()[:-20])
        case "middle":
            ledger.write_bytes(b"\n".join([*lines[:2], b'{"revision": broken', *lines[4:]]))
        case "all":
            ledger.write_bytes(b"\0" * 100)
        case _:
            shutil.copy(path.parent / "older", ledger)
    save(path, [stale[0] | {"note": "edited"}])
    assert set(ids(path)) == {"a", *(f"new-{number}" for number in range(5))}
    add(LibraryFile(path), book("later"))
    save(path, [item for item in load(path) if item["id"] != "new-3"])
    assert "new-3" not in ids(path)


def test_a_backup_put_in_place_on_purpose_keeps_what_came_later_and_says_how_to_go_back(
    path: Path,
) -> None:
    library = LibraryFile(path)
    add(library, book("a"))
    backup = path.read_bytes()
    add(library, book("b"))
    path.write_bytes(backup)
    reader = LibraryFile(path)
    assert [item["id"] for item in reader.read().document.items()] == ["a", "b"]
    assert "carrel references restore" in reader.take_notices()[0]


def test_an_old_text_is_let_go_and_the_merge_still_knows_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.stores.csl_json.ledger._COMPACT_BYTES", 2_000)
    monkeypatch.setattr("carrel.stores.csl_json.ledger._TEXTS_KEPT", 1)
    library = LibraryFile(path)
    add(library, book("a"), book("b"))
    stale = load(path)
    for number in range(60):
        edit(library, "a", abstract=f"{number} " + "long text " * 200)
    stale[1]["note"] = "edited"
    save(path, stale)
    assert by_id(path)["a"]["abstract"].startswith("59 ")
    assert by_id(path)["b"]["note"] == "edited"
    assert (path.parent / ".lib.json.carrel" / "ledger.jsonl").stat().st_size < 60 * 1000


@pytest.mark.promise("L9")
@pytest.mark.parametrize("way", ["change", "materialize"])
def test_a_save_right_behind_ours_is_not_taken_for_ours(
    path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(path, [book("a")])
    library = LibraryFile(path)
    add(library, book("b"))
    stale = [book("a"), book("editor")]

    def exchange_and_save(draft: Path, target: Path) -> Path | None:
        replaced = exchange(draft, target)
        # An editor that loaded the file at first renames its draft over it at this moment.
        save(path.with_suffix(".editor"), stale)
        path.with_suffix(".editor").replace(path)
        return replaced

    with monkeypatch.context() as patched:
        patched.setattr("carrel.stores.csl_json.journal.exchange", exchange_and_save)
        if way == "change":
            add(library, book("c"))
        else:
            library.record(lambda present: present.with_added([book("c")]))
            library.materialize()
    wanted = ["a", "b", "c", "editor"]
    assert sorted(str(item["id"]) for item in library.read().document.items()) == wanted
    assert sorted(ids(path)) == wanted
    assert sorted(str(item["id"]) for item in load(path)) == wanted
