"""How SQLite goes about a question: the statements it ran and the plan of each."""

from __future__ import annotations

import re
import sqlite3

# FTS5 says so when it is asked for one row at a time: it then reads its query and looks up every
# word again for each row.
_BY_ROW = re.compile(r"VIRTUAL TABLE INDEX \d+:\S*=")


class Statements:
    """The SELECTs that ran on a connection while it was watched."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._seen: list[str] = []

    def __enter__(self) -> Statements:
        self._connection.set_trace_callback(self._seen.append)
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.set_trace_callback(None)

    def asking_by_row(self) -> list[str]:
        """The steps of all plans that ask a full-text index anew for each row of another table."""
        steps: list[str] = []
        for sql in self._seen:
            begin = re.search(r"\b(WITH|SELECT)\b", sql)
            if begin is not None and not sql.startswith("--"):
                steps += [
                    row[3]
                    for row in self._connection.execute(
                        f"EXPLAIN QUERY PLAN {sql[begin.start() :]}"
                    )
                ]
        return [step for step in steps if _BY_ROW.search(step)]
