"""Background jobs in PostgreSQL, shared by all workers."""

from __future__ import annotations

from carrel.stores.postgres.database import PostgresDatabase
from carrel.stores.postgres.driver import WAIT_SECONDS, PostgresDriver
from carrel.stores.sql.jobs import SCRIPTS, SqlJobs


def postgres_jobs(url: str) -> SqlJobs:
    """The jobs of all workers, made at the first use."""
    return SqlJobs(
        PostgresDriver(
            PostgresDatabase(url, "jobs", SCRIPTS, connections=4, wait_seconds=WAIT_SECONDS)
        )
    )
