"""The databases of these settings: PostgreSQL where one is named, else files of the home."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from carrel.settings import Settings
from carrel.settings.places import database_files, embedded_files
from carrel.settings.store_rules import find_unserved_files, need_psycopg
from carrel.stores.home.databases import EmbeddedDatabases
from carrel.stores.home.local_secret import read_local_secret
from carrel.stores.home.lock import finish_restore, hold_home
from carrel.stores.home.privacy import is_open_to_others

if TYPE_CHECKING:
    from carrel.stores.postgres.pool import PoolOptions
    from carrel.stores.sql.driver import Driver, UpgradeStatements

__all__ = ["finish_restore", "hold_home", "is_open_to_others", "read_local_secret"]

# What an operator does where it does not answer.
POSTGRES_ACTION = (
    "Start PostgreSQL, or correct DATABASE_URL; psql with the same address says what is wrong."
)


def open_driver(settings: Settings, part: str, steps: Sequence[str | UpgradeStatements]) -> Driver:
    """The driver of a part's tables; nothing is opened before the first statement."""
    if settings.database.url:
        need_psycopg()
        from carrel.stores.postgres.database import PostgresDatabase

        return PostgresDatabase(settings.database.url, part, steps, options=pool_options(settings))
    from carrel.stores.sqlite.driver import SqliteDriver

    # Every call is counted there, and after a power cut a count may begin a little lower.
    survives = part != "quotas"
    return SqliteDriver(database_files(settings)[part], steps, survives_power_cut=survives)


def pool_options(settings: Settings) -> PoolOptions:
    """How this process shares its connections to PostgreSQL."""
    from carrel.stores.postgres.pool import PoolOptions

    database = settings.database
    return PoolOptions(
        database.pool_size,
        database.pool_wait_seconds,
        database.prepared_statements,
        database.migrate_at_start,
    )


def embedded_databases(settings: Settings) -> EmbeddedDatabases:
    """The databases that are in files with these settings."""
    return EmbeddedDatabases(settings.home, embedded_files(settings))


def unserved_files(settings: Settings) -> dict[str, str]:
    """What is in files of the home and not served, because DATABASE_URL was set later; by name."""
    if not settings.database.url:
        return {}
    from carrel.stores.sqlite.schema import holds_rows

    return find_unserved_files(settings, holds_rows)
