"""The database of a desk as a whole: which versions its tables have, and bringing them forward."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from carrel.core.errors import UnavailableError
from carrel.settings import Settings
from carrel.settings.store_rules import need_database_url, need_psycopg

if TYPE_CHECKING:
    from carrel.stores.postgres.schema import PartVersion

log = logging.getLogger("carrel.database")


def migrate_database(settings: Settings) -> list[PartVersion]:
    """Brings all tables forward; what they were before."""
    url = _need_database(settings)
    from carrel.stores.postgres import migration

    return migration.migrate_database(url)


def list_versions(settings: Settings) -> list[PartVersion]:
    """The version of the tables of every part; changes nothing."""
    url = _need_database(settings)
    from carrel.stores.postgres import migration

    return migration.list_versions(url)


def refuse_other_schema(settings: Settings) -> None:
    """Raises UnavailableError where a server may not serve the tables that are there.

    A database that does not answer yet is no reason: calls say so until it does.
    """
    if not settings.database.url:
        return
    need_psycopg()
    from carrel.stores.postgres.migration import SchemaMismatchError, refuse_mismatch

    try:
        refuse_mismatch(settings.database.url, may_migrate=settings.database.migrate_at_start)
    except SchemaMismatchError:
        raise
    except UnavailableError as error:
        log.warning("the database does not answer yet", extra={"reason": error.message})


def _need_database(settings: Settings) -> str:
    url = need_database_url(settings, "This command works on a shared database")
    need_psycopg()
    return url
