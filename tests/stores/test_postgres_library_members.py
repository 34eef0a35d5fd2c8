"""Members of shared libraries in a real PostgreSQL."""

from __future__ import annotations

import pytest

from carrel.stores.sql.library_members import SqlMembers
from tests.stores.contracts.library_members import LibraryMembersContract, OpenMembers

pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")

from carrel.stores.postgres.database import PostgresDatabase


@pytest.mark.promise("L12")
class TestPostgresLibraryMembers(LibraryMembersContract):
    @pytest.fixture
    def open_members(self, postgres_url: str) -> OpenMembers:
        steps = SqlMembers.schema_steps
        return lambda: SqlMembers(PostgresDatabase(postgres_url, "library_members", steps))
