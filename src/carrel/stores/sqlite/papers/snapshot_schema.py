"""Checks that what is read from a snapshot made elsewhere is stored in it, and not computed while
it is read.
"""

from __future__ import annotations

import re
import sqlite3

from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.sqlite.paper_snapshot_schema import OWN_TABLES, TABLES

_CREATED = re.compile(r"CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?(\w+)")
_READ = frozenset(
    found.group(1) for statement in (*TABLES, *OWN_TABLES) if (found := _CREATED.match(statement))
)
# The hidden columns of PRAGMA table_xinfo: 2 and 3 are generated ones.
_GENERATED = (2, 3)
# Where full-text tables keep their words.
_SHADOWS = ("paper_fts_", "paper_fts_trigram_")
_KEPT_ELSEWHERE = re.compile(r"\bcontent\s*=\s*(?!''|\"\"|``|\[\])", re.IGNORECASE)
_MODULE = re.compile(r"\bUSING\s+[\"'`\[]?(\w+)", re.IGNORECASE)


def refuse_computed_tables(connection: sqlite3.Connection) -> None:
    """Refuses views and foreign modules under the names that are read, and columns that are
    expressions.

    Each of them could be a query without an end. Views of other names are never read and may stay.
    """
    schema = connection.execute(
        "SELECT type, name, coalesce(sql, ''), rootpage = 0 FROM sqlite_master WHERE type IN "
        "('table', 'view')"
    )
    for kind, name, statement, is_virtual in schema.fetchall():
        if str(name).lower() not in _READ and not str(name).lower().startswith(_SHADOWS):
            continue
        if kind == "view":
            raise SnapshotUnavailableError(f"'{name}' is a view and not a table")
        if is_virtual:
            module = _MODULE.search(statement)
            if (
                module is None
                or module.group(1).lower() != "fts5"
                or _KEPT_ELSEWHERE.search(statement)
            ):
                raise SnapshotUnavailableError(f"'{name}' takes its rows from elsewhere")
            continue
        for column, hidden in connection.execute(
            "SELECT name, hidden FROM pragma_table_xinfo(?)", (name,)
        ).fetchall():
            if hidden in _GENERATED:
                raise SnapshotUnavailableError(
                    f"the column '{column}' of '{name}' is computed and not stored"
                )
