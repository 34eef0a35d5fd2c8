"""The access store in one SQLite file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from carrel.stores.sql.access import SCHEMA, SqlAccess
from carrel.stores.sqlite.driver import SqliteFileDriver

# One script for each version. What a file of an earlier version lacks goes into a new script, never into an old one.
SCRIPTS = (";\n".join(SCHEMA),)


def sqlite_access(file: Path, scripts: Sequence[str] = SCRIPTS) -> SqlAccess:
    """The store over a file, made at the first use."""
    return SqlAccess(SqliteFileDriver(file, scripts))
