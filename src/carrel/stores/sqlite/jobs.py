"""Background jobs in one SQLite file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from carrel.stores.sql.jobs import SCRIPTS, SqlJobs
from carrel.stores.sqlite.driver import SqliteFileDriver


def sqlite_jobs(file: Path, scripts: Sequence[str] = SCRIPTS) -> SqlJobs:
    """The jobs over a file, made at the first use."""
    return SqlJobs(SqliteFileDriver(file, scripts))
