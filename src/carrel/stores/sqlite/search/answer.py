"""Hits, their order and their form in Elasticsearch's answers."""

from __future__ import annotations

import fnmatch
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from carrel.core.errors import InvalidInputError
from carrel.libraries.query.elasticsearch.clauses import (
    Scalar,
    SearchRequest,
    SortKey,
    SourceFilter,
)
from carrel.stores.sqlite.search.compiler import Compiler
from carrel.stores.sqlite.search.highlight import highlight_fields
from carrel.stores.sqlite.search.index import Index, to_comparable

# The documents found, of all indices: temporary tables of one connection.
FOUND = "temp.found"
_OWN_KEYS = {"_score", "_doc", "_id"}


@dataclass(frozen=True, slots=True)
class Hit:
    """A document found, with what it is sorted by."""

    index: Index
    document: int
    id: str
    score: float
    keys: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class IndexResult:
    """What was found in one index."""

    total: int
    best: float | None
    hits: list[Hit]


def begin_search(connection: sqlite3.Connection) -> None:
    """An empty table for what all indices find."""
    connection.execute(f"DROP TABLE IF EXISTS {FOUND}")
    connection.execute(f"CREATE TEMP TABLE {FOUND.removeprefix('temp.')} (document INTEGER)")


def search_index(
    connection: sqlite3.Connection,
    index: Index,
    request: SearchRequest,
    readers: frozenset[str],
    now: datetime,
) -> IndexResult:
    """Finds, counts and orders in one index."""
    _check_sort(index, request.sort)
    sql, values = Compiler(connection, index, readers, now).compile(request.query)
    connection.execute("DROP TABLE IF EXISTS temp.matched")
    connection.execute(f"CREATE TEMP TABLE matched AS {sql}", values)
    if request.min_score is not None:
        connection.execute("DELETE FROM matched WHERE score < ?", (request.min_score,))
    if request.aggregations:
        connection.execute(f"INSERT INTO {FOUND} SELECT document FROM matched")
    if request.post_filter is not None:
        sql, values = Compiler(connection, index, readers, now).compile(request.post_filter)
        connection.execute(
            f"DELETE FROM matched WHERE document NOT IN (SELECT document FROM ({sql}))", values
        )
    total, best = connection.execute("SELECT count(*), max(score) FROM matched").fetchone()
    hits = _hits(connection, index, request) if request.size else []
    return IndexResult(total, best, hits)


def hit_answer(connection: sqlite3.Connection, hit: Hit, request: SearchRequest) -> dict[str, Any]:
    """One hit as it is answered."""
    source = orjson.loads(
        connection.execute(
            "SELECT source FROM documents WHERE number = ?", (hit.document,)
        ).fetchone()[0]
    )
    is_scored = not request.sort or any(key.field == "_score" for key in request.sort)
    row: dict[str, Any] = {
        "_index": hit.index.name,
        "_id": hit.id,
        "_score": round(hit.score, 7) if is_scored else None,
    }
    if request.source.is_enabled:
        row["_source"] = _filtered(source, request.source)
    if request.highlight:
        marked = highlight_fields(hit.index, source, request.query, request.highlight)
        if marked:
            row["highlight"] = marked
    if request.sort:
        row["sort"] = list(hit.keys)
    return row


def merge_hits(hits: Sequence[Hit], request: SearchRequest) -> list[Hit]:
    """Hits of several indices in one order."""
    # What scores alike stands by its id: the order of filling would tell of documents that others
    # have.
    ordered = sorted(hits, key=lambda hit: (hit.index.name, hit.id))
    keys = request.sort or (SortKey("_score", is_descending=True),)
    for place in reversed(range(len(keys))):
        key = keys[place]

        def value(hit: Hit, place: int = place) -> Any:
            return hit.keys[place] if request.sort else hit.score

        present = [hit for hit in ordered if value(hit) is not None]
        absent = [hit for hit in ordered if value(hit) is None]
        present.sort(key=lambda hit: _rank(value(hit)), reverse=key.is_descending)
        ordered = absent + present if key.missing_first else present + absent
    return ordered


