"""The database of each part: PostgreSQL where DATABASE_URL names one, else a file of the home."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from carrel.settings import Settings, SettingsError
from carrel.settings.places import database_files

if TYPE_CHECKING:
    from carrel.stores.sql.driver import Driver, UpgradeStatements

# What an operator does where it does not answer.
POSTGRES_ACTION = (
    "Start PostgreSQL, or correct DATABASE_URL; psql with the same address says what is wrong."
)


def need_psycopg() -> None:
    """Raises SettingsError where the driver for PostgreSQL is not installed."""
    try:
        import psycopg  # noqa: F401
        import psycopg_pool  # noqa: F401
    except ImportError:
        raise SettingsError(
            "DATABASE_URL is set, and the driver for PostgreSQL is not installed",
            next_step="pip install 'carrel[postgres]'",
        ) from None


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


@contextmanager
def needs_driver(extra: str) -> Iterator[None]:
    """Raises SettingsError where the driver that is imported inside is not installed."""
    try:
        yield
    except ImportError as error:
        raise SettingsError(
            f"The driver for {extra} is not installed ({error.name})",
            next_step=f"Install it with pip install 'carrel[{extra}]'.",
        ) from error


def need_database_url(settings: Settings, reason: str) -> str:
    """The address of PostgreSQL; SettingsError with the reason where none is named."""
    if not settings.database.url:
        raise SettingsError(
            f"{reason}, and no database is named",
            next_step="Set DATABASE_URL, or database.url.",
            details={"setting": "database.url"},
        )
    return settings.database.url
