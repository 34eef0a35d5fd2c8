"""How much an embedded database holds that is not in use."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path


def holds_rows(file: Path, tables: Sequence[str]) -> bool:
    """Whether one of the tables has a row. A file that is there and cannot be read may hold some,
    so it counts.
    """
    if not file.exists():
        return False
    try:
        with closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        ) as connection:
            there = {
                name
                for (name,) in connection.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table'"
                )
            }
            return any(
                connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()
                for table in tables
                if table in there
            )
    except sqlite3.Error:
        return True
