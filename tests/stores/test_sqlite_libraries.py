"""The contract of libraries, on rows of an SQLite file."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

import pytest

from carrel.stores.sql.references.libraries import RowLibraries, personal_name
from carrel.stores.sql.references.snapshots import CachedRows
from carrel.stores.sqlite.driver import SqliteDriver
from tests.stores.contracts.library import LibraryContract, OpenLibrary
from tests.stores.contracts.library_changes import LibraryChangesContract
from tests.stores.library_stores import attach_while_the_library_is_removed, open_row_library


class _OnSqlite:
    @pytest.fixture
    def open_library(self, tmp_path: Path) -> OpenLibrary:
        file = tmp_path / "rows.sqlite"
        return open_row_library(lambda: SqliteDriver(file, RowLibraries.schema_steps), tmp_path)


class TestSqliteLibraries(_OnSqlite, LibraryContract):
    pass


class TestChangesOfSqliteLibraries(_OnSqlite, LibraryChangesContract):
    pass


@pytest.mark.skipif(os.name != "posix", reason="a file that is read slowly is a named pipe")
def test_a_file_that_is_attached_while_the_library_is_removed_goes_with_it(tmp_path: Path) -> None:
    def open_driver() -> SqliteDriver:
        return SqliteDriver(tmp_path / "rows.sqlite", RowLibraries.schema_steps)

    assert asyncio.run(attach_while_the_library_is_removed(open_driver, tmp_path)) == 0


def test_a_reader_that_is_overtaken_does_not_bring_an_older_state_back(tmp_path: Path) -> None:
    """Two calls of one server read the same library; the slower one began before a change."""
    name = personal_name("ada")
    rows = CachedRows(name)

    async def scene() -> None:
        libraries = RowLibraries(
            SqliteDriver(tmp_path / "rows.sqlite", RowLibraries.schema_steps), tmp_path / "cache"
        )
        driver = SqliteDriver(tmp_path / "rows.sqlite", RowLibraries.schema_steps)
        try:
            library = libraries.open_library(name)
            await library.add((), lambda known: [{"id": "a", "type": "book"}])
            slower = rows.refresh()
            answers = await driver.run(next(slower))
            await library.add((), lambda known: [{"id": "b", "type": "book"}])
            faster = await driver.transact(rows.refresh(), is_read_only=True)
            with contextlib.suppress(StopIteration):
                while True:
                    answers = await driver.run(slower.send(answers[0]))
            assert [item["id"] for item in faster.items] == ["a", "b"]
            assert rows.last_state() is faster
        finally:
            await libraries.close()
            await driver.close()

    asyncio.run(scene())
