"""Quotas counted in SQLite and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.stores.sql.quotas import SqlQuotaBook
from carrel.stores.sqlite.driver import SqliteDriver
from tests.stores.contracts.quotas import QuotaBookContract


class TestSqliteQuotas(QuotaBookContract):
    @pytest.fixture
    def open_book(self, tmp_path: Path) -> Callable[[], SqlQuotaBook]:
        file = tmp_path / "home" / "quotas.sqlite"
        return lambda: SqlQuotaBook(SqliteDriver(file, SqlQuotaBook.schema_steps))


class TestPostgresQuotas(QuotaBookContract):
    @pytest.fixture
    def open_book(self, postgres_url: str) -> Callable[[], SqlQuotaBook]:
        pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")
        from carrel.stores.postgres.database import PostgresDatabase

        return lambda: SqlQuotaBook(
            PostgresDatabase(postgres_url, "quotas", SqlQuotaBook.schema_steps)
        )
