"""The home folder of these settings: its lock and its databases."""

from __future__ import annotations

from carrel.settings import Settings
from carrel.settings.places import embedded_files
from carrel.settings.store_rules import find_unserved_files
from carrel.stores.home.databases import EmbeddedDatabases
from carrel.stores.home.local_secret import read_local_secret
from carrel.stores.home.lock import finish_restore, hold_home
from carrel.stores.home.privacy import is_open_to_others

__all__ = ["finish_restore", "hold_home", "is_open_to_others", "read_local_secret"]


def embedded_databases(settings: Settings) -> EmbeddedDatabases:
    """The databases that are in files with these settings."""
    return EmbeddedDatabases(settings.home, embedded_files(settings))


def unserved_files(settings: Settings) -> dict[str, str]:
    """What is in files of the home and not served, because DATABASE_URL was set later; by name."""
    if not settings.database.url:
        return {}
    from carrel.stores.sqlite.schema import holds_rows

    return find_unserved_files(settings, holds_rows)
