"""Members of shared libraries in a SQLite file of the home."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.stores.sql.library_members import SqlMembers
from carrel.stores.sqlite.driver import SqliteDriver
from tests.stores.contracts.library_members import LibraryMembersContract, OpenMembers


@pytest.mark.promise("L12")
class TestSqliteLibraryMembers(LibraryMembersContract):
    @pytest.fixture
    def open_members(self, tmp_path: Path) -> OpenMembers:
        file = tmp_path / "references" / "members.db"
        return lambda: SqlMembers(SqliteDriver(file, SqlMembers.schema_steps))
