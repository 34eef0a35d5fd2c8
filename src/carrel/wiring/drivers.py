"""Drivers that are extras: asked for where they are needed, with a word on how to install them."""

from __future__ import annotations

from carrel.settings import SettingsError

# What an operator does where it does not answer.
POSTGRES_ACTION = (
    "Start PostgreSQL, or correct DATABASE_URL; psql with the same address says what is wrong."
)


def need_psycopg() -> None:
    try:
        import psycopg  # noqa: F401
        import psycopg_pool  # noqa: F401
    except ImportError:
        raise SettingsError(
            "DATABASE_URL is set, and the driver for PostgreSQL is not installed",
            next_step="pip install 'carrel[postgres]'",
        ) from None
