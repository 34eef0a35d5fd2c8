"""Background jobs in a SQLite file."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.core.background_jobs import JobStore
from carrel.stores.sql.jobs import SqlJobs
from carrel.stores.sqlite.driver import SqliteDriver
from tests.stores.contracts.jobs import JobStoreContract


class TestSqliteJobs(JobStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> JobStore:
        return SqlJobs(SqliteDriver(tmp_path / "jobs" / "jobs.db", SqlJobs.schema_steps))
