"""Shared libraries as CSL-JSON files, each in a folder of its id."""

from __future__ import annotations

import asyncio
from pathlib import Path

from carrel.core.errors import UnavailableError
from carrel.stores.csl_json.library import CslJsonLibrary, OpenSearch
from carrel.stores.csl_json.library_places import LIBRARY_NAME
from carrel.stores.csl_json.removal import remove_library_folder
from carrel.stores.open_libraries import OpenLibraries


class SharedLibraryFiles:
    """Opened at the first use; ids are made here and safe as names of folders."""

    def __init__(self, folder: Path, open_search: OpenSearch | None = None) -> None:
        self._folder = folder
        self._open_search = open_search
        self._opened = OpenLibraries[CslJsonLibrary]()

    def open_library(self, library_id: str) -> CslJsonLibrary:
        library = self._opened.take(library_id, lambda: self._open(library_id))
        library.watch()
        return library

    def _open(self, library_id: str) -> CslJsonLibrary:
        path = self._folder / library_id / LIBRARY_NAME
        path.parent.mkdir(parents=True, exist_ok=True)
        return CslJsonLibrary(path, open_search=self._open_search)

    async def remove_contents(self, library_id: str) -> None:
        """Removes the folder; raises UnavailableError where that fails."""
        library = self._opened.forget(library_id)
        if library is not None:
            await library.close()
        await asyncio.to_thread(self._remove, library_id)

    def _remove(self, library_id: str) -> None:
        try:
            remove_library_folder(self._folder / library_id, LIBRARY_NAME)
        except OSError as error:
            raise UnavailableError(
                f"The files of the library cannot be removed: {error.strerror}",
                next_step="The library is gone for everybody; its files go with the next "
                "library that is made or deleted.",
            ) from error

    async def close(self) -> None:
        await self._opened.close()
