"""Searching and attaching where the disk of a library is full."""

from __future__ import annotations

import asyncio
import errno
import tempfile
from pathlib import Path

import pytest

from carrel.core.errors import CarrelError
from carrel.rooms.references.queries import parse_reference_query
from carrel.services.attached_files import LocalFiles
from carrel.stores.csl_json.library import CslJsonLibrary
from carrel.stores.csl_json.library_errors import translate_read_errors
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.library_places import search_folder
from carrel.stores.csl_json.search.library_search import LibrarySearch
from carrel.wiring.references import open_search
from tests.stores.small_disk import SmallDisk, small_disk


def test_a_full_disk_costs_no_index_and_searches_are_answered_by_another(tmp_path: Path) -> None:
    def find(search: LibrarySearch, word: str) -> list[str]:
        found = search.search(parse_reference_query(word), 0, 9)
        return [str(item["id"]) for item in found.items]

    with small_disk(tmp_path / "disk", "4m") as disk:
        library = LibraryFile(disk.folder / "lib.json")
        for title in ("walrus", "quokka"):
            items = [{"id": title, "type": "book", "title": title}]
            library.change(lambda present, items=items: present.with_added(items))  # type: ignore[misc]
            search = LibrarySearch(library, disk.folder / "files")
            if title == "walrus":
                assert find(search, "walrus") == ["walrus"]
                search.close()
        records = search_folder(library.path) / "records.db"
        made = records.stat().st_ino
        disk.fill()
        assert find(search, "quokka") == ["quokka"], "the index beside the file cannot follow"
        disk.empty()
        assert find(search, "quokka") == ["quokka"]
        assert records.stat().st_ino == made, "it was not made again"
        search.close()


def test_a_disk_that_is_full_everywhere_is_said_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(disk: SmallDisk) -> None:
        library = CslJsonLibrary(disk.folder / "lib.json", open_search=open_search)
        await library.add((), lambda present: [{"id": "a", "type": "book", "title": "quokka"}])
        disk.fill()
        with pytest.raises(CarrelError) as refused:
            await library.search(parse_reference_query("quokka"), 0, 9)
        assert refused.value.code == "library_unavailable"
        assert "Free some space" in str(refused.value.next_step)
        with pytest.raises(CarrelError) as refused:
            await LocalFiles().write_in(b"x" * 20_000, disk.folder / "files" / "a.csv")
        assert refused.value.code == "storage_full"
        disk.empty()
        assert (await library.search(parse_reference_query("quokka"), 0, 9)).total == 1
        await library.close()

    with small_disk(tmp_path / "disk", "4m") as disk:
        (disk.folder / "files").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(disk.folder))
        asyncio.run(work(disk))


def test_an_edit_outside_on_a_full_disk_stops_neither_answers_nor_the_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.stores.csl_json.library._LOOK_EVERY_SECONDS", 0.001)

    async def work(disk: SmallDisk) -> None:
        path = disk.folder / "lib.json"
        library = CslJsonLibrary(path)
        await library.add((), lambda present: [{"id": "a", "type": "book", "title": "quokka"}])
        library.watch()
        while b"quokka" not in (path.read_bytes() if path.exists() else b""):
            await asyncio.sleep(0.01)
        disk.fill()
        # As long as before: in a full file system there is room for that alone.
        with path.open("r+b") as file:
            text = file.read().replace(b"quokka", b"walrus")
            file.seek(0)
            file.write(text)
        for _ in range(50):  # the watch looks in between
            with pytest.raises(CarrelError, match="No space left"):
                await library.snapshot()
            assert not await library.take_notices(), "what could not be fetched is said later"
        disk.empty()
        while not library._file.is_fresh():
            await asyncio.sleep(0.01)
        assert [item["title"] for item in (await library.snapshot()).items] == ["walrus"]
        await library.close()

    with small_disk(tmp_path / "disk", "1m") as disk:
        asyncio.run(asyncio.wait_for(work(disk), 60))


def test_rights_that_refuse_are_not_called_damage(tmp_path: Path) -> None:
    library = LibraryFile(tmp_path / "lib.json")
    with pytest.raises(CarrelError) as refused, translate_read_errors(library):
        refuse()
    assert refused.value.code == "library_unavailable"
    assert "right to it" in str(refused.value.next_step)


def refuse() -> None:
    raise PermissionError(errno.EACCES, "the file is read-only: lib.json")
