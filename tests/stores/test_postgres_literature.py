"""The tables of the literature room in a real PostgreSQL."""

from __future__ import annotations

import pytest

from carrel.stores.sql.literature import SqlLiterature
from tests.stores.contracts.literature import LiteratureStoreContract

pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")

from carrel.stores.postgres.database import PostgresDatabase


class TestPostgresLiterature(LiteratureStoreContract):
    @pytest.fixture
    def store(self, postgres_url: str) -> SqlLiterature:
        steps = SqlLiterature.schema_steps
        return SqlLiterature(PostgresDatabase(postgres_url, "literature", steps))
