"""Only what is not found reads as absent: a damaged or unreadable file is an error with its own code."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError, UnavailableError
from carrel.engines.attached_files import LocalFiles
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


@pytest.mark.parametrize("damage", ["garbage", "truncated", "empty database", "folder", "no tables of ours"])
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
    with pytest.raises(UnavailableError):
        asyncio.run(LocalFiles().exists(tmp_path / ("x" * 5000)))


@pytest.mark.skipif(not hasattr(os, "fork") or os.geteuid() != 0, reason="needs to become another user")
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
