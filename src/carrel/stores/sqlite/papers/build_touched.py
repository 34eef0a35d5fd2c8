"""What was touched since the last publication, and other single facts of a build state."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable


class TouchedKeys:
    """The tables `touched` and `fact` of a build state."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def touch(self, hashes: Iterable[int]) -> None:
        """Whatever is known by these keys is looked at again before the next publication."""
        if not self.is_everything():
            self._connection.executemany(
                "INSERT OR IGNORE INTO touched VALUES (?)", ((found,) for found in hashes)
            )

    def touch_published(self) -> None:
        """Every paper that is published."""
        self._connection.execute("INSERT OR IGNORE INTO touched SELECT hash FROM published_key")

    def touch_paper(self, paper_id: str) -> None:
        self._connection.execute(
            "INSERT OR IGNORE INTO touched SELECT hash FROM published_key WHERE paper = "
            "(SELECT number FROM published WHERE paper_id = ?)",
            (paper_id,),
        )

    def has_any(self) -> bool:
        touched = self._connection.execute("SELECT 1 FROM touched LIMIT 1").fetchone()
        return self.is_everything() or touched is not None

    def is_everything(self) -> bool:
        return self.fact("everything") is not None

    def clear(self) -> None:
        self._connection.execute("DELETE FROM touched")
        self.set_fact("everything", None)

    def fact(self, name: str) -> str | None:
        row = self._connection.execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def set_fact(self, name: str, value: str | None) -> None:
        self._connection.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, value))
