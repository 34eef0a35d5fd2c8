"""The tables of the literature room in a SQLite file."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.stores.sql.literature import SqlLiterature
from carrel.stores.sqlite.driver import SqliteDriver
from tests.stores.contracts.literature import LiteratureStoreContract


class TestSqliteLiterature(LiteratureStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> SqlLiterature:
        file = tmp_path / "literature" / "literature.db"
        return SqlLiterature(SqliteDriver(file, SqlLiterature.schema_steps))
