"""The names of people in the databases of a home, for what is filed under a hash of the name."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from carrel.stores.home.database_reading import open_to_read

_QUERIES = {
    "access": (
        "SELECT name FROM access_users",
        "SELECT user_name FROM access_tokens WHERE user_name IS NOT NULL",
        "SELECT 'token:' || name FROM access_tokens",
    ),
    "knowledge": ("SELECT DISTINCT user_id FROM notes",),
    "research": ("SELECT DISTINCT owner FROM research_projects",),
    "literature": (
        "SELECT DISTINCT owner FROM literature_alerts",
        "SELECT DISTINCT owner FROM literature_completions",
    ),
    "jobs": ("SELECT DISTINCT owner FROM background_jobs",),
}


def find_owners(files: Mapping[str, Path]) -> set[str]:
    """Everybody who owns something; tables that are not there yet name nobody."""
    found: set[str] = set()
    for part, queries in _QUERIES.items():
        with open_to_read(files[part]) as rows:
            for query in queries:
                with suppress(sqlite3.OperationalError):
                    if rows is None:
                        break
                    found.update(str(name) for (name,) in rows.execute(query))
    return found
