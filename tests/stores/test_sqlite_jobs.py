"""Background jobs in a SQLite file."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.core.background_jobs import JobStore
from carrel.stores.sqlite.jobs import sqlite_jobs
from tests.stores.contracts.jobs import JobStoreContract


class TestSqliteJobs(JobStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> JobStore:
        return sqlite_jobs(tmp_path / "jobs" / "jobs.db")
