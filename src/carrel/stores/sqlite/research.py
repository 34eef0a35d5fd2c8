"""The context memory of the research room in one SQLite file."""

from __future__ import annotations

from pathlib import Path

from carrel.stores.sql.research import SCHEMA, SqlResearch
from carrel.stores.sqlite.driver import SqliteFileDriver


def sqlite_research(file: Path) -> SqlResearch:
    """The memory over a file, made at the first use."""
    return SqlResearch(SqliteFileDriver(file, SCHEMA))
