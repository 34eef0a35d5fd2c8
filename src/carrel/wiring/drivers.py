"""The database of each part: PostgreSQL where DATABASE_URL names one, else a file of the home."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from carrel.settings import Settings
from carrel.settings.places import database_files
from carrel.settings.store_rules import need_psycopg

if TYPE_CHECKING:
    from carrel.stores.sql.driver import Driver, UpgradeStatements

# What an operator does where it does not answer.
POSTGRES_ACTION = (
    "Start PostgreSQL, or correct DATABASE_URL; psql with the same address says what is wrong."
)


def open_driver(
    settings: Settings, part: str, steps: Sequence[str | UpgradeStatements], *, connections: int = 8
) -> Driver:
    """The driver of a part's tables; nothing is opened before the first statement."""
    if settings.database.url:
        need_psycopg()
        from carrel.stores.postgres.database import PostgresDatabase

        return PostgresDatabase(settings.database.url, part, steps, connections=connections)
    from carrel.stores.sqlite.driver import SqliteDriver

    return SqliteDriver(database_files(settings)[part], steps)
