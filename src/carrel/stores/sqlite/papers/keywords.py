"""Keywords and tags of a snapshot: papers by keyword, and concepts by name."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Mapping, Sequence

from carrel.libraries.query.papers import FacetCategory
from carrel.libraries.text.words import split_words
from carrel.rooms.knowledge.ports import Concept
from carrel.stores.sqlite.papers import rows
from carrel.stores.sqlite.papers.rows import NEWEST_FIRST
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot, SnapshotVersion

_CATEGORIES: tuple[FacetCategory, ...] = ("keyword", "tag")


def papers_with_keyword(
    generation: SnapshotVersion,
    connection: sqlite3.Connection,
    keyword: str,
    first: int,
    count: int,
) -> list[tuple[rows.ListedPaper, list[str]]]:
    """Papers with this value, then with one that contains its words; and the values."""
    wanted = split_words(keyword)
    if not wanted:
        return []
    exact_value = " ".join(keyword.lower().split())
    exact: dict[str, list[int]] = {}
    wider: dict[str, list[int]] = {}
    for category in _CATEGORIES:
        row = connection.execute(
            f"SELECT {category}_id FROM {category} WHERE value = ?", (exact_value,)
        ).fetchone()
        exact[category] = [row[0]] if row else []
        wider[category] = generation.facet_values.with_words(connection, category, wanted)
    linked = " UNION ALL ".join(
        f"SELECT paper_id, {tier} AS tier FROM paper_{category} WHERE {category}_id IN (SELECT "
        f"value FROM json_each(?))"
        for tier in (0, 1)
        for category in _CATEGORIES
    )
    found = connection.execute(
        f"SELECT paper.paper_id FROM (SELECT paper_id, min(tier) AS tier FROM ({linked}) GROUP BY "
        f"paper_id) AS linked "
        f"JOIN paper ON paper.paper_id = linked.paper_id ORDER BY linked.tier, "
        f"{rows.NEWEST_FIRST} LIMIT ? OFFSET ?",
        (
            *(
                json.dumps(values[category])
                for values in (exact, wider)
                for category in _CATEGORIES
            ),
            count,
            first,
        ),
    )
    papers = rows.listed_papers(connection, [row[0] for row in found])
    return [(paper, _values(connection, paper.paper_id, exact, wider)) for paper in papers]


def _values(
    connection: sqlite3.Connection,
    paper_id: str,
    exact: dict[str, list[int]],
    wider: dict[str, list[int]],
) -> list[str]:
    values: dict[str, None] = {}
    for category in _CATEGORIES:
        found = connection.execute(
            f"SELECT value FROM {category} JOIN paper_{category} USING ({category}_id) "
            f"WHERE paper_id = ? AND {category}_id IN (SELECT value FROM json_each(?))",
            (paper_id, json.dumps([*exact[category], *wider[category]])),
        )
        values.update((row[0], None) for row in found)
    return list(values)


_SHOWN_PAPERS = 10
_LEAST_BEGINNING = 3


class SnapshotConcepts:
    """Keywords before tags; none without a snapshot, an error where it cannot be read."""

    def __init__(self, snapshot: PaperSnapshot) -> None:
        self._snapshot = snapshot

    async def find(self, names: Sequence[str]) -> Mapping[str, Concept]:
        return await asyncio.to_thread(self._find, names)

    async def near(self, name: str, limit: int) -> list[str]:
        return await asyncio.to_thread(self._near, name, limit)

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
    """A keyword or tag by name; snapshots store facet values in lower case."""
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
    generation: SnapshotVersion,
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
