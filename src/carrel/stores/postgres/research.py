"""The context memory of the research room in PostgreSQL, shared by all workers."""

from __future__ import annotations

import psycopg

from carrel.core.errors import ConflictError
from carrel.stores.postgres.database import PostgresDatabase
from carrel.stores.postgres.driver import WAIT_SECONDS, PostgresDriver
from carrel.stores.sql.driver import Rows, Step
from carrel.stores.sql.research import SCRIPTS, SqlResearch


class _ConflictsToldDriver(PostgresDriver):
    async def run(self, *steps: Step) -> list[Rows]:
        try:
            return await super().run(*steps)
        except (psycopg.IntegrityError, psycopg.errors.SerializationFailure) as error:
            raise ConflictError("Somebody else has written the same thing first") from error


def postgres_research(url: str) -> SqlResearch:
    """The memory of all workers, made at the first use."""
    return SqlResearch(
        _ConflictsToldDriver(PostgresDatabase(url, "research", SCRIPTS, wait_seconds=WAIT_SECONDS))
    )
