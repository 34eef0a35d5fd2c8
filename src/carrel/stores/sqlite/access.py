"""The access store in one SQLite file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from carrel.stores.sql.access import SCRIPTS, SqlAccess
from carrel.stores.sqlite.driver import SqliteFileDriver


def sqlite_access(file: Path, scripts: Sequence[str] = SCRIPTS) -> SqlAccess:
    """The store over a file, made at the first use."""
    return SqlAccess(SqliteFileDriver(file, scripts))