def _rank(value: Any) -> tuple[int, Any]:
    return (1, value) if isinstance(value, str) else (0, value)


def _check_sort(index: Index, keys: Sequence[SortKey]) -> None:
    for key in keys:
        if key.field in _OWN_KEYS:
            continue
        if index.exact_kind(key.field, "sort") is None:
            raise InvalidInputError(
                f"[sort] finds no field {key.field} in {index.name}",
                next_step=f"Fields: {', '.join(sorted(index.fields))}.",
                details={"clause": "sort", "field": key.field},
            )


def _hits(connection: sqlite3.Connection, index: Index, request: SearchRequest) -> list[Hit]:
    columns, order = list[str](), list[str]()
    values: list[Scalar | None] = []
    for place, key in enumerate(request.sort):
        match key.field:
            case "_score":
                column = "m.score"
            case "_doc":
                column = "(row_number() OVER (ORDER BY d.id) - 1)"
            case "_id":
                column = "d.id"
            case field:
                # Of several values the lowest counts when rising and the highest when falling.
                which = "max" if key.is_descending else "min"
                column = (
                    f"(SELECT {which}(value) FROM field_values v WHERE v.document = "
                    f"m.document AND v.field = ?)"
                )
                values.append(field)
        columns.append(f", {column} AS k{place}")
        nulls = "FIRST" if key.missing_first else "LAST"
        order.append(f"k{place} {'DESC' if key.is_descending else 'ASC'} NULLS {nulls}")
    order.append("id" if request.sort else "score DESC, id")
    after, bound = _after(index, request)
    sql = (
        f"SELECT * FROM (SELECT m.document, d.id AS id, m.score AS score{''.join(columns)} "
        f"FROM matched m JOIN documents d ON d.number = m.document){after} "
        f"ORDER BY {', '.join(order)} LIMIT ?"
    )
    values += bound
    rows = connection.execute(sql, (*values, request.first + request.size)).fetchall()
    return [Hit(index, row[0], row[1], row[2], tuple(row[3:])) for row in rows]


def _after(index: Index, request: SearchRequest) -> tuple[str, list[Scalar | None]]:
    """What stands behind the values of `search_after`: later in the first key that differs."""
    if request.search_after is None:
        return "", []
    choices: list[str] = []
    values: list[Scalar | None] = []
    given = [
        _sort_value(index, key, value)
        for key, value in zip(request.sort, request.search_after, strict=True)
    ]
    for place, key in enumerate(request.sort):
        same = [f"k{before} IS ?" for before in range(place)]
        later, bound = _later(f"k{place}", key, given[place])
        choices.append(" AND ".join([*same, later]))
        values += [*given[:place], *bound]
    return f" WHERE {' OR '.join(f'({one})' for one in choices)}", values


def _later(column: str, key: SortKey, value: Scalar | None) -> tuple[str, list[Scalar | None]]:
    if value is None:
        return (f"{column} IS NOT NULL" if key.missing_first else "0"), []
    sign = "<" if key.is_descending else ">"
    absent = "" if key.missing_first else f" OR {column} IS NULL"
    return f"({column} {sign} ?{absent})", [value]


def _sort_value(index: Index, key: SortKey, value: Scalar | None) -> Scalar | None:
    if value is None or key.field in _OWN_KEYS:
        return value
    kind = index.kind(key.field)
    found = None if kind is None else to_comparable(value, kind)
    if found is None:
        raise InvalidInputError(
            f"[search_after] on {key.field} cannot use {value!r}",
            next_step="Send the sort values of the last hit as they came.",
            details={"clause": "search_after", "field": key.field},
        )
    return found


def _filtered(source: dict[str, Any], sources: SourceFilter) -> dict[str, Any]:
    def is_kept(name: str) -> bool:
        included = not sources.includes or any(
            fnmatch.fnmatchcase(name, pattern) for pattern in sources.includes
        )
        return included and not any(
            fnmatch.fnmatchcase(name, pattern) for pattern in sources.excludes
        )

    return {name: value for name, value in source.items() if is_kept(name)}
