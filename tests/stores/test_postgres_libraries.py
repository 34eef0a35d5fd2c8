"""The contract of libraries, on rows of a real PostgreSQL."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from carrel.core.caller import Caller
from carrel.stores.sql.references.libraries import RowLibraries, personal_name
from carrel.stores.sql.references.library_ends import RowLibraryEnds
from carrel.stores.sql.references.statements import (
    ItemWrites,
    LibraryName,
    Steps,
    lock_library,
    write_change,
)
from tests.stores.contracts.library import LibraryContract, OpenLibrary
from tests.stores.contracts.library_changes import LibraryChangesContract
from tests.stores.library_stores import attach_while_the_library_is_removed, open_row_library

pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")

from carrel.stores.postgres.database import PostgresDatabase
from carrel.stores.postgres.statements import drive_blocking


class _OnPostgres:
    @pytest.fixture
    def open_library(self, postgres_url: str, tmp_path: Path) -> OpenLibrary:
        steps = RowLibraries.schema_steps
        return open_row_library(
            lambda: PostgresDatabase(postgres_url, "references", steps), tmp_path
        )


@pytest.mark.promise("Q9")
class TestPostgresLibraries(_OnPostgres, LibraryContract):
    pass


class TestChangesOfPostgresLibraries(_OnPostgres, LibraryChangesContract):
    pass


def test_a_library_is_removed_with_what_is_written_at_that_moment(
    postgres_url: str, tmp_path: Path
) -> None:
    """What is left behind would be in the next library of that name."""
    psycopg = pytest.importorskip("psycopg")
    steps = RowLibraries.schema_steps
    ada = Caller("ada", frozenset())

    async def whole() -> None:
        libraries = RowLibraries(
            PostgresDatabase(postgres_url, "references", steps), tmp_path / "cache"
        )
        ends = RowLibraryEnds(PostgresDatabase(postgres_url, "references", steps))
        library = libraries.of(ada)
        await library.add((), lambda known: [{"id": "one", "type": "book"}])
        with psycopg.connect(postgres_url) as writer:
            drive_blocking(writer, _write_one(personal_name("ada")))
            removing = asyncio.create_task(ends.remove_library("ada"))
            await asyncio.to_thread(_wait_for_a_lock, postgres_url)
            writer.commit()
        await removing
        assert await libraries.of(ada).list_items(0, 9) == (0, [])
        await libraries.close()
        await ends.close()

    asyncio.run(whole())


@pytest.mark.skipif(os.name != "posix", reason="a file that is read slowly is a named pipe")
def test_a_file_that_is_attached_while_the_library_is_removed_goes_with_it(
    postgres_url: str, tmp_path: Path
) -> None:
    def open_driver() -> PostgresDatabase:
        return PostgresDatabase(postgres_url, "references", RowLibraries.schema_steps)

    assert asyncio.run(attach_while_the_library_is_removed(open_driver, tmp_path)) == 0


def _write_one(name: LibraryName) -> Steps[None]:
    head = yield from lock_library(name)
    written: ItemWrites = ItemWrites({"two": ({"id": "two", "type": "book"}, None)})
    yield from write_change(name, head, written, "2026-01-01T00:00:00.000Z", "carrel")


def _wait_for_a_lock(url: str) -> None:
    """Until one connection waits for another."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(url, autocommit=True) as watcher:
        for _ in range(10_000):
            waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            if watcher.execute(waiting).fetchone() != (0,):
                return
    raise AssertionError("nobody waits")
