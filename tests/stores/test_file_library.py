"""The contract of libraries, on CSL-JSON files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stores.contracts.library import LibraryContract, OpenLibrary
from tests.stores.library_stores import open_file_library


class TestFileLibrary(LibraryContract):
    @pytest.fixture
    def open_library(self, tmp_path: Path) -> OpenLibrary:
        return open_file_library(tmp_path)
