"""Brings all tables of a database forward at once, apart from serving."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from carrel.core.errors import UnavailableError
from carrel.stores.postgres.database import reason_of
from carrel.stores.postgres.parts import part_steps
from carrel.stores.postgres.schema import PartVersion, read_versions, upgrade_tables
from carrel.stores.postgres.statements import BlockingConnection, drive_blocking

_CONNECT_SECONDS = 10


class SchemaMismatchError(UnavailableError):
    """The tables of the database are of another version than this Carrel serves."""

    code = "schema_mismatch"


@contextmanager
def connect_blocking(url: str) -> Iterator[BlockingConnection]:
    """A connection in one transaction; UnavailableError where the server does not answer."""
    try:
        with psycopg.connect(
            url, connect_timeout=_CONNECT_SECONDS, prepare_threshold=None
        ) as connection:
            yield connection
    except (psycopg.Error, OSError) as error:
        raise UnavailableError(
            f"PostgreSQL cannot be used: {reason_of(error)}",
            next_step="Look at DATABASE_URL, or at the server it names; nothing was changed.",
        ) from error


def migrate_database(url: str) -> list[PartVersion]:
    """Brings every part forward in one transaction and returns what each was before."""
    with connect_blocking(url) as connection:
        return drive_blocking(connection, upgrade_tables(part_steps()))


def list_versions(url: str) -> list[PartVersion]:
    """The version of every part; changes nothing."""
    with connect_blocking(url) as connection:
        connection.execute("SET TRANSACTION READ ONLY")
        return drive_blocking(connection, read_versions(part_steps()))


def refuse_mismatch(url: str, *, may_migrate: bool) -> None:
    """Raises SchemaMismatchError for newer tables, and for older ones that may not be changed."""
    versions = list_versions(url)
    newer = [each for each in versions if each.is_newer]
    if newer:
        told = ", ".join(f"{each.part} {each.version} (known: {each.known})" for each in newer)
        raise SchemaMismatchError(
            f"The tables of the database were written by a newer Carrel: {told}",
            next_step="Start that version; tables never go back. A backup made before it can be "
            "restored into another database.",
        )
    behind = [each for each in versions if each.is_behind]
    if behind and not may_migrate:
        told = ", ".join(f"{each.part} {each.version} of {each.known}" for each in behind)
        raise SchemaMismatchError(
            f"The tables of the database are of an earlier version: {told}",
            next_step="Run carrel migrate, or set database.migrate_at_start = true.",
        )
