"""A server that starts completes library files that a killed process left behind."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from carrel.settings import Settings
from carrel.stores.csl_json import lagging_files
from carrel.stores.csl_json.lagging_files import LaggingFiles, is_lagging
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.wiring.desk import open_desk

pytestmark = pytest.mark.promise("L9")


def leave_behind(path: Path) -> None:
    """A library as a process leaves it that is killed after a change was acknowledged."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('[{"id": "first", "type": "book"}]')
    library = LibraryFile(path)
    library.change(lambda present: present.with_added([{"id": "second", "type": "book"}]))
    library.record(lambda present: present.with_added([{"id": "third", "type": "book"}]))
    assert ids_in(path) == ["first", "second"]


def ids_in(path: Path) -> list[str]:
    return [str(item["id"]) for item in json.loads(path.read_bytes())]


def test_a_server_that_starts_brings_every_library_file_up_to_date(tmp_path: Path) -> None:
    references = tmp_path / "references"
    paths = [
        references / "library.json",
        references / "users" / "ada" / "library.json",
        references / "shared" / "lab" / "library.json",
    ]
    for path in paths:
        leave_behind(path)

    async def serve() -> None:
        desk = open_desk(Settings.model_validate({"home": tmp_path, "rooms": ["references"]}))
        async with asyncio.timeout(30), desk.session(resumes_jobs=True):
            while any(len(ids_in(path)) < 3 for path in paths):
                await asyncio.sleep(0)

    asyncio.run(serve())
    assert [ids_in(path) for path in paths] == [["first", "second", "third"]] * 3


def test_a_file_that_has_everything_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "library.json"
    leave_behind(path)
    assert is_lagging(path)
    LaggingFiles(lambda: [path]).bring_up_to_date()
    assert not is_lagging(path)
    monkeypatch.delattr(lagging_files, "LibraryFile")
    LaggingFiles(lambda: [path, tmp_path / "none.json"]).bring_up_to_date()


def test_a_library_that_cannot_be_read_stops_no_other_one(tmp_path: Path) -> None:
    broken, whole = tmp_path / "broken" / "library.json", tmp_path / "whole" / "library.json"
    for path in (broken, whole):
        leave_behind(path)
    broken.write_text("no library")
    LaggingFiles(lambda: [broken, whole]).bring_up_to_date()
    assert broken.read_text() == "no library"
    assert ids_in(whole) == ["first", "second", "third"]
