"""Facet values by their words: a small index in memory, made at first need for each kind and kept
while the snapshot lives.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable

from carrel.libraries.query.papers import FacetCategory
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import split_cjk

_MAX_VALUES = 5_000
_BATCH = 10_000


class FacetValues:
    """Finds the values of a facet that contain given words. Shared by all threads, one of them
    inside at a time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memory = sqlite3.connect(":memory:", check_same_thread=False)
        self._made: set[FacetCategory] = set()

    def with_phrase(
        self,
        snapshot: sqlite3.Connection,
        category: FacetCategory,
        words: Iterable[str],
        *,
        is_prefix: bool,
    ) -> list[int]:
        """Ids of the values in which these words stand next to each other."""
        folded = " ".join(fold_text(word) for word in words)
        return self._matching(snapshot, category, f'"{folded}"{"*" if is_prefix else ""}')

    def with_words(
        self, snapshot: sqlite3.Connection, category: FacetCategory, words: Iterable[str]
    ) -> list[int]:
        """Ids of the values that contain every one of these words."""
        return self._matching(
            snapshot, category, " AND ".join(f'"{fold_text(word)}"' for word in words)
        )

    def close(self) -> None:
        with self._lock:
            self._memory.close()

    def _matching(
        self, snapshot: sqlite3.Connection, category: FacetCategory, expression: str
    ) -> list[int]:
        with self._lock:
            if category not in self._made:
                self._make(snapshot, category)
            rows = self._memory.execute(
                f"SELECT rowid FROM {category} WHERE {category} MATCH ? LIMIT {_MAX_VALUES}",
                (expression,),
            )
            return [row[0] for row in rows]

    def _make(self, snapshot: sqlite3.Connection, category: FacetCategory) -> None:
        values = snapshot.execute(f"SELECT {category}_id, value FROM {category}")
        with self._memory:
            self._memory.execute(f"DROP TABLE IF EXISTS {category}")
            self._memory.execute(
                f"CREATE VIRTUAL TABLE {category} USING fts5(value, content='', columnsize=0)"
            )
            while batch := values.fetchmany(_BATCH):
                rows = [(number, split_cjk(fold_text(value))) for number, value in batch]
                self._memory.executemany(
                    f"INSERT INTO {category}(rowid, value) VALUES (?, ?)", rows
                )
        self._made.add(category)
