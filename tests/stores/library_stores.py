"""Opens libraries of each kind for the contracts that all of them keep."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from carrel.core.caller import Caller
from carrel.core.errors import ConflictError
from carrel.rooms.references.ports import Library
from carrel.stores.csl_json.library import CslJsonLibrary
from carrel.stores.sql.driver import Driver
from carrel.stores.sql.references.libraries import RowLibraries
from carrel.stores.sql.references.library_ends import RowLibraryEnds
from carrel.stores.sql.references.search import RowLibrarySearch
from carrel.wiring.references import open_search
from tests.stores.contracts.library import OpenLibrary

ADA = Caller("ada", frozenset())


def open_file_library(folder: Path) -> OpenLibrary:
    """The library file of a folder."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Library]:
        library = CslJsonLibrary(folder / "lib.json", open_search=open_search)
        try:
            yield library
        finally:
            await library.close()

    return opened


def open_row_library(open_driver: Callable[[], Driver], folder: Path) -> OpenLibrary:
    """The library of Ada, each time as another server opens it."""
    numbers = iter(range(1_000))

    @asynccontextmanager
    async def opened() -> AsyncIterator[Library]:
        cache = folder / f"cache-{next(numbers)}"
        libraries = RowLibraries(open_driver(), cache, RowLibrarySearch)
        try:
            yield libraries.of(ADA)
        finally:
            await libraries.close()

    return opened


async def attach_while_the_library_is_removed(open_driver: Callable[[], Driver], home: Path) -> int:
    """Attach a file to Ada's library and remove the library meanwhile; how many rows are left."""
    source = home / "slow.pdf"
    os.mkfifo(source)
    libraries = RowLibraries(open_driver(), home / "cache", RowLibrarySearch)
    ends, driver = RowLibraryEnds(open_driver()), open_driver()
    try:
        library = libraries.of(ADA)
        await library.add((), lambda known: [{"id": "a", "type": "book"}])
        files = library.attached_files
        assert files is not None
        copying = asyncio.create_task(files.copy_in(source, library.folder / "a" / "slow.pdf"))
        with await asyncio.to_thread(source.open, "wb") as writer:
            await asyncio.to_thread(writer.write, b"%PDF-1.4")
            await ends.remove_library(ADA.user_id)
        with pytest.raises(ConflictError, match="removed at this moment"):
            await copying
        tables = ("reference_files", "reference_file_chunks", "reference_file_drafts")
        rows = await driver.run(*((f"SELECT count(*) FROM {table}", {}) for table in tables))
        return sum(int(each[0][0]) for each in rows)
    finally:
        await libraries.close()
        await ends.close()
        await driver.close()
