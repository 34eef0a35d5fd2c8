"""Background jobs in a real PostgreSQL."""

from __future__ import annotations

import pytest

from carrel.core.background_jobs import JobStore
from tests.stores.contracts.jobs import JobStoreContract

pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")

from carrel.stores.postgres.database import PostgresDatabase
from carrel.stores.sql.jobs import SqlJobs


class TestPostgresJobs(JobStoreContract):
    @pytest.fixture
    def store(self, postgres_url: str) -> JobStore:
        return SqlJobs(PostgresDatabase(postgres_url, "jobs", SqlJobs.schema_steps))
