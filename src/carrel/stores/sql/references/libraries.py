"""The libraries of all people as rows of one database."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from carrel.core.caller import LOCAL_USER, Caller, library_name
from carrel.rooms.references.ports import Libraries, Library
from carrel.stores.open_libraries import OpenLibraries
from carrel.stores.sql.driver import Driver
from carrel.stores.sql.references.library import OpenRowSearch, RowLibrary
from carrel.stores.sql.references.schema import SCRIPTS
from carrel.stores.sql.references.statements import REMOVED, LibraryName, remove_library


class RowLibraries:
    """Everybody's own library, opened at the first use; `cache` has a folder for each."""

    schema_steps = SCRIPTS

    def __init__(
        self,
        driver: Driver,
        cache: Path,
        open_search: OpenRowSearch | None = None,
        local: Libraries | None = None,
        opened: OpenLibraries[RowLibrary] | None = None,
    ) -> None:
        """`local` has the local user's library where a file was named for it."""
        self._local = local
        self._driver = driver
        self._cache = cache
        self._open_search = open_search
        self._opened = OpenLibraries[RowLibrary]() if opened is None else opened

    def of(self, caller: Caller) -> Library:
        if self._local is not None and caller.user_id == LOCAL_USER:
            return self._local.of(caller)
        return self.open_library(personal_name(caller.user_id))

    def open_library(self, name: LibraryName) -> RowLibrary:
        return self._opened.take(
            name.key,
            lambda: RowLibrary(self._driver, name, self._cache / name.key, self._open_search),
        )

    def open_shared(self, library_id: str) -> RowLibrary:
        return self.open_library(shared_name(library_id))

    async def remove_contents(self, library_id: str) -> None:
        """Removes every row of a shared library, and its folder in the cache."""
        name = shared_name(library_id)
        library = self._opened.forget(name.key)
        if library is not None:
            await library.close()
        await self._driver.run(*remove_library(name))
        await asyncio.to_thread(shutil.rmtree, self._cache / name.key, ignore_errors=True)

    async def check(self) -> str:
        """How many libraries and references there are; raises UnavailableError."""
        libraries, items = await self._driver.run(
            (
                "SELECT count(*) FROM reference_libraries WHERE kind <> :removed",
                {"removed": REMOVED},
            ),
            ("SELECT count(*) FROM reference_items", {}),
        )
        return f"{libraries[0][0]} libraries, {items[0][0]} references in the database"

    async def ping(self) -> str:
        """Costs the same at any size; raises UnavailableError."""
        await self._driver.run(("SELECT 1 FROM reference_libraries LIMIT 1", {}))
        return "there"

    async def close(self) -> None:
        await self._opened.close()
        await self._driver.close()


def personal_name(user_id: str) -> LibraryName:
    """The library of one person."""
    return LibraryName(f"own-{library_name(user_id)}", "personal", user_id)


def shared_name(library_id: str) -> LibraryName:
    """A library of several people."""
    return LibraryName(f"shared-{library_id}", "shared", "")
