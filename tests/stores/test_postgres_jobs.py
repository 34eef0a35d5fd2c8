"""Background jobs in a real PostgreSQL."""

from __future__ import annotations

import pytest

from carrel.core.background_jobs import JobStore
from tests.stores.contracts.jobs import JobStoreContract

pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")

from carrel.stores.postgres.jobs import postgres_jobs


class TestPostgresJobs(JobStoreContract):
    @pytest.fixture
    def store(self, postgres_url: str) -> JobStore:
        return postgres_jobs(postgres_url)
