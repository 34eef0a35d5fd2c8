"""Papers by keyword or tag, from the facet tables and their indexes."""

from __future__ import annotations

import json
import sqlite3

from carrel.libraries.query.papers import FacetCategory
from carrel.libraries.text.words import split_words
from carrel.stores.sqlite.papers import rows
from carrel.stores.sqlite.papers.snapshot import Generation

_CATEGORIES: tuple[FacetCategory, ...] = ("keyword", "tag")


def papers_with_keyword(
    generation: Generation, connection: sqlite3.Connection, keyword: str, first: int, count: int
) -> list[tuple[rows.Shown, list[str]]]:
    """Papers with exactly this value, then papers with one that contains its words; each with the
    values that fitted.
    """
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
    papers = rows.shown(connection, [row[0] for row in found])
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
