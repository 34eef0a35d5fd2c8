"""Which papers answer a question, best first: those it names, then those it ranks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    FacetPhrase,
    Not,
    PaperQuery,
    QueryNode,
    WithIdentifier,
    YearRange,
)
from carrel.libraries.text.folding import text_key
from carrel.libraries.text.words import Phrase
from carrel.stores.sqlite.papers import fts5, rows
from carrel.stores.sqlite.papers.rows import Shown
from carrel.stores.sqlite.papers.snapshot import Generation

_TITLES_TO_COMPARE = 500


@dataclass(frozen=True, slots=True)
class _Condition:
    """A piece of SQL about the table `paper`, and its values."""

    sql: str
    values: tuple[object, ...] = ()


class Fts5Ranking:
    """The index that every snapshot has."""

    name = "the snapshot's own full-text tables"
    stem = None

    def __init__(self, generation: Generation) -> None:
        self._generation = generation

    def search(
        self, connection: sqlite3.Connection, query: PaperQuery, first: int, count: int
    ) -> list[Shown]:
        generation = self._generation
        named = _named(connection, query)
        page = named[first : first + count]
        plan = fts5.plan(connection, query)
        conditions = [_condition(generation, connection, node) for node in plan.conditions]
        if named:
            without = json.dumps([found.paper_id for found in named])
            conditions.append(
                _Condition("paper.paper_id NOT IN (SELECT value FROM json_each(?))", (without,))
            )
        first, count = max(0, first - len(named)), count - len(page)
        if plan.stages:
            return page + _ranked(connection, plan.stages, conditions, first, count)
        return page + (_newest(connection, conditions, first, count) if plan.conditions else [])


def _named(connection: sqlite3.Connection, query: PaperQuery) -> list[Shown]:
    """The papers whose identifier or whole title was typed."""
    found = rows.shown(connection, rows.with_identifiers(connection, query.identifiers))
    if not query.loose or query.strict is not None or query.identifiers:
        return found
    typed = Phrase(tuple(word for phrase in query.loose for word in phrase.words))
    expression = f"{{title}} : ^ {fts5.quoted(typed)}"
    candidates = connection.execute(
        f"SELECT rowid, title FROM paper_fts WHERE paper_fts MATCH ? LIMIT {_TITLES_TO_COMPARE}",
        (expression,),
    )
    return found + rows.shown_by_row(
        connection, [row for row, title in candidates if text_key(title) == query.title_key]
    )


def _ranked(
    connection: sqlite3.Connection,
    stages: Sequence[str],
    conditions: Sequence[_Condition],
    first: int,
    count: int,
) -> list[Shown]:
    found: list[Shown] = []
    skip = first
    for stage in stages:
        wanted = count - len(found)
        if wanted <= 0:
            break
        page = _stage(connection, stage, conditions, skip, wanted)
        if not page and skip:
            skip -= min(skip, _size(connection, stage, conditions))
        else:
            skip = 0
        found += page
    return found


def _stage(
    connection: sqlite3.Connection,
    expression: str,
    conditions: Sequence[_Condition],
    first: int,
    count: int,
) -> list[Shown]:
    joined = "JOIN paper ON paper.paper_id = paper_fts.paper_id" if conditions else ""
    found = connection.execute(
        f"SELECT paper_fts.rowid FROM paper_fts {joined} "
        f"WHERE paper_fts MATCH ? AND rank MATCH '{fts5.RANK}' "
        f"{''.join(f'AND ({condition.sql}) ' for condition in conditions)} ORDER BY rank LIMIT ? "
        f"OFFSET ?",
        (
            expression,
            *(value for condition in conditions for value in condition.values),
            count,
            first,
        ),
    )
    return rows.shown_by_row(connection, [row[0] for row in found])


def _size(connection: sqlite3.Connection, expression: str, conditions: Sequence[_Condition]) -> int:
    joined = "JOIN paper ON paper.paper_id = paper_fts.paper_id" if conditions else ""
    row = connection.execute(
        f"SELECT count(*) FROM paper_fts {joined} WHERE paper_fts MATCH ? "
        f"{''.join(f'AND ({condition.sql}) ' for condition in conditions)}",
        (expression, *(value for condition in conditions for value in condition.values)),
    ).fetchone()
    return int(row[0])


def _newest(
    connection: sqlite3.Connection, conditions: Sequence[_Condition], first: int, count: int
) -> list[Shown]:
    """Where nothing is there to rank by, the newest first and the unknown years last."""
    found = connection.execute(
        f"SELECT paper_id FROM paper WHERE "
        f"{' AND '.join(f'({condition.sql})' for condition in conditions)} "
        f"ORDER BY {rows.NEWEST_FIRST} LIMIT ? OFFSET ?",
        (*(value for condition in conditions for value in condition.values), count, first),
    )
    return rows.shown(connection, [row[0] for row in found])


def _condition(
    generation: Generation, connection: sqlite3.Connection, node: QueryNode
) -> _Condition:
    match node:
        case Phrase():
            return _Condition(
                "paper.paper_id IN (SELECT paper_id FROM paper_fts WHERE paper_fts MATCH ?)",
                (fts5.quoted(node),),
            )
        case FacetPhrase(category, words, is_prefix):
            values = generation.facet_values.with_phrase(
                connection, category, words, is_prefix=is_prefix
            )
            return _Condition(
                f"paper.paper_id IN (SELECT paper_id FROM paper_{category} "
                f"WHERE {category}_id IN (SELECT value FROM json_each(?)))",
                (json.dumps(values),),
            )
        case YearRange(first, last):
            # Text compares as numbers do here: years have four digits, and 'unknown' sorts after
            # all of them.
            return _Condition(
                "paper.year BETWEEN ? AND ?", (f"{first or 0:04}", f"{last or 9999:04}")
            )
        case WithIdentifier(identifiers):
            found = rows.with_identifiers(connection, identifiers)
            return _Condition(
                "paper.paper_id IN (SELECT value FROM json_each(?))", (json.dumps(found),)
            )
        case Not(part):
            inner = _condition(generation, connection, part)
            return _Condition(f"NOT ({inner.sql})", inner.values)
        case AllOf(parts) | AnyOf(parts):
            inside = [_condition(generation, connection, part) for part in parts]
            sign = " AND " if isinstance(node, AllOf) else " OR "
            return _Condition(
                sign.join(f"({condition.sql})" for condition in inside),
                tuple(value for condition in inside for value in condition.values),
            )
