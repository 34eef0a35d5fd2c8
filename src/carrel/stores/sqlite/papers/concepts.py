"""What the papers of a snapshot are about: its keywords and tags, by their names."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from carrel.libraries.query.papers import FacetCategory
from carrel.libraries.text.words import split_words
from carrel.rooms.knowledge.ports import Concept
from carrel.stores.sqlite.papers.rows import NEWEST_FIRST
from carrel.stores.sqlite.papers.snapshot import Generation, Snapshot

_CATEGORIES: tuple[FacetCategory, ...] = ("keyword", "tag")
_SHOWN_PAPERS = 10
_LEAST_BEGINNING = 3


class SnapshotConcepts:
    """Keywords before tags. Without a snapshot there are none; one that cannot be read is an
    error.
    """

    def __init__(self, path: Path) -> None:
        self._snapshot = Snapshot(path)

    async def find(self, names: Sequence[str]) -> Mapping[str, Concept]:
        return await asyncio.to_thread(self._find, names)

    async def near(self, name: str, limit: int) -> list[str]:
        return await asyncio.to_thread(self._near, name, limit)

    async def close(self) -> None:
        await asyncio.to_thread(self._snapshot.close)

    def _find(self, names: Sequence[str]) -> dict[str, Concept]:
        if not self._snapshot.path.exists():
            return {}
        with self._snapshot.current().connection() as connection:
            found = {name: _concept(connection, name) for name in names}
        return {name: concept for name, concept in found.items() if concept is not None}

    def _near(self, name: str, limit: int) -> list[str]:
        if not split_words(name) or not self._snapshot.path.exists():
            return []
        generation = self._snapshot.current()
        with generation.connection() as connection:
            return [
                value
                for category in _CATEGORIES
                for value in _alike(generation, connection, category, name, limit)
            ][:limit]


def _concept(connection: sqlite3.Connection, name: str) -> Concept | None:
    """Snapshots keep the values of facets in lower case."""
    wanted = " ".join(name.lower().split())
    for category in _CATEGORIES:
        row = connection.execute(
            f"SELECT {category}_id, value, paper_count FROM {category} WHERE value IN (?, ?)",
            (wanted, name),
        ).fetchone()
        if row is not None:
            number, value, count = row
            papers = connection.execute(
                f"SELECT paper.paper_id, paper.title FROM paper_{category} AS linked "
                f"JOIN paper ON paper.paper_id = linked.paper_id WHERE linked.{category}_id = ? "
                f"ORDER BY {NEWEST_FIRST} LIMIT {_SHOWN_PAPERS}",
                (number,),
            ).fetchall()
            return Concept(
                str(value),
                category,
                int(count),
                tuple((str(paper_id), str(title)) for paper_id, title in papers),
            )
    return None


def _alike(
    generation: Generation,
    connection: sqlite3.Connection,
    category: FacetCategory,
    name: str,
    limit: int,
) -> list[str]:
    """Values with a word that begins as the name does, those of most papers first."""
    first = split_words(name)[0]
    beginning = first[: max(_LEAST_BEGINNING, len(first) // 2)]
    numbers = generation.facet_values.with_phrase(
        connection, category, (beginning,), is_prefix=True
    )
    found = connection.execute(
        f"SELECT value FROM {category} WHERE {category}_id IN (SELECT value FROM json_each(?)) "
        "ORDER BY paper_count DESC, value LIMIT ?",
        (json.dumps(numbers), limit),
    )
    return [str(value) for (value,) in found]
