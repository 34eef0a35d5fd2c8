"""Attached files: both layouts are read, odd records are passed over, only our copies go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from tests.rooms.references.desk import Reader, Stage


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    (tmp_path / "texts").mkdir()
    return Stage(tmp_path, {"attachments": tmp_path / "texts"})


def write(stage: Stage, custom: object, **more: object) -> None:
    item = {"id": "a", "type": "book", "custom": custom, **more}
    stage.library.write_text(json.dumps([item]), encoding="utf-8")


def stored(stage: Stage) -> dict[str, Any]:
    return dict(json.loads(stage.library.read_text(encoding="utf-8"))[0])


def ask(stage: Stage, name: str, **arguments: Any) -> Any:
    async def scene(reader: Reader) -> Any:
        try:
            return await reader.ask(name, id="a", **arguments)
        except CarrelError as error:
            return error

    return stage.play(scene)


def a_file(stage: Stage, name: str, text: str = "text") -> str:
    place = stage.home / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return str(place)


def files(*names: str, directory: str = "", **more: object) -> dict[str, object]:
    rows = [{"filename": name, "role": "fulltext", **more} for name in names]
    return {"attachments": {"directory": directory, "files": rows}}


def test_the_newer_layout_of_others_is_read_and_its_files_are_not_deleted(stage: Stage) -> None:
    a_file(stage, "texts/dir/x.MD", "theirs")
    a_file(stage, "texts/dir/x.pdf", "%PDF")
    a_file(stage, "texts/old.md", "older")
    write(stage, {**files("x.MD", "x.pdf", directory="dir"), "fulltext": {"markdown": "old.md"}})
    found = ask(stage, "get_fulltext")
    assert found["markdown"] == "theirs", "the newer layout comes first"
    assert found["pdf"]["path"].endswith("texts/dir/x.pdf")
    gone = ask(stage, "detach_fulltext")
    assert gone["detached"] == ["markdown", "pdf"] and gone["deleted_files"] == []
    assert (stage.home / "texts/dir/x.MD").exists()
    assert not {"attachments", "fulltext"} & set(stored(stage)["custom"])


@pytest.mark.parametrize(
    "custom",
    [
        {},
        {"attachments": {"files": "x.md"}},
        {"attachments": ["x.md"]},
        {"attachments": {"files": ["x.md", {}, {"role": "fulltext"}]}},
        {"attachments": {"files": [{"filename": "x.md", "role": "supplement"}]}},
        {"attachments": {"files": [{"filename": "../x.md", "role": "fulltext"}]}},
        {"fulltext": "x.md"},
        {"fulltext": {"other": "x.md"}},
        {"fulltext": {"markdown": "", "pdf": None}},
    ],
)
def test_a_record_that_names_no_full_text_is_none(stage: Stage, custom: dict[str, Any]) -> None:
    a_file(stage, "texts/x.md")
    write(stage, custom)
    for name in ("get_fulltext", "detach_fulltext"):
        error = ask(stage, name)
        assert error.code == "fulltext_not_available" and "none is attached" in error.message
    assert stored(stage)["custom"] == custom


def test_files_that_are_gone_are_said_and_the_one_that_is_there_is_shown(stage: Stage) -> None:
    write(stage, {"fulltext": {"markdown": "x.md", "pdf": "x.pdf"}})
    assert "the attached file is gone" in ask(stage, "get_fulltext").message
    a_file(stage, "texts/x.pdf")
    only = ask(stage, "get_fulltext")
    assert only["pdf"]["path"].endswith("x.pdf") and only.get("markdown") is None
    (stage.home / "texts/x.pdf").unlink()
    a_file(stage, "texts/x.md", "0123456789")
    assert ask(stage, "get_fulltext").get("pdf") is None
    for arguments, text in (
        ({}, "0123456789"),
        ({"max_chars": 10}, "0123456789"),
        ({"max_chars": 9}, "012345678\n[truncated: 1 more chars]"),
        ({"offset": 4, "max_chars": 2}, "45\n[truncated: 4 more chars]"),
        ({"offset": 10}, ""),
    ):
        assert ask(stage, "get_fulltext", **arguments)["markdown"] == text


def test_only_a_pdf_or_markdown_file_that_exists_is_attached_and_one_of_each(stage: Stage) -> None:
    write(stage, {"uuid": "12345678-9abc"}, PMID="77")
    for path in (a_file(stage, "x.txt"), str(stage.home / "absent.md")):
        error = ask(stage, "attach_fulltext", path=path)
        assert "PDF or Markdown file that exists" in error.message
    assert "attachments" not in stored(stage)["custom"]
    first = ask(stage, "attach_fulltext", path=a_file(stage, "x.MARKDOWN", "mine"))
    assert (first["id"], first["role"]) == ("a", "markdown")
    assert first["path"].endswith("texts/a-PMID77-12345678/fulltext.md")
    again = ask(stage, "attach_fulltext", path=a_file(stage, "y.md"))
    assert "already has" in again.message
    ask(stage, "attach_fulltext", path=a_file(stage, "y.pdf"))
    assert stored(stage)["custom"]["attachments"] == {
        "directory": "a-PMID77-12345678",
        "files": [
            {"filename": "fulltext.md", "role": "fulltext", "label": "carrel"},
            {"filename": "fulltext.pdf", "role": "fulltext", "label": "carrel"},
        ],
    }
    assert ask(stage, "get_fulltext")["markdown"] == "mine"


def test_what_others_attached_stays_beside_ours_and_after_it(stage: Stage) -> None:
    other = {"filename": "data.csv", "role": "supplement"}
    write(stage, {"attachments": {"directory": "theirs", "files": [other], "more": 1}})
    added = ask(stage, "attach_fulltext", path=a_file(stage, "x.md"))
    assert added["path"].endswith("texts/theirs/fulltext.md")
    record = stored(stage)["custom"]["attachments"]
    assert (record["directory"], record["more"], len(record["files"])) == ("theirs", 1, 2)
    gone = ask(stage, "detach_fulltext")
    assert (gone["detached"], gone["deleted_files"]) == (["markdown"], ["fulltext.md"])
    kept = {"directory": "theirs", "files": [other], "more": 1}
    assert stored(stage)["custom"]["attachments"] == kept
    assert not (stage.home / "texts/theirs/fulltext.md").exists()


@pytest.mark.parametrize("directory", ["", None])
def test_a_reference_without_a_folder_gets_one_that_its_id_names(
    stage: Stage, directory: str | None
) -> None:
    item = {"id": "../a b", "custom": {"attachments": {"directory": directory, "files": "odd"}}}
    stage.library.write_text(json.dumps([item]), encoding="utf-8")
    path = a_file(stage, "x.md")

    async def scene(reader: Reader) -> Any:
        return await reader.ask("attach_fulltext", id="../a b", path=path)

    assert stage.play(scene)["path"].endswith("texts/_a_b-00000000/fulltext.md")
    assert stored(stage)["custom"]["attachments"]["directory"] == "_a_b-00000000"


def test_a_folder_in_the_library_that_leads_out_takes_no_file(stage: Stage) -> None:
    write(stage, {"attachments": {"directory": "../out", "files": []}})
    error = ask(stage, "attach_fulltext", path=a_file(stage, "x.md"))
    assert error.code and "cannot name a folder" in error.message
    assert not (stage.home / "out").exists()
