"""Only what is not found reads as absent: a damaged or unreadable file is an error with its own
code.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError, InvalidInputError
from carrel.services.attached_files import LocalFiles
from tests.rooms.references.desk import Reader, Stage

PAPER_ID = "0123456789abcdef0123456789abcdef"


def add(stage: Stage) -> str:
    async def scene(reader: Reader) -> Any:
        return await reader.ask("add_references", input=PAPER_ID)

    answer = stage.play(scene)
    assert answer["added"] == []
    reason: str = answer["failed"][0]["reason"]
    return reason


def test_without_a_corpus_an_unknown_id_is_no_paper_id(tmp_path: Path) -> None:
    assert "no identifier, bibliography, paper_id" in add(Stage(tmp_path))


@pytest.mark.parametrize(
    "damage", ["garbage", "truncated", "empty database", "folder", "no tables of ours"]
)
def test_a_damaged_snapshot_is_said_and_is_not_a_missing_paper(tmp_path: Path, damage: str) -> None:
    snapshot = tmp_path / "paper_snapshot.db"
    match damage:
        case "garbage":
            snapshot.write_bytes(b"\x00\xffnot a database" * 500)
        case "truncated":
            snapshot.write_bytes(b"SQLite format 3\x00" + b"\x10\x00\x01\x01" + b"\x00" * 40)
        case "empty database":
            snapshot.write_bytes(b"")
        case "folder":
            snapshot.mkdir()
        case _:
            with sqlite3.connect(snapshot) as connection:
                connection.execute("CREATE TABLE other (x)")
    reason = add(Stage(tmp_path, papers={"snapshot": snapshot}))
    assert "snapshot cannot be used" in reason
    assert "no identifier" not in reason


def test_a_file_that_cannot_be_looked_at_is_not_absent(tmp_path: Path) -> None:
    assert asyncio.run(LocalFiles().exists(tmp_path / "nothing.pdf")) is False
    assert asyncio.run(LocalFiles().exists(tmp_path)) is False
    with pytest.raises(InvalidInputError):
        asyncio.run(LocalFiles().exists(tmp_path / ("x" * 5000)))


@pytest.mark.skipif(
    not hasattr(os, "fork") or os.geteuid() != 0, reason="needs to become another user"
)
def test_a_folder_that_may_not_be_read_is_not_absent(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "a.pdf").write_bytes(b"%PDF-1.4")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.seteuid(65534)
            asyncio.run(LocalFiles().exists(closed / "a.pdf"))
        except CarrelError:
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_library_that_an_editor_left_broken_is_said_and_what_it_may_hold_is_not_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody goes on writing the broken file: each of its readers would wait two seconds for that.
    monkeypatch.setattr("carrel.stores.csl_json.library_file._PAUSE_SECONDS", 0.01)
    stage = Stage(tmp_path)

    async def scene(reader: Reader) -> None:
        await reader.ask("add_references", input="@book{a, title={A}}")
        whole = stage.library.read_text(encoding="utf-8")
        stage.library.write_text(
            '[{"id": "a", "type": "book"}, {"id": "b", "type": "book"},]', encoding="utf-8"
        )
        for name, arguments in (
            ("cite_references", {"ids": ["a", "b"]}),
            ("get_fulltext", {"id": "b"}),
            ("remove_reference", {"id": "b", "force": True}),
            ("edit_reference", {"id": "b", "changes": {"volume": "1"}}),
        ):
            with pytest.raises(CarrelError) as refused:
                await reader.ask(name, **arguments)
            assert refused.value.code == "library_unavailable", name
        for _ in range(2):
            found = await reader.ask("search_references", query="b")
            assert "The library file cannot be read (it is not JSON" in found["notices"][0]
        assert (await reader.ask("cite_references", ids=["a"]))["notices"]
        stage.library.write_text(whole.replace('"A"', '"Mended"'), encoding="utf-8")
        found = await reader.ask("search_references", query="mended")
        assert found["total"] == 1 and "notices" not in found
        with pytest.raises(CarrelError) as absent:
            await reader.ask("cite_references", ids=["b"])
        assert absent.value.code == "resource_not_found"

    stage.play(scene)
