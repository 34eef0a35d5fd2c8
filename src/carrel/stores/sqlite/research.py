"""The context memory of the research room in one SQLite file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from carrel.stores.sql.research import SCRIPTS, SqlResearch
from carrel.stores.sqlite.driver import SqliteFileDriver


def sqlite_research(file: Path, scripts: Sequence[str] = SCRIPTS) -> SqlResearch:
    """The memory over a file, made at the first use."""
    return SqlResearch(SqliteFileDriver(file, scripts))
