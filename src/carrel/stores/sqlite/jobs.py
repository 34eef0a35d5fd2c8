"""Background jobs in one SQLite file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from carrel.stores.sql.jobs import SCRIPTS, SqlJobs
from carrel.stores.sqlite.driver import SqliteFileDriver

# Seconds since 1970; unixepoch('subsec') would want SQLite 3.42.
_NOW = "((julianday('now') - 2440587.5) * 86400.0)"


def sqlite_jobs(file: Path, scripts: Sequence[str] = SCRIPTS) -> SqlJobs:
    """The jobs over a file, made at the first use."""
    return SqlJobs(SqliteFileDriver(file, scripts), _NOW)
