"""Several references changed in one write, on every kind of library."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from carrel.rooms.references.ports import Library
from carrel.stores.csl_json.library import CslJsonLibrary
from tests.stores.contracts.library_changes import LibraryChangesContract, OpenLibrary


class TestChangesOfALibraryFile(LibraryChangesContract):
    @pytest.fixture
    def open_library(self, tmp_path: Path) -> OpenLibrary:
        @asynccontextmanager
        async def opened() -> AsyncIterator[Library]:
            library = CslJsonLibrary(tmp_path / "lib.json")
            try:
                yield library
            finally:
                await library.close()

        return opened
