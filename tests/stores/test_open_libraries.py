"""Libraries that nobody uses let go of memory, threads and index, and open themselves again."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from carrel.core.caller import Caller
from carrel.rooms.references.items import Item
from carrel.rooms.references.ports import Change
from carrel.rooms.references.queries import parse_reference_query
from carrel.stores.csl_json.library import CslJsonLibrary
from carrel.stores.csl_json.user_libraries import UserLibraries
from carrel.stores.open_libraries import OpenLibraries
from carrel.stores.sql.references.libraries import RowLibraries
from carrel.stores.sql.references.library import RowLibrary
from carrel.stores.sql.references.search import RowLibrarySearch
from carrel.stores.sqlite.driver import SqliteDriver
from carrel.wiring.references import open_search

MANY = 1_000


def caller(name: str) -> Caller:
    return Caller(name, frozenset())


def items(count: int) -> list[Item]:
    return [
        {"id": f"r{at}", "type": "book", "title": f"Title of number {at}"} for at in range(count)
    ]


def library_threads() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name.startswith("library")}


def with_files(
    folder: Path,
    work: Callable[[UserLibraries, OpenLibraries[CslJsonLibrary]], Awaitable[None]],
    stay_open: int = 1,
) -> None:
    async def run() -> None:
        opened = OpenLibraries[CslJsonLibrary](stay_open=stay_open, rest_after_seconds=0)
        libraries = UserLibraries(folder / "own.json", folder / "users", None, open_search, opened)
        try:
            await work(libraries, opened)
        finally:
            await libraries.close()

    asyncio.run(run())


async def wait_until_written(library: CslJsonLibrary) -> None:
    """Wait until the file has what was acknowledged."""
    while library.is_busy:
        await asyncio.sleep(0.01)


def test_what_is_not_yet_in_the_file_keeps_its_library_open(tmp_path: Path) -> None:
    async def work(libraries: UserLibraries, opened: OpenLibraries[CslJsonLibrary]) -> None:
        library = libraries.of(caller("ada"))
        await library.add((), lambda known: items(2))
        libraries.of(caller("eve"))
        assert library.is_busy
        assert await opened.rest_unused() == 0
        await wait_until_written(library)
        assert await opened.rest_unused() == 1

    with_files(tmp_path, work)


def test_the_libraries_asked_last_stay_open(tmp_path: Path) -> None:
    async def work(libraries: UserLibraries, opened: OpenLibraries[CslJsonLibrary]) -> None:
        for name in ("ada", "eve", "bob", "ada"):
            await libraries.of(caller(name)).snapshot()
        assert await opened.rest_unused() == 1, "eve's, which was asked before the others"
        assert await opened.rest_unused() == 0

    with_files(tmp_path, work, stay_open=2)


def test_libraries_rest_by_themselves_and_again_after_they_were_used_again(
    tmp_path: Path,
) -> None:
    async def work() -> None:
        opened = OpenLibraries[CslJsonLibrary](
            stay_open=1, rest_after_seconds=0, look_every_seconds=0.01
        )
        libraries = UserLibraries(tmp_path / "own.json", tmp_path, None, open_search, opened)
        of_others = library_threads()
        try:
            for _ in range(2):
                library = libraries.of(caller("ada"))
                assert await library.list_changes() == []
                assert not library_threads() <= of_others
                libraries.of(caller("eve"))
                while not library_threads() <= of_others:
                    await asyncio.sleep(0.01)
        finally:
            await libraries.close()

    asyncio.run(work())


@pytest.mark.promise("L10")
def test_a_library_that_rested_is_whole_and_sees_what_others_wrote_meanwhile(
    tmp_path: Path,
) -> None:
    async def work(libraries: UserLibraries, opened: OpenLibraries[CslJsonLibrary]) -> None:
        of_others = library_threads()
        library = libraries.of(caller("ada"))
        await library.add((), lambda known: items(3))
        before = (await library.snapshot()).generation
        query = parse_reference_query("number")
        assert (await library.search(query, 0, 10)).total == 3
        await wait_until_written(library)
        libraries.of(caller("eve"))
        assert await opened.rest_unused() == 1
        assert library_threads() <= of_others, "it holds no thread"
        (file,) = (tmp_path / "users").glob("*/library.json")
        outside = json.loads(file.read_text())
        file.write_text(json.dumps([*outside, {"id": "out", "type": "book", "title": "Outside"}]))
        assert libraries.of(caller("ada")) is library
        changed = await library.change("r1", lambda item: Change({"title": "Changed number"}))
        assert changed is not None
        after = await library.snapshot()
        assert after.generation != before
        assert {item["id"]: item["title"] for item in after.items} == {
            "r0": "Title of number 0",
            "r1": "Changed number",
            "r2": "Title of number 2",
            "out": "Outside",
        }
        assert (await library.search(query, 0, 10)).total == 3
        assert [each.revision for each in await library.list_changes()]

    with_files(tmp_path, work)


@pytest.mark.promise("L10")
def test_resting_libraries_hold_no_references_in_memory(tmp_path: Path) -> None:
    async def work(libraries: UserLibraries, opened: OpenLibraries[CslJsonLibrary]) -> None:
        names = [f"user{number}" for number in range(4)]
        for name in names:
            await libraries.of(caller(name)).add((), lambda known: items(MANY))
            await wait_until_written(libraries.of(caller(name)))
        libraries.of(caller("eve"))
        await opened.rest_unused()
        empty = held_bytes()
        for name in names:
            library = libraries.of(caller(name))
            assert len((await library.snapshot()).items) == MANY
            assert await library.find_works([("doi", "10.1/none")]) == []
        libraries.of(caller("eve"))
        full = held_bytes()
        assert await opened.rest_unused() == len(names)
        assert full - empty > len(names) * MANY * 100
        await wait_until_released(empty + (full - empty) // 20)

    tracemalloc.start()
    try:
        with_files(tmp_path, work)
    finally:
        tracemalloc.stop()


async def wait_until_released(most_bytes: int) -> None:
    """Wait until no more is held; threads let go of the last answer when they are next at work."""
    while held_bytes() > most_bytes:
        await asyncio.sleep(0.01)


def held_bytes() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.promise("L10")
def test_rows_that_were_read_are_let_go_and_read_again(tmp_path: Path) -> None:
    async def work() -> None:
        opened = OpenLibraries[RowLibrary](stay_open=1, rest_after_seconds=0)
        driver = SqliteDriver(tmp_path / "references.sqlite", RowLibraries.schema_steps)
        libraries = RowLibraries(driver, tmp_path / "cache", RowLibrarySearch, None, opened)
        query = parse_reference_query("number")
        try:
            library = libraries.of(caller("ada"))
            await library.add((), lambda known: items(MANY))
            assert (await library.search(query, 0, 10)).total == MANY
            libraries.of(caller("eve"))
            assert await opened.rest_unused() == 1, "of two, one stays open"
            # Words that searches have seen stay in memory, for all libraries, up to a bound.
            empty = held_bytes()
            assert len((await libraries.of(caller("ada")).snapshot()).items) == MANY
            full = held_bytes()
            libraries.of(caller("eve"))
            assert await opened.rest_unused() == 1
            await wait_until_released(empty + (full - empty) // 5)
            assert libraries.of(caller("ada")) is library
            assert (await library.search(query, 0, 10)).total == MANY
            await library.remove("r1")
            assert (await library.search(query, 0, 10)).total == MANY - 1
            assert len((await library.snapshot()).items) == MANY - 1
        finally:
            await libraries.close()

    tracemalloc.start()
    try:
        asyncio.run(work())
    finally:
        tracemalloc.stop()
