"""Writing notes as files: nothing that somebody else wrote is overwritten."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from carrel.core.errors import InvalidInputError
from carrel.rooms.knowledge.folder_export import (
    FolderExporter,
    read_note_files,
    read_sync_states,
)
from carrel.rooms.knowledge.folder_import import ImportReport
from carrel.rooms.knowledge.note_format import parse_note
from carrel.rooms.knowledge.notes import Note, Origin
from carrel.services.note_folder import MarkdownFolder
from tests.stores.contracts.knowledge import a_note


def export(folder: Path, *notes: Note) -> ImportReport:
    exporter = FolderExporter(MarkdownFolder(folder))
    for note in notes:
        exporter.write(note)
    exporter.remember()
    return exporter.report


def files(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.md")}


def from_file(text: str, path: str, number: int = 1) -> Note:
    """A note as an import of this file leaves it."""
    parsed = parse_note(text, path)
    origin = Origin(f"vault/{path}", parsed.digest, parsed.front_matter, parsed.content_from)
    return a_note(number, parsed.title, parsed.content, tags=parsed.tags, origin=origin)


def test_notes_of_one_title_get_names_of_their_own_whatever_the_case(tmp_path: Path) -> None:
    (tmp_path / "plan (2).md").write_text("not ours")
    notes = [a_note(1, "Plan", "1"), a_note(2, "PLAN", "2"), a_note(3, "plan", "3")]
    report = export(tmp_path, *notes)
    assert report.counts == {"new": 3}
    assert {path: text.splitlines()[-1] for path, text in files(tmp_path).items()} == {
        "Plan.md": "1",
        "PLAN (3).md": "2",
        "plan (4).md": "3",
        "plan (2).md": "not ours",
    }
    # The next time each note finds its file again, in any order.
    again = export(tmp_path, *reversed(notes), a_note(4, "Plan", "4"))
    assert again.counts == {"unchanged": 3, "new": 1}
    assert files(tmp_path)["Plan (5).md"].endswith("4")


def test_a_note_goes_back_to_the_path_it_came_from_unless_another_has_it(tmp_path: Path) -> None:
    one = from_file("---\ntitle: One\n---\nx", "sub/one.md", 1)
    two = from_file("---\ntitle: Two\n---\ny", "sub/one.md", 2)
    assert export(tmp_path, one, two).counts == {"new": 2}
    assert files(tmp_path) == {
        "sub/one.md": "---\ntitle: One\n---\nx",
        "Two.md": "---\ntitle: Two\n---\ny",
    }


@pytest.mark.parametrize(
    "text", ["---\nkeep: [1]  # why\n---\nBody\n", "---\ndescription: D\n---\n", "# Only text"]
)
def test_an_unchanged_note_is_the_file_that_came_in(tmp_path: Path, text: str) -> None:
    note = from_file(text, "n.md")
    assert export(tmp_path, note).counts == {"new": 1}
    assert files(tmp_path) == {"n.md": text}
    changed = replace(note, content="Changed")
    assert export(tmp_path, changed).counts == {"changed": 1}
    written = parse_note(files(tmp_path)["n.md"], "n.md")
    assert (written.title, written.content) == (note.title, "Changed")


def test_a_file_that_was_changed_elsewhere_is_a_conflict_and_stays(tmp_path: Path) -> None:
    note = a_note(1, "Plan", "one")
    export(tmp_path, note)
    (tmp_path / "Plan.md").write_text("changed elsewhere")
    for current in (note, replace(note, content="two")):
        report = export(tmp_path, current)
        assert report.counts == {"conflict": 1}
        assert report.problems == [
            ("Plan.md", "the file was changed since; it was not overwritten")
        ]
        assert report.synced == {}
        assert files(tmp_path) == {"Plan.md": "changed elsewhere"}
    (tmp_path / "Plan.md").write_text("")
    assert export(tmp_path, note).counts == {"conflict": 1}
    (tmp_path / "Plan.md").unlink()
    assert export(tmp_path, note).counts == {"new": 1}


def test_what_a_person_added_beside_the_note_stays_until_the_note_changes(tmp_path: Path) -> None:
    note = a_note(1, "Plan", "one", tags=("t",))
    export(tmp_path, note)
    written = files(tmp_path)["Plan.md"]
    own = written.replace("---\n", "---\nmine: 1\n", 1)
    assert own != written
    (tmp_path / "Plan.md").write_text(own)
    report = export(tmp_path, note)
    assert report.counts == {"unchanged": 1} and report.synced == {}
    assert files(tmp_path)["Plan.md"] == own
    assert export(tmp_path, replace(note, content="two")).counts == {"changed": 1}
    assert parse_note(files(tmp_path)["Plan.md"], "Plan.md").content == "two"


def test_without_a_record_a_file_is_replaced_only_where_it_is_the_one_that_came_in(
    tmp_path: Path,
) -> None:
    text = "---\ntitle: One\n---\nx"
    note = replace(from_file(text, "one.md"), content="changed in Carrel")
    (tmp_path / "one.md").write_text(text)
    assert export(tmp_path, note).counts == {"changed": 1}
    assert files(tmp_path)["one.md"].endswith("changed in Carrel")
    other = tmp_path / "other"
    other.mkdir()
    (other / "one.md").write_text("---\ntitle: One\n---\ny")
    assert export(other, note).counts == {"conflict": 1}
    assert files(other) == {"one.md": "---\ntitle: One\n---\ny"}


def test_the_record_keeps_files_that_were_not_written_this_time(tmp_path: Path) -> None:
    one, two = a_note(1, "One", "1"), a_note(2, "Two", "2")
    export(tmp_path, one, two)
    before = read_sync_states(MarkdownFolder(tmp_path))
    assert {path: state.id for path, state in before.items()} == {
        "One.md": one.id,
        "Two.md": two.id,
    }
    export(tmp_path, replace(one, content="changed"))
    after = read_sync_states(MarkdownFolder(tmp_path))
    assert after["Two.md"] == before["Two.md"] and after["One.md"] != before["One.md"]
    (tmp_path / ".carrel-notes.json").write_text("{")
    with pytest.raises(InvalidInputError, match="damaged") as refused:
        FolderExporter(MarkdownFolder(tmp_path))
    assert refused.value.next_step == "Nothing was changed."


def test_a_file_that_cannot_be_a_note_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("---\ntags: {a: b}\n---\nx")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    (tmp_path / "empty.md").write_text(" ")
    (tmp_path / "long.md").write_text("#" + "y" * 101)
    report, folder = ImportReport(), MarkdownFolder(tmp_path)
    paths = [*folder.paths(), "gone.md"]
    read = [note.path for note in read_note_files(folder, paths, report)]
    assert read == ["good.md"] and report.counts == {"refused": 4}
    problems = dict(report.problems)
    assert set(problems) == {*paths}
    assert problems["latin.md"] == "not UTF-8 text" and "no words" in problems["good.md"]
