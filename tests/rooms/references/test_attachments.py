"""Any number of files at a reference, and files that nothing names."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main
from carrel.core.answer import split_explanation
from carrel.core.answer_encoding import encode_answer
from carrel.core.caller import Caller, Visit
from carrel.core.errors import CarrelError
from carrel.policy.scopes import ALL_SCOPES
from carrel.rooms.references.attachments import clean_name
from tests.rooms.references.desk import Reader, Stage

pytestmark = pytest.mark.promise("L10")


def _stage(folder: Path, *items: dict[str, Any]) -> Stage:
    stage = Stage(folder)
    stage.library.write_text(json.dumps(list(items), indent=2), "utf-8")
    return stage


def _folder(stage: Stage) -> Path:
    return stage.library.with_name("lib-attachments")


_BOOK = {"id": "a", "type": "book", "title": "A", "custom": {"uuid": "12345678-0"}}


def test_what_cannot_be_attached_is_refused(tmp_path: Path) -> None:
    stage = _stage(tmp_path, _BOOK)
    (tmp_path / "x.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "x.csv").write_bytes(b"1,2")
    path = str(tmp_path / "x.pdf")

    async def scene(reader: Reader) -> None:
        for arguments, said in [
            ({"id": "a"}, "either path or content"),
            ({"id": "a", "path": path, "content": "aa"}, "either path or content"),
            ({"id": "a", "content": "!!", "name": "x.pdf"}, "not base64"),
            ({"id": "a", "content": "aaaa"}, "needs a name"),
            ({"id": "a", "content": "aaaa", "name": "../.."}, "no name"),
            ({"id": "a", "path": str(tmp_path / "none.pdf")}, "no file"),
            ({"id": "a", "path": str(tmp_path / "x.csv"), "role": "fulltext"}, "PDF or Markdown"),
            ({"id": "nobody", "path": path}, "not found"),
        ]:
            with pytest.raises(CarrelError, match=said):
                await reader.ask("attach_file", **arguments)
        with pytest.raises(CarrelError, match="not found"):
            await reader.ask("detach_file", id="a", name="none.pdf")

    async def scene_over_http(reader: Reader) -> None:
        with pytest.raises(CarrelError) as caught:
            await reader.ask("attach_file", id="a", path=path)
        assert caught.value.code == "permission_denied"

    stage.play(scene)
    stage.play(scene_over_http, door="rest")
    assert not _folder(stage).exists()


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("/etc/passwd", "passwd"),
        ("..\\..\\a b.pdf", "a b.pdf"),
        (".hidden", "hidden"),
        ("a\x00\n<b>.html", "a__ _b_.html".replace(" ", "")),
        ("x" * 300 + ".pdf", "x" * 117 + ".pdf"),
    ],
)
def test_a_name_stays_in_its_folder(given: str, name: str) -> None:
    assert clean_name(given) == name


def test_any_number_of_files_is_attached_listed_opened_and_detached(tmp_path: Path) -> None:
    older = {
        "id": "b", "type": "book", "title": "B",
        "custom": {"uuid": "87654321-0", "fulltext": {"pdf": "theirs.pdf", "markdown": "no.md"}},
    }  # fmt: skip
    stage = _stage(tmp_path, _BOOK, older)
    _folder(stage).mkdir()
    (_folder(stage) / "theirs.pdf").write_bytes(b"%PDF-1.4 theirs")
    for name in ("one.pdf", "two.pdf", "data.csv", "page.html"):
        (tmp_path / name).write_bytes(name.encode())

    async def scene(reader: Reader) -> None:
        for name, role in (("one.pdf", "fulltext"), ("two.pdf", "supplement")):
            done = await reader.ask("attach_file", id="a", path=str(tmp_path / name))
            assert done["file"]["role"] == role
        await reader.ask("attach_file", id="a", path=str(tmp_path / "two.pdf"), label="again")
        await reader.ask("attach_file", id="a", path=str(tmp_path / "data.csv"), role="data")
        content = base64.b64encode(b"<p>").decode()
        await reader.ask("attach_file", id="a", content=content, name="page.html")
        listed = await reader.ask("list_attachments", id="a")
        assert [(each["name"], each["role"], each["label"]) for each in listed["files"]] == [
            ("fulltext.pdf", "fulltext", ""),
            ("two.pdf", "supplement", ""),
            ("two-2.pdf", "supplement", "again"),
            ("data.csv", "data", ""),
            ("page.html", "supplement", ""),
        ]
        with pytest.raises(CarrelError, match="already has a pdf"):
            path = str(tmp_path / "two.pdf")
            await reader.ask("attach_file", id="a", path=path, role="fulltext")
        assert "pdf" in await reader.ask("get_fulltext", id="a")
        gone = await reader.ask("detach_file", id="a", name="two.pdf")
        assert gone["was_deleted"] is True
        assert len((await reader.ask("list_attachments", id="a"))["files"]) == 4
        files = (await reader.ask("list_attachments", id="b"))["files"]
        assert [(each["name"], each["is_missing"]) for each in files] == [
            ("theirs.pdf", False),
            ("no.md", True),
        ]
        theirs = await reader.ask("detach_file", id="b", name="theirs.pdf")
        assert theirs["was_deleted"] is False and (_folder(stage) / "theirs.pdf").exists()
        await reader.ask("attach_file", id="b", path=str(tmp_path / "one.pdf"))
        detached = await reader.ask("detach_fulltext", id="a")
        assert detached["detached"] == ["pdf"]
        assert len((await reader.ask("list_attachments", id="a"))["files"]) == 3

    stage.play(scene)
    items = {item["id"]: item for item in json.loads(stage.library.read_text("utf-8"))}
    assert items["b"]["custom"]["fulltext"] == {"markdown": "no.md"}


def test_orphans_are_listed_adopted_and_removed_after_a_dry_run(tmp_path: Path) -> None:
    named = {
        **_BOOK,
        "custom": {
            "uuid": "12345678-0",
            "attachments": {
                "directory": "a-1",
                "files": [
                    {"filename": "fulltext.pdf", "role": "fulltext", "label": ""},
                    {"filename": "gone.csv", "role": "data", "label": ""},
                    {"filename": "../../outside.txt", "role": "data", "label": ""},
                ],
            },
        },
    }
    stage = _stage(tmp_path, named)
    (tmp_path / "outside.txt").write_text("not ours")
    folder = _folder(stage)
    (folder / "a-1").mkdir(parents=True)
    (folder / "left").mkdir()
    for name in ("a-1/fulltext.pdf", "a-1/extra.md", "left/old.pdf", "left/.draft"):
        (folder / name).write_bytes(b"0123456789")

    async def scene(reader: Reader) -> None:
        found = await reader.ask("find_orphans")
        assert [each["file"] for each in found["orphans"]] == ["a-1/extra.md", "left/old.pdf"]
        assert found["orphan_bytes"] == 20
        assert [each["name"] for each in found["missing"]] == ["gone.csv", "../../outside.txt"]
        for file in ("../outside.txt", "a-1/fulltext.pdf", "/etc/passwd"):
            with pytest.raises(CarrelError, match="without a reference"):
                await reader.ask("adopt_orphan", file=file, id="a")
        adopted = await reader.ask("adopt_orphan", file="left/old.pdf", id="a", label="second")
        assert adopted["file"]["role"] == "supplement"
        assert (folder / "a-1/old.pdf").exists() and not (folder / "left/old.pdf").exists()
        names = ["a-1/extra.md", "a-1/fulltext.pdf", "../../outside.txt"]
        shown = await reader.ask("remove_orphans", files=names)
        assert shown["dry_run"] and shown["removed"] == ["a-1/extra.md"]
        assert set(shown["kept"]) == set(names[1:]) and (folder / "a-1/extra.md").exists()
        done = await reader.ask("remove_orphans", files=names, dry_run=False)
        assert done["freed_bytes"] == 10 and not (folder / "a-1/extra.md").exists()
        assert (folder / "a-1/fulltext.pdf").exists() and (tmp_path / "outside.txt").exists()
        assert (await reader.ask("find_orphans"))["orphan_total"] == 0

    stage.play(scene)


def test_undoing_says_which_files_it_cannot_bring_back(tmp_path: Path) -> None:
    stage = _stage(tmp_path, _BOOK)
    (tmp_path / "x.csv").write_bytes(b"1,2")
    (tmp_path / "y.pdf").write_bytes(b"%PDF-1.4")

    async def scene(reader: Reader) -> None:
        await reader.ask("attach_file", id="a", path=str(tmp_path / "x.csv"))
        await reader.ask("attach_file", id="a", path=str(tmp_path / "y.pdf"))
        await reader.ask("edit_reference", id="a", changes={"title": "B"})
        assert "missing_files" not in await reader.ask("undo_library_change")
        assert (await reader.ask("detach_file", id="a", name="x.csv"))["was_deleted"] is True
        undone = await reader.ask("undo_library_change")
        assert undone["missing_files"] == [{"id": "a", "name": "x.csv"}]
        listed = (await reader.ask("list_attachments", id="a"))["files"]
        assert [(each["name"], each["is_missing"]) for each in listed] == [
            ("x.csv", True),
            ("fulltext.pdf", False),
        ]

    stage.play(scene)


def test_the_command_line_says_what_undoing_leaves_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    stage = _stage(tmp_path, _BOOK)
    (tmp_path / "x.csv").write_bytes(b"1,2")

    def run(*words: str) -> str:
        assert main(["references", *words, "--library", str(stage.library)]) == 0
        said = capsys.readouterr()
        return said.out + said.err

    run("attach-file", "a", "--path", str(tmp_path / "x.csv"))
    assert "undo-change does not bring it back" in run("detach-file", "a", "x.csv")
    assert "Gone, and not brought back: x.csv of a" in run("undo-change")


@pytest.mark.parametrize(
    ("name", "block"),
    [
        ("notes.txt", "resource"),
        ("data.csv", "resource"),
        ("figure.png", "image"),
        ("talk.mp3", "audio"),
    ],
)
def test_only_an_image_is_given_as_an_image(tmp_path: Path, name: str, block: str) -> None:
    stage = _stage(tmp_path, _BOOK)

    async def scene(reader: Reader) -> None:
        content = base64.b64encode(b"what it holds").decode()
        await reader.ask("attach_file", id="a", content=content, name=name)
        operation = reader.desk.catalogue.operations["open_attached_file"]
        caller = Caller(reader.user, ALL_SCOPES, is_limited=False)
        visit = Visit("rest", "test")
        arguments = {"id": "a", "name": name}
        given = await reader.desk.gate.call(operation, arguments, caller, visit)
        told, file = json.loads(encode_answer(operation.answer, split_explanation(given)[0]))
        assert (told["type"], file["type"]) == ("text", block)
        if block == "resource":
            assert file["resource"]["uri"] == f"library://reference/a/files/{name}"
            assert file["resource"]["mimeType"].startswith("text/")
            assert base64.b64decode(file["resource"]["blob"]) == b"what it holds"
        else:
            assert base64.b64decode(file["data"]) == b"what it holds"

    stage.play(scene, door="rest")
