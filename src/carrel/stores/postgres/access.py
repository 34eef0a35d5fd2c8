"""The access store in PostgreSQL."""

from __future__ import annotations

from carrel.stores.postgres.driver import PostgresDriver
from carrel.stores.sql.access import SCHEMA, SqlAccess


def postgres_access(url: str) -> SqlAccess:
    """The store of all replicas, made at the first use."""
    return SqlAccess(PostgresDriver(url, SCHEMA))
