"""The access store in PostgreSQL."""

from __future__ import annotations

from carrel.stores.postgres.database import PostgresDatabase
from carrel.stores.postgres.driver import WAIT_SECONDS, PostgresDriver
from carrel.stores.sql.access import SCRIPTS, SqlAccess


def postgres_access(url: str) -> SqlAccess:
    """The store of all replicas, made at the first use."""
    return SqlAccess(
        PostgresDriver(PostgresDatabase(url, "access", SCRIPTS, wait_seconds=WAIT_SECONDS))
    )
